/**
 * Looks at the lines of others: one listing of heads says which moved, and their new segments are read and proved. Nothing
 * of it reaches the store but what was written on checkpoints that are here [T11]. What was seen once and is gone, or is
 * another, is a rollback [T15]: heads prove nothing, so the segments themselves are asked for.
 */
import { createHash } from "node:crypto";
import type { Exchange, RemoteEntry } from "@belay/engine";
import type { Space } from "../space/space.ts";
import { annotationsFor } from "./line-annotations.ts";
import type { KnownWriter, LineRecords } from "./line-records.ts";
import type { Mirror } from "./mirror.ts";
import { LineDamage, readLine } from "./read-line.ts";

/** What a pull is about. */
export interface PullTarget {
  readonly exchange: Exchange;
  readonly space: Space;
  readonly mirror: Mirror;
  readonly records: LineRecords;
  /** The server's clock, as far as it is known. */
  readonly serverNow: () => number;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** A line that has something new. */
export interface MovedLine {
  readonly line: string;
  /** How many checkpoints are new, or have changed. */
  readonly checkpoints: number;
}

/** What a pull found. */
export interface PullReport {
  readonly outcome: "pulled" | "unchanged";
  readonly lines: readonly MovedLine[];
  /** How many names, notes and tags on checkpoints here were taken over. */
  readonly annotations: number;
}

/** The beginning of a segment has its salt and its signature. */
const PROOF_BYTES = 4096;

/** Pulls from one remote. */
export async function pull(target: PullTarget, entry: RemoteEntry): Promise<PullReport> {
  const run = new Pull(target, entry);
  await run.readMoved();
  await run.expectWhatOthersSaw();
  const annotations = target.exchange.annotate(annotationsFor(target, entry, run.since));
  target.exchange.notePulled(entry.name);
  const isUnchanged = run.lines.size === 0 && annotations === 0;
  const lines = [...run.lines].map(([line, checkpoints]) => ({ line, checkpoints }));
  return { outcome: isUnchanged ? "unchanged" : "pulled", lines, annotations };
}

class Pull {
  readonly #target: PullTarget;
  readonly #entry: RemoteEntry;
  /** Of each line that was read: its first new segment. */
  readonly since = new Map<string, number>();
  /** How many checkpoints are new, by line. */
  readonly lines = new Map<string, number>();
  /** The highest segment of each line that another had seen. */
  readonly #claims = new Map<string, number>();

  constructor(target: PullTarget, entry: RemoteEntry) {
    this.#target = target;
    this.#entry = entry;
  }

  async readMoved(): Promise<void> {
    const { space, records, progress } = this.#target;
    const heads = await listHeads(space);
    const known = new Map(records.lines().map((line) => [line.line, line]));
    for (const line of known.keys()) if (!heads.has(line)) heads.set(line, "");
    heads.delete(this.#entry.line);
    const moved = [...heads].filter(([line, etag]) => etag === "" || known.get(line)?.etag !== etag);
    for (const [at, [line, etag]] of moved.entries()) {
      await this.#readNew(line);
      records.noteHead(line, etag);
      progress?.(at + 1, moved.length);
    }
  }

  /** [T15] A reader who knows little learns from others what must be there. */
  async expectWhatOthersSaw(): Promise<void> {
    const { records, space } = this.#target;
    for (const [line, number] of this.#claims) {
      const known = () => records.line(line)?.number ?? 0;
      if (line === this.#entry.line || known() >= number) continue;
      // it may have been written since the heads were listed
      await this.#readNew(line);
      if (known() < number)
        throw new LineDamage(
          "rolled-back",
          space.names.segment(line, number),
          "another line had seen this segment, and it is not there",
        );
    }
  }

  /** Reads what a line has beyond what is known. */
  async #readNew(line: string): Promise<void> {
    const { space, mirror, records } = this.#target;
    const last = records.line(line);
    const known = last === undefined || (await isStillThere(space, last)) ? last : undefined;
    if (!this.since.has(line)) this.since.set(line, (last?.number ?? 0) + 1);
    for await (const { key, segment, bytes } of readLine(space, line, known)) {
      const { head, hash, index } = segment;
      const { number, member, device, at } = head;
      mirror.add(line, { number, hash }, index);
      const proof = proofOf(bytes);
      records.add(line, { number, hash, key, proof, member, device, at, records: segment.records });
      for (const [other, seen] of Object.entries(head.seen))
        this.#claims.set(other, Math.max(seen, this.#claims.get(other) ?? 0));
      const fresh = segment.records.filter(({ kind }) => kind === "checkpoint").length;
      this.lines.set(line, (this.lines.get(line) ?? 0) + fresh);
    }
    if (last !== undefined && (records.line(line)?.number ?? 0) < last.number) throw rolledBack(last);
  }
}

/** The ETags of all heads, by line. */
async function listHeads({ store, names }: Space): Promise<Map<string, string>> {
  const heads = new Map<string, string>();
  for await (const { key, etag } of store.list(names.heads)) heads.set(key.slice(names.heads.length), etag);
  return heads;
}

/**
 * [T15] The last segment that was seen must be there, and be the same. False when a fold took its place: then the line is
 * read from its beginning.
 */
async function isStillThere({ store, names }: Space, last: KnownWriter): Promise<boolean> {
  const got = await store.get(last.key, { from: 0, length: PROOF_BYTES });
  if (got !== undefined && proofOf(got.bytes) === last.proof) return true;
  if (got !== undefined) throw rolledBack(last);
  for await (const { key } of store.list(names.segmentsOf(last.line))) {
    const [, from, to] = /\/(\d{12})-(\d{12})$/.exec(key) ?? [];
    if (Number(from) <= last.number && last.number <= Number(to)) return false;
  }
  throw rolledBack(last);
}

function proofOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes.subarray(0, PROOF_BYTES)).digest("hex");
}

function rolledBack({ key }: KnownWriter): LineDamage {
  return new LineDamage("rolled-back", key, "a segment that was there before is gone, or is another one");
}
