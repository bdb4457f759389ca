/**
 * The stat cache: the last scan's table in one file, so that the next scan reads only what changed.
 * Disposable: whatever is wrong with it (torn, foreign, older format, other root) makes it absent, and
 * everything is read anew. It is written after the commit it belongs to and never synced.
 * [R7] An entry is trusted only if it was at rest when it was seen: its times are older than the scan
 * minus the file system's granularity. Others carry RACY and are read again.
 */
import { hash } from "node:crypto";
import { readSmallFile } from "../fs/read-file.ts";
import { replaceFile } from "../fs/durable-file.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { GitState } from "../model/checkpoint.ts";
import { HASH_BYTES } from "../model/object-hash.ts";
import { FileTable } from "./file-table.ts";

/** What else the next capture may reuse. */
export interface CacheFacts {
  /** The checkpoint this scan became: if the store does not have it, the store is not the one the cache knows. */
  readonly checkpoint: string;
  readonly snapshot: string;
  /** dev:ino of the root the scan saw. */
  readonly root: string;
  /** Key of git's index when the tracked exceptions were found. */
  readonly gitIndexKey: string;
  /** Key of the ignore files they were found with. */
  readonly rulesKey: string;
  readonly tracked: readonly string[];
  /** Key and value of the recorded git state. */
  readonly gitStateKey: string;
  readonly gitState: GitState | null;
}

export interface StatCache {
  readonly table: FileTable;
  readonly facts: CacheFacts;
  /** Names this very file; undefined for a cache that was never written. */
  readonly checksum?: string;
}

const MAGIC = "belay stat cache 2\n";
const CHECKSUM_BYTES = 32;
const LARGEST_CACHE = 2 ** 31 - 1;

export function readStatCache(path: AbsolutePath): StatCache | undefined {
  const bytes = readSmallFile(path, LARGEST_CACHE);
  if (bytes === undefined || bytes.length < MAGIC.length + CHECKSUM_BYTES) return undefined;
  const body = bytes.subarray(MAGIC.length + CHECKSUM_BYTES);
  const checksum = bytes.subarray(MAGIC.length, MAGIC.length + CHECKSUM_BYTES);
  if (bytes.toString("latin1", 0, MAGIC.length) !== MAGIC || !checksumOf(body).equals(checksum))
    return undefined;
  const cache = decode(body);
  return cache === undefined ? undefined : { ...cache, checksum: checksum.toString("hex") };
}

export function writeStatCache(path: AbsolutePath, cache: StatCache): void {
  const pieces = encode(cache);
  const body = Buffer.concat(pieces);
  try {
    replaceFile(path, [Buffer.from(MAGIC, "latin1"), checksumOf(body), body], { durable: false });
  } catch {
    // a cache that cannot be written is one that is missing next time
  }
}

/** A fast digest is enough: it guards against torn files, not against attackers, who could write the store itself. */
function checksumOf(body: Uint8Array): Buffer {
  return hash("sha256", body, "buffer");
}

function encode({ table, facts }: StatCache): Buffer[] {
  const n = table.length;
  const directories = table.directories.length;
  const names = Buffer.from(table.names.join("\0"), "latin1");
  const paths = Buffer.from(table.directories.join("\0"), "latin1");
  const json = Buffer.from(
    JSON.stringify({ ...facts, exclusions: table.exclusions, rootTimes: table.rootTimes }),
    "utf8",
  );
  const header = new Float64Array([n, directories, names.length, paths.length, json.length]);
  return [
    bytesOf(header),
    bytesOf(table.mtimeNs.subarray(0, n)),
    bytesOf(table.ctimeNs.subarray(0, n)),
    bytesOf(table.ino.subarray(0, n)),
    bytesOf(table.size.subarray(0, n)),
    bytesOf(Uint32Array.from(table.entryCount)),
    bytesOf(table.mode.subarray(0, n)),
    bytesOf(table.kind.subarray(0, n)),
    bytesOf(table.flags.subarray(0, n)),
    bytesOf(table.hash.subarray(0, n * HASH_BYTES)),
    bytesOf(table.treeHash.subarray(0, directories * HASH_BYTES)),
    names,
    paths,
    json,
  ];
}

function decode(body: Buffer): StatCache | undefined {
  const reader = new ColumnReader(body);
  const [n, directories, nameBytes, pathBytes, jsonBytes] = reader.take(
    Float64Array,
    5,
  ) as unknown as number[];
  if (n === undefined || directories === undefined) return undefined;
  const table = new FileTable();
  table.mtimeNs = reader.take(BigInt64Array, n);
  table.ctimeNs = reader.take(BigInt64Array, n);
  table.ino = reader.take(BigUint64Array, n);
  table.size = reader.take(Float64Array, n);
  table.entryCount = Array.from(reader.take(Uint32Array, directories));
  table.mode = reader.take(Uint16Array, n);
  table.kind = reader.take(Uint8Array, n);
  table.flags = reader.take(Uint8Array, n);
  table.hash = reader.take(Uint8Array, n * HASH_BYTES);
  table.treeHash = reader.take(Uint8Array, directories * HASH_BYTES);
  table.names = n === 0 ? [] : reader.text(nameBytes!).split("\0");
  table.directories = reader.text(pathBytes!).split("\0") as BytePath[];
  let first = 0;
  table.firstEntry = table.entryCount.map((count) => {
    first += count;
    return first - count;
  });
  if (table.names.length !== n || table.directories.length !== directories || first !== n) return undefined;
  const json = JSON.parse(Buffer.from(reader.take(Uint8Array, jsonBytes!)).toString("utf8")) as CacheFacts & {
    exclusions: string[];
    rootTimes: string;
  };
  const { exclusions, rootTimes, ...facts } = json;
  table.exclusions = exclusions;
  table.rootTimes = rootTimes;
  return { table, facts };
}

type TypedArrayConstructor<Kind> = {
  new (buffer: ArrayBuffer, offset: number, length: number): Kind;
  BYTES_PER_ELEMENT: number;
};

class ColumnReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(body: Buffer) {
    this.#bytes = body;
  }

  /** Copies: columns in the file need not be aligned, and the table outlives the file's buffer. */
  take<Kind>(type: TypedArrayConstructor<Kind>, length: number): Kind {
    const start = this.#at;
    this.#at += length * type.BYTES_PER_ELEMENT;
    const copy = new Uint8Array(this.#bytes.subarray(start, this.#at));
    return new type(copy.buffer, copy.byteOffset, length);
  }

  text(length: number): string {
    this.#at += length;
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength).toString(
      "latin1",
      this.#at - length,
      this.#at,
    );
  }
}

function bytesOf(column: NodeJS.TypedArray): Buffer {
  return Buffer.from(column.buffer, column.byteOffset, column.byteLength);
}
