/**
 * A remote on an S3-compatible server. Requests are signed with their payload and carry its MD5, so that the server
 * refuses what was altered on the way. `If-None-Match: *` makes a PUT create-only where the server honours it: the probe
 * finds that out. Multipart uploads, `If-Match` and conditional deletes are not used, because servers disagree on them.
 *
 * With `lock-days` what belongs to lines is locked, and of what was overwritten all the same the oldest version is read: a key has
 * one writer and one content [T3].
 */
import { createHash } from "node:crypto";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { AwsV4Signer } from "aws4fetch";
import { RemoteFailure, type PutOutcome, type RemoteStore, type StoredObject } from "./remote-store.ts";
import type { S3Address } from "./s3-address.ts";
import { listingOf, tagIn, versionsOf } from "./s3-xml.ts";

/** What the server knows us by. */
export interface S3Access {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** What an S3 remote needs besides its address. */
export interface S3Options {
  readonly access: S3Access;
  /** Certificates of a private authority, as PEM. */
  readonly ca?: string | undefined;
  readonly now?: () => number;
  /** How long a connection may be silent. */
  readonly timeoutMs?: number;
}

interface Request {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly key: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  readonly date: number;
}

const TIMEOUT_MS = 30_000;
const REDIRECTS = 2;
const LARGEST_ANSWER = 64 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);
const DAY_MS = 24 * 60 * 60 * 1000;
/** Segments and parcels: what nothing else can bring back. */
const LOCKED = /^[0-9a-f]{32}\/[bl]\//;
/** The lock of a probe ends by itself. */
const PROBE_LOCK_MS = 60_000;

/** An S3-compatible server, below one prefix of one bucket. */
export class S3RemoteStore implements RemoteStore {
  readonly #address: S3Address;
  readonly #options: S3Options;
  readonly #agent: HttpAgent | HttpsAgent;
  /** What to add to our clock for the server to accept our signatures. */
  #skewMs = 0;
  #requests = 0;

  constructor(address: S3Address, options: S3Options) {
    this.#address = address;
    this.#options = options;
    const keep = { keepAlive: true, maxSockets: 8 };
    this.#agent = address.endpoint.startsWith("https:")
      ? new HttpsAgent({ ...keep, ...(options.ca !== undefined && { ca: options.ca }) })
      : new HttpAgent(keep);
  }

  /** How many requests were sent. */
  get requests(): number {
    return this.#requests;
  }

  /** Closes the connections that wait for more requests. */
  close(): void {
    this.#agent.destroy();
  }

  async put(
    key: string,
    bytes: Buffer,
    { createOnly }: { readonly createOnly: boolean },
  ): Promise<PutOutcome> {
    const answer = await this.#send({
      method: "PUT",
      key,
      body: bytes,
      headers: {
        "content-md5": createHash("md5").update(bytes).digest("base64"),
        // without it the owner of a bucket cannot read what members wrote
        "x-amz-acl": "bucket-owner-full-control",
        ...(createOnly && { "if-none-match": "*" }),
        ...this.#lockOf(key),
      },
    });
    if (answer.status === 412) return { outcome: "exists", etag: "", date: answer.date };
    if (answer.status !== 200) throw failureOf(answer, this.#address);
    return {
      outcome: "stored",
      etag: etagOf(answer.headers.etag ?? ""),
      date: answer.date,
      version: textOf(answer.headers["x-amz-version-id"]),
    };
  }

  #lockOf(key: string): Readonly<Record<string, string>> | undefined {
    const { lockDays } = this.#address;
    if (lockDays === undefined || !LOCKED.test(key)) return undefined;
    return lockUntil(this.#now() + this.#skewMs + lockDays * DAY_MS);
  }

  /** [R2263] Stores an object that is locked for a minute, and looks whether it is. */
  async expectLocks(key: string): Promise<void> {
    if (this.#address.lockDays === undefined) return;
    const body = Buffer.from("belay");
    const md5 = createHash("md5").update(body).digest("base64");
    const headers = { "content-md5": md5, ...lockUntil(this.#now() + this.#skewMs + PROBE_LOCK_MS) };
    const put = await this.#send({ method: "PUT", key, body, headers });
    if (put.status >= 500) throw failureOf(put, this.#address);
    const got = put.status === 200 ? await this.#send({ method: "GET", key }) : put;
    if (got.status === 200 && got.headers["x-amz-object-lock-mode"] !== undefined) return;
    throw new RemoteFailure(
      "unsupported",
      `The bucket ${this.#address.bucket} does not lock objects. Object lock is chosen when a bucket is made, and needs the right to set retention.`,
    );
  }

  async get(
    key: string,
    range?: { readonly from: number; readonly length: number },
  ): Promise<{ readonly bytes: Buffer; readonly date: number } | undefined> {
    const headers = range && { range: `bytes=${range.from}-${range.from + range.length - 1}` };
    const version = this.#hasVersions(key) ? await this.#oldest(key) : undefined;
    if (version === null) return undefined;
    const query = version === undefined ? {} : { query: `versionId=${encodeURIComponent(version)}` };
    const answer = await this.#send({ method: "GET", key, ...query, ...(headers && { headers }) });
    if (answer.status === 404 && tagIn(answer.body.toString(), "Code") !== "NoSuchBucket") return undefined;
    // a range behind the end of the object
    if (answer.status === 416) return { bytes: NOTHING, date: answer.date };
    if (answer.status !== 200 && answer.status !== 206) throw failureOf(answer, this.#address);
    const isWhole = range !== undefined && answer.status === 200;
    const bytes = isWhole ? answer.body.subarray(range.from, range.from + range.length) : answer.body;
    return { bytes, date: answer.date };
  }

  #hasVersions(key: string): boolean {
    return this.#address.lockDays !== undefined && LOCKED.test(key);
  }

  /** The first version of an object; null when there is none, or it was deleted. */
  async #oldest(key: string): Promise<string | null> {
    for await (const found of this.#listOldest(key)) if (found.key === key) return found.version;
    return null;
  }

  /** What was stored first under each key: its time counts too, where it is asked what its writer might do then. */
  async *#listOldest(
    prefix: string,
    after?: string,
  ): AsyncIterable<StoredObject & { readonly version: string }> {
    const base = this.#inBucket("");
    const query = new URLSearchParams({ versions: "", prefix: this.#inBucket(prefix) });
    if (after !== undefined) query.set("key-marker", this.#inBucket(after));
    let oldest: (StoredObject & { readonly version: string }) | undefined;
    let key: string | undefined;
    let isDeleted = false;
    for (;;) {
      const { versions, next } = versionsOf(await this.#page(query));
      for (const { isDeletion, ...one } of versions) {
        // some servers begin with the key of the marker itself
        if (after !== undefined && one.key <= this.#inBucket(after)) continue;
        if (one.key !== key) {
          if (oldest !== undefined && !isDeleted) yield oldest;
          [key, oldest, isDeleted] = [one.key, undefined, isDeletion];
        }
        if (!isDeletion) oldest = { ...one, key: one.key.slice(base.length), etag: etagOf(one.etag) };
      }
      if (next === undefined) break;
      query.set("key-marker", next.key);
      query.set("version-id-marker", next.version);
    }
    if (oldest !== undefined && !isDeleted) yield oldest;
  }

  async *list(prefix: string, after?: string): AsyncIterable<StoredObject> {
    if (this.#hasVersions(prefix)) {
      for await (const { version: _, ...object } of this.#listOldest(prefix, after)) yield object;
      return;
    }
    const base = this.#inBucket("");
    const query = new URLSearchParams({ "list-type": "2", prefix: this.#inBucket(prefix) });
    if (after !== undefined) query.set("start-after", this.#inBucket(after));
    for (;;) {
      const { objects, next } = listingOf(await this.#page(query));
      for (const object of objects)
        yield { ...object, key: object.key.slice(base.length), etag: etagOf(object.etag) };
      if (next === undefined) return;
      query.set("continuation-token", next);
      query.delete("start-after");
    }
  }

  /** One page of a listing. */
  async #page(query: URLSearchParams): Promise<string> {
    query.sort();
    const answer = await this.#send({
      method: "GET",
      key: "",
      query: query.toString().replaceAll("+", "%20"),
    });
    if (answer.status !== 200) throw failureOf(answer, this.#address);
    return answer.body.toString();
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const answer = await this.#send({ method: "DELETE", key });
      if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404)
        throw failureOf(answer, this.#address);
    }
  }

  /** A GET that needs no key: knowing it is enough, so it is a secret. */
  async presign(key: string, seconds: number): Promise<string> {
    const { endpoint, bucket, region } = this.#address;
    const { accessKeyId, secretAccessKey, sessionToken } = this.#options.access;
    const signed = await new AwsV4Signer({
      method: "GET",
      url: `${endpoint}/${bucket}/${this.#inBucket(key)}?X-Amz-Expires=${seconds}`,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: "s3",
      region,
      datetime: new Date(this.#now() + this.#skewMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, ""),
      signQuery: true,
    }).sign();
    return signed.url.toString();
  }

  #inBucket(key: string): string {
    const { prefix } = this.#address;
    return prefix === "" ? key : `${prefix}/${key}`;
  }

  async #send(request: Request): Promise<Answer> {
    const { endpoint, bucket } = this.#address;
    const path = request.key === "" ? `/${bucket}` : `/${bucket}/${this.#inBucket(request.key)}`;
    let url = `${endpoint}${path}${request.query === undefined ? "" : `?${request.query}`}`;
    let mayCorrectClock = true;
    for (let redirects = 0; ;) {
      const answer = await this.#sendTo(url, request);
      const code = answer.status === 403 ? tagIn(answer.body.toString(), "Code") : undefined;
      if (code === "RequestTimeTooSkewed" && mayCorrectClock) {
        mayCorrectClock = false;
        this.#skewMs = answer.date - this.#now();
        continue;
      }
      const target = [301, 302, 307, 308].includes(answer.status) ? answer.headers.location : undefined;
      if (target === undefined || ++redirects > REDIRECTS) return answer;
      url = redirected(url, target);
    }
  }

  async #sendTo(url: string, { method, headers = {}, body = NOTHING }: Request): Promise<Answer> {
    const { accessKeyId, secretAccessKey, sessionToken } = this.#options.access;
    const signed = await new AwsV4Signer({
      method,
      url,
      headers: { ...headers, "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: "s3",
      region: this.#address.region,
      datetime: new Date(this.#now() + this.#skewMs).toISOString().replaceAll(/[:-]|\.\d{3}/g, ""),
    }).sign();
    this.#requests++;
    return exchange({
      url: signed.url,
      method,
      headers: { ...Object.fromEntries(signed.headers.entries()), "content-length": String(body.length) },
      body,
      agent: this.#agent,
      timeoutMs: this.#options.timeoutMs ?? TIMEOUT_MS,
      now: () => this.#now(),
    });
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

interface Exchange {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly agent: HttpAgent | HttpsAgent;
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** One request and its complete answer; whatever else happens leaves it unknown what the server did. */
function exchange({ url, method, headers, body, agent, timeoutMs, now }: Exchange): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const outgoing = send(url, { method, headers, agent, timeout: timeoutMs }, (incoming) => {
      const expected = lengthOf(incoming);
      const arrived = new Body(expected);
      incoming.on("data", (part: Buffer) => {
        if (!arrived.add(part)) outgoing.destroy(new Error("the answer is larger than is allowed"));
      });
      incoming.on("end", () => {
        if (!incoming.complete || (expected !== undefined && expected !== arrived.length))
          return reject(new RemoteFailure("unknown", "The answer of the server was cut off."));
        const date = Date.parse(incoming.headers.date ?? "") || now();
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: arrived.bytes(),
          date,
        });
      });
      incoming.on("error", (cause) => reject(lost(url, cause)));
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer for ${timeoutMs / 1000} s`)));
    outgoing.on("error", (cause) => reject(lost(url, cause)));
    outgoing.end(body);
  });
}

function lengthOf({ headers }: IncomingMessage): number | undefined {
  const length = headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/** What arrives of an answer. Where its length is known it is put together in place: a parcel is in memory once, not twice. */
class Body {
  readonly #whole: Buffer | undefined;
  readonly #parts: Buffer[] = [];
  length = 0;

  constructor(expected: number | undefined) {
    if (expected !== undefined && expected <= LARGEST_ANSWER) this.#whole = Buffer.allocUnsafeSlow(expected);
  }

  /** False when that is too much. */
  add(part: Buffer): boolean {
    const { length } = this;
    this.length += part.length;
    if (this.length > (this.#whole?.length ?? LARGEST_ANSWER)) return false;
    if (this.#whole === undefined) this.#parts.push(part);
    else part.copy(this.#whole, length);
    return true;
  }

  bytes(): Buffer {
    return this.#whole ?? Buffer.concat(this.#parts);
  }
}

const NEVER_ARRIVED = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN"]);

const NO_NAME = new Set(["ENOTFOUND", "EAI_AGAIN"]);

function lost(url: URL, cause: unknown): RemoteFailure {
  if (cause instanceof RemoteFailure) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  const kind = NEVER_ARRIVED.has(code ?? "") ? "unreachable" : "unknown";
  const said = NO_NAME.has(code ?? "") ? "the name of this server was not found (DNS)" : message;
  return new RemoteFailure(kind, `${url.host}: ${said}`, { cause });
}

/** What a server says of a request that was altered or cut off on its way. */
const GARBLED = new Set([
  "BadDigest",
  "XAmzContentSHA256Mismatch",
  "IncompleteBody",
  "RequestTimeout",
  "InvalidDigest",
]);

function failureOf({ status, headers, body }: Answer, { bucket, endpoint }: S3Address): RemoteFailure {
  const code = tagIn(body.toString(), "Code") ?? "";
  const said = `${endpoint} answered ${status}${code === "" ? "" : ` ${code}`}`;
  if (status === 507 || code === "QuotaExceeded") return new RemoteFailure("full", `${said}.`);
  if (status === 401 || status === 403)
    return new RemoteFailure("denied", `${said} for the bucket ${bucket}.`);
  if (status === 404) return new RemoteFailure("missing", `${said} for the bucket ${bucket}.`);
  if (status === 501) return new RemoteFailure("unsupported", `${said}.`);
  if (status >= 500 || [408, 409, 429].includes(status) || GARBLED.has(code)) {
    const seconds = Number(headers["retry-after"]);
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
    return new RemoteFailure("unknown", `${said}.`, { retryAfterMs });
  }
  return new RemoteFailure("denied", `${said}.`);
}

/** A redirect may lead to another host of the same server only: never to another scheme or another owner. */
function redirected(from: string, to: string): string {
  const [source, target] = [new URL(from), new URL(to, from)];
  const suffix = source.hostname.split(".").slice(-2).join(".");
  const isSame = source.protocol === target.protocol && `.${target.hostname}`.endsWith(`.${suffix}`);
  if (!isSame)
    throw new RemoteFailure("denied", `${source.host} leads to ${target.host}, which is another server.`);
  return target.toString();
}

function lockUntil(at: number): Readonly<Record<string, string>> {
  return {
    "x-amz-object-lock-mode": "GOVERNANCE",
    "x-amz-object-lock-retain-until-date": new Date(at).toISOString(),
  };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}

function etagOf(text: string): string {
  return text.replaceAll('"', "").toLowerCase();
}
