/** The lines of a patch that the server wrote as text, hunk by hunk. */
import type { ReactNode } from "react";
import { visible } from "../words.ts";
import { CodeLines } from "./code-lines.tsx";
import { drawnPatch } from "./patch.ts";

const LOOK = { layout: "unified", wrap: false, words: true } as const;

/** One hunk of a patch. */
export interface PatchHunk {
  /** `@@ -61,4 +69,9 @@ function isTransient` */
  readonly header: string;
  /** Its lines with their signs: the same wherever in the file they stand. */
  readonly text: string;
}

/** The hunks of one file's patch. */
export function hunksOfPatch(patch: string): PatchHunk[] {
  return patch
    .split(/^(?=@@ )/m)
    .filter((part) => part.startsWith("@@ "))
    .map((part) => {
      const end = part.indexOf("\n");
      return { header: part.slice(0, end), text: part.slice(end + 1).replace(/\n$/, "") };
    });
}

/** The hunks of one file's patch, drawn; `tools` stand at the right of each hunk's header. */
export function PatchLines(props: {
  readonly path: string;
  readonly patch: string;
  tools?(hunk: PatchHunk, index: number): ReactNode;
}): ReactNode {
  const { path, patch, tools } = props;
  return (
    <div className="b-diff b-patch">
      {hunksOfPatch(patch).map((hunk, index) => (
        <div key={hunk.header}>
          <div className="b-hunk">
            <span className="b-cut">{visible(hunk.header)}</span>
            <span className="b-grow" />
            {tools?.(hunk, index)}
          </div>
          <CodeLines patch={drawnPatch(path, `${hunk.header}\n${hunk.text}`)} look={LOOK} />
        </div>
      ))}
    </div>
  );
}
