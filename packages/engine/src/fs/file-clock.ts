/**
 * The time by the clock that stamps files. Any other clock may be off, faked or coarser, so we write a file
 * and read its own stamp.
 */
import { closeSync, fstatSync, mkdtempSync, openSync, rmdirSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BYTE = Buffer.from([0]);
let descriptor: number | undefined;

/** The timestamp that a file written now would get. */
export function readFileClock(): bigint {
  descriptor ??= openNamelessFile();
  writeSync(descriptor, BYTE, 0, 1, 0);
  return fstatSync(descriptor, { bigint: true }).mtimeNs;
}

/** A temporary file whose name is removed at once, so that nothing is left behind. */
function openNamelessFile(): number {
  const directory = mkdtempSync(join(tmpdir(), "belay-clock-"));
  const path = join(directory, "clock");
  const opened = openSync(path, "wx", 0o600);
  try {
    unlinkSync(path);
    rmdirSync(directory);
    return opened;
  } catch (error) {
    closeSync(opened);
    throw error;
  }
}
