/**
 * The stat cache: the last scan's table in one file, so that the next scan reads only what changed. It can be
 * lost: a torn, foreign, outdated or misplaced file counts as absent, and everything is read again. It is
 * written after the commit it belongs to and never synced.
 * [R7] An entry is trusted only if it was at rest when it was seen: its times are older than the scan minus
 * the file system's granularity. Other entries carry RACY and are read again.
 */
import { createHash } from "node:crypto";
import { readSmallFile } from "../fs/read-file.ts";
import { replaceFile } from "../fs/durable-file.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { GitState } from "../model/checkpoint.ts";
import { HASH_BYTES } from "../model/object-hash.ts";
import { FileTable } from "./file-table.ts";

/** Further facts that the next capture may reuse. */
export interface CacheFacts {
  /** The checkpoint of this scan. If the store does not have it, the cache belongs to another store. */
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

/** A recorded scan, and what it went by. */
export interface StatCache {
  readonly table: FileTable;
  readonly facts: CacheFacts;
}

const MAGIC = "belay stat cache 4\n";
const CHECKSUM_BYTES = 32;
/** A multiple of eight, so that the columns can be used in place. */
const BODY_START = 56;
const LARGEST_CACHE = 2 ** 31 - 1;

/** Reads the stat cache; undefined when there is no usable one. */
export function readStatCache(path: AbsolutePath): StatCache | undefined {
  const bytes = readSmallFile(path, LARGEST_CACHE);
  if (bytes === undefined || bytes.length < BODY_START) return undefined;
  const body = bytes.subarray(BODY_START);
  const head = bytes.subarray(0, MAGIC.length + CHECKSUM_BYTES);
  return head.equals(headOf([body])) ? decode(body) : undefined;
}

/** Replaces the file of the stat cache. */
export function writeStatCache(path: AbsolutePath, cache: StatCache): void {
  const body = encode(cache);
  const head = Buffer.concat([headOf(body)], BODY_START);
  try {
    replaceFile(path, [head, ...body], { durable: false });
  } catch {
    // a cache that could not be written is simply missing next time
  }
}

/** The checksum guards against torn files, not against attackers, who could write the store itself. */
function headOf(body: readonly Uint8Array[]): Buffer {
  const checksum = createHash("sha256");
  for (const piece of body) checksum.update(piece);
  return Buffer.concat([Buffer.from(MAGIC, "latin1"), checksum.digest()]);
}

function encode({ table: given, facts }: StatCache): Uint8Array[] {
  const table = given.isCompact ? given : given.compacted();
  const n = table.length;
  const directories = table.directories.length;
  const { names, paths } = table.texts();
  const json = Buffer.from(
    JSON.stringify({
      ...facts,
      exclusions: table.exclusions,
      ignoredRoots: [...table.ignoredRoots],
      rootTimes: table.rootTimes,
    }),
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
  const texts = { names: reader.take(Uint8Array, nameBytes!), paths: reader.take(Uint8Array, pathBytes!) };
  table.names = n === 0 ? [] : textOf(texts.names).split("\0");
  table.directories = textOf(texts.paths).split("\0") as BytePath[];
  let first = 0;
  table.firstEntry = table.entryCount.map((count) => {
    first += count;
    return first - count;
  });
  if (table.names.length !== n || table.directories.length !== directories || first !== n) return undefined;
  const json = JSON.parse(Buffer.from(reader.take(Uint8Array, jsonBytes!)).toString("utf8")) as CacheFacts & {
    exclusions: string[];
    ignoredRoots: BytePath[];
    rootTimes: string;
  };
  const { exclusions, ignoredRoots, rootTimes, ...facts } = json;
  table.exclusions = exclusions;
  table.ignoredRoots = new Set(ignoredRoots);
  table.rootTimes = rootTimes;
  table.keepTexts(texts);
  return { table, facts };
}

type TypedArrayConstructor<Kind> = {
  new (buffer: ArrayBufferLike, offset: number, length: number): Kind;
  BYTES_PER_ELEMENT: number;
};

class ColumnReader {
  readonly #bytes: ArrayBufferLike;
  #at: number;

  constructor(body: Buffer) {
    this.#bytes = body.buffer;
    this.#at = body.byteOffset;
  }

  /** A view into the file: columns come in the order of their alignment. */
  take<Kind>(type: TypedArrayConstructor<Kind>, length: number): Kind {
    const start = this.#at;
    this.#at += length * type.BYTES_PER_ELEMENT;
    return new type(this.#bytes, start, length);
  }
}

function textOf(bytes: Uint8Array): string {
  return bytesOf(bytes).toString("latin1");
}

function bytesOf(column: NodeJS.TypedArray): Buffer {
  return Buffer.from(column.buffer, column.byteOffset, column.byteLength);
}

/** Equal except for the checkpoint: an older one is as good, as long as it exists. */
export function sameFacts(a: CacheFacts, b: CacheFacts): boolean {
  const blank = { checkpoint: "", snapshot: "" };
  return JSON.stringify({ ...a, ...blank }) === JSON.stringify({ ...b, ...blank });
}
