/** The part of a store that a push needs, in memory: checkpoints are lists of objects. It survives the death of its machine. */
import { createHash } from "node:crypto";
import type {
  Exchange,
  ForgetRequest,
  HistoryRecord,
  JournalEntry,
  KeptBack,
  LocatedObject,
  NeededObject,
  ObjectHash,
  QueuedRecord,
  RemoteEntry,
} from "@belay/engine";

/** A checkpoint and what it needs. */
export interface SimulatedCheckpoint {
  readonly id: string;
  /** Its place in the history that it was taken in. */
  readonly seq: number;
  objects: readonly string[];
  /** The server's time at which its push claimed that it was stored. */
  claimedAt?: number;
}

/** The objects of a checkpoint, as its record says: not by their names in hexadecimal, which a base would find by itself. */
export function objectsIn({ row }: Pick<HistoryRecord, "row">): string[] {
  return (row["objects"] as readonly string[]).map((name) => Buffer.from(name, "base64url").toString("hex"));
}

/** The history of one machine. */
export class HistoryInMemory {
  readonly checkpointsById = new Map<string, SimulatedCheckpoint>();
  readonly contents = new Map<string, Buffer>();
  entry: RemoteEntry;
  readonly #journal = new Map<string, JournalEntry>();
  #outbox: { seq: number; id: string }[] = [];
  #claimedLine: string | undefined;
  #seq = 0;
  /** What this machine keeps at home, and whether that has changed since its remote was told. */
  readonly withheld = new Set<string>();
  #isWithholdingNew = false;
  /** The place of the last forgetting that its line still has to follow, and the last request of an admin. */
  #forgets = 0;
  #obeyed = 0;

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
    // where something was forgotten, a line has its checkpoints in another order
    return this.#put({ id, seq: (this.newest?.seq ?? 0) + 1, objects: [...names, ...known] });
  }

  /** The last checkpoint that was made, whatever was sent last. */
  get newest(): SimulatedCheckpoint | undefined {
    return [...this.checkpointsById.values()].toSorted((a, b) => a.seq - b.seq).at(-1);
  }

  /** A checkpoint as another store has it. */
  receive(id: string, { row }: Pick<HistoryRecord, "row">): void {
    this.#put({ id, seq: Number(row["seq"]), objects: objectsIn({ row }) });
  }

  #put(checkpoint: SimulatedCheckpoint): SimulatedCheckpoint {
    this.checkpointsById.set(checkpoint.id, checkpoint);
    this.#queue(checkpoint.id);
    return checkpoint;
  }

  /** Takes a content out of every checkpoint; those that had it are sent again. Returns their ids. */
  forget(name: string): string[] {
    this.contents.delete(name);
    const had = [...this.checkpointsById.values()].filter(({ objects }) => objects.includes(name));
    for (const checkpoint of had) {
      checkpoint.objects = checkpoint.objects.filter((one) => one !== name);
      this.#queue(checkpoint.id);
    }
    if (had.length > 0) this.#forgets = this.#seq;
    return had.map(({ id }) => id);
  }

  /** Whether it knows a content, here or elsewhere. */
  has(name: string): boolean {
    return this.contents.has(name) || this.withheld.has(name);
  }

  /** Another content stays at home, or goes now. */
  withhold(name: string, isWithheld: boolean): void {
    if (isWithheld) this.withheld.add(name);
    else this.withheld.delete(name);
    this.#isWithholdingNew = true;
  }

  #queue(id: string): void {
    this.#outbox.push({ seq: ++this.#seq, id });
  }

  /**
   * Whether something of its present line is known to be stored: only then that line can be read. A first segment that names
   * what was swept meanwhile claims nothing until it is repaired.
   */
  get hasClaimed(): boolean {
    return this.#claimedLine === this.entry.line;
  }

  get isQueued(): boolean {
    return this.#outbox.length > 0 || this.journal().some(({ kind }) => kind === "segment");
  }

  remotes(): RemoteEntry[] {
    return [this.entry];
  }

  /** Every line that this store has written. */
  readonly lines: string[] = [];

  beginLine(_: string, { line, began }: { line: string; began: string }): void {
    if (this.hasClaimed) this.lines.push(this.entry.line);
    this.entry = { ...this.entry, line, began, segment: 0, segmentHash: null, pushedAt: null };
    this.#journal.clear();
    this.#outbox = [];
    for (const id of this.checkpointsById.keys()) this.#queue(id);
  }

  forgetsUntil(): number {
    return this.#forgets;
  }

  settleForgets(_: string, until: number): void {
    if (this.#forgets <= until) this.#forgets = 0;
  }

  obeyedForgets(): number {
    return this.#obeyed;
  }

  obeyForgets(_: string, until: number, requests: readonly ForgetRequest[]): string[] {
    const had = requests.flatMap(({ contents }) => contents.flatMap((name) => this.forget(name)));
    this.#obeyed = until;
    return [...new Set(had)];
  }

  checkpoints(): string[] {
    return [...this.checkpointsById.keys()];
  }

  outboxEnd(): number {
    return this.#outbox.at(-1)?.seq ?? 0;
  }

  *records(_: string, until: number): Generator<QueuedRecord> {
    for (const { seq, id } of this.#outbox)
      if (seq <= until) yield { kind: "checkpoint", id, row: this.#rowOf(id), place: seq };
  }

  #rowOf(id: string): HistoryRecord["row"] {
    const { seq, objects } = this.checkpointsById.get(id)!;
    return {
      kind: "tool",
      seq,
      objects: objects.map((name) => Buffer.from(name, "hex").toString("base64url")),
    };
  }

  keptBack(): KeptBack {
    return { names: this.withheld as Set<ObjectHash>, paths: new Map() };
  }

  isLimited(): boolean {
    return false;
  }

  isWithholdingNew(): boolean {
    return this.#isWithholdingNew;
  }

  settleWithholding(): void {
    this.#isWithholdingNew = false;
  }

  *needed(id: string, isKnown: (hash: ObjectHash) => boolean): Generator<NeededObject> {
    for (const name of this.checkpointsById.get(id)?.objects ?? []) {
      const hash = name as ObjectHash;
      if (isKnown(hash)) continue;
      yield { hash, isTree: false, ...(this.withheld.has(name) && { isWithheld: true }) };
    }
  }

  /** Each content is a pack of its own. */
  locate(hashes: readonly ObjectHash[]): LocatedObject[] {
    return hashes.flatMap((hash, pack) => {
      const size = this.contents.get(hash)?.length;
      return size === undefined ? [] : [{ hash, pack, offset: 0, size, form: 0 }];
    });
  }

  read(hash: string): { bytes: Buffer; form: number } {
    const bytes = this.contents.get(hash);
    if (bytes === undefined) throw new Error(`[T5] ${hash} is asked for, and the store does not have it`);
    return { bytes, form: 0 };
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
    if (sent.length > 0) this.#claimedLine = this.entry.line;
    for (const { id } of sent) this.checkpointsById.get(id)!.claimedAt ??= settled.at;
    this.#outbox = this.#outbox.filter(({ seq }) => seq > settled.until);
    this.#journal.clear();
    const { segment, hash, at } = settled;
    this.entry = { ...this.entry, segment, segmentHash: hash, pushedAt: at };
  }
}
