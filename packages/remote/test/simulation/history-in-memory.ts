/** The part of a store that a push needs, in memory: checkpoints are lists of objects. It survives the death of its machine. */
import { createHash } from "node:crypto";
import type {
  Exchange,
  JournalEntry,
  KeptBack,
  NeededObject,
  ObjectHash,
  QueuedRecord,
  RemoteEntry,
} from "@belay/engine";

/** A checkpoint and what it needs. */
export interface SimulatedCheckpoint {
  readonly id: string;
  objects: readonly string[];
  /** The server's time at which its push claimed that it was stored. */
  claimedAt?: number;
}

/** The history of one machine. */
export class HistoryInMemory {
  readonly checkpointsById = new Map<string, SimulatedCheckpoint>();
  readonly contents = new Map<string, Buffer>();
  entry: RemoteEntry;
  readonly #journal = new Map<string, JournalEntry>();
  #outbox: { seq: number; id: string }[] = [];
  #seq = 0;

  constructor(entry: RemoteEntry) {
    this.entry = entry;
  }

  /** What the synchronisation sees. */
  get exchange(): Exchange {
    return this as unknown as Exchange;
  }

  add(id: string, contents: readonly Buffer[], known: readonly string[]): SimulatedCheckpoint {
    const names = contents.map((bytes) => {
      const name = createHash("sha256").update(bytes).digest("hex");
      this.contents.set(name, bytes);
      return name;
    });
    const checkpoint = { id, objects: [...names, ...known] };
    this.checkpointsById.set(id, checkpoint);
    this.#queue(id);
    return checkpoint;
  }

  /** Takes a content out of every checkpoint; those that had it are sent again. */
  forget(name: string): void {
    this.contents.delete(name);
    for (const checkpoint of this.checkpointsById.values()) {
      if (!checkpoint.objects.includes(name)) continue;
      checkpoint.objects = checkpoint.objects.filter((one) => one !== name);
      this.#queue(checkpoint.id);
    }
  }

  #queue(id: string): void {
    this.#outbox.push({ seq: ++this.#seq, id });
  }

  /** Whether something of it is known to be stored: only then the line can be read. */
  get hasClaimed(): boolean {
    return [...this.checkpointsById.values()].some(({ claimedAt }) => claimedAt !== undefined);
  }

  get isQueued(): boolean {
    return this.#outbox.length > 0 || this.journal().some(({ kind }) => kind === "segment");
  }

  remotes(): RemoteEntry[] {
    return [this.entry];
  }

  beginLine(_: string, { line, began }: { line: string; began: string }): void {
    this.entry = { ...this.entry, line, began, segment: 0, segmentHash: null, pushedAt: null };
    this.#journal.clear();
    this.#outbox = [];
    for (const id of this.checkpointsById.keys()) this.#queue(id);
  }

  /** Simulated machines restate their lines themselves. */
  forgetsUntil(): number {
    return 0;
  }

  checkpoints(): string[] {
    return [...this.checkpointsById.keys()];
  }

  outboxEnd(): number {
    return this.#outbox.at(-1)?.seq ?? 0;
  }

  *records(_: string, until: number): Generator<QueuedRecord> {
    const numbers = new Map(this.checkpoints().map((id, n) => [id, n]));
    for (const { seq, id } of this.#outbox)
      if (seq <= until)
        yield { kind: "checkpoint", id, row: { kind: "tool", seq: numbers.get(id) }, place: seq };
  }

  keptBack(): KeptBack {
    return { names: new Set(), paths: new Map() };
  }

  isLimited(): boolean {
    return false;
  }

  isWithholdingNew(): boolean {
    return false;
  }

  settleWithholding(): void {
    // nothing is withheld
  }

  *needed(id: string, isKnown: (hash: ObjectHash) => boolean): Generator<NeededObject> {
    for (const name of this.checkpointsById.get(id)?.objects ?? []) {
      const hash = name as ObjectHash;
      if (!isKnown(hash)) yield { hash, isTree: false };
    }
  }

  locate(): never[] {
    return [];
  }

  read(hash: string): { bytes: Buffer; form: number } {
    return { bytes: this.contents.get(hash)!, form: 0 };
  }

  claim(): Disposable {
    return { [Symbol.dispose]: () => undefined };
  }

  journal(): JournalEntry[] {
    return [...this.#journal.values()];
  }

  noteRequest(_: string, entry: JournalEntry): void {
    const known = this.#journal.get(entry.key);
    this.#journal.set(entry.key, known === undefined ? entry : { ...known, stored: entry.stored });
  }

  dropJournal(): void {
    this.#journal.clear();
  }

  settle(_: string, settled: { segment: number; hash: string; until: number; at: number }): void {
    const sent = this.#outbox.filter(({ seq }) => seq <= settled.until);
    for (const { id } of sent) this.checkpointsById.get(id)!.claimedAt ??= settled.at;
    this.#outbox = this.#outbox.filter(({ seq }) => seq > settled.until);
    this.#journal.clear();
    const { segment, hash, at } = settled;
    this.entry = { ...this.entry, segment, segmentHash: hash, pushedAt: at };
  }
}
