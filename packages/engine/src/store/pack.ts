/** Objects compressed together: one zstd call for many small files is several times faster than one each. */
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** Raw bytes gathered before a pack is closed while capturing. */
export const CAPTURE_PACK_BYTES = 256 * 1024;
export const CAPTURE_LEVEL = 1;

/** Cold packs, regrouped by `gc` so that versions of one file lie next to each other. */
export const COLD_PACK_BYTES = 4 * 1024 * 1024;
export const COLD_LEVEL = 9;

export function compressPack(raw: Buffer, level: number): Buffer {
  return zstdCompressSync(raw, {
    params: { [constants.ZSTD_c_compressionLevel]: level },
    // in one piece: the default of 16 KiB would have it put together from many
    chunkSize: Math.max(1024, Math.min(raw.length, 1024 * 1024)),
  });
}

/** The raw bytes; throws when the data is damaged. The length is known, so a bomb cannot unpack beyond it. */
export function decompressPack(data: Uint8Array, rawBytes: number): Buffer {
  const raw = zstdDecompressSync(data, {
    maxOutputLength: Math.max(rawBytes, 1),
    chunkSize: Math.max(rawBytes, 64),
  });
  if (raw.length !== rawBytes) throw new Error(`pack holds ${raw.length} bytes, not ${rawBytes}`);
  return raw;
}
