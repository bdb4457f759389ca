/**
 * The time by the clock that stamps files. Comparing file times with any other clock goes wrong when
 * that clock is off, faked or coarser, so a file is written and its own stamp read back.
 */
import { fstatSync, writeSync } from "node:fs";
import { openNamelessFile } from "./shared-bytes.ts";

const BYTE = Buffer.from([0]);
let descriptor: number | undefined;

/** Now, as a file written now would say. */
export function readFileClock(): bigint {
  descriptor ??= openNamelessFile("clock");
  writeSync(descriptor, BYTE, 0, 1, 0);
  return fstatSync(descriptor, { bigint: true }).mtimeNs;
}
