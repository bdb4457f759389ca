/**
 * What a remote must be able to do: keep bytes under keys, give them back, list and delete. It is dumb storage; every
 * rule about who may write what is kept by the callers.
 *
 * A store throws `RemoteFailure` for whatever went wrong. `unknown` means exactly that: the server may or may not have
 * done it, and the same request may be sent again with the same bytes.
 */

/** A stored object, as a listing shows it. */
export interface StoredObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  /** The server's time of the last write, in milliseconds. */
  readonly modified: number;
}

/** What came of a PUT. `date` is the server's clock. */
export interface PutOutcome {
  /** `exists`: the key was taken and nothing was written; only with `createOnly`. */
  readonly outcome: "stored" | "exists";
  readonly etag: string;
  readonly date: number;
  /** Set where the server keeps what was under the key before. */
  readonly version?: string | undefined;
}

/** A server that keeps objects under keys and understands none of them. */
export interface RemoteStore {
  put(key: string, bytes: Buffer, how: { readonly createOnly: boolean }): Promise<PutOutcome>;
  /** The object, or as much of the range as it has; undefined when there is no such key. */
  get(
    key: string,
    range?: { readonly from: number; readonly length: number },
  ): Promise<{ readonly bytes: Buffer; readonly date: number } | undefined>;
  /** Keys that begin with `prefix`, in byte order, after the key `after`. */
  list(prefix: string, after?: string): AsyncIterable<StoredObject>;
  remove(keys: readonly string[]): Promise<void>;
  /** A request for an object that needs no access, for so many seconds; only where the server knows such. */
  presign?(key: string, seconds: number): Promise<string>;
  /** The keys of heads as they are written, until the signal; where the server tells. */
  watch?(signal: AbortSignal): AsyncIterable<string>;
  /** Where objects are to be locked: throws unless the server does so. */
  expectLocks?(key: string): Promise<void>;
  /** Keeps other collectors out; undefined when one is at work. Only where the server can. */
  lock?(name: string): Promise<AsyncDisposable | undefined>;
}

/** Why a request to a remote failed. */
export type FailureKind =
  /** Unknown or busy: the same bytes may be sent again. */
  | "unknown"
  /** Not reached at all, after several tries. */
  | "unreachable"
  /** The server refuses this access. */
  | "denied"
  /** There is no room. */
  | "full"
  /** The address is wrong: no such bucket. */
  | "missing"
  /** The server cannot do what was asked (501). */
  | "unsupported";

/** A request that failed. Its message never contains access keys. */
export class RemoteFailure extends Error {
  readonly kind: FailureKind;
  /** How long the server wants us to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: FailureKind,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "RemoteFailure";
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }
}
