/** Where a capture puts content: into the store, or nowhere when only its name is needed (a look). */
import { CHUNK_BYTES } from "../fs/read-file.ts";
import { hashBytes, hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Database } from "./database.ts";
import { FORM } from "./object-store.ts";
import type { ObjectWriter } from "./object-writer.ts";

/** Receives content under its name. */
export interface ContentSink {
  /** Complete content of at most 1 MiB. */
  small(name: ObjectHash, bytes: Buffer): void;
  /** One piece of larger content. */
  piece(name: ObjectHash, bytes: Buffer): void;
  /** Larger content whose pieces were all passed already. */
  large(name: ObjectHash, pieces: readonly ObjectHash[]): void;
}

/** Drops content of which only the name is needed. */
export const DISCARD: ContentSink = { small() {}, piece() {}, large() {} };

/** A sink that writes to the store what the store does not have yet. */
export function createStoreSink(writer: ObjectWriter): ContentSink {
  return {
    small: (name, bytes) => writer.putObject(name, bytes, FORM.bytes),
    piece: (name, bytes) => writer.putObject(name, bytes, FORM.bytes),
    large: (name, pieces) => writer.putObject(name, Buffer.concat(pieces.map(hashToBytes)), FORM.pieces),
  };
}

/** The same for contents of files: the writer counts those that are new. */
export function createFileSink(writer: ObjectWriter): ContentSink {
  return {
    small: (name, bytes) =>
      writer.putContent(name, bytes, { form: FORM.bytes, objects: 1, bytes: bytes.length }),
    piece: (name, bytes) =>
      writer.putContent(name, bytes, { form: FORM.bytes, objects: 0, bytes: bytes.length }),
    large: (name, pieces) =>
      writer.putContent(name, Buffer.concat(pieces.map(hashToBytes)), {
        form: FORM.pieces,
        objects: 1,
        bytes: 0,
      }),
  };
}

/** A sink for content whose stored bytes are damaged: each object replaces its stored one. Call inside one transaction. */
export function createReplacingSink(db: Database, writer: ObjectWriter): ContentSink {
  const sink = createStoreSink(writer);
  const replaced = new Set<ObjectHash>();
  const drop = (name: ObjectHash) => {
    if (!replaced.has(name)) db.run("DELETE FROM object WHERE hash = ?", hashToBytes(name));
    replaced.add(name);
  };
  return {
    small(name, bytes) {
      drop(name);
      sink.small(name, bytes);
    },
    piece(name, bytes) {
      drop(name);
      sink.piece(name, bytes);
    },
    large(name, pieces) {
      drop(name);
      sink.large(name, pieces);
    },
  };
}

/** Passes bytes of any size to a sink under their name. */
export function sinkBytes(
  sink: ContentSink,
  name: ObjectHash,
  bytes: Buffer,
  hash: (piece: Buffer) => ObjectHash,
): void {
  if (bytes.length <= CHUNK_BYTES) return sink.small(name, bytes);
  const pieces: ObjectHash[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const piece = bytes.subarray(at, at + CHUNK_BYTES);
    const pieceName = hash(piece);
    sink.piece(pieceName, piece);
    pieces.push(pieceName);
  }
  sink.large(name, pieces);
}

/** Passes small content to a sink and returns its name. */
export function putSmallContent(sink: ContentSink, bytes: Buffer): ObjectHash {
  const name = hashBytes(bytes);
  sinkBytes(sink, name, bytes, hashBytes);
  return name;
}
