/** The exchange with remotes of a workspace in this process. */
import { roomFor } from "../capture/with-capture.ts";
import { CheckpointFetch, findFetched, withheldFrom } from "../exchange/fetch-checkpoint.ts";
import { outboxEnd, readCheckpointIds, readQueued } from "../exchange/history-records.ts";
import { findKeptBack } from "../exchange/kept-back.ts";
import { locateObjects, neededBy, readPack, readProved } from "../exchange/needed-objects.ts";
import {
  addRemote,
  beginLine,
  claimSync,
  countQueued,
  dropJournal,
  forgetsUntil,
  noteProblem,
  notePulled,
  noteRequest,
  noteWithholding,
  obeyedKey,
  readJournal,
  readRemotes,
  removeRemote,
  settleForgets,
  settleSegment,
  withholdingOf,
} from "../exchange/remotes.ts";
import { noteReview, readReviews, takeAnnotations } from "../history/annotation-clock.ts";
import { appendEvent, appendNewest } from "../history/events.ts";
import { noteSentKinds, type SentKinds } from "../history/sent-kinds.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type {
  Annotation,
  FetchedFrom,
  Fetching,
  ForgetRequest,
  HistoryRecord,
  JournalEntry,
  KeptBack,
  LocatedObject,
  MovedLine,
  NeededObject,
  QueuedRecord,
  RemoteEntry,
  Review,
  Selection,
  StoredPack,
} from "../model/exchange.ts";
import type { RemoteEvent } from "../model/event.ts";
import type { ThreadId } from "../model/ids.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { readMeta, writeMeta } from "../store/store.ts";
import { forgetContents } from "../upkeep/forget-contents.ts";
import { findContents } from "./forget-target.ts";
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

  noteProblem(name: string, problem: string | null, retryAt: number | null = null): void {
    noteProblem(this.#store.db, name, { problem, retryAt, at: this.#now });
    this.#runner.events.wake();
  }

  tell({ type, ...data }: RemoteEvent, thread: ThreadId | null = null): void {
    const { db } = this.#store;
    db.transaction(() => {
      const append = type === "sync_progress" ? appendNewest : appendEvent;
      append(db, { type, thread, at: this.#now, data });
    });
    this.#runner.events.wake();
  }

  isLimited(): boolean {
    const { kinds, conversations } = this.#noteKinds();
    return kinds !== "all" || !conversations;
  }

  /** What the settings say now holds for all that follows. */
  #noteKinds(): SentKinds {
    const sent = this.#runner.settings.sentKinds;
    noteSentKinds(this.#store.db, sent);
    return sent;
  }

  queued(name: string): { checkpoints: number; records: number } {
    this.#noteKinds();
    return countQueued(this.#store.db, name);
  }

  checkpoints(): string[] {
    return readCheckpointIds(this.#store.db);
  }

  outboxEnd(name: string, chosen?: Selection): number {
    this.#noteKinds();
    return outboxEnd(this.#store.db, name, chosen);
  }

  forgetsUntil(name: string): number {
    return forgetsUntil(this.#store.db, name);
  }

  settleForgets(name: string, until: number): void {
    settleForgets(this.#store.db, name, until);
  }

  contentsOf(target: string, always: boolean): ForgetRequest {
    return findContents(this.#runner.context, target, always);
  }

  obeyedForgets(name: string): number {
    return Number(readMeta(this.#store.db, obeyedKey(name)) ?? 0);
  }

  obeyForgets(name: string, until: number, requests: readonly ForgetRequest[]): string[] {
    const { store, system, workingCopy } = this.#runner.context;
    const had = requests.flatMap((request) => forgetContents(store, system, request));
    store.db.transaction(() => writeMeta(store.db, obeyedKey(name), until));
    if (had.length > 0) workingCopy.distrust();
    return [...new Set(had.map(({ id }) => id))];
  }

  records(name: string, until: number, chosen?: Selection): Iterable<QueuedRecord> {
    return readQueued(this.#store.db, name, { until, chosen });
  }

  keptBack(checkpoints: Iterable<string>, isKnown: (hash: ObjectHash) => boolean): KeptBack {
    const patterns = this.#runner.settings.withhold;
    return findKeptBack(this.#store, checkpoints, { patterns, isKnown });
  }

  isWithholdingNew(name: string): boolean {
    return withholdingOf(this.#store.db, name) !== JSON.stringify(this.#runner.settings.withhold);
  }

  settleWithholding(name: string): void {
    noteWithholding(this.#store.db, name, JSON.stringify(this.#runner.settings.withhold));
  }

  needed(
    checkpoint: string,
    isKnown: (hash: ObjectHash) => boolean,
    keptBack: ReadonlySet<ObjectHash> = this.keptBack([checkpoint], isKnown).names,
  ): Iterable<NeededObject> {
    return neededBy(this.#store, checkpoint, { isKnown, keptBack });
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

  withheldFrom(checkpoint: string): ObjectHash[] {
    return withheldFrom(this.#store, checkpoint);
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

  review(review: Parameters<Exchange["review"]>[0]): void {
    noteReview(this.#store.db, review, this.#now);
  }

  reviews(): Review[] {
    return readReviews(this.#store.db);
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

  settle(name: string, settled: Parameters<Exchange["settle"]>[1]): void {
    settleSegment(this.#store.db, name, { ...settled, now: this.#now });
    this.#runner.events.wake();
  }
}
