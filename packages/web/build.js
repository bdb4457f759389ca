/**
 * Builds the page, and writes down which style elements its policy must allow: the diff view makes one, whose text depends
 * on the colours of its themes and on how wide the browser's scroll bars are.
 */
import { createHash } from "node:crypto";
import { globSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { build } from "vite";
import { licencesOf } from "../../scripts/licences.js";
import { wrapThemeCSS } from "../../node_modules/@pierre/diffs/dist/utils/cssWrappers.js";
import { createCSSVariablesTheme } from "../../node_modules/@pierre/diffs/dist/highlighter/themes/createCSSVariablesTheme.js";
import { CODE_COLOURS, CODE_THEME } from "../react/dist/diff/code-theme.js";
import { getHighlighterThemeStyles } from "../../node_modules/@pierre/diffs/dist/utils/getHighlighterThemeStyles.js";

/** Written last. */
const POLICY = "packages/web/dist/policy.json";
/** Used by the style sheet alone. */
const FONTS = ["inter", "jetbrains-mono"].map((name) =>
  resolve(`node_modules/@fontsource-variable/${name}/index.css`),
);
/** Scroll bars of today's systems are up to 17 pixels wide, with zoom more. */
const WIDEST_SCROLL_BAR = 32;

if (isOutdated()) {
  const { output } = await build({ configFile: "packages/web/vite.config.ts" });
  const modules = output.flatMap(({ moduleIds = [] }) => moduleIds);
  writeFileSync("packages/web/dist/LICENSES.txt", licencesOf([...modules, ...FONTS]));
  writeFileSync(POLICY, JSON.stringify({ styles: styleHashes() }));
}

/** A build that would change nothing is skipped. */
function isOutdated() {
  const built = statSync(POLICY, { throwIfNoEntry: false });
  const inputs = globSync([
    "packages/web/{src,public}/**/*.*",
    "packages/react/dist/**/*.js",
    "packages/react/src/styles.css",
    "packages/protocol/dist/{client,errors}.js",
  ]);
  return [
    ...inputs,
    "packages/web/index.html",
    "packages/web/vite.config.ts",
    "packages/web/build.js",
    "package-lock.json",
  ].some((file) => built === undefined || statSync(file).mtimeMs > built.mtimeMs);
}

function styleHashes() {
  const theme = createCSSVariablesTheme({
    name: CODE_THEME,
    variablePrefix: "--diffs-",
    variableDefaults: CODE_COLOURS,
    fontStyle: false,
  });
  const highlighter = { name: "highlights", getTheme: () => theme };
  const styles = getHighlighterThemeStyles({ theme: { dark: CODE_THEME, light: CODE_THEME }, highlighter });
  const widths = [undefined, ...Array.from({ length: WIDEST_SCROLL_BAR + 1 }, (_, width) => width)];
  return widths.map(
    (width) =>
      `sha256-${createHash("sha256")
        .update(wrapThemeCSS(styles, "system", width))
        .digest("base64")}`,
  );
}
