/** The last ghost, in a file of the store: what the next one starts from. */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeFile, replaceFile } from "../fs/durable-file.ts";
import { readSmallFile } from "../fs/read-file.ts";
import { displayPath, isUtf8Path, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";

const LAST = "ghost.json";
const LAST_LIMIT = 1024 * 1024;

/** What is kept of it. Disposable. */
export interface LastGhost {
  readonly id: string;
  readonly commit: string;
  /** The objects that were written for it, where they are known. */
  readonly written: readonly string[] | null;
  readonly head: string;
  readonly headTree: string;
  readonly tree: string;
  readonly snapshot: string;
  readonly rules: string;
  readonly leftOut: readonly string[];
  /** How many ghosts there were with it. */
  readonly count: number;
}

/** The last ghost; undefined when there is none, or it cannot be read. */
export function readLast(directory: AbsolutePath): LastGhost | undefined {
  try {
    const text = readSmallFile(below(directory, LAST), LAST_LIMIT)?.toString("utf8");
    const last = text === undefined ? undefined : (JSON.parse(text) as LastGhost);
    return typeof last?.commit === "string" ? last : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a ghost as the last one. */
export function writeLast(
  directory: AbsolutePath,
  facts: Omit<LastGhost, "snapshot" | "rules" | "leftOut"> & {
    checkpoint: Checkpoint;
    leftOut: readonly BytePath[];
  },
): void {
  const { checkpoint, leftOut, ...rest } = facts;
  if (!leftOut.every(isUtf8Path)) return forgetLast(directory);
  const { snapshot, rules } = checkpoint;
  const last: LastGhost = { ...rest, snapshot, rules, leftOut: leftOut.map(displayPath) };
  replaceFile(below(directory, LAST), [Buffer.from(JSON.stringify(last))], { durable: false });
}

/** The next ghost starts from HEAD. */
export function forgetLast(directory: AbsolutePath): void {
  removeFile(below(directory, LAST));
}
