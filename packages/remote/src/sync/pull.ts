/**
 * Looks at the lines of others: one listing of heads says which moved, and their new segments are read and proved. Nothing
 * of it reaches the store but what was written on checkpoints that are here [T11]. What was seen once and is gone, or is
 * another, is a rollback [T15]: heads prove nothing, so the segments themselves are asked for.
 */
import { createHash } from "node:crypto";
import type { Exchange, MovedLine, RemoteEntry } from "@belay/engine";
import { spanIn } from "../line/keys-of-space.ts";
import type { Space } from "../space/space.ts";
import { writerOfLine } from "../space/writer-rights.ts";
import { annotationsFor } from "./line-annotations.ts";
import type { KnownWriter, LineRecords } from "./line-records.ts";
import { addToMirror, type Mirror } from "./mirror.ts";
import { expectOwnLine } from "./own-line.ts";
import type { SyncStep } from "./progress.ts";
import { LineDamage, readLine } from "./read-line.ts";

/** What a pull is about. */
export interface PullTarget {
  readonly exchange: Exchange;
  readonly space: Space;
  readonly mirror: Mirror;
  readonly records: LineRecords;
  readonly progress?: ((step: SyncStep) => void) | undefined;
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
  const annotations = takeAnnotations(target, entry);
  // [R1501] what could be read was read: the alarm is given each time, as long as there is a reason for it
  if (run.alarm !== undefined) throw run.alarm;
  const lines = [...run.lines].map(([line, checkpoints]) => ({ line, checkpoints }));
  target.exchange.notePulled(entry.name, lines);
  const isUnchanged = lines.length === 0 && annotations === 0;
  return { outcome: isUnchanged ? "unchanged" : "pulled", lines, annotations };
}

/** [T11] Each store of this home takes over for itself, whichever of them read the lines. */
function takeAnnotations(target: PullTarget, entry: RemoteEntry): number {
  const { exchange, records } = target;
  const lines = records.lines();
  const taken = exchange.annotate(annotationsFor(target, entry, records.annotatedUntil(entry.line)));
  records.noteAnnotated(entry.line, lines);
  return taken;
}

class Pull {
  readonly #target: PullTarget;
  readonly #entry: RemoteEntry;
  /** The first rollback that was found. */
  alarm: LineDamage | undefined;
  /** What was read of lines. */
  #bytes = 0;
  /** How many checkpoints are new, by line. */
  readonly lines = new Map<string, number>();

  constructor(target: PullTarget, entry: RemoteEntry) {
    this.#target = target;
    this.#entry = entry;
  }

  async readMoved(): Promise<void> {
    const { space, records, progress } = this.#target;
    const heads = await listHeads(space);
    const known = new Map(records.lines().map((line) => [line.line, line]));
    for (const line of known.keys()) if (!heads.has(line)) heads.set(line, "");
    await this.#sounding(() => this.#expectOwnLine(heads.get(this.#entry.line) ?? ""));
    heads.delete(this.#entry.line);
    const moved = [...heads].filter(([line, etag]) => etag === "" || known.get(line)?.etag !== etag);
    for (const [at, [line, etag]] of moved.entries()) {
      const isRead = await this.#sounding(() => this.#readNew(line));
      if (isRead) records.noteHead(line, etag);
      progress?.({
        phase: "lines",
        objects: at + 1,
        objectsTotal: moved.length,
        bytes: this.#bytes,
        bytesTotal: 0,
      });
    }
  }

  /** A rollback of one line does not keep the others from being read. False when there was one. */
  async #sounding(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof LineDamage) || error.kind !== "rolled-back") throw error;
      this.alarm ??= error;
      return false;
    }
  }

  /** [R1500] The head is a hint: the line itself is looked at whenever it is another one than last time. */
  async #expectOwnLine(etag: string): Promise<void> {
    const { records, space } = this.#target;
    const { line } = this.#entry;
    if (etag !== "" && records.ownHead(line) === etag) return;
    await expectOwnLine(space, this.#entry);
    if (etag !== "") records.noteOwnHead(line, etag);
  }

  /** [T15] A reader who knows little learns from others what must be there. */
  async expectWhatOthersSaw(): Promise<void> {
    const { records, space } = this.#target;
    for (const { line, number, by } of records.claims()) {
      const reached = () => records.line(line)?.number ?? 0;
      if (line === this.#entry.line || reached() >= number) continue;
      await this.#sounding(async () => {
        // it may have been written since the heads were listed
        await this.#readNew(line);
        if (reached() >= number) return;
        throw new LineDamage(
          "rolled-back",
          space.names.segment(line, number),
          `line ${by} had seen this segment, and it is not there`,
        );
      });
    }
  }

  /** Reads what a line has beyond what is known. */
  async #readNew(line: string): Promise<void> {
    const { space, mirror, records } = this.#target;
    const last = records.line(line);
    const known = last === undefined || (await isStillThere(space, last)) ? last : undefined;
    for await (const { key, segment, bytes, at: arrivedAt } of readLine(space, line, known)) {
      const { head, hash } = segment;
      const { number, device, at, seen } = head;
      const member = writerOfLine(space, head);
      addToMirror(mirror, line, segment);
      this.#bytes += bytes.length;
      const facts = { number, hash, key, proof: proofOf(bytes), member, device, at, arrivedAt, seen };
      records.add(line, { ...facts, records: segment.records });
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
    const span = spanIn(key);
    const isFold = span !== undefined && span.to > span.from;
    if (isFold && span.from <= last.number && last.number <= span.to) return false;
  }
  throw rolledBack(last);
}

function proofOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes.subarray(0, PROOF_BYTES)).digest("hex");
}

function rolledBack({ key }: KnownWriter): LineDamage {
  return new LineDamage("rolled-back", key, "a segment that was there before is gone, or is another one");
}
