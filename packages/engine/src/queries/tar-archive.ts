/**
 * A tar archive (POSIX ustar, with pax headers for what does not fit) of a checkpoint's files. Names are
 * bytes: one that is not UTF-8 is kept as it is. Owners are left out (0, no names), so that the files belong
 * to the user who unpacks them. All entries carry the checkpoint's time, so equal checkpoints give equal
 * archives.
 */
import { isUtf8 } from "node:buffer";
import type { ExportedFile } from "./answers.ts";

const BLOCK = 512;
const TYPE_FLAGS = { file: "0", symlink: "2", directory: "5" } as const;
/** The largest number that eleven octal digits hold. */
const LARGEST_USTAR_SIZE = 0o77777777777;

/** What an archive has of a file. */
export type ArchivedFile = Pick<ExportedFile, "path" | "kind" | "mode" | "size" | "content">;

/** The archive in pieces; each file is read while it is written. */
export async function* tarArchive(
  files: AsyncIterable<ArchivedFile>,
  createdAt: number,
): AsyncGenerator<Buffer> {
  const time = Math.floor(createdAt / 1000);
  for await (const file of files) {
    const target = file.kind === "symlink" ? Buffer.concat([...file.content()]) : EMPTY;
    yield headers(file, target, time);
    if (file.kind === "file") yield* padded(file.content(), file.size);
  }
  yield Buffer.alloc(2 * BLOCK);
}

const EMPTY = Buffer.alloc(0);

function headers(file: ArchivedFile, target: Buffer, time: number): Buffer {
  const name = Buffer.from(file.kind === "directory" ? `${file.path}/` : file.path, "latin1");
  const size = file.kind === "file" ? file.size : 0;
  const extra = paxRecords({ name, target, size });
  const main = header({ name, target, size, time, mode: file.mode, type: TYPE_FLAGS[file.kind] });
  return extra.length === 0 ? main : Buffer.concat([paxEntry(extra, time), main]);
}

interface Fields {
  readonly name: Buffer;
  readonly target: Buffer;
  readonly size: number;
}

interface HeaderFields extends Fields {
  readonly time: number;
  readonly mode: number;
  readonly type: string;
}

/** One 512-byte block. A field that is too long is cut; the pax header before it has the full value. */
function header(fields: HeaderFields): Buffer {
  const block = Buffer.alloc(BLOCK);
  const { prefix, name } = splitName(fields.name) ?? { prefix: EMPTY, name: fields.name.subarray(0, 100) };
  name.copy(block, 0);
  writeOctal(block, fields.mode, { at: 100, digits: 7 });
  writeOctal(block, 0, { at: 108, digits: 7 });
  writeOctal(block, 0, { at: 116, digits: 7 });
  writeOctal(block, Math.min(fields.size, LARGEST_USTAR_SIZE), { at: 124, digits: 11 });
  writeOctal(block, fields.time, { at: 136, digits: 11 });
  block.write(fields.type, 156, "latin1");
  fields.target.subarray(0, 100).copy(block, 157);
  block.write("ustar\u000000", 257, "latin1");
  prefix.copy(block, 345);
  // the checksum counts its own field as spaces
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148, "latin1");
  return block;
}

function writeOctal(block: Buffer, value: number, { at, digits }: { at: number; digits: number }): void {
  block.write(value.toString(8).padStart(digits, "0"), at, "latin1");
}

/** Up to 255 bytes fit, cut at a slash into a prefix of 155 and a name of 100. */
function splitName(name: Buffer): { prefix: Buffer; name: Buffer } | undefined {
  if (name.length <= 100) return { prefix: EMPTY, name };
  const slash = name.indexOf("/", name.length - 101);
  if (slash <= 0 || slash > 155 || slash === name.length - 1) return undefined;
  return { prefix: name.subarray(0, slash), name: name.subarray(slash + 1) };
}

function paxRecords({ name, target, size }: Fields): Buffer {
  const records: Buffer[] = [];
  if (splitName(name) === undefined) records.push(paxRecord("path", name));
  if (target.length > 100) records.push(paxRecord("linkpath", target));
  if (size > LARGEST_USTAR_SIZE) records.push(paxRecord("size", Buffer.from(String(size))));
  const areText = isUtf8(name) && isUtf8(target);
  // pax text is UTF-8 unless this record, which must come first, declares plain bytes
  if (records.length > 0 && !areText) records.unshift(paxRecord("hdrcharset", Buffer.from("BINARY")));
  return Buffer.concat(records);
}

/** `<length> <key>=<value>\n`, where the length counts itself. */
function paxRecord(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from("\n")]);
  let length = rest.length + String(rest.length).length;
  if (String(length).length > String(rest.length).length) length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function paxEntry(records: Buffer, time: number): Buffer {
  const name = Buffer.from("PaxHeaders/belay");
  const block = header({ name, target: EMPTY, size: records.length, time, mode: 0o644, type: "x" });
  return Buffer.concat([block, records, Buffer.alloc(paddingOf(records.length))]);
}

function* padded(pieces: Iterable<Buffer>, size: number): Generator<Buffer> {
  yield* pieces;
  yield Buffer.alloc(paddingOf(size));
}

function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}
