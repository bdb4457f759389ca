/** The size in pixels of common image formats, read from the first bytes of a file. Anything odd is not an image. */
import type { ImageSize } from "../model/file-diff.ts";

/** Undefined when the bytes do not begin an image whose size is known. */
export function imageSize(head: Buffer): ImageSize | undefined {
  try {
    return png(head) ?? gif(head) ?? webp(head) ?? jpeg(head);
  } catch (error) {
    // the file ends before its header does
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function png(head: Buffer): ImageSize | undefined {
  if (head.toString("latin1", 0, 8) !== "\x89PNG\r\n\x1a\n") return undefined;
  return { format: "png", width: head.readUInt32BE(16), height: head.readUInt32BE(20) };
}

function gif(head: Buffer): ImageSize | undefined {
  if (!/^GIF8[79]a$/.test(head.toString("latin1", 0, 6))) return undefined;
  return { format: "gif", width: head.readUInt16LE(6), height: head.readUInt16LE(8) };
}

function webp(head: Buffer): ImageSize | undefined {
  if (head.toString("latin1", 0, 4) !== "RIFF" || head.toString("latin1", 8, 12) !== "WEBP") return undefined;
  switch (head.toString("latin1", 12, 16)) {
    case "VP8X":
      return { format: "webp", width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 };
    case "VP8L": {
      const bits = head.readUInt32LE(21);
      return { format: "webp", width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case "VP8 ":
      return {
        format: "webp",
        width: head.readUInt16LE(26) & 0x3fff,
        height: head.readUInt16LE(28) & 0x3fff,
      };
    default:
      return undefined;
  }
}

/** The segments of a JPEG that hold its size: SOF0 to SOF15 without the three that are something else. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

function jpeg(head: Buffer): ImageSize | undefined {
  if (head.length < 4 || head.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; ;) {
    if (head.readUInt8(at) !== 0xff) return undefined;
    const marker = head.readUInt8(at + 1);
    if (isFrame(marker))
      return { format: "jpeg", width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) };
    at += 2 + head.readUInt16BE(at + 2);
  }
}
