/**
 * Claude Code's transcript: one JSON object per line, append-only, each message with the uuid of the one it
 * follows. The format is Claude Code's own and may change: what cannot be parsed is skipped, and the file is
 * never written.
 */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { textOf, parsePayload, type Payload } from "../events/payload.ts";

/** One line of a transcript. */
export interface TranscriptEntry {
  readonly uuid: string;
  /** What it follows, across compactions too. */
  readonly parent: string | null;
  /** The prompt it belongs to, as hooks name it. */
  readonly promptId: string | null;
  readonly fields: Payload;
}

/** A part of a transcript. */
export interface TranscriptPart {
  readonly entries: readonly TranscriptEntry[];
  /** Where the next part begins: after the last whole line. */
  readonly end: number;
}

const LARGEST = 256 << 20;

/** The messages of the main conversation from `start` on; null when the file is missing, shorter or too large. */
export function readTranscript(path: string, start = 0, limit = LARGEST): TranscriptPart | null {
  const bytes = readFrom(path, start, limit);
  if (bytes === null) return null;
  const end = bytes.lastIndexOf(0x0a) + 1;
  const lines = bytes.subarray(0, end).toString("utf8").split("\n");
  return { entries: lines.flatMap(asEntry), end: start + end };
}

/** The messages among the last bytes of a transcript; none when it cannot be read. */
export function readTranscriptEnd(path: string, bytes: number): readonly TranscriptEntry[] {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return readTranscript(path, Math.max(0, size - bytes))?.entries ?? [];
}

/** Uuids from this one up to the first message, or to the first that is not known. */
export function ancestors(entries: ReadonlyMap<string, TranscriptEntry>, from: string | null): string[] {
  const chain: string[] = [];
  const seen = new Set<string>();
  for (let at = from; at !== null && !seen.has(at); at = entries.get(at)?.parent ?? null) {
    seen.add(at);
    chain.push(at);
  }
  return chain;
}

/** Entries by their ids. */
export function byUuid(entries: readonly TranscriptEntry[]): Map<string, TranscriptEntry> {
  return new Map(entries.map((entry) => [entry.uuid, entry]));
}

function readFrom(path: string, start: number, limit: number): Buffer | null {
  let file: number;
  try {
    // An event named the path: a FIFO there must not make the hook wait.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(file);
    const { size } = stat;
    if (!stat.isFile() || size < start || size - start > limit) return null;
    const bytes = Buffer.alloc(size - start);
    let read = 0;
    while (read < bytes.length) {
      const count = readSync(file, bytes, read, bytes.length - read, start + read);
      if (count === 0) break;
      read += count;
    }
    return bytes.subarray(0, read);
  } finally {
    closeSync(file);
  }
}

function asEntry(line: string): TranscriptEntry[] {
  const fields = line === "" ? undefined : parsePayload(line);
  const uuid = fields === undefined ? null : textOf(fields, "uuid");
  if (fields === undefined || uuid === null || fields["isSidechain"] === true) return [];
  const parent = textOf(fields, "parentUuid") ?? textOf(fields, "logicalParentUuid");
  return [{ uuid, parent, promptId: textOf(fields, "promptId"), fields }];
}
