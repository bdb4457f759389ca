/** Trees of a commit, of which a few directories are changed. */
import { ancestorPaths, baseName, parentPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { runGit, type GitCommandOptions } from "./git-command.ts";
import type { CommitEntry } from "./git-ghosts.ts";
import { readLooseTree } from "./git-objects.ts";
import type { Repository } from "./git-repository.ts";

/** What one directory has, by name. */
export type TreeEntries = Map<string, CommitEntry>;

const TREE_MODE = 0o040000;
const FOUND = /^([0-9a-f]{40,64}) (\w+) (\d+)$/;

/** Where trees are read: below a tree, or below that of a commit. */
export type TreeBase = { readonly tree: string } | { readonly commit: string };

/** The directories of a base. */
export interface BaseTrees {
  /** The tree of the base itself. */
  readonly root: string;
  /** Every directory asked for that the base has. */
  readonly trees: Map<BytePath, TreeEntries>;
}

/** Reads directories, given with those above them: where they lie loose here, else by asking git once. */
export function readTrees(
  repository: Repository,
  base: TreeBase,
  directories: readonly BytePath[],
  options: GitCommandOptions,
): BaseTrees | undefined {
  const trees = new Map<BytePath, TreeEntries>();
  const later: BytePath[] = [];
  let root = "tree" in base ? base.tree : undefined;
  for (const directory of directories) {
    const id = directory === ROOT_PATH ? root : treeId(trees, directory);
    const isBelowLater = later.includes(parentPath(directory)) && directory !== ROOT_PATH;
    if (id === undefined && directory !== ROOT_PATH && !isBelowLater) continue;
    const content = id === undefined ? undefined : readLooseTree(repository, id);
    if (content === undefined) later.push(directory);
    else trees.set(directory, parseTree(content, repository));
  }
  if (later.length > 0) {
    const answers = askForTrees(repository, base, later, options);
    if (answers === undefined) return undefined;
    for (const [at, directory] of later.entries()) {
      const answer = answers[at]!;
      if (directory === ROOT_PATH) root = answer?.id;
      else if (treeId(trees, directory) !== answer?.id) return undefined;
      if (answer !== null) trees.set(directory, parseTree(answer.content, repository));
    }
  }
  return root === undefined ? undefined : { root, trees };
}

/** The directories above paths, each after those above it. */
export function directoriesAbove(paths: Iterable<BytePath>): BytePath[] {
  const found = new Set<BytePath>([ROOT_PATH]);
  for (const path of paths) for (const above of ancestorPaths(path)) found.add(above);
  return [...found].toSorted((a, b) => depth(a) - depth(b));
}

/** Puts an entry into a directory, which is made where it is missing. */
export function putEntry(trees: Map<BytePath, TreeEntries>, path: BytePath, entry: CommitEntry): void {
  const above = parentPath(path);
  for (const directory of [...ancestorPaths(path), above])
    if (!trees.has(directory)) trees.set(directory, new Map());
  // a directory that a file replaces is no longer one
  trees.delete(path);
  trees.get(above)!.set(baseName(path), entry);
}

/** Writes every directory, the deepest first, and returns the root. One that is empty is none. */
export function writeTrees(
  trees: ReadonlyMap<BytePath, TreeEntries>,
  write: (content: Buffer) => string,
): string {
  for (const directory of [...trees.keys()].toSorted((a, b) => depth(b) - depth(a))) {
    const above = trees.get(parentPath(directory));
    if (directory === ROOT_PATH || above === undefined) continue;
    const entries = trees.get(directory)!;
    const name = baseName(directory);
    if (entries.size > 0) above.set(name, { mode: TREE_MODE, object: write(formatTree(entries)) });
    else if (above.get(name)?.mode === TREE_MODE) above.delete(name);
  }
  return write(formatTree(trees.get(ROOT_PATH) ?? new Map()));
}

function depth(path: BytePath): number {
  return path === ROOT_PATH ? 0 : path.split("/").length;
}

/** The id of a directory whose parent is known and has it. */
function treeId(trees: ReadonlyMap<BytePath, TreeEntries>, directory: BytePath): string | undefined {
  const entry = trees.get(parentPath(directory))?.get(baseName(directory));
  return entry?.mode === TREE_MODE ? entry.object : undefined;
}

/** What git has for each directory, null where it has none; undefined when git cannot be asked. */
function askForTrees(
  repository: Repository,
  base: TreeBase,
  directories: readonly BytePath[],
  options: GitCommandOptions,
): ({ id: string; content: Buffer } | null)[] | undefined {
  if (directories.some((directory) => directory.includes("\n"))) return undefined;
  const start = "tree" in base ? base.tree : base.commit;
  const lines = directories.map((directory) =>
    directory === ROOT_PATH ? `${start}^{tree}\n` : `${start}:${directory}\n`,
  );
  const input = Buffer.from(lines.join(""), "latin1");
  // what the user's repository shows in an object's place is not what the commit has
  const answer = runGit(repository, ["--no-replace-objects", "cat-file", "--batch"], { ...options, input });
  if ("failed" in answer) return undefined;
  let at = 0;
  return directories.map(() => {
    const end = answer.output.indexOf(10, at);
    const [, id, kind, size] = FOUND.exec(answer.output.toString("latin1", at, end)) ?? [];
    const from = end + 1;
    at = size === undefined ? from : from + Number(size) + 1;
    return id === undefined || kind !== "tree" ? null : { id, content: answer.output.subarray(from, at - 1) };
  });
}

function parseTree(content: Buffer, { objectFormat }: Repository): TreeEntries {
  const idLength = objectFormat === "sha1" ? 20 : 32;
  const entries: TreeEntries = new Map();
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(32, at);
    const end = content.indexOf(0, space);
    entries.set(content.toString("latin1", space + 1, end), {
      mode: Number.parseInt(content.toString("latin1", at, space), 8),
      object: content.toString("hex", end + 1, end + 1 + idLength),
    });
    at = end + 1 + idLength;
  }
  return entries;
}

/** In git's order, which sees a directory as if its name ended with a slash. */
function formatTree(entries: TreeEntries): Buffer {
  const sortable = [...entries].map(([name, entry]) => ({
    name,
    ...entry,
    key: entry.mode === TREE_MODE ? `${name}/` : name,
  }));
  const sorted = sortable.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return Buffer.concat(
    sorted.flatMap(({ name, mode, object }) => [
      Buffer.from(`${mode.toString(8)} ${name}\0`, "latin1"),
      Buffer.from(object, "hex"),
    ]),
  );
}
