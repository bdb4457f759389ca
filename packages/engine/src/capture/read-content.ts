/** Reads one file or link of the working copy into a sink. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { FileStat } from "../fs/file-stat.ts";
import { CHUNK_BYTES, HeldFile, readFilePieces, readLink, type PieceReader } from "../fs/read-file.ts";
import { createContentHash, hashBytes, type ObjectHash } from "../model/object-hash.ts";
import type { ContentSink } from "../store/content-sink.ts";

/** What was read of one file or link. */
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

/** Reads a file by its path, or one that is held open. */
export function readFileContent(file: AbsolutePath | HeldFile, sink: ContentSink): ReadContent {
  let whole: ReturnType<typeof createContentHash> | undefined;
  let pieces: ObjectHash[] = [];
  let first: Buffer = EMPTY;
  let size = 0;
  const reader: PieceReader = {
    buffer,
    begin(expected) {
      pieces = [];
      first = EMPTY;
      size = 0;
      whole = expected > CHUNK_BYTES ? createContentHash() : undefined;
    },
    piece(bytes) {
      size += bytes.length;
      if (whole === undefined) {
        first = bytes;
        return;
      }
      whole.update(bytes);
      const name = hashBytes(bytes);
      sink.piece(name, bytes);
      pieces.push(name);
    },
  };
  const { stat, stable } = file instanceof HeldFile ? file.readPieces(reader) : readFilePieces(file, reader);
  if (whole === undefined || pieces.length < 2) {
    const hash = pieces[0] ?? hashBytes(first);
    if (pieces.length === 0) sink.small(hash, first);
    return { hash, size, stat, stable };
  }
  const hash = whole.digest();
  sink.large(hash, pieces);
  return { hash, size, stat, stable };
}

const EMPTY = Buffer.alloc(0);

/** Reads the target of a symbolic link. */
export function readLinkContent(path: AbsolutePath, sink: ContentSink): ReadContent {
  const target = readLink(path);
  const hash = hashBytes(target);
  sink.small(hash, target);
  return { hash, size: target.length, stat: undefined, stable: true };
}
