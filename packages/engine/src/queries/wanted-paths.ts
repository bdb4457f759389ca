/** Which entries a search is for, and which directories cannot have any of them. */
import { baseName, isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import type { FindOptions } from "../model/finding.ts";
import { keyOfName, type ObjectHash } from "../model/object-hash.ts";
import type { PlacedEntry } from "../model/tree.ts";
import { parsePaths } from "../model/workspace-path.ts";
import { compileGlob } from "../rules/ignore-glob.ts";
import type { MatchingContents } from "./matching-contents.ts";
import type { Wanted } from "./trace-paths.ts";

/** What the options want; `found`: only files with one of these contents. */
export function wantedPaths({ paths: texts, files }: FindOptions, found?: MatchingContents): Wanted {
  const contents = found?.names;
  const paths = parsePaths(texts);
  const names = files === undefined ? undefined : nameMatcher(files);
  const isInside = (path: BytePath) =>
    paths === undefined || paths.some((chosen) => isAtOrBelow(path, chosen));
  return {
    isWanted: (path, entry) =>
      (contents === undefined ? entry.kind !== "gap" : entry.kind === "file" && contents.has(entry.hash)) &&
      isInside(path) &&
      names?.matches(path) !== false,
    mayBeWanted: contents === undefined ? (names?.mayMatch ?? (() => true)) : contentTest(contents),
    mayBeBelow: (directory) =>
      paths === undefined || isInside(directory) || paths.some((chosen) => isAtOrBelow(chosen, directory)),
    mayHold: (tree) => found?.trees.mayHold(tree) !== false,
  };
}

function contentTest(contents: ReadonlySet<ObjectHash>): (placed: PlacedEntry) => boolean {
  const keys = new Set([...contents].map(keyOfName));
  return (placed) => keys.has(placed.key);
}

/** As in an ignore file: a pattern without a slash is about names. */
function nameMatcher(pattern: string) {
  const text = Buffer.from(pattern.replace(/^(?:\.?\/)+/, ""), "utf8").toString("latin1");
  const glob = compileGlob(text);
  const matches = (name: string) => glob?.matches(name) === true;
  const isForNames = !text.includes("/");
  return {
    matches: (path: BytePath) => matches(isForNames ? baseName(path) : path),
    /** True also where a name alone does not tell. */
    mayMatch: ({ name }: PlacedEntry) => !isForNames || matches(name),
  };
}
