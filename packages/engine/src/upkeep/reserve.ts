/**
 * Freeing space needs a little space: SQLite writes to its log before it gives pages back. A few
 * megabytes are kept aside for that, and given up when the disk is full.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeFile, replaceFile } from "../fs/durable-file.ts";
import { isDiskFull, statNode } from "../fs/file-stat.ts";

const RESERVE_BYTES = 4 * 1024 * 1024;

function reservePath(directory: AbsolutePath): AbsolutePath {
  return below(directory, "reserve");
}

/** Sets the reserve aside if it is missing and there is room; a full disk is no error here. */
export function keepReserve(directory: AbsolutePath | undefined): void {
  if (directory === undefined || statNode(reservePath(directory)) !== undefined) return;
  try {
    replaceFile(reservePath(directory), [Buffer.alloc(RESERVE_BYTES, 0xbe)], { durable: false });
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

export function releaseReserve(directory: AbsolutePath | undefined): void {
  if (directory !== undefined) removeFile(reservePath(directory));
}
