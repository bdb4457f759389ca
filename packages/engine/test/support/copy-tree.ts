/** Copies what is in a directory into another: names as bytes, times, modes, links and hard links as they are. */
import {
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  chmodSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  type BigIntStats,
} from "node:fs";

export function copyTree(from: string, to: string): void {
  copyInside(Buffer.from(`${from}/`), Buffer.from(`${to}/`), new Map());
}

function copyInside(from: Buffer, to: Buffer, copied: Map<bigint, Buffer>): void {
  for (const name of readdirSync(from, "buffer")) {
    const [source, target] = [Buffer.concat([from, name]), Buffer.concat([to, name])];
    const stat = lstatSync(source, { bigint: true });
    if (stat.isSymbolicLink()) symlinkSync(readlinkSync(source, "buffer"), target);
    else if (stat.isDirectory()) copyDirectory(source, target, copied);
    else copyFile(source, target, { stat, copied });
    if (!stat.isSymbolicLink()) keepFacts(target, stat);
  }
}

const SLASH = Buffer.from("/");

function copyDirectory(source: Buffer, target: Buffer, copied: Map<bigint, Buffer>): void {
  mkdirSync(target);
  copyInside(Buffer.concat([source, SLASH]), Buffer.concat([target, SLASH]), copied);
}

function copyFile(
  source: Buffer,
  target: Buffer,
  { stat, copied }: { stat: BigIntStats; copied: Map<bigint, Buffer> },
): void {
  const twin = copied.get(stat.ino);
  if (twin !== undefined) return linkSync(twin, target);
  if (stat.nlink > 1n) copied.set(stat.ino, target);
  if (!isReserve(source)) return copyFileSync(source, target);
  // what it holds is of no interest, and megabytes for each of thousands of tries are
  writeFileSync(target, "");
  truncateSync(target, Number(stat.size));
}

function isReserve(path: Buffer): boolean {
  return path.subarray(-8).equals(RESERVE);
}

const RESERVE = Buffer.from("/reserve");

function keepFacts(path: Buffer, { mode, atimeNs, mtimeNs }: BigIntStats): void {
  chmodSync(path, Number(mode & 0o7777n));
  utimesSync(path, Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9);
}
