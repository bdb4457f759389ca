/**
 * Takes a checkpoint: capture, then one durable transaction that records it. Another process may have
 * recorded a newer state, or `gc` may have freed something, while this one was looking: both are noticed
 * inside the transaction, and the capture starts again.
 */
import { walkTree } from "../diff/compare-trees.ts";
import { recordCheckpoint, type Recorded, type Recording } from "../history/record.ts";
import { newestCheckpoint, newestSeq } from "../history/checkpoints.ts";
import { readUnsettled } from "../history/journal.ts";
import { assertTagFree } from "../history/annotations.ts";
import { assertName } from "../history/references.ts";
import type { AttributionMoment } from "../history/attribution.ts";
import { isCallOver, isTurnOver, resumedCommands } from "../history/liveness.ts";
import { closeStep, openSteps, type Step } from "../history/steps.ts";
import { giveUpCall, openCalls, takeUpCall } from "../history/tool-calls.ts";
import { assertThread } from "../history/threads.ts";
import { ancestorPaths, pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint, CheckpointRequest, Doubt } from "../model/checkpoint.ts";
import type { Bounded } from "../model/deadline.ts";
import { isEngineError } from "../model/errors.ts";
import { HASH_BYTES, type ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import type { Database } from "../store/database.ts";
import { giveBack, readLeases } from "../store/lease.ts";
import { ObjectWriter, readGeneration } from "../store/object-writer.ts";
import { storeBytes } from "../store/store.ts";
import { asSeen, lookRequest, type Context } from "./context.ts";
import { leftBehind } from "./left-behind.ts";
import { isTakenOver, lateView } from "./late-view.ts";
import { momentOf } from "./moment.ts";
import { provenChanges } from "./proven-changes.ts";
import { assertRootThere } from "../scan/root.ts";
import type { LookRequest, Present } from "./look.ts";

export interface Taken extends Recorded {
  readonly present: Present;
  /** False when the previous checkpoint is damaged: what changed since cannot be told. */
  readonly comparable: boolean;
}

export interface TakeOptions extends Bounded {
  readonly request: CheckpointRequest;
  readonly description: string;
  readonly look?: Partial<LookRequest>;
  /** A checkpoint with which what is captured will be compared. */
  readonly since?: Checkpoint | undefined;
  readonly operation?: Recording["operation"];
  /** What this capture finds is Belay's own unfinished work, not anybody's change. */
  readonly ownDoing?: boolean;
  readonly doubts?: readonly Doubt[];
  /** What is known of who was at work: the thread whose tool runs next, the call that ends. */
  readonly moment?: Pick<AttributionMoment, "bracketing" | "ended" | "heard" | "interrupted">;
  /** seq of the checkpoint for whose sake this one is taken: no room is made at its cost. */
  readonly keep?: number;
  /** Done inside the transaction that records the checkpoint. */
  within?(recorded: Recorded): void;
  /** Asked when the capture's content can be read from the store and nothing is recorded yet: false drops the capture. */
  wanted?(present: Present): boolean;
  /** Called instead of recording a checkpoint, in the same transaction: it must hold on to the state by itself. */
  unrecorded?(present: Present): void;
}

const ATTEMPTS = 3;

/** What a table says of a tree that was never made: no snapshot can have this name. */
const NO_TREE = "0".repeat(2 * HASH_BYTES);

/** Takes a checkpoint; undefined only when `wanted` said no. */
export function takeCheckpoint(
  context: Context,
  options: TakeOptions & { wanted?: undefined; unrecorded?: undefined },
): Taken;
export function takeCheckpoint(context: Context, options: TakeOptions): Taken | undefined;
export function takeCheckpoint(context: Context, options: TakeOptions): Taken | undefined {
  assertRootThere(context.worktree.root);
  validate(context, options.request);
  let look = options.look;
  const attempt = () =>
    attemptCheckpoint(
      context,
      { ...options, ...(look === undefined ? {} : { look }) },
      look === options.look,
    );
  for (let outrun = 0; ;) {
    const bytesBefore = storeBytes(context.store);
    try {
      // the last time nobody can get in between
      return outrun < ATTEMPTS ? attempt() : context.store.db.transaction(attempt);
    } catch (error) {
      if (error instanceof Outrun) {
        outrun += 1;
        if (error.distrust) context.worktree.distrust();
      } else if (error instanceof LookAgain) {
        look = { ...look, included: [...(look?.included ?? []), ...error.paths] };
      } else if (isEngineError(error, "STORE_FULL")) {
        context.makeRoom(error.facts.missingBytes, options.keep);
        // to free what the attempt itself had stored is no progress
        if (storeBytes(context.store) >= bytesBefore) throw error;
      } else {
        throw error;
      }
    }
  }
}

function validate(context: Context, { thread, name, tags }: CheckpointRequest): void {
  if (thread !== undefined) assertThread(context.store.db, thread);
  if (name !== undefined) assertName(name);
  for (const tag of tags ?? []) assertTagFree(context.store.db, tag);
}

/** The world moved on while this process was looking at it. */
class Outrun extends Error {
  readonly distrust: boolean;

  constructor(distrust: boolean) {
    super("outrun");
    this.distrust = distrust;
  }
}

/** The rules leave out what the newest checkpoint has: the capture starts again and looks at it by name. */
class LookAgain extends Error {
  readonly paths: readonly BytePath[];

  constructor(paths: readonly BytePath[]) {
    super("look again");
    this.paths = paths;
  }
}

function attemptCheckpoint(context: Context, options: TakeOptions, isFirstLook: boolean): Taken | undefined {
  const { store, system, worktree } = context;
  const base = newestSeq(store.db);
  const writer = new ObjectWriter(store.db, store.objects, system.owner, roomFor(context));
  try {
    const seen = worktree.capture(lookRequest(context, options.look), writer, store.objects);
    let present = seen;
    const recorded = writer.commit(() => {
      if (newestSeq(store.db) !== base) throw new Outrun(false);
      if (seen.snapshot === NO_TREE) throw new Outrun(true);
      if (readGeneration(store.db) !== writer.generation) assertComplete(context, seen);
      const { included, absent } = leftBehind(context, seen, options.since);
      if (isFirstLook && included.length > 0) throw new LookAgain(included);
      present = lateView(context, { present: { ...seen, absent }, writer, deadline: options.deadline });
      if (options.wanted?.(present) === false) throw new NotWanted();
      if (options.unrecorded === undefined) return record(context, options, present);
      options.unrecorded(present);
      return undefined;
    });
    if (recorded === undefined) return undefined;
    if (isTakenOver(seen, present)) worktree.live?.capture.doubt("a capture came late");
    else worktree.remember(present, recorded.checkpoint.id);
    return { ...recorded, present };
  } catch (error) {
    giveBack(() => writer.abandon());
    if (error instanceof NotWanted) return undefined;
    throw error;
  }
}

/** What packs may take without the store growing beyond its cap: rows, indexes and the log come on top of them. */
function roomFor({ store, capBytes }: Context): number {
  return capBytes - storeBytes(store) - Math.max(ROWS_SPARE_BYTES, capBytes * ROWS_SPARE_SHARE);
}

const ROWS_SPARE_BYTES = 128 * 1024;
const ROWS_SPARE_SHARE = 0.01;

/** Rolls the transaction back: nothing of the capture is kept. */
class NotWanted extends Error {}

function record(context: Context, options: TakeOptions, present: Present): Omit<Taken, "present"> {
  const { store, system } = context;
  const restoring = pathsBeingRestored(context);
  const doubts = [
    ...present.doubts,
    ...(options.doubts ?? [...restoring].map((path): Doubt => ({ path, reason: "mid-restore" }))),
  ];
  const newest = newestCheckpoint(store.db);
  // what a restore has done so far is its own doing, recorded when it is done
  const changes =
    newest === undefined
      ? []
      : changesSince(context, newest, present)?.filter(({ path }) => !restoring.has(path));
  const moment = momentOf(context, { ...options.moment, event: options.request.thread });
  for (const call of resumedCommands(store.db, moment)) takeUpCall(store.db, call);
  const recorded = recordCheckpoint(store.db, {
    request: options.request,
    description: options.description,
    facts: { ...present, doubts },
    moment,
    newId: system.newId,
    since: newest === undefined ? undefined : { base: newest, changes: changes ?? [] },
    ...(options.ownDoing === true ? { madeBy: { step: null } } : {}),
    ...(options.operation === undefined ? {} : { operation: options.operation }),
  });
  closeWhatIsOver(context, moment);
  options.within?.(recorded);
  return { ...recorded, comparable: changes !== undefined };
}

/** undefined when the previous checkpoint is damaged: that must not keep new ones from being taken. */
function changesSince(context: Context, base: Checkpoint, present: Present): readonly Edit[] | undefined {
  const isSameView = base.rules === present.rules && base.excluded === present.excluded;
  if (isSameView && present.changes?.since === base.snapshot) return present.changes.edits;
  try {
    return provenChanges(context.store.objects, asSeen(context, base), present);
  } catch (error) {
    if (isEngineError(error, "OBJECT_CORRUPT") || isEngineError(error, "OBJECT_MISSING")) return undefined;
    throw error;
  }
}

/** [R11] While another process restores, some of what was seen is half old, half new. */
function pathsBeingRestored({ store, system }: Context): Set<BytePath> {
  const running = readLeases(store.db, "restore").some(
    ({ owner }) => owner.pid !== system.owner.pid && system.isAlive(owner),
  );
  return new Set(
    running ? readUnsettled(store.db).flatMap(({ edits }) => edits.map(({ path }) => path)) : [],
  );
}

/**
 * [R121] A turn whose agent is gone is over: what it did is in this capture, what comes later is not its doing. It
 * ends where it was last heard of, so that its checkpoints are those it made.
 */
function closeWhatIsOver({ store: { db } }: Context, moment: AttributionMoment): void {
  const { now } = moment;
  for (const call of openCalls(db))
    if (call.id !== moment.ended?.id && isCallOver(db, call, moment)) giveUpCall(db, call, now);
  for (const step of openSteps(db))
    if (isTurnOver(db, step, moment)) closeStep(db, step.id, { after: endOf(db, step), now });
}

/** The last checkpoint of the step's thread, or that of its last change. */
function endOf(db: Database, { id, thread, before }: Step): number {
  const row = db.get(
    `SELECT max(coalesce((SELECT max(seq) FROM checkpoint WHERE thread = ?1), 0),
       coalesce((SELECT max(checkpoint) FROM change WHERE step = ?2), 0)) AS seq`,
    thread,
    id,
  );
  return Math.max(Number(row?.["seq"] ?? 0), before ?? 0);
}

/** [R3] A checkpoint is recorded only if everything it refers to is in the store. */
function assertComplete({ store }: Context, { snapshot, rules, excluded }: Present): void {
  const check = (name: ObjectHash) => {
    if (![name, ...store.objects.pieceNames(name)].every((each) => store.objects.has(each)))
      throw new Outrun(true);
  };
  try {
    for (const name of [snapshot, rules, excluded]) check(name);
    for (const { entry } of walkTree(store.objects, snapshot)) if (entry.kind !== "gap") check(entry.hash);
  } catch (error) {
    throw isEngineError(error, "OBJECT_MISSING") ? new Outrun(true) : error;
  }
}

/**
 * Names paths that a tool is about to write: captured from now on, and known absent before if they are absent now,
 * like the directories that will have to be made for them.
 */
export function namePaths(
  context: Context,
  paths: readonly BytePath[],
  isThere: (path: BytePath) => boolean,
): void {
  const { db } = context.store;
  const missing = paths.flatMap(ancestorPaths).filter((directory) => !isThere(directory));
  db.transaction(() => {
    for (const path of [...paths, ...missing]) {
      db.run(
        "INSERT OR IGNORE INTO named_path (path, since, absent) VALUES (?, ?, ?)",
        pathToBytes(path),
        newestSeq(db),
        isThere(path) ? 0 : 1,
      );
    }
  });
}
