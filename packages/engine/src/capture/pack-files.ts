/**
 * Reads many files into packs without a store: the inner loop of a first capture, used by the main thread and
 * the worker alike. Content is read straight into the pack's buffer, hashed there and compressed together. A
 * file that differs from the scan is left out, to be read with care later.
 */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { Anchor } from "../fs/anchor.ts";
import { CHUNK_BYTES, readUnchanged } from "../fs/read-file.ts";
import type { BytePath } from "../model/byte-path.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import { CAPTURE_LEVEL, CAPTURE_PACK_BYTES, compressPack } from "../store/pack.ts";
import { FORM } from "../store/object-store.ts";
import type { Pack, PackedObject } from "../store/object-writer.ts";

/** A file to read, as the scan saw it. */
export interface FileToPack {
  /** Its place among the scan's pending files. */
  readonly at: number;
  readonly path: BytePath;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** Packs that are ready to be stored, and what they hold. */
export interface PackedFiles {
  readonly packs: readonly Pack[];
  /** The files that were read, with their content's name. */
  readonly read: readonly { readonly at: number; readonly hash: ObjectHash }[];
}

/** Room for a full pack and one more file of the largest size that is packed. */
const buffer = Buffer.allocUnsafeSlow(CAPTURE_PACK_BYTES + CHUNK_BYTES);

/** Packs files; content in `known` is not packed again. */
export function packFiles(
  root: AbsolutePath,
  files: readonly FileToPack[],
  known: Set<ObjectHash>,
): PackedFiles {
  const packs: Pack[] = [];
  const read: { at: number; hash: ObjectHash }[] = [];
  let objects: PackedObject[] = [];
  let filled = 0;
  const close = () => {
    if (objects.length === 0) return;
    packs.push({ data: compressPack(buffer.subarray(0, filled), CAPTURE_LEVEL), rawBytes: filled, objects });
    objects = [];
    filled = 0;
  };
  using anchor = new Anchor(root);
  for (const file of files) {
    const path = file.size > CHUNK_BYTES ? undefined : anchor.reach(file.path);
    const content = path && readUnchanged(path, buffer.subarray(filled), file);
    if (content === undefined) continue;
    const hash = hashBytes(content);
    read.push({ at: file.at, hash });
    if (known.has(hash)) continue;
    known.add(hash);
    objects.push({ hash, offset: filled, size: content.length, form: FORM.bytes });
    filled += content.length;
    if (filled >= CAPTURE_PACK_BYTES) close();
  }
  close();
  return { packs, read };
}
