/**
 * The one way from the working copy into the store: look, hand the capture to the caller, record when told.
 *
 * `work` runs inside the write transaction. It can read everything the look saw (`capture.present`), write rows of
 * its own, and call `capture.record`. Unless it records (or calls `capture.store`), the transaction rolls back:
 * nothing is stored and nothing is remembered for the next look.
 *
 * What may run twice: the look, and `look.widen`. Another process may have recorded a newer checkpoint during the
 * look, `gc` may have freed an object that the look found in the store, the store may be full, or the look saw too
 * little. Each is noticed inside the transaction, which rolls back, and the look starts again. `work` runs once, on
 * the look that counts.
 */
import { walkTree } from "../diff/compare-trees.ts";
import { isErrno } from "../fs/file-stat.ts";
import { placeHere } from "../history/line.ts";
import type { Recorded } from "../history/record.ts";
import { isEngineError } from "../model/errors.ts";
import { HASH_BYTES, type ObjectHash } from "../model/object-hash.ts";
import { assertRootThere } from "../scan/root.ts";
import { releaseQuietly } from "../store/lease.ts";
import { ObjectWriter, readGeneration } from "../store/object-writer.ts";
import { storeBytes } from "../store/store.ts";
import { noteFull } from "../upkeep/known-full.ts";
import type { Context } from "./context.ts";
import { lateView } from "./late-view.ts";
import { widerLook } from "./look-now.ts";
import type { Look, Present, LookResult } from "./look.ts";
import { recordCapture, type CaptureRecording } from "./record-capture.ts";
import { withheldView } from "./withheld-view.ts";

/** What a look saw, in the store for as long as the transaction lasts. */
export interface Capture {
  readonly present: Present;
  /** Records the capture as a checkpoint, in this transaction; once. */
  record(recording: CaptureRecording): Recorded;
  /** Keeps the content without a checkpoint. The caller must refer to it in this transaction, or `gc` frees it. */
  store(): void;
}

/** One attempt: the caller's result, or the look to start again with. */
type Attempt<Result> =
  | { readonly again: Look; readonly isOutrun: boolean; readonly isKept: false }
  | {
      readonly result: Result;
      readonly isKept: boolean;
      /** Tells the next look what this one saw; call it when the checkpoint is durable. */
      remember(): void;
    };

/** After this many attempts that another process outran, the look itself happens under the write lock. */
const ATTEMPTS = 3;

/** Looks, and gives the capture to `work`; see above for what may run twice. */
export function withCapture<Result>(
  context: Context,
  look: Look,
  work: (capture: Capture) => Result,
): Result {
  assertRootThere(context.workingCopy.root);
  const { store } = context;
  const isKept = (attempt: Attempt<Result>) => attempt.isKept;
  for (let asked = look, outruns = 0; ;) {
    const bytesBefore = storeBytes(store);
    let isHandedOver = false;
    const once = (capture: Capture) => {
      isHandedOver = true;
      return work(capture);
    };
    const attempt = () => attemptCapture(context, { look: asked, room: roomFor(context, bytesBefore) }, once);
    try {
      const ended = outruns < ATTEMPTS ? attempt() : store.db.transaction(attempt, isKept);
      if (!("again" in ended)) {
        ended.remember();
        return ended.result;
      }
      asked = ended.again;
      if (ended.isOutrun) outruns += 1;
    } catch (error) {
      if (!isHandedOver && isErrno(error, "ENOENT", "ENOTDIR") && outruns <= ATTEMPTS) {
        // the root was gone for a moment, or is
        assertRootThere(context.workingCopy.root);
        outruns += 1;
        continue;
      }
      if (isHandedOver || !isEngineError(error, "STORE_FULL")) throw error;
      context.makeRoom(error.facts.missingBytes, look.spared);
      // freeing what the attempt itself had stored is no progress
      if (storeBytes(store) < bytesBefore) continue;
      noteFull(store, context.system, context.capBytes);
      throw error;
    }
  }
}

function attemptCapture<Result>(
  context: Context,
  { look, room }: { look: Look; room: number },
  work: (capture: Capture) => Result,
): Attempt<Result> {
  const { store, system, workingCopy } = context;
  // another process may record a checkpoint meanwhile, or take the working copy to another branch
  const base = placeHere(store.db);
  const writer = new ObjectWriter(store.db, store.objects, system.owner, room);
  let isCommitted = false;
  try {
    const seen = workingCopy.capture(look, writer);
    const attempt = writer.commit(
      (): Attempt<Result> => {
        if (placeHere(store.db) !== base) return { again: look, isOutrun: true, isKept: false };
        if (!isComplete(context, seen.present, writer)) {
          workingCopy.distrust();
          return { again: look, isOutrun: true, isKept: false };
        }
        const { present, wider } = widerLook(context, look, seen.present);
        if (wider !== undefined) return { again: wider, isOutrun: false, isKept: false };
        const view = lateView(context, { ...seen, present, writer, deadline: look.deadline });
        return handOver(context, { seen, present: view, writer }, work);
      },
      ({ isKept }) => isKept,
    );
    isCommitted = attempt.isKept;
    return attempt;
  } finally {
    if (!isCommitted) releaseQuietly(() => writer.abandon());
  }
}

function handOver<Result>(
  context: Context,
  { seen, present, writer }: { seen: LookResult; present: Present; writer: ObjectWriter },
  work: (capture: Capture) => Result,
): Attempt<Result> {
  const { stored } = writer;
  let isStored = false;
  let recorded: Recorded | undefined;
  const result = work({
    present,
    record(recording) {
      if (recorded !== undefined) throw new Error("a capture is recorded once");
      const whole = withheldView(context.store, present, writer);
      recorded = { ...recordCapture(context, whole, recording), stored };
      return recorded;
    },
    store: () => void (isStored = true),
  });
  const remember = () => {
    if (recorded === undefined) return;
    // a late view has files that are gone from the disk: the next look must not rely on them
    if (seen.present.snapshot === present.snapshot) seen.remember(recorded.checkpoint);
    else context.workingCopy.live?.capture.outdate("a capture came late");
  };
  return { result, isKept: isStored || recorded !== undefined, remember };
}

/** What packs may take without the store growing beyond its cap: rows, indexes and the log come on top of them. */
export function roomFor({ store, capBytes }: Context, bytes = storeBytes(store)): number {
  return capBytes - bytes - Math.max(ROWS_SPARE_BYTES, capBytes * ROWS_SPARE_SHARE);
}

const ROWS_SPARE_BYTES = 128 * 1024;
const ROWS_SPARE_SHARE = 0.01;

/** What a table says of a tree that was never built: no snapshot can have this name. */
const NO_TREE = "0".repeat(2 * HASH_BYTES);

/** [R3] A capture is recorded only if everything it refers to is in the store; `gc` may have freed some of it. */
export function isComplete(
  { store }: Context,
  { snapshot, rules, excluded }: Pick<Present, "snapshot" | "rules" | "excluded">,
  { generation }: ObjectWriter,
): boolean {
  if (snapshot === NO_TREE) return false;
  if (readGeneration(store.db) === generation) return true;
  const isThere = (name: ObjectHash) =>
    [name, ...store.objects.pieceNames(name)].every((each) => store.objects.has(each));
  try {
    if (![snapshot, rules, excluded].every(isThere)) return false;
    for (const { entry } of walkTree(store.objects, snapshot))
      if (entry.kind !== "gap" && !isThere(entry.hash)) return false;
    return true;
  } catch (error) {
    if (isEngineError(error, "OBJECT_MISSING")) return false;
    throw error;
  }
}
