/** What is in a file, at a checkpoint or on disk? */
import { lookUp } from "../diff/compare-trees.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { Anchor } from "../fs/anchor.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { readLink, readSmallFile } from "../fs/read-file.ts";
import { isSystemError } from "../fs/system-error.ts";
import { resolveState } from "../history/references.ts";
import type { BytePath } from "../model/byte-path.ts";
import { MODE_BITS } from "../model/entry.ts";
import { hashBytes } from "../model/object-hash.ts";
import { isSafeName } from "../model/tree.ts";
import type { Context } from "../capture/context.ts";
import type { FileContent } from "./answers.ts";

/** The mode that every symbolic link has. */
const LINK_MODE = 0o777;

/** Null when no file is there. A symbolic link's content is its target. */
export function contentAt(
  context: Context,
  ref: string | null,
  path: BytePath,
  limitBytes: number,
): FileContent | null {
  const { store, workingCopy } = context;
  if (ref === null) return contentOnDisk(workingCopy.root, path, limitBytes);
  const { snapshot } = resolveState(context, ref);
  const { entry } = lookUp(store.objects, snapshot, path);
  if (entry?.kind !== "file" && entry?.kind !== "symlink") return null;
  const { hash, size } = entry;
  const mode = entry.kind === "file" ? entry.mode : LINK_MODE;
  return {
    kind: entry.kind,
    mode,
    hash,
    size,
    content: size > limitBytes ? null : Buffer.concat([...store.objects.pieces(hash)]),
  };
}

/** A path that leads through a symbolic link is not there: what is behind it may be outside the workspace. */
function contentOnDisk(root: AbsolutePath, path: BytePath, limitBytes: number): FileContent | null {
  if (!path.split("/").every(isSafeName)) return null;
  try {
    using anchor = new Anchor(root);
    return readNode(anchor.at(path), limitBytes);
  } catch (error) {
    if (isSystemError(error)) return null;
    throw error;
  }
}

function readNode(path: AbsolutePath, limitBytes: number): FileContent | null {
  const stat = statNode(path);
  const kind = stat === undefined ? undefined : kindOf(stat);
  if (stat === undefined || (kind !== "file" && kind !== "symlink")) return null;
  const content = kind === "symlink" ? readLink(path) : (readSmallFile(path, limitBytes) ?? null);
  return {
    kind,
    mode: kind === "symlink" ? LINK_MODE : Number(stat.mode) & MODE_BITS,
    size: kind === "symlink" ? content!.length : Number(stat.size),
    hash: content === null ? null : hashBytes(content),
    content,
  };
}
