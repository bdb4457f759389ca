/** What a store gives to a remote and takes from one: its rows as records, its objects as packs. */
import type { Checkpoint } from "./checkpoint.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { ObjectHash } from "./object-hash.ts";
import type { RemoteOrigin } from "./origin.ts";

/** The state of one row of the history, as it travels. Rows of other tables that belong to it are inside. */
export interface HistoryRecord {
  readonly kind: string;
  /** Unique in the store, for its kind. */
  readonly id: string;
  readonly row: Readonly<Record<string, unknown>>;
}

/** What of the outbox is sent: what belongs to one thread, or to one checkpoint. */
export interface Selection {
  readonly thread: string | null;
  readonly checkpoint: string | null;
}

/** A record that waits to be sent, with its place in the outbox. */
export interface QueuedRecord extends HistoryRecord {
  readonly place: number;
}

/** A remote of a workspace, as the store knows it. */
export interface RemoteEntry {
  readonly name: string;
  readonly url: string;
  readonly space: string;
  readonly fingerprint: string;
  /** The member of the space that this machine is. */
  readonly member: string;
  /** The line of the space that this store writes. */
  readonly line: string;
  /** The line and segment that this line began with: JSON, or null. */
  readonly began: string | null;
  /** What the server was found to do, as JSON. */
  readonly abilities: string;
  /** The last segment that is known to be stored, and the hash of its bytes. */
  readonly segment: number;
  readonly segmentHash: string | null;
  readonly createdAt: number;
  readonly pushedAt: number | null;
  /** When the lines of others were last looked at. */
  readonly pulledAt: number | null;
  /** Why the last push did not end well. */
  readonly problem: string | null;
}

/** An object to be sent and where it is used: objects of one place compress well together. */
export interface NeededObject {
  readonly hash: ObjectHash;
  readonly isTree: boolean;
  /** It stays where it is: the index of a line says so, and nothing of it is sent. */
  readonly isWithheld?: boolean;
}

/** What `sync.withhold` keeps at home. */
export interface KeptBack {
  /** Contents, and the pieces of large ones. */
  readonly names: ReadonlySet<ObjectHash>;
  /** The paths of each content that a pattern names. */
  readonly paths: ReadonlyMap<ObjectHash, ReadonlySet<string>>;
}

/** Where an object lies in the store. */
export interface LocatedObject {
  readonly hash: ObjectHash;
  readonly pack: number;
  readonly offset: number;
  readonly size: number;
  readonly form: number;
}

/** Objects compressed together, as they lie in the store. */
export interface StoredPack {
  readonly data: Buffer;
  readonly rawBytes: number;
}

/** A request of a push that is under way, written down before it is sent. */
export interface JournalEntry {
  readonly key: string;
  /** A `selection` is a segment with chosen records: it takes those out of the outbox, and no others. */
  readonly kind: "parcel" | "segment" | "selection";
  /** True once the server is known to have it. */
  readonly stored: boolean;
  /** The server's time when the push began. */
  readonly at: number;
  /** Of a segment: the place in the outbox up to which it sends. */
  readonly until: number | null;
  /** Of a segment its bytes, of a parcel where its objects are. */
  readonly detail: Buffer;
}

/** A checkpoint of another line: outside of its line it is known by both. */
export interface FetchedFrom {
  readonly origin: RemoteOrigin;
  /** Its id there. */
  readonly id: string;
  readonly snapshot: ObjectHash;
}

/** A checkpoint on its way into the store. Disposed of before it is finished, it leaves nothing that counts. */
export interface Fetching extends Disposable {
  /** What is known to be missing: as trees arrive, more becomes known. Nothing when everything is there. */
  missing(): ObjectHash[];
  /** [T9] Puts objects in; every one is hashed first. `data` is one zstd frame. */
  putPack(pack: {
    readonly data: Buffer;
    readonly rawBytes: number;
    readonly objects: readonly {
      readonly hash: ObjectHash;
      readonly offset: number;
      readonly size: number;
      readonly form: number;
    }[];
  }): void;
  /** Its owner keeps these at home: they are gaps here, and no longer missing. */
  withhold(hashes: readonly ObjectHash[]): void;
  /** Adds the checkpoint; throws `OBJECT_MISSING` unless everything that it needs is there. */
  finish(): Checkpoint;
}

/** A field of what people wrote on a checkpoint: its name, its note, one of its tags, or that they approve of it. */
export type AnnotatedField = "name" | "note" | "review" | `tag/${string}`;

/** That a member of a space approves of a thread here, as it was at a checkpoint. */
export interface Review {
  readonly thread: ThreadId;
  readonly checkpoint: CheckpointId;
  /** Who, as the space calls that member. */
  readonly by: string;
  readonly message: string | null;
  /** By the clock of annotations. */
  readonly at: number;
}

/** [T11] What was written on a checkpoint, by whom and when: of each field the newest counts. */
export interface Annotation {
  /** The line of the checkpoint; "" for the line that says so. */
  readonly line: string;
  readonly checkpoint: string;
  readonly field: AnnotatedField;
  /** null takes it away. */
  readonly value: string | null;
  /** Never behind one that its writer had seen. */
  readonly clock: number;
  /** Who wrote it: of two with the same clock, the greater counts. */
  readonly device: string;
}

/** [R2027] What an admin of a space asks every machine to forget. */
export interface ForgetRequest {
  /** The names of contents of files. */
  readonly contents: readonly string[];
  /** A checkpoint that goes as a whole. */
  readonly checkpoint: string | null;
  /** Also keep the paths that have them out of every later checkpoint. */
  readonly always: boolean;
}

/** A line of another store that has something new. */
export interface MovedLine {
  readonly line: string;
  /** How many checkpoints are new, or have changed. */
  readonly checkpoints: number;
}
