/** Changed files and differences in the contract's shape. */
import type { Diff, FileChange } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { listField } from "./list-field.ts";
import { pathJson } from "./path-json.ts";

/** One changed file. */
export function fileChangeJson(file: FileChange): Json<typeof shapes.fileChange> {
  return {
    ...pathJson(file.path),
    ...(file.from === undefined ? {} : { from: pathJson(file.from).path }),
    type: file.type,
    linesAdded: file.linesAdded,
    linesDeleted: file.linesDeleted,
    binary: file.binary,
    tooLarge: file.tooLarge,
    attribution: file.attribution,
    ...(file.diff === undefined ? {} : { diff: file.diff }),
  };
}

/** What differs between two states. */
export function diffJson(diff: Diff): Json<typeof shapes.diff> {
  return {
    from: diff.from,
    to: diff.to,
    ...listField("files", diff.files.map(fileChangeJson)),
    summary: diff.summary,
  };
}
