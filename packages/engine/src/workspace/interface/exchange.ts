/** What a remote needs of a workspace: which rows it lacks, their objects, and the journal of a push. */
import type { Checkpoint } from "../../model/checkpoint.ts";
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
} from "../../model/exchange.ts";
import type { RemoteEvent } from "../../model/event.ts";
import type { ThreadId } from "../../model/ids.ts";
import type { ObjectHash } from "../../model/object-hash.ts";

/** The exchange with remotes. Everything is done when a call returns. */
export interface Exchange {
  /** All remotes by name. */
  remotes(): RemoteEntry[];
  /** Adds a remote; the whole history so far waits for it from then on. */
  addRemote(remote: RemoteEntry): void;
  /** Removes a remote; false when there is none of that name. */
  removeRemote(name: string): boolean;
  /** Goes on as another line of the remote's space, which gets the whole history again. */
  beginLine(name: string, next: { readonly line: string; readonly began: string }): void;
  /** Notes why a push did not end well, and when it is tried again; null when it did. */
  noteProblem(name: string, problem: string | null, retryAt?: number | null): void;
  /** Tells readers of events something about a remote. */
  tell(event: RemoteEvent, thread?: ThreadId | null): void;
  /** How much waits for a remote. */
  queued(name: string): { readonly checkpoints: number; readonly records: number };

  /** The ids of all checkpoints of this line, oldest first. */
  checkpoints(): string[];
  /** Whether the settings keep some checkpoints or all messages at home: those go on waiting. */
  isLimited(): boolean;
  /** The place of the newest row that waits for a remote; 0 when none does. */
  outboxEnd(name: string, chosen?: Selection): number;
  /** The place of the newest forgetting that a remote's line still has to follow; 0 when there is none. */
  forgetsUntil(name: string): number;
  /** The line of a remote no longer has what was forgotten up to a place. */
  settleForgets(name: string, until: number): void;
  /** What a path in the workspace, or a checkpoint, is to every machine: the names of its contents. */
  contentsOf(target: string, always: boolean): ForgetRequest;
  /** The number of the newest request of a remote to forget something that was followed here; 0 when none was. */
  obeyedForgets(name: string): number;
  /** [R2027] Forgets what the requests up to a number name, for good; returns the ids of the checkpoints that had it. */
  obeyForgets(name: string, until: number, requests: readonly ForgetRequest[]): string[];
  /** What waits up to a place: each row once, with its newest state; only what is chosen, if something is. */
  records(name: string, until: number, chosen?: Selection): Iterable<QueuedRecord>;
  /** What `sync.withhold` keeps at home of checkpoints; trees that are known are not looked through again. */
  keptBack(checkpoints: Iterable<string>, isKnown: (hash: ObjectHash) => boolean): KeptBack;
  /** Whether `sync.withhold` is another than when a remote was last told all that follows from it. */
  isWithholdingNew(name: string): boolean;
  /** A remote has what is no longer kept at home. */
  settleWithholding(name: string): void;
  /**
   * What a checkpoint needs that is not known; what is inside a tree comes before the tree. What stays at home is named as
   * withheld: what is given, or what the setting says of this checkpoint.
   */
  needed(
    checkpoint: string,
    isKnown: (hash: ObjectHash) => boolean,
    keptBack?: ReadonlySet<ObjectHash>,
  ): Iterable<NeededObject>;
  /** Where objects lie, in the order in which they are stored. */
  locate(hashes: readonly ObjectHash[]): LocatedObject[];
  /** A pack as it lies in the store; undefined when its objects were moved meanwhile. */
  pack(id: number): StoredPack | undefined;
  /** The stored bytes of an object, proved by its hash. */
  read(hash: ObjectHash): { readonly bytes: Buffer; readonly form: number };

  /** The checkpoint of another line, if this store has it. It counts as used then. */
  fetched(from: FetchedFrom): Checkpoint | undefined;
  /** What of a checkpoint its owner keeps at home: this store lacks it. */
  withheldFrom(checkpoint: string): ObjectHash[];
  /** Begins to take in a checkpoint of another line, from its record and those of what belongs to it. */
  fetch(
    from: FetchedFrom,
    records: { readonly record: HistoryRecord; readonly parts: readonly HistoryRecord[] },
  ): Fetching;
  /** [T11] Takes over what others wrote on checkpoints that are here, where it is newer. Returns how much was. */
  annotate(annotations: readonly Annotation[]): number;
  /** Says that this machine approves of a thread of another line, as it was at a checkpoint; it waits to be sent. */
  review(review: {
    readonly line: string;
    readonly checkpoint: string;
    readonly message: string | null;
  }): void;
  /** What members of spaces approve of and was not approved here since, the newest first. */
  reviews(): Review[];
  /** Notes that the lines of others were looked at, and which of them had moved. */
  notePulled(name: string, moved: readonly MovedLine[]): void;

  /** One push at a time: throws `STORE_BUSY` while another process has it. */
  claim(): Disposable;
  /** The requests of a push that did not end. */
  journal(name: string): JournalEntry[];
  /** Writes a request down, durably, before it is sent, or that the server has it. */
  noteRequest(name: string, entry: JournalEntry): void;
  /** Forgets the requests of a push that will not go on. */
  dropJournal(name: string): void;
  /** A segment is known to be stored: what it sent no longer waits. */
  settle(
    name: string,
    settled: {
      readonly segment: number;
      readonly hash: string;
      readonly until: number;
      readonly at: number;
      /** Only these no longer wait; defaults to all up to the place. */
      readonly sent?: readonly Pick<HistoryRecord, "kind" | "id">[];
      /** Nothing was chosen, but the settings keep checkpoints or messages back. */
      readonly isLimited?: boolean;
    },
  ): void;
}
