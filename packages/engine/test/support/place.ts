/** Where tests make their directories. */
import { existsSync, mkdtempSync, realpathSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * In memory if there is plenty, because every command syncs what it wrote. BELAY_TEST_DIR=/tmp puts them on a
 * disk.
 */
const PLACE = process.env["BELAY_TEST_DIR"] ?? (hasRoomInMemory() ? "/dev/shm" : tmpdir());

function hasRoomInMemory(): boolean {
  if (!existsSync("/dev/shm")) return false;
  const { bavail, bsize } = statfsSync("/dev/shm");
  return bavail * bsize > 2 ** 31;
}

/** A temporary directory by its real path. */
export function makeDirectory(prefix: string): string {
  return realpathSync(mkdtempSync(join(PLACE, prefix)));
}
