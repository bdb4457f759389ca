/** The lines of a patch that the server wrote as text, hunk by hunk. */
import { lazy, Suspense, type ReactNode } from "react";
import { visible } from "../words.ts";
import { drawnPatch } from "./patch.ts";

const Code = lazy(() => import("./code.tsx"));

const LOOK = { layout: "unified", wrap: false, words: true } as const;

/** The hunks of one file's patch. */
export function PatchLines({ path, patch }: { readonly path: string; readonly patch: string }): ReactNode {
  const hunks = patch.split(/^(?=@@ )/m).filter((part) => part.startsWith("@@ "));
  return (
    <div className="b-diff b-patch">
      <Suspense>
        {hunks.map((hunk) => {
          const header = hunk.slice(0, hunk.indexOf("\n"));
          return (
            <div key={header}>
              <div className="b-hunk">{visible(header)}</div>
              <Code patch={drawnPatch(path, hunk.replace(/\n$/, ""))} look={LOOK} />
            </div>
          );
        })}
      </Suspense>
    </div>
  );
}
