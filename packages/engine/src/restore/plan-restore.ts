/**
 * From the present snapshot to a target: which paths to write, which to delete, which to keep and why.
 * Deletion needs proof (N6): the target's rules would have captured the path, no gap of the target is at
 * or above it, and its content is in the present snapshot, which is durable before anything is touched.
 */
import { compareTrees, lookUp } from "../diff/compare-trees.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import { isLeaf, isSpecial } from "../model/entry.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Conflict, Edit, Foreign, Kept } from "../model/plan.ts";
import type { ChosenPaths } from "../rules/chosen-paths.ts";
import { neverCapturedAt } from "../rules/hard-excludes.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { isBetweenDirectories, type AbsenceProof } from "../capture/proven-changes.ts";

/** What a restore is planned from. */
export interface RestorePlanInput {
  readonly objects: ObjectSource;
  readonly present: ObjectHash;
  readonly target: ObjectHash;
  /** Whether a path that the target lacks was truly absent then. */
  readonly wasAbsent: AbsenceProof;
  /** Whether git ignores a path, now or then: a whole restore does not take it away. */
  readonly isIgnored?: (path: BytePath) => boolean;
  /** Whether a path stood in this directory already when the store came to it: it did not come later. */
  readonly wasHere?: (path: BytePath) => boolean;
  /** What the scan of the present left out: the directories above it cannot be removed. */
  readonly excluded: readonly ExcludedRoot[];
  /** undefined = everything */
  readonly chosen: Pick<ChosenPaths, "includes"> | undefined;
  readonly keepNew: boolean;
  /** The target knows files and no modes of directories. */
  readonly isOfFiles?: boolean;
  /** Whether an edit is other threads' work that stays. */
  readonly isLeftAlone?: (edit: Edit) => boolean;
}

/** What a restore would change, what it would keep, and what is in its way. */
export interface Edits {
  readonly edits: readonly Edit[];
  readonly kept: readonly Kept[];
  readonly conflicts: readonly Conflict[];
  /** Other threads' work that stays. */
  readonly left: readonly Edit[];
}

/** Plans a restore of the target over the present. */
export function planRestoreEdits(input: RestorePlanInput): Edits {
  const planner = new RestorePlanner(input);
  const all = compareTrees(input.objects, input.present, input.target);
  for (const edit of input.chosen === undefined ? all : onlyChosen(all, input.chosen)) planner.consider(edit);
  return planner.result();
}

/** Chosen paths, and the missing directories above them. */
function onlyChosen(edits: readonly Edit[], chosen: Pick<ChosenPaths, "includes">): Edit[] {
  const direct = new Set(edits.filter(({ path }) => chosen.includes(path)));
  const above = new Set(
    [...direct]
      .filter(({ to }) => to !== undefined && to.kind !== "gap")
      .flatMap(({ path }) => ancestorPaths(path)),
  );
  const isNeeded = ({ path, from, to }: Edit) =>
    from === undefined && to?.kind === "directory" && above.has(path);
  return edits.filter((edit) => direct.has(edit) || isNeeded(edit));
}

/** Rules by which a directory belongs to something else. */
const FOREIGN: ReadonlyMap<string, Foreign> = new Map([
  ["a workspace of its own", "a workspace of its own"],
  ["mount point", "a mount point"],
  ["linked git worktree", "a linked git worktree"],
]);

class RestorePlanner {
  readonly #input: RestorePlanInput;
  readonly #edits: Edit[] = [];
  readonly #kept: Kept[] = [];
  readonly #conflicts: Conflict[] = [];
  readonly #left: Edit[] = [];
  /** Directories in which other threads' work stays. */
  readonly #heldByOthers = new Set<BytePath>();
  /** Directories that cannot go because something in them stays. */
  readonly #occupied = new Map<BytePath, Kept["reason"]>();
  /** Directories that are not this workspace's any more: nothing in them is written, whatever the target has there. */
  readonly #foreign = new Map<BytePath, Kept["reason"]>();

  constructor(input: RestorePlanInput) {
    this.#input = input;
    for (const { path, rule } of input.excluded) {
      const foreign = FOREIGN.get(rule);
      if (foreign !== undefined) this.#foreign.set(path, `it is ${foreign}`);
      const held = path.endsWith("/.git") ? "a git repository" : foreign;
      const reason = held === undefined ? "the directory is not empty" : (`it holds ${held}` as const);
      for (const directory of ancestorPaths(path)) this.#occupied.set(directory, reason);
    }
  }

  consider(edit: Edit): void {
    const { path, from, to } = edit;
    if (this.#input.isOfFiles === true && isBetweenDirectories(edit)) return;
    const foreign = this.#foreign.size === 0 ? undefined : this.#foreignAt(path);
    const never = neverCapturedAt(path);
    if (foreign !== undefined) this.#keepWhole(foreign, this.#foreign.get(foreign)!);
    else if (never !== undefined) this.#keepWhole(never, "never captured or changed by Belay");
    else if (this.#input.isLeftAlone?.(edit) === true) this.#leave(edit);
    else if (to?.kind === "gap") {
      if (from !== undefined && from.kind !== "gap") this.#keep(path, "the target has a gap here");
    } else if (from?.kind === "gap" && !(isSpecial(from) && to !== undefined)) {
      if (to === undefined) this.#keep(path, "not saved by the safety checkpoint");
      else this.#conflicts.push({ path, reason: "cannot be saved" });
    } else if (to === undefined) {
      this.#considerDeletion(edit);
    } else {
      this.#edits.push(edit);
    }
  }

  #leave(edit: Edit): void {
    this.#left.push(edit);
    if (edit.from === undefined) return;
    for (const directory of ancestorPaths(edit.path)) this.#heldByOthers.add(directory);
  }

  #foreignAt(path: BytePath): BytePath | undefined {
    return [...ancestorPaths(path), path].find((at) => this.#foreign.has(at));
  }

  /** Named once, however many of its files the target has. */
  #keepWhole(root: BytePath, reason: Kept["reason"]): void {
    if (!this.#kept.some(({ path }) => path === root)) this.#keep(root, reason);
  }

  #considerDeletion(edit: Edit): void {
    const { path, from } = edit;
    const { wasAbsent, keepNew, chosen, isIgnored, wasHere } = this.#input;
    if (keepNew) return this.#keep(path, "keep-new");
    if (wasHere?.(path) === true) return this.#keep(path, "it was in this directory before the store was");
    const isSpared = chosen === undefined && isLeaf(from) && isIgnored?.(path) === true;
    if (isSpared && !this.#isInTheWay(path)) return this.#keep(path, "git ignores it");
    if (!wasAbsent(path, from)) return this.#keep(path, "not covered by the target's rules");
    if (lookUp(this.#input.objects, this.#input.target, path).gapAbove)
      return this.#keep(path, "the target has a gap here");
    this.#edits.push(edit);
  }

  /** True when the target has a file or link where a directory above this path stands. */
  #isInTheWay(path: BytePath): boolean {
    const { objects, target } = this.#input;
    return ancestorPaths(path).some((above) => isLeaf(lookUp(objects, target, above).entry));
  }

  #keep(path: BytePath, reason: Kept["reason"]): void {
    this.#kept.push({ path, reason });
    for (const directory of ancestorPaths(path))
      if (!this.#occupied.has(directory)) this.#occupied.set(directory, "the directory is not empty");
  }

  /** A directory in which something stays is kept, or is a conflict when a file should take its place. */
  result(): Edits {
    const edits: Edit[] = [];
    for (const edit of this.#edits) {
      const makesWay = edit.from?.kind === "directory" && edit.to?.kind !== "directory";
      const occupied = makesWay ? this.#occupied.get(edit.path) : undefined;
      if (makesWay && this.#heldByOthers.has(edit.path))
        this.#kept.push({ path: edit.path, reason: occupied ?? "the directory is not empty" });
      else if (occupied === undefined) edits.push(edit);
      else if (edit.to === undefined) this.#kept.push({ path: edit.path, reason: occupied });
      else this.#conflicts.push({ path: edit.path, reason: "cannot be saved" });
    }
    if (this.#input.chosen !== undefined) this.#findOutOfPlace(edits);
    return this.#withDirectories(withoutBlocked(edits, this.#conflicts));
  }

  /** A chosen path cannot come where a file or link that was not chosen stands in the place of its directory. */
  #findOutOfPlace(edits: readonly Edit[]): void {
    const { objects, present } = this.#input;
    const moved = new Set(edits.map(({ path }) => path));
    const isInTheWay = (above: BytePath) =>
      !moved.has(above) && isLeaf(lookUp(objects, present, above).entry);
    for (const { path, to } of edits)
      if (to !== undefined && ancestorPaths(path).some(isInTheWay))
        this.#conflicts.push({ path, reason: "changed differently meanwhile" });
  }

  /** What is left alone keeps its place: nothing is written below it, and a directory comes back only for what it holds. */
  #withDirectories(edits: readonly Edit[]): Edits {
    const [kept, conflicts] = [this.#kept, this.#conflicts];
    if (this.#left.length === 0) return { edits, kept, conflicts, left: [] };
    const inPlace = new Set(this.#left.filter(({ from }) => isLeaf(from)).map(({ path }) => path));
    const isBelowOthers = ({ path }: Edit) => ancestorPaths(path).some((above) => inPlace.has(above));
    const free = edits.filter((edit) => !isBelowOthers(edit));
    const needed = new Set(
      free.filter(({ to }) => to !== undefined).flatMap(({ path }) => ancestorPaths(path)),
    );
    const isNeeded = ({ path, from, to }: Edit) =>
      from === undefined && to?.kind === "directory" && needed.has(path);
    return {
      edits: [...free, ...this.#left.filter(isNeeded)].sort((a, b) => (a.path < b.path ? -1 : 1)),
      kept: [
        ...kept,
        ...edits
          .filter(isBelowOthers)
          .map(({ path }): Kept => ({ path, reason: "other work is in its place" })),
      ],
      conflicts,
      left: this.#left.filter((edit) => !isNeeded(edit)),
    };
  }
}

/** Nothing is written at a path in conflict, and nothing can be below it. */
function withoutBlocked(edits: readonly Edit[], conflicts: readonly Conflict[]): Edit[] {
  if (conflicts.length === 0) return [...edits];
  const blocked = new Set(conflicts.map(({ path }) => path));
  return edits.filter(({ path }) => ![...ancestorPaths(path), path].some((at) => blocked.has(at)));
}
