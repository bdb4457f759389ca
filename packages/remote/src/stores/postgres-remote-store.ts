/**
 * A remote in a PostgreSQL database, version 15 or later: one table, objects in parts of 1 MiB. One statement stores an
 * object, so it is there whole or not at all. The server compares the MD5 of each part with ours before it stores any.
 *
 * `pg` is loaded with the first request: without a PostgreSQL remote it never is. It hands bytes out as text
 * only, which takes four times as long as a binary COPY; hence `pg-copy-streams`.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import type { Pool, PoolClient, QueryResultRow } from "pg";
import type { PostgresAddress } from "./postgres-address.ts";
import { CopyReader } from "./postgres-copy.ts";
import { postgresFailure } from "./postgres-failure.ts";
import { CREATE_TABLE, headChannel, putStatement, REPLACE_PARTS } from "./postgres-statements.ts";
import type { PutOutcome, RemoteStore, StoredObject } from "./remote-store.ts";

/** What the server knows us by. */
export interface PostgresAccess {
  readonly user: string;
  readonly password?: string | undefined;
  /** Certificates of a private authority, as PEM. */
  readonly ca?: string | undefined;
}

const PART_BYTES = 1024 * 1024;
const CONNECTIONS = 4;
const CONNECT_MS = 10_000;
const STATEMENT_MS = 60_000;
const LIST_ROWS = 1_000;
/** A relation that does not exist: nothing was stored there yet. */
const NO_TABLE = "42P01";
/** What may be overwritten without a right to delete, by a function of the table's owner. */
const REPLACEABLE = /^(?:[0-9a-f]{32}\/h\/|probe\/)/;

/** A PostgreSQL database, below one prefix. */
export class PostgresRemoteStore implements RemoteStore {
  readonly #address: PostgresAddress;
  readonly #access: PostgresAccess;
  #pool: Promise<Pool> | undefined;
  #requests = 0;

  constructor(address: PostgresAddress, access: PostgresAccess) {
    this.#address = address;
    this.#access = access;
  }

  /** How many requests were sent. */
  get requests(): number {
    return this.#requests;
  }

  /** Closes the connections; the store is not used after it. */
  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await (await pool)?.end();
  }

  async put(
    key: string,
    bytes: Buffer,
    { createOnly }: { readonly createOnly: boolean },
  ): Promise<PutOutcome> {
    const etag = md5(bytes);
    const parts = partsOf(bytes);
    const values = [this.#address.prefix, key, etag, parts.map(md5), ...parts];
    const [row] = await this.#query(putStatement(parts.length), values, { createsTable: true });
    const { stored, sound, held, now } = row as { stored: number; sound: boolean; held: string; now: string };
    if (!sound) throw postgresFailure({ code: "08000", message: "The bytes were altered on their way." });
    const date = Number(now);
    if (stored === 1) return { outcome: "stored", etag, date };
    if (createOnly) return { outcome: "exists", etag: "", date };
    // writing the same again, after an answer that was lost, needs no right to overwrite
    if (held !== etag) await this.#replace(key, etag, parts);
    return { outcome: "stored", etag, date };
  }

  async #replace(key: string, etag: string, parts: readonly Buffer[]): Promise<void> {
    const { prefix } = this.#address;
    if (REPLACEABLE.test(key))
      await this.#query("SELECT belay_replace($1, $2, $3, $4)", [prefix, key, etag, parts]);
    else await this.#query(REPLACE_PARTS, [prefix, key, etag, parts]);
  }

  async get(
    key: string,
    range?: { readonly from: number; readonly length: number },
  ): Promise<{ readonly bytes: Buffer; readonly date: number } | undefined> {
    const { from, length } = range ?? { from: 0, length: Number.MAX_SAFE_INTEGER };
    const [first, last] = [Math.floor(from / PART_BYTES), Math.floor((from + length - 1) / PART_BYTES)];
    const start = `greatest(${from} - part::bigint * ${PART_BYTES}, 0)`;
    const end = `least(${from + length} - part::bigint * ${PART_BYTES}, ${PART_BYTES})`;
    const data =
      range === undefined
        ? "data"
        : `substring(data FROM (${start} + 1)::int FOR greatest(${end} - ${start}, 0)::int)`;
    const parts = range === undefined ? "" : ` AND (part = 0 OR part BETWEEN ${first} AND ${last})`;
    // a part behind the end of the range is no reason to call the object missing
    return this.#client(async (client) => {
      const sql = `COPY (SELECT extract(epoch FROM clock_timestamp())::float8, ${data} FROM belay_object
        WHERE space = ${client.escapeLiteral(this.#address.prefix)} AND key = ${client.escapeLiteral(key)}${parts} ORDER BY part)
        TO STDOUT (FORMAT binary)`;
      const reader = new CopyReader();
      const { to } = await import("pg-copy-streams");
      this.#requests++;
      const stream = client.query(to(sql));
      for await (const chunk of stream) reader.add(chunk as Buffer);
      const rows = reader.rows();
      if (rows.length === 0) return undefined;
      return { bytes: Buffer.concat(rows.map((row) => row[1]!)), date: rows[0]![0]!.readDoubleBE() * 1000 };
    }).catch(orNothing);
  }

  async *list(prefix: string, after = ""): AsyncIterable<StoredObject> {
    let last = after;
    for (;;) {
      const rows = await this.#query(
        `SELECT key, sum(octet_length(data))::float8 AS size, min(etag) AS etag, extract(epoch FROM max(at))::float8 * 1000 AS modified
         FROM belay_object WHERE space = $1 AND starts_with(key, $2) AND key >= $2 AND key > $3
         GROUP BY key ORDER BY key LIMIT ${LIST_ROWS}`,
        [this.#address.prefix, prefix, last],
      ).catch(orNothing);
      for (const row of rows ?? []) yield row as unknown as StoredObject;
      if (rows === undefined || rows.length < LIST_ROWS) return;
      last = String(rows.at(-1)!["key"]);
    }
  }

  async remove(keys: readonly string[]): Promise<void> {
    const values = [this.#address.prefix, keys];
    await this.#query("DELETE FROM belay_object WHERE space = $1 AND key = ANY ($2)", values).catch(
      orNothing,
    );
  }

  /** Tells of heads the moment they are stored, so that no machine has to ask. */
  async *watch(signal: AbortSignal): AsyncIterable<string> {
    const client = await (await this.#connected()).connect();
    const told: string[] = [];
    const waiting = new EventTarget();
    const { prefix } = this.#address;
    client.on("notification", ({ payload = "" }) => {
      const [space, key = ""] = payload.split(" ");
      if (space === prefix) told.push(key);
      waiting.dispatchEvent(new Event("told"));
    });
    let isOver = false;
    const wake = () => {
      isOver = true;
      waiting.dispatchEvent(new Event("told"));
    };
    client.on("error", wake);
    signal.addEventListener("abort", wake, { once: true });
    try {
      await client.query(`LISTEN ${headChannel}`);
      while (!isOver && !signal.aborted) {
        for (let key = told.shift(); key !== undefined; key = told.shift()) yield key;
        if (!isOver && told.length === 0) await once(waiting, "told");
      }
    } finally {
      // its subscription must not come back with it
      client.release(true);
    }
  }

  /** An advisory lock, which ends with the connection at the latest. */
  async lock(name: string): Promise<AsyncDisposable | undefined> {
    const client = await (await this.#connected()).connect();
    const ask = async (what: string) => {
      const sql = `SELECT ${what}(hashtext($1), hashtext($2)) AS got`;
      const { rows } = await client.query(sql, [this.#address.prefix, name]);
      return (rows[0] as { got: boolean }).got;
    };
    const isOurs = await ask("pg_try_advisory_lock");
    if (!isOurs) client.release();
    if (!isOurs) return undefined;
    return {
      [Symbol.asyncDispose]: async () => {
        // a connection that is only closed lets go of it some time later
        const isFree = await ask("pg_advisory_unlock").catch(() => false);
        client.release(!isFree);
      },
    };
  }

  async #query(sql: string, values: unknown[], { createsTable = false } = {}): Promise<QueryResultRow[]> {
    try {
      return await this.#client(async (client) => {
        this.#requests++;
        return (await client.query<QueryResultRow>(sql, values)).rows;
      });
    } catch (error) {
      if (!createsTable || !isNoTable(error)) throw error;
    }
    await this.#client((client) => client.query(CREATE_TABLE));
    return this.#query(sql, values);
  }

  /** A connection for one request; one that failed is not used again. */
  async #client<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    let client: PoolClient | undefined;
    let isBroken = true;
    try {
      client = await (await this.#connected()).connect();
      const result = await work(client);
      isBroken = false;
      return result;
    } catch (error) {
      isBroken = typeof (error as { severity?: unknown }).severity !== "string";
      throw postgresFailure(error, `${this.#address.host}:${this.#address.port}`);
    } finally {
      client?.release(isBroken);
    }
  }

  #connected(): Promise<Pool> {
    this.#pool ??= import("pg").then(({ default: pg }) => {
      const { host, port, database, isEncrypted } = this.#address;
      const { user, password = "", ca } = this.#access;
      const pool = new pg.Pool({
        host,
        port,
        database,
        user,
        password,
        ssl: isEncrypted ? { rejectUnauthorized: true, ...(ca !== undefined && { ca }) } : false,
        max: CONNECTIONS,
        connectionTimeoutMillis: CONNECT_MS,
        query_timeout: STATEMENT_MS,
        allowExitOnIdle: true,
        application_name: "belay",
      });
      // an idle connection that the server ends is replaced when it is needed
      pool.on("error", () => undefined);
      return pool;
    });
    return this.#pool;
  }
}

function partsOf(bytes: Buffer): Buffer[] {
  const count = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
  return Array.from({ length: count }, (_, n) => bytes.subarray(n * PART_BYTES, (n + 1) * PART_BYTES));
}

function md5(bytes: Buffer): string {
  return createHash("md5").update(bytes).digest("hex");
}

function isNoTable(error: unknown): boolean {
  return ((error as Error).cause as { code?: string } | undefined)?.code === NO_TABLE;
}

/** Before the first object is stored there is no table, and so nothing in it. */
function orNothing(error: unknown): undefined {
  if (!isNoTable(error)) throw error;
}
