/**
 * In which stretches of checkpoints did each path hold what is looked for? Goes from the newest checkpoint to the
 * oldest and compares each with the one before, so that the cost follows what changed.
 */
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Entry } from "../model/entry.ts";
import { isDamage } from "../model/errors.ts";
import { keyOfName, nameOfKey, type HashKey, type ObjectHash } from "../model/object-hash.ts";
import { differingEntries, EMPTY_TREE, type PlacedEntry } from "../model/tree.ts";
import type { ObjectSource } from "../store/object-store.ts";

/** A checkpoint as a trace needs it. */
export type TracedCheckpoint = Pick<
  Checkpoint,
  "id" | "seq" | "createdAt" | "snapshot" | "rules" | "excluded"
>;

/** What is looked for. */
export interface Wanted {
  isWanted(path: BytePath, entry: Entry): boolean;
  /** False where an entry is not wanted at any path. */
  mayBeWanted(placed: PlacedEntry): boolean;
  /** False where nothing below a directory can be wanted. */
  mayBeBelow(directory: BytePath): boolean;
  /** False where nothing in this tree or below it can be wanted. */
  mayHold(tree: HashKey): boolean;
}

/** A stretch of checkpoints in which a path held it. */
export interface TracedSpan {
  /** Set when the trace has come past it. */
  first: TracedCheckpoint;
  readonly last: TracedCheckpoint;
  /** What stood there in the last one. */
  readonly entry: Entry;
  /** The next checkpoint, which did not have it; undefined for the newest one. */
  readonly gone: TracedCheckpoint | undefined;
  /** What stood there, newest first. */
  readonly versions: TracedVersion[];
}

/** One content of a path, and the checkpoints that had it. */
export interface TracedVersion {
  readonly entry: Entry;
  /** Set when the trace has come past it. */
  first: TracedCheckpoint;
  readonly last: TracedCheckpoint;
}

/** The stretches of each path, newest first, and how many checkpoints could not be read. */
export interface Trace {
  readonly spans: ReadonlyMap<BytePath, readonly TracedSpan[]>;
  readonly unreadable: number;
}

/** Traces all paths through these checkpoints, which come newest first. */
export function tracePaths(
  objects: Pick<ObjectSource, "read">,
  checkpoints: readonly TracedCheckpoint[],
  wanted: Wanted,
): Trace {
  const spans = new Map<BytePath, TracedSpan[]>();
  /** Spans that the checkpoint at hand is part of. */
  const open = new Map<BytePath, TracedSpan>();
  let before: TracedCheckpoint | undefined;
  let unreadable = 0;
  for (const checkpoint of checkpoints) {
    const changes = readable(() => leafChanges({ objects, wanted }, before?.snapshot, checkpoint.snapshot));
    if (changes === undefined) {
      unreadable += 1;
      continue;
    }
    for (const { path, older } of changes) {
      const isHere = older !== undefined && wanted.isWanted(path, older);
      const span = open.get(path);
      if (span !== undefined) endVersion(span, before!);
      const version = isHere ? { entry: older, first: checkpoint, last: checkpoint } : undefined;
      if (version === undefined) open.delete(path);
      else if (span !== undefined) span.versions.push(version);
      else {
        const found: TracedSpan = { ...version, gone: before, versions: [version] };
        open.set(path, found);
        const known = spans.get(path);
        if (known === undefined) spans.set(path, [found]);
        else known.push(found);
      }
    }
    before = checkpoint;
  }
  for (const span of open.values()) endVersion(span, before!);
  return { spans, unreadable };
}

/** The trace goes back in time, so a version ends where it began. */
function endVersion(span: TracedSpan, first: TracedCheckpoint): void {
  span.first = first;
  span.versions.at(-1)!.first = first;
}

function readable<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

interface LeafChange {
  readonly path: BytePath;
  readonly older: Entry | undefined;
}

interface Walk {
  readonly objects: Pick<ObjectSource, "read">;
  readonly wanted: Wanted;
}

/** The paths at which two snapshots have something else and one of them may have what is wanted; no directories. */
function leafChanges(walk: Walk, newer: ObjectHash | undefined, older: ObjectHash): LeafChange[] {
  const changes: LeafChange[] = [];
  const compare = (path: BytePath, a: HashKey | undefined, b: HashKey | undefined): void => {
    if (a === b || !walk.wanted.mayBeBelow(path)) return;
    differingEntries(treeOf(walk, a), treeOf(walk, b), (after, before) => {
      // what is not wanted on either side neither ends a stretch nor begins one
      if (isWantedLeaf(walk, after) || isWantedLeaf(walk, before))
        changes.push({ path: pathOf(path, after, before), older: leafOf(before) });
      const [belowA, belowB] = [directoryOf(after), directoryOf(before)];
      // a directory that took the place of a file, or the reverse, is both
      if (belowA !== belowB) compare(pathOf(path, after, before), belowA, belowB);
    });
  };
  compare(ROOT_PATH, newer === undefined ? undefined : keyOfName(newer), keyOfName(older));
  return changes;
}

/** Without entries where nothing of it is wanted: it is not read then. */
function treeOf({ objects, wanted }: Walk, key: HashKey | undefined): Buffer {
  return key === undefined || !wanted.mayHold(key) ? EMPTY_TREE : objects.read(nameOfKey(key));
}

function isWantedLeaf({ wanted }: Walk, placed: PlacedEntry | undefined): boolean {
  return placed !== undefined && !placed.isDirectory && wanted.mayBeWanted(placed);
}

function pathOf(directory: BytePath, a: PlacedEntry | undefined, b: PlacedEntry | undefined): BytePath {
  return joinPath(directory, (a ?? b)!.name);
}

function leafOf(placed: PlacedEntry | undefined): Entry | undefined {
  return placed === undefined || placed.isDirectory ? undefined : placed.entry();
}

function directoryOf(placed: PlacedEntry | undefined): HashKey | undefined {
  return placed?.isDirectory === true ? placed.key : undefined;
}
