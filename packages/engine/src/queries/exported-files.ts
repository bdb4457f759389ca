/** Which files does a checkpoint hold? For export. */
import { walkTree } from "../diff/compare-trees.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { ExportedFile } from "./answers.ts";

/** The files of a checkpoint, directories before what they hold; gaps have no content and are left out. */
export function* exportedFiles(objects: ObjectSource, { snapshot }: Checkpoint): Generator<ExportedFile> {
  for (const { path, entry } of walkTree(objects, snapshot)) {
    if (entry.kind === "gap") continue;
    yield {
      path,
      kind: entry.kind,
      mode: entry.kind === "symlink" ? 0o777 : entry.mode,
      size: entry.kind === "directory" ? 0 : entry.size,
      content: () => (entry.kind === "directory" ? [] : objects.pieces(entry.hash)),
    };
  }
}
