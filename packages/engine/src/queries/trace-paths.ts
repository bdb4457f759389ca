/**
 * In which stretches of checkpoints did each path hold what is looked for? Goes from the newest checkpoint to the
 * oldest and compares each with the one before, so that the cost follows what changed.
 */
import { readTree } from "../diff/compare-trees.ts";
import { joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { sameEntry, type Entry } from "../model/entry.ts";
import { isEngineError } from "../model/errors.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Tree } from "../model/tree.ts";
import type { ObjectSource } from "../store/object-store.ts";

/** A checkpoint as a trace needs it. */
export type TracedCheckpoint = Pick<
  Checkpoint,
  "id" | "seq" | "createdAt" | "snapshot" | "rules" | "excluded"
>;

/** What is looked for. */
export interface Wanted {
  isWanted(path: BytePath, entry: Entry): boolean;
  /** False where nothing in this tree or below it can be wanted. */
  mayBeBelow(directory: BytePath, tree: ObjectHash): boolean;
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
}

/** The stretches of each path, newest first, and how many checkpoints could not be read. */
export interface Trace {
  readonly spans: ReadonlyMap<BytePath, readonly TracedSpan[]>;
  readonly unreadable: number;
}

/** Traces all paths through these checkpoints, which come newest first. */
export function tracePaths(
  objects: ObjectSource,
  checkpoints: readonly TracedCheckpoint[],
  wanted: Wanted,
): Trace {
  const spans = new Map<BytePath, TracedSpan[]>();
  /** Spans that the checkpoint at hand is part of. */
  const open = new Map<BytePath, TracedSpan>();
  let newer: { checkpoint: TracedCheckpoint; root: Entry } | undefined;
  let unreadable = 0;
  for (const checkpoint of checkpoints) {
    const root: Entry = { kind: "directory", mode: 0, hash: checkpoint.snapshot };
    const changes = readable(() => leafChanges({ objects, wanted }, newer?.root, root));
    if (changes === undefined) {
      unreadable += 1;
      continue;
    }
    const before = newer?.checkpoint;
    for (const { path, older } of changes) {
      const isHere = older !== undefined && wanted.isWanted(path, older);
      const span = open.get(path);
      if (span !== undefined && !isHere) {
        span.first = before!;
        open.delete(path);
      } else if (span === undefined && isHere) {
        const found: TracedSpan = { first: checkpoint, last: checkpoint, entry: older, gone: before };
        open.set(path, found);
        const known = spans.get(path);
        if (known === undefined) spans.set(path, [found]);
        else known.push(found);
      }
    }
    newer = { checkpoint, root };
  }
  for (const span of open.values()) span.first = newer!.checkpoint;
  return { spans, unreadable };
}

function readable<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (isEngineError(error, "OBJECT_CORRUPT") || isEngineError(error, "OBJECT_MISSING")) return undefined;
    throw error;
  }
}

interface LeafChange {
  readonly path: BytePath;
  readonly older: Entry | undefined;
}

interface Walk {
  readonly objects: ObjectSource;
  readonly wanted: Wanted;
}

const NOTHING: Tree = new Map();

/** The paths at which two snapshots have something else, directories only by what is in them. */
function leafChanges(walk: Walk, newer: Entry | undefined, older: Entry): LeafChange[] {
  const changes: LeafChange[] = [];
  const compare = (path: BytePath, a: Entry | undefined, b: Entry | undefined): void => {
    if (sameEntry(a, b)) return;
    const [isBelowA, isBelowB] = [a?.kind === "directory", b?.kind === "directory"];
    // a directory that took the place of a file, or the reverse, is both
    if ((a !== undefined && !isBelowA) || (b !== undefined && !isBelowB))
      changes.push({ path, older: isBelowB ? undefined : b });
    const [after, before] = [treeOf(walk, path, a), treeOf(walk, path, b)];
    for (const [name, entry] of before) compare(joinPath(path, name), after.get(name), entry);
    for (const [name, entry] of after) if (!before.has(name)) compare(joinPath(path, name), entry, undefined);
  };
  compare(ROOT_PATH, newer, older);
  return changes;
}

/** Empty where nothing of it is wanted: it is not read then. */
function treeOf({ objects, wanted }: Walk, path: BytePath, entry: Entry | undefined): Tree {
  if (entry?.kind !== "directory" || !wanted.mayBeBelow(path, entry.hash)) return NOTHING;
  return readTree(objects, entry.hash);
}
