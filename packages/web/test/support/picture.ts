/**
 * Pictures at a quarter of their size, in shades of grey: what moves, vanishes or changes its words is seen, and how a
 * machine draws the edges of letters is not. Only what Chromium writes is read: 8 bits a channel, not interlaced.
 */
import { crc32, deflateSync, inflateSync } from "node:zlib";

/** A picture in shades of grey. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly shades: Uint8Array;
}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const SMALLER = 4;
/** Shades that are closer than this are the same: a tenth. */
const CLOSE = 26;

/** A screenshot, made smaller. */
export function smallPicture(png: Buffer): Picture {
  const { width, height, shades } = readPng(png);
  const [across, down] = [Math.floor(width / SMALLER), Math.floor(height / SMALLER)];
  const small = new Uint8Array(across * down);
  for (let y = 0; y < down; y += 1)
    for (let x = 0; x < across; x += 1) {
      let sum = 0;
      for (let at = 0; at < SMALLER ** 2; at += 1)
        sum += shades[(y * SMALLER + Math.floor(at / SMALLER)) * width + x * SMALLER + (at % SMALLER)]!;
      small[y * across + x] = Math.round(sum / SMALLER ** 2);
    }
  return { width: across, height: down, shades: small };
}

/** The share of a picture that is not as in another; all of it where their sizes differ. */
export function difference(one: Picture, other: Picture): number {
  if (one.width !== other.width || one.height !== other.height) return 1;
  const count = one.shades.filter((shade, at) => Math.abs(shade - other.shades[at]!) > CLOSE).length;
  return count / one.shades.length;
}

/** The bytes of a PNG file. */
export function writePng({ width, height, shades }: Picture): Buffer {
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1)
    lines.set(shades.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(lines, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Channels of each colour type that is read. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 6: 4 };

/** A PNG file in shades of grey. */
export function readPng(png: Buffer): Picture {
  const parts = chunksOf(png);
  const header = parts.find(({ type }) => type === "IHDR")!.data;
  const [width, height, channels] = [header.readUInt32BE(0), header.readUInt32BE(4), CHANNELS[header[9]!]];
  if (header[8] !== 8 || channels === undefined || header[12] !== 0)
    throw new Error("This PNG is not of the kind that Chromium writes.");
  const packed = Buffer.concat(parts.filter(({ type }) => type === "IDAT").map(({ data }) => data));
  const lines = unfiltered(inflateSync(packed), { height, channels, stride: width * channels });
  const shades = new Uint8Array(width * height);
  for (let at = 0; at < shades.length; at += 1) shades[at] = shadeAt(lines, at * channels, channels);
  return { width, height, shades };
}

/** How bright the eye finds it. */
function shadeAt(lines: Buffer, at: number, channels: number): number {
  if (channels === 1) return lines[at]!;
  return Math.round(0.299 * lines[at]! + 0.587 * lines[at + 1]! + 0.114 * lines[at + 2]!);
}

function chunksOf(png: Buffer): { type: string; data: Buffer }[] {
  if (!png.subarray(0, 8).equals(SIGNATURE)) throw new Error("This is no PNG.");
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({
      type: png.toString("latin1", at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    });
    at += length + 12;
  }
  return chunks;
}

type Guess = (left: number, above: number, corner: number) => number;

/** What a byte was guessed to be from those left of it and above it, by the filter of its line. */
const GUESSES: readonly Guess[] = [
  () => 0,
  (left) => left,
  (_, above) => above,
  (left, above) => (left + above) >> 1,
  paeth,
];

/** Each line was written as its difference from a guess. */
function unfiltered(
  raw: Buffer,
  { height, channels, stride }: { height: number; channels: number; stride: number },
): Buffer {
  const lines = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y += 1) {
    const [from, to] = [y * (stride + 1) + 1, y * stride];
    const guess = GUESSES[raw[from - 1]!]!;
    for (let x = 0; x < stride; x += 1) {
      const left = x < channels ? 0 : lines[to + x - channels]!;
      const above = y === 0 ? 0 : lines[to + x - stride]!;
      const corner = x < channels || y === 0 ? 0 : lines[to + x - stride - channels]!;
      lines[to + x] = raw[from + x]! + guess(left, above, corner);
    }
  }
  return lines;
}

function paeth(left: number, above: number, corner: number): number {
  const [a, b, c] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}
