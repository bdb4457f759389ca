/**
 * Plans undo, redo and revert: applies a step's delta, backwards or forwards, to the present. Each path goes
 * from what the step left (or found) to what it found (or left). Where the present is neither, the two are
 * merged. Paths outside the delta are never examined.
 */
import { lookUp, walkTree } from "../diff/compare-trees.ts";
import { isBinary } from "../diff/content-kind.ts";
import { conflictSides, type Contested } from "../merge/conflict-sides.ts";
import { isNewlyBroken } from "../merge/check-result.ts";
import { mergeText, type MergePlace } from "../merge/merge3.ts";
import { ParsersNeeded, type Parsers } from "../merge/parsers.ts";
import { ancestorPaths, displayPath, type BytePath } from "../model/byte-path.ts";
import { isSpecial, isUnseen, sameNode, type Entry } from "../model/entry.ts";
import type { Gap } from "../model/checkpoint.ts";
import { NO_OBJECT, type ObjectHash } from "../model/object-hash.ts";
import type { Conflict, ConflictReason, Decision, Edit, Kept } from "../model/plan.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { UNRECORDED, type Change } from "../history/changes.ts";
import { acrossGaps, withoutSettled, type Direction } from "./joined-changes.ts";

/** What a step plan is made from. */
export interface StepPlanInput {
  readonly objects: ObjectSource;
  readonly present: ObjectHash;
  /** Stores merged content and returns its name. */
  put(bytes: Buffer): ObjectHash;
  readonly includeShared: boolean;
  /** The mode of a directory that has to be made although no change is of it; undefined where it is not known. */
  readonly modeOf?: (directory: BytePath) => number | undefined;
  /** What a person decided about paths in conflict. */
  readonly decisions?: readonly Decision[] | undefined;
  /** Asked about merged texts; without them lines alone count, but for JSON. Undefined = merge whatever comes of it. */
  readonly parsers?: Parsers | undefined;
}

/** What undoing or redoing steps would do. */
export interface StepEdits {
  readonly edits: readonly Edit[];
  readonly merged: readonly BytePath[];
  readonly kept: readonly Kept[];
  readonly conflicts: readonly PlannedConflict[];
  /** Paths that were never captured, so that they can be neither brought back nor taken out. They stay. */
  readonly gaps: readonly Gap[];
}

/** A conflict, and the capture whose change could not be applied. */
export interface PlannedConflict extends Conflict {
  readonly wanted: Entry | undefined;
  readonly capture: number;
}

/** Conflicts beyond this number are reported without their lines. */
const TOLD_CONFLICTS = 100;

/** Larger files are not merged line by line. */
const MERGE_LIMIT_BYTES = 16 * 1024 * 1024;

/** Combines deltas into one plan, so that several steps are undone all or none. */
export class StepPlanner {
  readonly #input: StepPlanInput;
  /** The planned entry of each touched path, on top of the present. */
  readonly #state = new Map<BytePath, Entry | undefined>();
  /** How many paths below a directory this plan will create. */
  readonly #coming = new Map<BytePath, number>();
  /** Directories that no step created: they are made only for what comes inside. */
  readonly #needed = new Set<BytePath>();
  readonly #merged = new Set<BytePath>();
  /**
   * Content merged by this plan. A later step may have to merge it again, and the store may not have it yet.
   */
  readonly #made = new Map<ObjectHash, Buffer>();
  readonly #kept = new Set<BytePath>();
  readonly #conflicts = new Map<BytePath, ConflictReason>();
  /** The last intended change of each path, for reporting conflicts. */
  readonly #contested = new Map<BytePath, Omit<Contested, "now"> & { readonly capture: number }>();
  readonly #gaps = new Map<BytePath, Gap>();
  readonly #decisions: ReadonlyMap<BytePath, Decision>;

  constructor(input: StepPlanInput) {
    this.#input = input;
    this.#decisions = new Map(input.decisions?.map((decision) => [decision.path, decision]));
  }

  add(delta: readonly Change[], direction: Direction): void {
    const unsettled = withoutSettled(acrossGaps(delta), direction, (path) => this.#now(path));
    const moves = inOrder(unsettled, direction);
    const lost = moves.filter((move) => this.#isLost(move)).map(({ change }) => change.path);
    for (const { change, expected, wanted } of moves) {
      // what replaced a path that cannot be brought back stays in place
      if (lost.some((path) => change.path.startsWith(`${path}/`))) continue;
      const decision = this.#decisions.get(change.path);
      if (decision?.take === "disk" || (decision?.take === "text" && this.#write(decision))) continue;
      if (!this.#conflicts.has(change.path))
        this.#contested.set(change.path, { wanted, capture: change.checkpoint });
      if (change.shared && !this.#input.includeShared && decision?.take !== "plan") {
        if (!sameNode(this.#now(change.path), wanted))
          this.#conflicts.set(change.path, "shared with another thread");
      } else {
        this.#move(change.path, expected, wanted);
      }
    }
  }

  result(): StepEdits {
    this.#dropNeedless();
    this.#keepOccupiedDirectories();
    this.#refuseBroken();
    const edits: Edit[] = [];
    for (const path of [...this.#state.keys()].sort()) {
      const from = this.#present(path);
      const to = this.#state.get(path);
      if (!sameNode(from, to) && !this.#conflicts.has(path)) edits.push({ path, from, to });
    }
    const conflicts = [...this.#conflicts].map(([path, reason], index) => ({
      path,
      reason,
      ...this.#tell(path, index < TOLD_CONFLICTS),
    }));
    const kept = [...this.#kept].map((path): Kept => ({ path, reason: "the directory is not empty" }));
    return { edits, merged: [...this.#merged], kept, conflicts, gaps: [...this.#gaps.values()] };
  }

  #tell(path: BytePath, withSides: boolean): Omit<PlannedConflict, "path" | "reason"> {
    const contested = this.#contested.get(path);
    const { wanted, region, capture = UNRECORDED } = contested ?? {};
    if (contested === undefined || !withSides) return { wanted, capture };
    const sides = conflictSides({ now: this.#now(path), wanted, region }, ({ hash }) => this.#read(hash));
    return { wanted, capture, ...sides };
  }

  #read(hash: ObjectHash): Buffer {
    return this.#made.get(hash) ?? this.#input.objects.read(hash);
  }

  #present(path: BytePath): Entry | undefined {
    return lookUp(this.#input.objects, this.#input.present, path).entry;
  }

  #now(path: BytePath): Entry | undefined {
    return this.#state.has(path) ? this.#state.get(path) : this.#present(path);
  }

  #isLost({ change: { path }, wanted }: Move): boolean {
    const now = this.#now(path);
    return wanted?.kind === "gap" && !sameNode(now, wanted) && !isUnseen(wanted, now);
  }

  #move(path: BytePath, expected: Entry | undefined, wanted: Entry | undefined): void {
    const now = this.#now(path);
    const isOnlyNeeded = this.#needed.delete(path);
    if (sameNode(now, wanted) || isUnseen(wanted, now)) return;
    // only an earlier step of this plan needs it: it was not created independently
    if (isOnlyNeeded && expected === undefined && wanted?.kind === "directory")
      return this.#put(path, wanted);
    // a FIFO that this plan left in place still makes way for what was there before
    if (isSpecial(now) && wanted !== undefined && this.#gaps.delete(path)) return this.#set(path, wanted);
    const gap = [wanted, expected].find((entry) => isBeyondUndo(entry, wanted));
    // content that was never captured cannot be written, and forgotten content cannot be proved unchanged
    if (gap?.kind === "gap") this.#gaps.set(path, { path, reason: gap.reason, size: gap.size });
    // [R131] a path that became a gap goes back like any other, unless its content would be lost
    else if (now?.kind === "gap" && !isSpecial(now)) this.#conflicts.set(path, "cannot be saved");
    else if (sameNode(now, expected) || isUnseen(expected, now)) this.#set(path, wanted);
    else this.#merge(path, { now, expected, wanted });
  }

  /** Puts in what a person wrote; false where no file is there to take it. */
  #write({ path, text }: Extract<Decision, { take: "text" }>): boolean {
    const now = this.#now(path);
    if (now?.kind !== "file") return false;
    const hash = this.#input.put(text);
    this.#made.set(hash, text);
    this.#put(path, { ...now, hash, size: text.length });
    return true;
  }

  #set(path: BytePath, entry: Entry | undefined): void {
    // a directory that receives something from an earlier step stays; it may not be on disk yet
    if (entry === undefined && this.#comesInside(path)) this.#kept.add(path);
    else if (entry !== undefined && !(this.#hasDirectoryAbove(path) && this.#hasRoomFor(path, entry)))
      this.#conflicts.set(path, "changed differently meanwhile");
    else this.#put(path, entry);
  }

  #put(path: BytePath, entry: Entry | undefined): void {
    const difference = Number(entry !== undefined) - Number(this.#state.get(path) !== undefined);
    this.#state.set(path, entry);
    if (difference === 0) return;
    for (const above of ancestorPaths(path))
      this.#coming.set(above, (this.#coming.get(above) ?? 0) + difference);
  }

  /** True when the directories above exist or are created by this plan. */
  #hasDirectoryAbove(path: BytePath): boolean {
    for (const directory of ancestorPaths(path)) {
      const now = this.#now(directory);
      if (now === undefined) {
        const mode = this.#input.modeOf?.(directory) ?? 0o755;
        this.#put(directory, { kind: "directory", mode, hash: NO_OBJECT });
        this.#needed.add(directory);
      } else if (now.kind !== "directory") return false;
    }
    return true;
  }

  /** Only a directory can hold what an earlier step of this plan puts inside. */
  #hasRoomFor(path: BytePath, entry: Entry): boolean {
    return entry.kind === "directory" || !this.#comesInside(path);
  }

  #merge(
    path: BytePath,
    versions: { now: Entry | undefined; expected: Entry | undefined; wanted: Entry | undefined },
  ): void {
    const { now, expected, wanted } = versions;
    if (this.#decisions.get(path)?.take === "plan") return this.#set(path, wanted);
    if (now?.kind === "directory" && expected?.kind === "directory" && wanted?.kind === "directory") return;
    // the directory was changed or holds other files: its content has paths of its own
    if (now?.kind === "directory" && wanted === undefined && expected?.kind === "directory")
      return this.#set(path, undefined);
    if (now?.kind !== "file" || expected?.kind !== "file" || wanted?.kind !== "file") {
      this.#conflicts.set(path, "changed differently meanwhile");
      return;
    }
    const mode = now.mode === expected.mode ? wanted.mode : now.mode;
    const content = this.#mergeContent(now, expected, wanted);
    if ("reason" in content) {
      this.#conflicts.set(path, content.reason);
      this.#contested.set(path, { ...this.#contested.get(path)!, region: content.region });
    } else {
      if (content.hash !== now.hash && content.hash !== wanted.hash) this.#merged.add(path);
      this.#put(path, { kind: "file", mode, ...content });
    }
  }

  #mergeContent(
    now: FileEntry,
    expected: FileEntry,
    wanted: FileEntry,
  ): { hash: ObjectHash; size: number } | { reason: ConflictReason; region?: MergePlace | undefined } {
    if (now.hash === expected.hash || now.hash === wanted.hash)
      return { hash: wanted.hash, size: wanted.size };
    if (wanted.hash === expected.hash) return { hash: now.hash, size: now.size };
    if (Math.max(now.size, expected.size, wanted.size) > MERGE_LIMIT_BYTES)
      return { reason: "too large to merge" };
    const [base, ours, theirs] = [expected, now, wanted].map(({ hash }) => this.#read(hash)) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    if ([base, ours, theirs].some(isBinary)) return { reason: "binary" };
    const merged = mergeText(base, ours, theirs);
    if (!merged.clean) return { reason: "changed differently meanwhile", region: merged.conflicts[0] };
    const hash = this.#input.put(merged.content);
    this.#made.set(hash, merged.content);
    return { hash, size: merged.content.length };
  }

  /**
   * [R1910] What merges made is looked at when everything has moved: between the pieces of a step a text may be broken.
   * Throws `ParsersNeeded` before anything else is done with the plan.
   */
  #refuseBroken(): void {
    const { parsers } = this.#input;
    const merges = parsers === undefined ? [] : [...this.#merged].flatMap((path) => this.#mergeOf(path));
    const unknown = merges.filter(({ path }) => !parsers!.areLoadedFor(path));
    if (unknown.length > 0) throw new ParsersNeeded(unknown.map(({ path }) => path));
    for (const merge of merges.filter((each) => isNewlyBroken(each, parsers))) {
      this.#conflicts.set(merge.at, "the merge would not parse");
      this.#merged.delete(merge.at);
      this.#state.delete(merge.at);
    }
  }

  /** The texts of a merge; none where a later piece took its place, or a person wants it whatever it is. */
  #mergeOf(at: BytePath) {
    const [now, present, wanted] = [this.#now(at), this.#present(at), this.#contested.get(at)?.wanted];
    if (this.#decisions.get(at)?.take === "merged" || this.#conflicts.has(at)) return [];
    if (now?.kind !== "file" || present?.kind !== "file" || wanted?.kind !== "file") return [];
    if (now.hash === present.hash || now.hash === wanted.hash) return [];
    const [result, ours, theirs] = [now, present, wanted].map(({ hash }) => this.#read(hash)) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    return [{ at, path: displayPath(at), result, ours, theirs }];
  }

  #comesInside(path: BytePath): boolean {
    return (this.#coming.get(path) ?? 0) > 0;
  }

  /** Drops directories whose intended content a later step took out again. */
  #dropNeedless(): void {
    for (const path of [...this.#needed].sort().reverse())
      if (!this.#comesInside(path)) this.#put(path, undefined);
  }

  /**
   * A directory that the step created but that holds other files by now stays, and nothing can replace it.
   */
  #keepOccupiedDirectories(): void {
    for (const [path, entry] of [...this.#state].filter(([, { kind } = NOTHING]) => kind !== "directory")) {
      const present = this.#present(path);
      if (present?.kind !== "directory") continue;
      const stays = [...walkTree(this.#input.objects, present.hash, path)].some(
        ({ path: inside }) => this.#now(inside) !== undefined,
      );
      if (!stays && !this.#comesInside(path)) continue;
      this.#state.delete(path);
      if (entry === undefined) this.#kept.add(path);
      else this.#conflicts.set(path, "changed differently meanwhile");
    }
  }
}

const NOTHING = { kind: "nothing" };

/**
 * The pieces in which several steps move, given in the order of their list. [R17] Steps that were at work one after the
 * other move in that order: undone and redone since, it need not be the order in which they were captured. [R126] Steps
 * that were at work together move capture by capture, each change once: they fit into one another only in this order.
 */
export function inPieces(deltas: readonly (readonly Change[])[], direction: Direction): Change[][] {
  return groupTogether(deltas).flatMap((together) => interleave(together, direction));
}

/** Joins neighbours in the list whose captures overlap in time. */
function groupTogether(deltas: readonly (readonly Change[])[]): (readonly Change[])[][] {
  const groups: { first: number; last: number; deltas: (readonly Change[])[] }[] = [];
  for (const delta of deltas.filter(({ length }) => length > 0)) {
    const [first, last] = rangeOf(delta);
    const group = groups.at(-1);
    if (group === undefined || last < group.first || group.last < first) {
      groups.push({ first, last, deltas: [delta] });
      continue;
    }
    group.first = Math.min(group.first, first);
    group.last = Math.max(group.last, last);
    group.deltas.push(delta);
  }
  return groups.map((group) => group.deltas);
}

/** The first and the last capture of a delta. */
function rangeOf(delta: readonly Change[]): [first: number, last: number] {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { checkpoint } of delta) {
    first = Math.min(first, checkpoint);
    last = Math.max(last, checkpoint);
  }
  return [first, last];
}

function interleave(deltas: readonly (readonly Change[])[], direction: Direction): Change[][] {
  const all = deltas.flatMap((delta, step) => delta.map((change) => ({ step, change })));
  const captures = [...Map.groupBy(all, ({ change }) => change.checkpoint)].sort(([a], [b]) => a - b);
  const pieces: { steps: string; captures: Change[][] }[] = [];
  for (const [, parts] of captures) {
    const steps = [...new Set(parts.map(({ step }) => step))].join();
    const changes = new Map(parts.map(({ change }) => [change.path, change]));
    const capture = [...changes.keys()].sort().map((path) => changes.get(path)!);
    const last = pieces.at(-1);
    if (last?.steps === steps) last.captures.push(capture);
    else pieces.push({ steps, captures: [capture] });
  }
  const moves = pieces.map((piece) => piece.captures.flat());
  return direction === "backwards" ? moves.reverse() : moves;
}

/** True for content that was never captured, and for a FIFO or socket: a program may be waiting on it. */
function isBeyondUndo(entry: Entry | undefined, wanted: Entry | undefined): boolean {
  if (entry?.kind !== "gap") return false;
  const isUnknown = entry.reason === "forgotten" || entry.reason === "withheld";
  return entry === wanted || isUnknown || (wanted === undefined && isSpecial(entry));
}

interface Move {
  readonly change: Change;
  readonly expected: Entry | undefined;
  readonly wanted: Entry | undefined;
}

/** Capture by capture; within one, deletions deepest first, then creations shallowest first. */
function inOrder(delta: readonly Change[], direction: Direction): Move[] {
  const captures = [...Map.groupBy(delta, ({ checkpoint }) => checkpoint).values()];
  return (direction === "backwards" ? captures.reverse() : captures).flatMap((changes) => {
    const moves = changes.map((change): Move =>
      direction === "backwards"
        ? { change, expected: change.new, wanted: change.old }
        : { change, expected: change.old, wanted: change.new },
    );
    const [going, coming] = [
      moves.filter(({ wanted }) => wanted === undefined),
      moves.filter(({ wanted }) => wanted !== undefined),
    ];
    return [...going.reverse(), ...coming];
  });
}

type FileEntry = Extract<Entry, { kind: "file" }>;
