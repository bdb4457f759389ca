/**
 * A commit of a few changes, made without a process that imports it: git is asked at most once, for trees that lie in
 * packs. It takes half the time of `git fast-import`. What does not suit it is refused and imported instead: many or
 * large changes, which git keeps as a pack, repositories that several users share or whose format is not known, and
 * whatever fails on the way.
 */
import { baseName, parentPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { GitCommandOptions } from "./git-command.ts";
import type { ImportedCommit } from "./git-ghosts.ts";
import { takesLooseObjects, writeLooseObject, type GitObjectKind } from "./git-objects.ts";
import type { Repository } from "./git-repository.ts";
import {
  directoriesAbove,
  putEntry,
  readTrees,
  writeTrees,
  type BaseTrees,
  type TreeBase,
} from "./git-trees.ts";

/** A commit, with what it changes. */
export interface DirectCommit {
  readonly message: string;
  /** Seconds since 1970. */
  readonly time: number;
  /** Null for the first commit of a repository. */
  readonly parent: string | null;
  /** The tree of the parent, if it is known. */
  readonly parentTree: string | undefined;
  /** The tree that the changes are made to; defaults to that of the parent. */
  readonly tree: string | undefined;
  readonly deletes: readonly BytePath[];
  readonly writes: readonly DirectWrite[];
}

/** A path that the commit gets: an object that git has, or content. */
export interface DirectWrite {
  readonly path: BytePath;
  readonly mode: number;
  readonly from: { readonly object: string } | { readonly size: number; read(): Buffer };
}

/** Up to as many objects git too leaves loose (`fastimport.unpackLimit`). */
const MOST_OBJECTS = 100;
const MOST_BYTES = 8 * 1024 * 1024;
const AUTHOR = "Belay <ghost@belay.invalid>";

/** Makes the commit; undefined where it has to be imported. Objects that were written by then are harmless. */
export function commitDirectly(
  repository: Repository,
  commit: DirectCommit,
  options: GitCommandOptions,
): ImportedCommit | undefined {
  const directories = directoriesAbove([...commit.deletes, ...commit.writes.map(({ path }) => path)]);
  if (isLarge(commit, directories.length) || !takesLooseObjects(repository)) return undefined;
  try {
    const base = baseOf(commit);
    const known = base === undefined ? emptyBase() : readTrees(repository, base, directories, options);
    return known && writeCommit(repository, commit, known);
  } catch {
    // a full disk, missing rights: the import says why
    return undefined;
  }
}

function isLarge({ writes }: DirectCommit, directories: number): boolean {
  const sizes = writes.map(({ from }) => ("object" in from ? 0 : from.size));
  return writes.length + directories > MOST_OBJECTS || sizes.reduce((a, b) => a + b, 0) > MOST_BYTES;
}

function baseOf({ tree, parent }: DirectCommit): TreeBase | undefined {
  if (tree !== undefined) return { tree };
  return parent === null ? undefined : { commit: parent };
}

function emptyBase(): BaseTrees {
  return { root: "", trees: new Map([[ROOT_PATH, new Map()]]) };
}

function writeCommit(
  repository: Repository,
  { deletes, writes, tree: start, parent, parentTree, message, time }: DirectCommit,
  { root, trees }: BaseTrees,
): ImportedCommit | undefined {
  const known = start === undefined ? (parent === null ? null : root) : parentTree;
  if (known === undefined) return undefined;
  const written: string[] = [];
  const write = (kind: GitObjectKind, content: Buffer) => {
    const id = writeLooseObject(repository, { kind, content, time });
    written.push(id);
    return id;
  };
  removeEntries(trees, deletes);
  for (const { path, mode, from } of writes) {
    const object = "object" in from ? from.object : write("blob", from.read());
    putEntry(trees, path, { mode, object });
  }
  const tree = writeTrees(trees, (content) => write("tree", content));
  const who = `${AUTHOR} ${time} +0000`;
  const parents = parent === null ? "" : `parent ${parent}\n`;
  const text = `tree ${tree}\n${parents}author ${who}\ncommitter ${who}\n\n${message}`;
  const commit = tree === known ? parent! : write("commit", Buffer.from(text));
  return { commit, tree, parentTree: known, written };
}

function removeEntries(trees: BaseTrees["trees"], paths: readonly BytePath[]): void {
  for (const path of paths) trees.get(parentPath(path))?.delete(baseName(path));
}
