/** What a store gives to a remote and takes from one: its rows as records, its objects as packs. */
import type { ObjectHash } from "./object-hash.ts";

/** The state of one row of the history, as it travels. Rows of other tables that belong to it are inside. */
export interface HistoryRecord {
  readonly kind: string;
  /** Unique in the store, for its kind. */
  readonly id: string;
  readonly row: Readonly<Record<string, unknown>>;
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
  /** Why the last push did not end well. */
  readonly problem: string | null;
}

/** An object to be sent and where it is used: objects of one place compress well together. */
export interface NeededObject {
  readonly hash: ObjectHash;
  readonly isTree: boolean;
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
  readonly kind: "parcel" | "segment";
  /** True once the server is known to have it. */
  readonly stored: boolean;
  /** The server's time when the push began. */
  readonly at: number;
  /** Of a segment: the place in the outbox up to which it sends. */
  readonly until: number | null;
  /** Of a segment its bytes, of a parcel where its objects are. */
  readonly detail: Buffer;
}
