/**
 * Objects compressed together: one zstd call for many small files is several times faster than one per file.
 */
import { promisify } from "node:util";
import { constants, zstdCompressSync, zstdDecompress, zstdDecompressSync } from "node:zlib";

/** Raw bytes in a pack written by a capture. */
export const CAPTURE_PACK_BYTES = 256 * 1024;
/** The zstd level of packs written by a capture. */
export const CAPTURE_LEVEL = 1;

/** Raw bytes in a cold pack, which `gc` regroups so that versions of one file lie next to each other. */
export const COLD_PACK_BYTES = 4 * 1024 * 1024;
/** The zstd level of cold packs. */
export const COLD_LEVEL = 9;

/** Compresses the raw bytes of a pack. */
export function compressPack(raw: Buffer, level: number): Buffer {
  return zstdCompressSync(raw, {
    params: { [constants.ZSTD_c_compressionLevel]: level },
    // one chunk, with the default of 16 KiB the result is assembled from many; where anything that may come of it fits,
    // zstd also works in place
    chunkSize: Math.min(compressBound(raw.length), 1024 * 1024),
  });
}

/** No input of this length becomes longer than this: `ZSTD_compressBound`, and never as short as Node refuses. */
function compressBound(length: number): number {
  return length + (length >>> 8) + 1024;
}

/**
 * The raw bytes; throws when the data is damaged. The length is known, so a decompression bomb cannot exceed
 * it.
 */
export function decompressPack(data: Uint8Array, rawBytes: number): Buffer {
  return expectLength(zstdDecompressSync(data, limitedTo(rawBytes)), rawBytes);
}

/** Decompresses a pack on another thread. */
export async function decompressPackAside(data: Uint8Array, rawBytes: number): Promise<Buffer> {
  return expectLength(await promisify(zstdDecompress)(data, limitedTo(rawBytes)), rawBytes);
}

function limitedTo(rawBytes: number) {
  return { maxOutputLength: Math.max(rawBytes, 1), chunkSize: Math.max(rawBytes, 64) };
}

function expectLength(raw: Buffer, rawBytes: number): Buffer {
  if (raw.length !== rawBytes) throw new Error(`pack holds ${raw.length} bytes, not ${rawBytes}`);
  return raw;
}
