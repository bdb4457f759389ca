/**
 * The lines of one file, drawn by the diff view in a worker. Loaded on first use: it is larger than the rest of the page.
 */
import { getSingularPatch, registerCustomCSSVariableTheme } from "@pierre/diffs";
import { FileDiff, WorkerPoolContextProvider } from "@pierre/diffs/react";
import { useEffect, useMemo, useRef, type ReactNode } from "react";
import { CODE_COLOURS, CODE_THEME } from "./code-theme.ts";

registerCustomCSSVariableTheme(CODE_THEME, CODE_COLOURS);

const POOL = {
  workerFactory: () => new Worker(new URL("./worker.js", import.meta.url), { type: "module" }),
  poolSize: 2,
};
const HIGHLIGHTER = {
  preferredHighlighter: "highlights" as const,
  theme: { light: CODE_THEME, dark: CODE_THEME },
  lineDiffType: "word" as const,
};

/** How lines are drawn. */
export interface CodeLook {
  readonly layout: "unified" | "split";
  readonly wrap: boolean;
  readonly words: boolean;
}

/** The lines of a patch that has one hunk; the hunk's header is drawn around it. */
export default function Code({
  patch,
  look,
}: {
  readonly patch: string;
  readonly look: CodeLook;
}): ReactNode {
  const fileDiff = useMemo(() => getSingularPatch(patch), [patch]);
  const options = useMemo(
    () => ({
      diffStyle: look.layout,
      overflow: look.wrap ? ("wrap" as const) : ("scroll" as const),
      lineDiffType: look.words ? ("word" as const) : ("none" as const),
      diffIndicators: "classic" as const,
      disableFileHeader: true,
      preferredHighlighter: "highlights" as const,
      theme: HIGHLIGHTER.theme,
      themeType: "system" as const,
      hunkSeparators: () => null,
    }),
    [look.layout, look.wrap, look.words],
  );
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => underlineWords(place.current!));
  return (
    <div ref={place}>
      <WorkerPoolContextProvider poolOptions={POOL} highlighterOptions={HIGHLIGHTER}>
        <FileDiff fileDiff={fileDiff} options={options} />
      </WorkerPoolContextProvider>
    </div>
  );
}

/** Where the system chooses the colours, the background of a changed word is gone. */
const UNDERLINE = "@media (forced-colors: active) { [data-diff-span] { text-decoration: underline; } }";
let underline: CSSStyleSheet | undefined;

/** [R2370] Underlines changed words in the lines that the diff view drew: they are in trees of their own. */
function underlineWords(place: HTMLElement): void {
  for (const { shadowRoot } of place.querySelectorAll("diffs-container")) {
    if (underline === undefined) {
      underline = new CSSStyleSheet();
      underline.replaceSync(UNDERLINE);
    }
    if (shadowRoot?.adoptedStyleSheets.includes(underline) === false)
      shadowRoot.adoptedStyleSheets.push(underline);
  }
}
