/**
 * A capture that ended after its deadline, made the checkpoint of the deadline. The agent stopped waiting at the
 * deadline and may have changed files while they were read. What changed since is marked. What is gone since comes
 * from the checkpoint before: without that, the checkpoint before an `rm -rf` would say that nothing was ever there.
 */
import { editTree } from "../diff/edit-tree.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import { ancestorPaths, joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { Doubt } from "../model/checkpoint.ts";
import type { Deadline } from "../model/deadline.ts";
import { isDamage } from "../model/errors.ts";
import type { Edit } from "../model/plan.ts";
import { createStoreSink } from "../store/content-sink.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import { asSeen, type Context } from "./context.ts";
import { FILE, SYMLINK, type FileTable } from "../scan/file-table.ts";
import { provenChanges } from "./proven-changes.ts";
import type { Look, Present, LookResult } from "./look.ts";

/** The clock that stamps files ticks: a time just before the deadline may stand for one just after it. */
const TICK_NS = 10_000_000n;

/** Call it inside the commit of the capture. Returns `present` itself when it is not late or nothing changed since. */
export function lateView(
  context: Context,
  {
    present,
    table,
    writer,
    deadline,
  }: Pick<LookResult, "present" | "table"> & Pick<Look, "deadline"> & { writer: ObjectWriter },
): Present {
  if (deadline === undefined || context.system.now() < deadline.at) return present;
  const sinceNs = sinceOf(deadline);
  const gone = goneSince(context, present, sinceNs);
  const paths = [...changedSince(table, sinceNs), ...filesOf(gone).map(({ path }) => path)];
  if (paths.length === 0) return present;
  const doubts = [...present.doubts, ...paths.map((path): Doubt => ({ path, reason: deadline.reason }))];
  return gone.length === 0
    ? { ...present, doubts }
    : { ...takenOver(context, present, gone, writer), doubts };
}

/** Whether a file with this time may have changed after the deadline. */
export function changedAfter(deadline: Deadline, ctimeNs: bigint): boolean {
  return ctimeNs >= sinceOf(deadline);
}

function sinceOf({ at }: Deadline): bigint {
  return BigInt(Math.floor(at)) * 1_000_000n - TICK_NS;
}

function* changedSince(table: FileTable, sinceNs: bigint): Generator<BytePath> {
  for (const [directory, path] of table.directories.entries()) {
    for (const entry of table.entriesOf(directory)) {
      if (table.kind[entry] !== FILE && table.kind[entry] !== SYMLINK) continue;
      if (table.ctimeNs[entry]! >= sinceNs) yield joinPath(path, table.names[entry]!);
    }
  }
}

/** What the checkpoint before has and the disk lacks, where the times of a directory show that it lost a name since. */
function goneSince(context: Context, present: Present, sinceNs: bigint): Edit[] {
  const newest = headCheckpoint(context.store.db);
  if (newest === undefined) return [];
  try {
    const changes = provenChanges(context.store.objects, asSeen(context, newest), present);
    return changes.filter(
      ({ path, from, to }) =>
        to === undefined && from?.kind !== "gap" && hasLostSince(context.workingCopy.root, path, sinceNs),
    );
  } catch (error) {
    // an operation that needs what is damaged reports it; what changed is marked all the same
    if (isDamage(error)) return [];
    throw error;
  }
}

function hasLostSince(root: AbsolutePath, path: BytePath, sinceNs: bigint): boolean {
  for (const above of [...ancestorPaths(path).toReversed(), ROOT_PATH]) {
    const stat = statNode(below(root, above));
    if (stat !== undefined) return stat.ctimeNs >= sinceNs;
  }
  return true;
}

function takenOver(context: Context, present: Present, gone: readonly Edit[], writer: ObjectWriter): Present {
  const objects = { source: context.store.objects, sink: createStoreSink(writer) };
  const back = gone.map(({ path, from }) => ({ path, to: from }));
  const snapshot = editTree(objects, present.snapshot, back);
  writer.storeNow();
  const { changes: _, ...rest } = present;
  const files = filesOf(gone);
  const bytes = files.reduce(
    (sum, { from }) => sum + (from !== undefined && "size" in from ? from.size : 0),
    0,
  );
  return { ...rest, snapshot, files: present.files + files.length, bytes: present.bytes + bytes };
}

function filesOf(edits: readonly Edit[]): Edit[] {
  return edits.filter(({ from }) => from?.kind !== "directory");
}
