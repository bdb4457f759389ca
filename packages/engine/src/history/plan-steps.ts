/**
 * Undo, redo and revert: a step's delta, backwards or forwards, applied to the present. Each path goes
 * from what the step left (or found) to what it found (or left); where the present is neither, the two
 * are merged. Paths outside the delta are never looked at.
 */
import { lookUp, walkTree } from "../diff/compare-trees.ts";
import { isBinary } from "../diff/content-kind.ts";
import { conflictSides, type Contested } from "../merge/conflict-sides.ts";
import { mergeText, type MergeConflict } from "../merge/merge3.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import { isSpecial, isUnseen, sameNode, type Entry } from "../model/entry.ts";
import type { Gap } from "../model/checkpoint.ts";
import { NO_OBJECT, type ObjectHash } from "../model/object-hash.ts";
import type { Conflict, ConflictReason, Edit, Kept } from "../model/plan.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { Change } from "./changes.ts";

export interface StepPlanInput {
  readonly objects: ObjectSource;
  readonly present: ObjectHash;
  /** Takes merged content in and gives its name. */
  put(bytes: Buffer): ObjectHash;
  readonly includeShared: boolean;
}

export interface StepEdits {
  readonly edits: readonly Edit[];
  readonly merged: readonly BytePath[];
  readonly kept: readonly Kept[];
  readonly conflicts: readonly PlannedConflict[];
  /** What was never captured and so can neither be brought back nor taken out: it stays as it is. */
  readonly gaps: readonly Gap[];
}

/** A conflict, and the capture whose change could not be taken out or put back. */
export interface PlannedConflict extends Conflict {
  readonly wanted: Entry | undefined;
  readonly capture: number;
}

export type Direction = "backwards" | "forwards";

/** The lines of so many conflicts are told; of the others only the path and the reason. */
const TOLD_CONFLICTS = 100;

/** Larger files are not merged line by line. */
const MERGE_LIMIT_BYTES = 16 * 1024 * 1024;

/** Collects deltas one after the other into one plan, so that several steps are undone all or none. */
export class StepPlanner {
  readonly #input: StepPlanInput;
  /** What each touched path will be, on top of the present. */
  readonly #state = new Map<BytePath, Entry | undefined>();
  /** How many of the paths below a directory will hold something that this plan puts there. */
  readonly #coming = new Map<BytePath, number>();
  /** Directories that no step asks for: made only for what is to come inside. */
  readonly #needed = new Set<BytePath>();
  readonly #merged = new Set<BytePath>();
  /** Content that this plan made: the next step may have to merge it once more, and the store may not have it yet. */
  readonly #made = new Map<ObjectHash, Buffer>();
  readonly #kept = new Set<BytePath>();
  readonly #conflicts = new Map<BytePath, ConflictReason>();
  /** What the last move of each path had in mind, to be told where it is a conflict. */
  readonly #contested = new Map<BytePath, Omit<Contested, "now"> & { readonly capture: number }>();
  readonly #gaps = new Map<BytePath, Gap>();

  constructor(input: StepPlanInput) {
    this.#input = input;
  }

  add(delta: readonly Change[], direction: Direction): void {
    const moves = inOrder(acrossGaps(delta), direction);
    const lost = moves.filter((move) => this.#isLost(move)).map(({ change }) => change.path);
    for (const { change, expected, wanted } of moves) {
      // what cannot be brought back leaves in place what stands in its stead
      if (lost.some((path) => change.path.startsWith(`${path}/`))) continue;
      if (!this.#conflicts.has(change.path))
        this.#contested.set(change.path, { wanted, capture: change.checkpoint });
      if (change.shared && !this.#input.includeShared) {
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
    const { wanted, region, capture = Number.MAX_SAFE_INTEGER } = contested ?? {};
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
    // it is there for an earlier step of this plan alone: nobody made another one meanwhile
    if (isOnlyNeeded && expected === undefined && wanted?.kind === "directory")
      return this.#put(path, wanted);
    // a FIFO that this plan left makes way all the same for what was there before
    if (isSpecial(now) && wanted !== undefined && this.#gaps.delete(path)) return this.#set(path, wanted);
    const gap = [wanted, expected].find((entry) => isBeyondUndo(entry, wanted));
    // what was never captured cannot be written, and what was forgotten not be proved unchanged
    if (gap?.kind === "gap") this.#gaps.set(path, { path, reason: gap.reason, size: gap.size });
    // [R131] a path that became a gap goes back like any other, unless its content would be lost
    else if (now?.kind === "gap" && !isSpecial(now)) this.#conflicts.set(path, "cannot be saved");
    else if (sameNode(now, expected) || isUnseen(expected, now)) this.#set(path, wanted);
    else this.#merge(path, { now, expected, wanted });
  }

  #set(path: BytePath, entry: Entry | undefined): void {
    // what an earlier step of this plan puts there keeps its directory, which may not be on disk yet
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

  /** The directories above must be there, or be made by this very plan. */
  #hasDirectoryAbove(path: BytePath): boolean {
    for (const directory of ancestorPaths(path)) {
      const now = this.#now(directory);
      if (now === undefined) {
        this.#put(directory, { kind: "directory", mode: 0o755, hash: NO_OBJECT });
        this.#needed.add(directory);
      } else if (now.kind !== "directory") return false;
    }
    return true;
  }

  /** Nothing but a directory can hold what an earlier step of this plan puts inside. */
  #hasRoomFor(path: BytePath, entry: Entry): boolean {
    return entry.kind === "directory" || !this.#comesInside(path);
  }

  #merge(
    path: BytePath,
    versions: { now: Entry | undefined; expected: Entry | undefined; wanted: Entry | undefined },
  ): void {
    const { now, expected, wanted } = versions;
    if (now?.kind === "directory" && expected?.kind === "directory" && wanted?.kind === "directory") return;
    // the directory was changed or is needed by others: its content has paths of its own
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
  ): { hash: ObjectHash; size: number } | { reason: ConflictReason; region?: MergeConflict | undefined } {
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

  #comesInside(path: BytePath): boolean {
    return (this.#coming.get(path) ?? 0) > 0;
  }

  /** A later step may have taken out again what a directory was made for. */
  #dropNeedless(): void {
    for (const path of [...this.#needed].sort().reverse())
      if (!this.#comesInside(path)) this.#put(path, undefined);
  }

  /** A directory that was made by the step but holds something else by now stays, and nothing can come in its place. */
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
 * [R126] What several steps did, to be added one piece after the other: as it was captured, each change once. Steps that
 * worked on the same paths in turn, or together, fit into one another only like this.
 */
export function interleave(deltas: readonly (readonly Change[])[], direction: Direction): Change[][] {
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

/** Gone without content, or a FIFO or socket that stays: a program may be waiting at it. */
function isBeyondUndo(entry: Entry | undefined, wanted: Entry | undefined): boolean {
  if (entry?.kind !== "gap") return false;
  return entry === wanted || entry.reason === "forgotten" || (wanted === undefined && isSpecial(entry));
}

interface Move {
  readonly change: Change;
  readonly expected: Entry | undefined;
  readonly wanted: Entry | undefined;
}

/**
 * [R131] A path that was a gap in between goes from what it was before to what it is after at once: there is no way over
 * something that was never captured.
 */
function acrossGaps(delta: readonly Change[]): Change[] {
  const newest = new Map<BytePath, Change>();
  const passed = new Set<Change>();
  const joined = delta.map((change) => {
    const earlier = newest.get(change.path);
    const isAcross =
      earlier?.new?.kind === "gap" &&
      earlier.shared === change.shared &&
      (sameNode(earlier.new, change.old) || isUnseen(earlier.new, change.old));
    if (isAcross) passed.add(earlier);
    const whole = isAcross ? { ...change, old: earlier.old } : change;
    newest.set(change.path, whole);
    return whole;
  });
  return joined.filter((change) => !passed.has(change));
}

/** Capture by capture; within one, what goes goes deepest first, then what comes comes shallowest first. */
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
