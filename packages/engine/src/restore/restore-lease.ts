/** The lease that lets one process at a time change the files of a workspace. */
import type { Context } from "../capture/context.ts";
import { EngineError } from "../model/errors.ts";
import { releaseQuietly, readRestoresHere, releaseLease, takeLease } from "../store/lease.ts";
import { withReserve } from "../store/reserve.ts";

/** Runs `work` as the one restore of this workspace; a second one is refused with its owner and age. */
export function withRestoreLease<Result>(context: Context, work: () => Result): Result {
  // [R163] going back takes the store little more than rows: on a full disk it has the reserve for them
  return withReserve(context.store, () => withLease(context, work));
}

function withLease<Result>({ store, system }: Context, work: () => Result): Result {
  const lease = store.db.fleetingTransaction(() => {
    for (const other of readRestoresHere(store.db)) {
      if (other.owner.pid !== system.owner.pid && system.isAlive(other.owner))
        throw running(other.owner.pid, system.iso(other.since));
      releaseLease(store.db, other.id);
    }
    return takeLease(store.db, "restore", system.owner, system.now());
  });
  try {
    return work();
  } finally {
    releaseQuietly(() => store.db.fleetingTransaction(() => releaseLease(store.db, lease)));
  }
}

function running(pid: number, since: string): EngineError<"RESTORE_RUNNING"> {
  return new EngineError(
    "RESTORE_RUNNING",
    `Another restore is running (process ${pid}, since ${since}). Nothing was changed.`,
    { pid, since },
  );
}
