/** Hunks as a patch that `git apply` takes. */
import type { ComparedFile } from "../../data/comparisons.ts";
import type { Hunk } from "./diff-rows.ts";

/** The patch of chosen hunks of one file. */
export function patchOf(file: ComparedFile, hunks: readonly Hunk[]): string {
  const from = file.type === "added" ? "/dev/null" : `a/${file.from ?? file.path}`;
  const to = file.type === "deleted" ? "/dev/null" : `b/${file.path}`;
  return [`--- ${from}`, `+++ ${to}`, ...hunks.flatMap(hunkLines), ""].join("\n");
}

function hunkLines({ oldStart, oldLines, newStart, newLines, lines }: Hunk): string[] {
  return [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines.flatMap(({ type, text, noNewline }) => [
      `${type}${text}`,
      ...(noNewline === true ? ["\\ No newline at end of file"] : []),
    ]),
  ];
}
