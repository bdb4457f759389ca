/**
 * For hosts that build with Vite: what a page can leave out of the diff view. Lines are coloured in a worker by the `highlights` backend; the page's own
 * thread draws them plain until then. So the lexers are shipped once, for the worker, and neither the other backend
 * nor the themes that we do not use are shipped at all. This saves more than half of what a diff costs to load.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

/** The other backend: its core, 500 grammars and two engines. */
const SHIKI = /^shiki\/(?:core|langs|wasm|engine\/\w+)$|^@shikijs\/themes\//;
const WITHOUT_SHIKI = `
  const missing = () => { throw new Error("not shipped"); };
  export default {};
  export const bundledLanguages = {};
  export const createOnigurumaEngine = missing;
  export const createJavaScriptRegexEngine = missing;
  export const createHighlighterCore = missing;
  export const createCssVariablesTheme = missing;
`;

/** What `codeToTokens` of the backend gives for plain text: a token a line. */
const PLAIN_TEXT = `
  export const isSupportedLanguage = () => false;
  export function codeToTokens(code) {
    let offset = 0;
    const tokens = code.split("\\n").map((line) => {
      const token = { content: line.replace(/\\r$/, ""), offset };
      offset += line.length + 1;
      return token.content === "" ? [] : [token];
    });
    return { tokens };
  }
  export class LiveTokenizer {
    constructor() { throw new Error("not shipped"); }
  }
`;

const NO_CATALOG = "export const themes = {}; export default {};";

/** The lexers as a file of their own: in a script they would be base64, a third larger. */
const LEXERS = join(dirname(besideDiffView("@pierre/highlights/package.json")), "dist/highlights.wasm");
const LOAD_LEXERS = `
  import place from ${JSON.stringify(`${LEXERS}?url`)};
  const answer = await fetch(place);
  export default new Uint8Array(await answer.arrayBuffer());
`;

/** A file of a package that the diff view brings. */
function besideDiffView(file: string): string {
  return createRequire(import.meta.resolve("@pierre/diffs")).resolve(file);
}

/** Leaves out what the given thread does not need. */
export function leanDiffView(thread: "page" | "worker"): Plugin {
  const replaced = new Map([
    ["@pierre/highlights/themes/loader", NO_CATALOG],
    ["@pierre/theming/themes", NO_CATALOG],
    ["./highlights.wasm.mjs", LOAD_LEXERS],
    ...(thread === "page" ? [["@pierre/highlights", PLAIN_TEXT] as const] : []),
  ]);
  const sourceOf = (id: string) => (SHIKI.test(id) ? WITHOUT_SHIKI : replaced.get(id));
  return {
    name: "lean-diff-view",
    enforce: "pre",
    resolveId: (id) => (sourceOf(id) === undefined ? undefined : `\0lean:${id}`),
    load: (id) => (id.startsWith("\0lean:") ? sourceOf(id.slice("\0lean:".length)) : undefined),
  };
}
