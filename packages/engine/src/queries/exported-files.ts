/** Which files does a checkpoint hold? For export. */
import { lookUp, walkTree } from "../diff/compare-trees.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { decodeRules } from "../model/rules.ts";
import { parsePaths } from "../model/workspace-path.ts";
import { ChosenPaths } from "../rules/chosen-paths.ts";
import { createRecordedMatcher } from "../rules/recorded-rules.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { ExportedFile } from "./answers.ts";

/** The files of a checkpoint, directories before what they hold; gaps have no content and are left out. */
export function* exportedFiles(
  objects: ObjectSource,
  { snapshot, rules }: Checkpoint,
  texts?: readonly string[],
): Generator<ExportedFile> {
  const paths = parsePaths(texts);
  const chosen =
    paths && new ChosenPaths(paths, (path) => lookUp(objects, snapshot, path).entry !== undefined);
  let matcher: ReturnType<typeof createRecordedMatcher> | undefined;
  const isIgnored = (path: BytePath) =>
    (matcher ??= createRecordedMatcher(decodeRules(objects.read(rules), rules))).isIgnored(path);
  for (const { path, entry } of walkTree(objects, snapshot)) {
    if (entry.kind === "gap" || chosen?.includes(path) === false) continue;
    yield {
      path,
      kind: entry.kind,
      mode: entry.kind === "symlink" ? 0o777 : entry.mode,
      size: entry.kind === "directory" ? 0 : entry.size,
      hash: entry.kind === "directory" ? "" : entry.hash,
      isIgnored: () => isIgnored(path),
      content: () => (entry.kind === "directory" ? [] : objects.pieces(entry.hash)),
    };
  }
}
