/**
 * Freeing space needs a little space: SQLite writes to its log before it gives pages back. A few
 * megabytes are kept aside for that, and given up when the disk is full.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeFile, replaceFile } from "../fs/durable-file.ts";
import { statNode } from "../fs/file-stat.ts";
import { isSystemError } from "../fs/system-error.ts";
import { freeBytes } from "../fs/mutate.ts";

const RESERVE_BYTES = 4 * 1024 * 1024;
const STEP_BYTES = 256 * 1024;

function reservePath(directory: AbsolutePath): AbsolutePath {
  return below(directory, "reserve");
}

/** Sets the reserve aside if it is missing, or as much of it as there is room for; that it cannot is no error here. */
export function keepReserve(directory: AbsolutePath | undefined): void {
  if (directory === undefined || statNode(reservePath(directory)) !== undefined) return;
  const size = Math.min(RESERVE_BYTES, Math.floor(freeBytes(directory) / STEP_BYTES) * STEP_BYTES);
  if (size === 0) return;
  try {
    replaceFile(reservePath(directory), [Buffer.alloc(size, 0xbe)], { durable: false });
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

/** Gives the reserve up; where that fails too, what needed its space says so. */
export function releaseReserve(directory: AbsolutePath | undefined): void {
  if (directory === undefined) return;
  try {
    removeFile(reservePath(directory));
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
