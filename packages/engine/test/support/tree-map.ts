/**
 * A directory as a map that two of can be compared: path (one character a byte) → kind, permission bits and
 * content. Written apart from the engine on purpose: it is what the engine's own walk is judged by.
 */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, type BigIntStats } from "node:fs";

/** "directory 755", "file 644 <sha-256>" or "symlink <target>" by path. */
export type TreeMap = ReadonlyMap<string, string>;

const NEVER_COMPARED = /^(?:\.git|\.belay-stage-.*)$/s;

/** Everything below a directory but `.git` and staging directories; `specialBits` are setuid and their like. */
export function readTreeMap(root: string, { specialBits = false } = {}): TreeMap {
  const map = new Map<string, string>();
  const bits = specialBits ? 0o7777 : 0o777;
  walk(root, (path, bytes, stat) => map.set(path, describeNode(bytes, stat, bits)));
  return map;
}

/** Which node stands at each path and when its content was last changed: equal means untouched. */
export function readIdentities(root: string): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  walk(root, (path, _bytes, { ino, mtimeNs }) => map.set(path, `${ino} ${mtimeNs}`));
  return map;
}

/** Staging directories that are left in a workspace: there should be none. */
export function findStageLeftovers(root: string): string[] {
  return readdirSync(root).filter((name) => name.startsWith(".belay-stage-"));
}

/** How `readTreeMap` describes a file. */
export function describeFile(mode: number, content: Uint8Array): string {
  return `file ${mode.toString(8)} ${createHash("sha256").update(content).digest("hex")}`;
}

function describeNode(path: Buffer, stat: BigIntStats, bits: number): string {
  const mode = Number(stat.mode) & bits;
  if (stat.isDirectory()) return `directory ${mode.toString(8)}`;
  if (stat.isSymbolicLink()) return `symlink ${readlinkSync(path, "latin1")}`;
  return stat.isFile() ? describeFile(mode, readFileSync(path)) : "special";
}

type Visit = (path: string, bytes: Buffer, stat: BigIntStats) => void;

function walk(root: string, visit: Visit, below = ""): void {
  const directory = Buffer.from(`${root}/${below}`, "latin1");
  for (const name of readdirSync(directory, "latin1").sort()) {
    if (NEVER_COMPARED.test(name)) continue;
    const path = below === "" ? name : `${below}/${name}`;
    const bytes = Buffer.from(`${root}/${path}`, "latin1");
    const stat = lstatSync(bytes, { bigint: true });
    visit(path, bytes, stat);
    if (stat.isDirectory()) walk(root, visit, path);
  }
}
