/**
 * Freeing space and going back need a little space, because SQLite writes to its log first. A few megabytes
 * are reserved for that. On a nearly full disk the reserve is released while such work runs and re-created
 * afterwards. Captures never get it.
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

/** Creates a missing reserve, or as much of it as there is room for. Failing is not an error here. */
export function keepReserve(directory: AbsolutePath | undefined): void {
  if (directory === undefined) return;
  const there = Number(statNode(reservePath(directory))?.size ?? 0);
  if (there >= RESERVE_BYTES) return;
  const room = Math.floor(freeBytes(directory) / STEP_BYTES) * STEP_BYTES;
  const size = Math.min(RESERVE_BYTES, room);
  // an existing reserve is replaced as a whole, or stays
  if (size <= there) return;
  try {
    replaceFile(reservePath(directory), [Buffer.alloc(size, 0xbe)], { durable: false });
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

/** Deletes the reserve. If that fails too, the work that needed the space reports it. */
function releaseReserve(directory: AbsolutePath): void {
  try {
    removeFile(reservePath(directory));
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

/** Below this the disk counts as nearly full: twice what one unit of such work writes. */
const NEARLY_FULL_BYTES = 4 * RESERVE_BYTES;

/** True when there is room only for freeing space and going back. */
export function isNearlyFull(directory: AbsolutePath | undefined): boolean {
  return directory !== undefined && freeBytes(directory) < NEARLY_FULL_BYTES;
}

const givenUp = new Set<AbsolutePath>();

/** [R162] Runs work that may use the reserve; nested calls join the outer one. */
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

/** The log keeps its peak size while any process has the store open, even after a write that did not fit. */
function shrinkLog(db: Database): void {
  try {
    db.all("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}
