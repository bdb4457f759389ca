/** Which entries a search is for, and which trees cannot have any of them. */
import { baseName, isAtOrBelow, type BytePath } from "../model/byte-path.ts";
import type { FindOptions } from "../model/finding.ts";
import { HASH_BYTES, hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import { someEntry, type RawEntry } from "../model/tree.ts";
import { parsePaths } from "../model/workspace-path.ts";
import { compileGlob } from "../rules/ignore-glob.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { Wanted } from "./trace-paths.ts";

/** What the options want; `contents`: only files with one of these. */
export function wantedPaths(
  objects: ObjectSource,
  { paths: texts, files }: FindOptions,
  contents: ReadonlySet<ObjectHash> | undefined,
): Wanted {
  const paths = parsePaths(texts);
  const names = files === undefined ? undefined : nameMatcher(files);
  const isInside = (path: BytePath) =>
    paths === undefined || paths.some((chosen) => isAtOrBelow(path, chosen));
  const holders =
    contents === undefined ? names?.inTrees(objects) : new HoldingTrees(objects, hasContent(contents));
  return {
    isWanted: (path, entry) =>
      (contents === undefined ? entry.kind !== "gap" : entry.kind === "file" && contents.has(entry.hash)) &&
      isInside(path) &&
      names?.matches(path) !== false,
    mayBeBelow: (directory, tree) =>
      (isInside(directory) || paths!.some((chosen) => isAtOrBelow(chosen, directory))) &&
      holders?.holds(tree) !== false,
  };
}

type EntryTest = (bytes: Buffer, entry: RawEntry) => boolean;

/** Trees that have a certain entry, directly or below. Each distinct tree is read once. */
class HoldingTrees {
  readonly #objects: ObjectSource;
  readonly #isFound: EntryTest;
  /** By the bytes of the name. */
  readonly #known = new Map<string, boolean>();

  constructor(objects: ObjectSource, isFound: EntryTest) {
    this.#objects = objects;
    this.#isFound = isFound;
  }

  holds(tree: ObjectHash): boolean {
    return this.#look(tree, Buffer.from(tree, "hex").toString("latin1"));
  }

  #look(tree: ObjectHash, key: string): boolean {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const bytes = this.#objects.read(tree);
    const found = someEntry(bytes, (entry) => {
      if (entry.kind !== "directory") return entry.kind !== "gap" && this.#isFound(bytes, entry);
      const below = bytes.toString("latin1", entry.nameEnd, entry.nameEnd + HASH_BYTES);
      return (
        this.#known.get(below) ??
        this.#look(hashFromBytes(bytes.subarray(entry.nameEnd, entry.nameEnd + HASH_BYTES)), below)
      );
    });
    this.#known.set(key, found);
    return found;
  }
}

function hasContent(contents: ReadonlySet<ObjectHash>): EntryTest {
  const wanted = new Set([...contents].map((name) => Buffer.from(name, "hex").toString("latin1")));
  return (bytes, { nameEnd }) => wanted.has(bytes.toString("latin1", nameEnd, nameEnd + HASH_BYTES));
}

/** As in an ignore file: a pattern without a slash is about names. */
function nameMatcher(pattern: string) {
  const text = Buffer.from(pattern.replace(/^(?:\.?\/)+/, ""), "utf8").toString("latin1");
  const glob = compileGlob(text);
  const matches = (name: string) => glob?.matches(name) === true;
  const isForNames = !text.includes("/");
  return {
    matches: (path: BytePath) => matches(isForNames ? baseName(path) : path),
    /** Undefined where a tree alone does not tell. */
    inTrees: (objects: ObjectSource) =>
      isForNames
        ? new HoldingTrees(objects, (bytes, { nameAt, nameEnd }) =>
            matches(bytes.toString("latin1", nameAt, nameEnd)),
          )
        : undefined,
  };
}
