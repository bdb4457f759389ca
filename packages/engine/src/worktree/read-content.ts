/** Reads one file or link of the working copy into a sink and tells what exactly was read. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { FileStat } from "../fs/file-stat.ts";
import { CHUNK_BYTES, readFilePieces, readLink } from "../fs/read-file.ts";
import { createContentHash, hashBytes, type ObjectHash } from "../model/object-hash.ts";
import type { ContentSink } from "../store/content-sink.ts";

export interface ReadContent {
  readonly hash: ObjectHash;
  readonly size: number;
  /** The file as it was when its content was read; undefined for a link. */
  readonly stat: FileStat | undefined;
  /** False when the file kept changing while it was read. */
  readonly stable: boolean;
}

/** One buffer serves every read: files larger than it are read piece by piece. */
const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);

export function readFileContent(path: AbsolutePath, sink: ContentSink): ReadContent {
  let pieces: ObjectHash[] = [];
  let whole = createContentHash();
  let size = 0;
  let first: Buffer = buffer.subarray(0, 0);
  const { stat, stable } = readFilePieces(path, {
    buffer,
    begin() {
      pieces = [];
      size = 0;
      first = buffer.subarray(0, 0);
      whole = createContentHash();
    },
    piece(bytes) {
      size += bytes.length;
      if (bytes.length < CHUNK_BYTES && pieces.length === 0) {
        first = bytes;
        return;
      }
      whole.update(bytes);
      const name = hashBytes(bytes);
      sink.piece(name, bytes);
      pieces.push(name);
    },
  });
  if (pieces.length <= 1) return { hash: finishSmall(pieces, first, sink), size, stat, stable };
  const hash = whole.digest();
  sink.large(hash, pieces);
  return { hash, size, stat, stable };
}

/** Up to one piece: the piece is the content. */
function finishSmall(pieces: readonly ObjectHash[], bytes: Buffer, sink: ContentSink): ObjectHash {
  if (pieces[0] !== undefined) return pieces[0];
  const hash = hashBytes(bytes);
  sink.small(hash, bytes);
  return hash;
}

export function readLinkContent(path: AbsolutePath, sink: ContentSink): ReadContent {
  const target = readLink(path);
  const hash = hashBytes(target);
  sink.small(hash, target);
  return { hash, size: target.length, stat: undefined, stable: true };
}
