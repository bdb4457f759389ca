/**
 * Binary content as a patch in git's own form: both versions whole, compressed, in base 85. With both
 * versions the patch applies in either direction.
 */
import { hash } from "node:crypto";
import { deflateSync } from "node:zlib";

/** The part of a patch between one file's header and the next file. */
export function binaryPatch(before: Buffer | null, after: Buffer | null): string {
  return [
    // git requires the full names of both versions in a binary patch
    `index ${blobName(before)}..${blobName(after)}`,
    "GIT binary patch",
    literal(after),
    literal(before),
    "",
  ].join("\n");
}

function blobName(content: Buffer | null): string {
  if (content === null) return "0".repeat(40);
  return hash("sha1", Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]), "hex");
}

function literal(content: Buffer | null): string {
  const bytes = content ?? Buffer.alloc(0);
  return [`literal ${bytes.length}`, ...encodedLines(deflateSync(bytes)), ""].join("\n");
}

const LINE_BYTES = 52;

function encodedLines(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE_BYTES)
    lines.push(encodeLine(bytes.subarray(at, at + LINE_BYTES)));
  return lines;
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const GROUP_BYTES = 4;
const GROUP_DIGITS = 5;

/**
 * A letter for the number of bytes (A–Z, then a–z), then five digits for every four bytes, padded with zeros.
 */
function encodeLine(bytes: Buffer): string {
  const padded = Buffer.alloc(Math.ceil(bytes.length / GROUP_BYTES) * GROUP_BYTES);
  bytes.copy(padded);
  let line = String.fromCharCode(bytes.length <= 26 ? 0x40 + bytes.length : 0x60 + bytes.length - 26);
  for (let at = 0; at < padded.length; at += GROUP_BYTES) line += encodeGroup(padded.readUInt32BE(at));
  return line;
}

function encodeGroup(value: number): string {
  let group = "";
  for (let rest = value, place = 0; place < GROUP_DIGITS; place += 1) {
    group = DIGITS[rest % DIGITS.length]! + group;
    rest = Math.floor(rest / DIGITS.length);
  }
  return group;
}
