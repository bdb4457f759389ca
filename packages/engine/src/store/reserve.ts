/**
 * Freeing space and going back need a little space: SQLite writes to its log before it changes anything. A few
 * megabytes are kept aside for that. On a nearly full disk they are given up for as long as such work takes and set
 * aside again when it is done: captures never have them.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeFile, replaceFile } from "../fs/durable-file.ts";
import { statNode } from "../fs/file-stat.ts";
import { isSystemError } from "../fs/system-error.ts";
import { freeBytes } from "../fs/mutate.ts";
import { EngineError } from "../model/errors.ts";
import type { Database } from "./database.ts";

const RESERVE_BYTES = 4 * 1024 * 1024;
const STEP_BYTES = 256 * 1024;

function reservePath(directory: AbsolutePath): AbsolutePath {
  return below(directory, "reserve");
}

/** Sets the reserve aside if it is missing, or as much of it as there is room for; that it cannot is no error here. */
export function keepReserve(directory: AbsolutePath | undefined): void {
  if (directory === undefined) return;
  const there = Number(statNode(reservePath(directory))?.size ?? 0);
  if (there >= RESERVE_BYTES) return;
  const room = Math.floor(freeBytes(directory) / STEP_BYTES) * STEP_BYTES;
  const size = Math.min(RESERVE_BYTES, room);
  // what is there is replaced as a whole, or stays
  if (size <= there) return;
  try {
    replaceFile(reservePath(directory), [Buffer.alloc(size, 0xbe)], { durable: false });
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

/** Gives the reserve up; where that fails too, what needed its space says so. */
function releaseReserve(directory: AbsolutePath): void {
  try {
    removeFile(reservePath(directory));
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

/** Below this the disk counts as nearly full: twice what one piece of such work writes. */
const NEARLY_FULL_BYTES = 4 * RESERVE_BYTES;

/** True when there is no room for anything but freeing space and going back. */
export function isNearlyFull(directory: AbsolutePath | undefined): boolean {
  return directory !== undefined && freeBytes(directory) < NEARLY_FULL_BYTES;
}

const givenUp = new Set<AbsolutePath>();

/** [R162] Does work that the reserve is there for; nested calls are part of the outer one. */
export function withReserve<Result>(
  { db, directory }: { readonly db: Database; readonly directory: AbsolutePath | undefined },
  work: () => Result,
): Result {
  if (directory === undefined || db.readOnly || givenUp.has(directory) || !isNearlyFull(directory))
    return work();
  givenUp.add(directory);
  releaseReserve(directory);
  try {
    return work();
  } finally {
    givenUp.delete(directory);
    shrinkLog(db);
    keepReserve(directory);
  }
}

/** The log keeps the size it grew to for as long as any process has the store open; what did not fit left its trace there too. */
function shrinkLog(db: Database): void {
  try {
    db.all("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}
