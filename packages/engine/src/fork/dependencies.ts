/**
 * What a fork gets beside the files of its checkpoint: directories of dependencies, and ignored files that
 * `.worktreeinclude` names. They are cloned or copied, never linked: an install in the fork would empty the original's.
 */
import { below, isInside, type AbsolutePath } from "../fs/absolute-path.ts";
import { copySettled, copyTree, measureTree } from "../fs/copy-file.ts";
import { Anchor } from "../fs/anchor.ts";
import { TreesByThreads } from "../fs/trees-by-threads.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { createDirectory } from "../fs/mutate.ts";
import { readSmallFile } from "../fs/read-file.ts";
import { filesBelow } from "../capture/files-below.ts";
import { baseName, displayPath, joinPath, parentPath, type BytePath } from "../model/byte-path.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import type { ForkDependency } from "../model/fork.ts";
import { IGNORE_FILE_LIMIT } from "../rules/ignore-rules.ts";
import { createWorktreeInclude } from "../rules/worktree-include.ts";

/** Directories that a package manager fills. */
const DEPENDENCIES = new Set(
  "node_modules bower_components vendor Pods deps elm-stuff .terraform".split(" "),
);
const MIB = 1024 * 1024;

/** A directory of dependencies, or an ignored file that the project wants in every fork. */
export interface Addition {
  readonly path: BytePath;
  readonly files: number;
  readonly bytes: number;
  /** Why it is left out; undefined when it is not. */
  readonly skipped?: string;
}

/** What decides which additions a fork gets. */
export interface AdditionsRequest {
  readonly root: AbsolutePath;
  /** What the rules left out of the checkpoint. */
  readonly excluded: readonly ExcludedRoot[];
  readonly clone: boolean;
  readonly limitBytes: number;
}

/** The additions to a fork, measured. */
export function findAdditions({ root, excluded, clone, limitBytes }: AdditionsRequest): Addition[] {
  let left = clone ? Infinity : limitBytes;
  const measured = (path: BytePath): Addition => {
    const size = measureTree(below(root, path), left);
    if (size === undefined) return { path, files: 0, bytes: 0, skipped: tooLarge(left) };
    left -= size.bytes;
    return { path, ...size };
  };
  const directories = excluded
    .filter(
      ({ path }) =>
        (DEPENDENCIES.has(baseName(path)) || isPythonEnvironment(root, path)) &&
        isRealDirectory(below(root, path)),
    )
    .map(({ path }) =>
      isPythonEnvironment(root, path)
        ? { path, files: 0, bytes: 0, skipped: "its programs run the original's interpreter" }
        : measured(path),
    );
  const files = namedFiles(root, excluded).map((file) => {
    if (file.bytes > left) return { ...file, files: 0, bytes: 0, skipped: tooLarge(left) };
    left -= file.bytes;
    return file;
  });
  return [...directories, ...files];
}

function tooLarge(left: number): string {
  return `it is larger than what is left of forks.copyLimitBytes (${Math.floor(left / MIB)} MiB)`;
}

function isRealDirectory(path: AbsolutePath): boolean {
  const stat = statNode(path);
  return stat !== undefined && kindOf(stat) === "directory";
}

/** Regular files that the rules left out and `.worktreeinclude` names; links are never followed. */
function namedFiles(root: AbsolutePath, excluded: readonly ExcludedRoot[]): Addition[] {
  const content = readSmallFile(below(root, ".worktreeinclude"), IGNORE_FILE_LIMIT);
  if (content === undefined) return [];
  const isNamed = createWorktreeInclude(content);
  return excluded
    .filter(({ path, rule }) => !rule.startsWith("always:") && !DEPENDENCIES.has(baseName(path)))
    .flatMap(({ path }) => (isPythonEnvironment(root, path) ? [] : filesBelow(root, path)))
    .filter(isNamed)
    .flatMap((path) => {
      const stat = statNode(below(root, path));
      if (stat === undefined || kindOf(stat) !== "file") return [];
      return [{ path, files: 1, bytes: Number(stat.size) }];
    });
}

function isPythonEnvironment(root: AbsolutePath, path: BytePath): boolean {
  return /^\.?venv$/.test(baseName(path)) || statNode(below(root, `${path}/pyvenv.cfg`)) !== undefined;
}

/** What was made of the additions. */
export interface CopiedAdditions {
  readonly dependencies: readonly ForkDependency[];
  /** Files that were written each time they were copied: the copy may mix what they held. */
  readonly torn: readonly BytePath[];
}

/** Copies the additions into a fork that is being made; `final` is where the fork will be. */
export function* copyAdditions(
  additions: readonly Addition[],
  place: { root: AbsolutePath; making: AbsolutePath; final: AbsolutePath; clone: boolean },
): Generator<Promise<void> | void, CopiedAdditions> {
  const { root, making, final, clone } = place;
  // [R1951] what is swapped for a link meanwhile is neither read nor written through
  using source = new Anchor(root);
  using target = new Anchor(making, { real: true });
  const dependencies: ForkDependency[] = [];
  const torn: BytePath[] = [];
  const later = TreesByThreads.create({ from: root, to: making, clone });
  for (const { path, bytes, ...addition } of additions) {
    const from = source.reach(path);
    const skipped = addition.skipped ?? (from === undefined ? GONE : undefined);
    if (skipped === undefined) {
      createParents(target, path);
      if (isRealDirectory(from!))
        yield* copyTree(from!, target.at(path), {
          clone,
          linkTarget: (leads) => movedTarget(leads, root, final),
          done: () => {},
          torn: (inside) => torn.push(joinPath(path, inside)),
          ...(later && { later: later.below(path) }),
        });
      else if (!copySettled(from!, target.at(path), { clone })) torn.push(path);
    }
    const how = skipped !== undefined ? "skipped" : clone ? "cloned" : "copied";
    dependencies.push({ path: displayPath(path), how, bytes, reason: skipped ?? null });
    yield;
  }
  if (later !== undefined) yield* later.finish((path) => torn.push(path));
  return { dependencies, torn };
}

const GONE = "it is no longer there";

function createParents(anchor: Anchor, path: BytePath): void {
  const parent = parentPath(path);
  if (parent === "") return;
  createParents(anchor, parent);
  if (statNode(anchor.at(parent)) === undefined) createDirectory(anchor.at(parent));
}

/** [R91] A link into the original would let the fork write there: it leads to the same place in the fork. */
function movedTarget(target: Buffer, root: AbsolutePath, fork: AbsolutePath): Buffer {
  const path = target.toString("latin1") as AbsolutePath;
  return isInside(path, root) ? Buffer.from(`${fork}${path.slice(root.length)}`, "latin1") : target;
}
