/** The exchange with remotes of a workspace in this process. */
import { roomFor } from "../capture/with-capture.ts";
import { CheckpointFetch, findFetched } from "../exchange/fetch-checkpoint.ts";
import { outboxEnd, readCheckpointIds, readQueued } from "../exchange/history-records.ts";
import { locateObjects, neededBy, readPack, readProved } from "../exchange/needed-objects.ts";
import {
  addRemote,
  beginLine,
  claimSync,
  countQueued,
  dropJournal,
  noteProblem,
  notePulled,
  noteRequest,
  readJournal,
  readRemotes,
  removeRemote,
  settleSegment,
} from "../exchange/remotes.ts";
import { takeAnnotations } from "../history/annotation-clock.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type {
  Annotation,
  FetchedFrom,
  Fetching,
  HistoryRecord,
  JournalEntry,
  LocatedObject,
  MovedLine,
  NeededObject,
  QueuedRecord,
  RemoteEntry,
  StoredPack,
} from "../model/exchange.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Exchange } from "./interface/exchange.ts";
import type { Runner } from "./runner.ts";

/** Each method of `Exchange`, in terms of the layers below. */
export class LocalExchange implements Exchange {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  get #store() {
    return this.#runner.context.store;
  }

  get #now(): number {
    return this.#runner.context.system.now();
  }

  remotes(): RemoteEntry[] {
    return readRemotes(this.#store.db);
  }

  addRemote(remote: RemoteEntry): void {
    addRemote(this.#store.db, remote);
  }

  removeRemote(name: string): boolean {
    return removeRemote(this.#store.db, name);
  }

  beginLine(name: string, next: { readonly line: string; readonly began: string }): void {
    beginLine(this.#store.db, name, next);
  }

  noteProblem(name: string, problem: string | null): void {
    noteProblem(this.#store.db, name, { problem, at: this.#now });
    this.#runner.events.wake();
  }

  queued(name: string): { checkpoints: number; records: number } {
    return countQueued(this.#store.db, name);
  }

  checkpoints(): string[] {
    return readCheckpointIds(this.#store.db);
  }

  outboxEnd(name: string): number {
    return outboxEnd(this.#store.db, name);
  }

  records(name: string, until: number): Iterable<QueuedRecord> {
    return readQueued(this.#store.db, name, until);
  }

  needed(checkpoint: string, isKnown: (hash: ObjectHash) => boolean): Iterable<NeededObject> {
    return neededBy(this.#store, checkpoint, isKnown);
  }

  locate(hashes: readonly ObjectHash[]): LocatedObject[] {
    return locateObjects(this.#store, hashes);
  }

  pack(id: number): StoredPack | undefined {
    return readPack(this.#store, id);
  }

  read(hash: ObjectHash): { bytes: Buffer; form: number } {
    return readProved(this.#store, hash);
  }

  fetched(from: FetchedFrom): Checkpoint | undefined {
    return findFetched(this.#store, from, this.#runner.context.system.now());
  }

  fetch(
    from: FetchedFrom,
    records: { readonly record: HistoryRecord; readonly parts: readonly HistoryRecord[] },
  ): Fetching {
    const { context } = this.#runner;
    const { store, system } = context;
    return new CheckpointFetch({ store, system, budgetBytes: roomFor(context) }, from, records);
  }

  annotate(annotations: readonly Annotation[]): number {
    const taken = takeAnnotations(this.#store.db, annotations, this.#now);
    if (taken > 0) this.#runner.events.wake();
    return taken;
  }

  notePulled(name: string, moved: readonly MovedLine[]): void {
    notePulled(this.#store.db, name, { at: this.#now, moved });
    this.#runner.events.wake();
  }

  claim(): Disposable {
    return claimSync(this.#store.db, this.#runner.context.system);
  }

  journal(name: string): JournalEntry[] {
    return readJournal(this.#store.db, name);
  }

  noteRequest(name: string, entry: JournalEntry): void {
    noteRequest(this.#store.db, name, entry);
  }

  dropJournal(name: string): void {
    dropJournal(this.#store.db, name);
  }

  settle(
    name: string,
    settled: { readonly segment: number; readonly hash: string; readonly until: number; readonly at: number },
  ): void {
    settleSegment(this.#store.db, name, { ...settled, now: this.#now });
    this.#runner.events.wake();
  }
}
