/** What is in a file, at a checkpoint or on disk? */
import { lookUp } from "../diff/compare-trees.ts";
import { below } from "../fs/absolute-path.ts";
import { readSmallFile } from "../fs/read-file.ts";
import { statNode } from "../fs/file-stat.ts";
import { resolveCheckpoint } from "../history/references.ts";
import type { BytePath } from "../model/byte-path.ts";
import { MODE_BITS } from "../model/entry.ts";
import { hashBytes } from "../model/object-hash.ts";
import type { Context } from "../capture/context.ts";
import type { FileContent } from "./answers.ts";

/** Null when no file is there. A symbolic link's content is its target. */
export function contentAt(
  { store, worktree }: Context,
  ref: string | null,
  path: BytePath,
  limitBytes: number,
): FileContent | null {
  if (ref === null) return contentOnDisk(below(worktree.root, path), limitBytes);
  const { snapshot } = resolveCheckpoint(store.db, ref);
  const { entry } = lookUp(store.objects, snapshot, path);
  if (entry?.kind !== "file" && entry?.kind !== "symlink") return null;
  const { hash, size } = entry;
  const mode = entry.kind === "file" ? entry.mode : 0o777;
  return {
    kind: entry.kind,
    mode,
    hash,
    size,
    content: size > limitBytes ? null : Buffer.concat([...store.objects.pieces(hash)]),
  };
}

function contentOnDisk(path: Parameters<typeof statNode>[0], limitBytes: number): FileContent | null {
  const stat = statNode(path);
  if (stat === undefined || !stat.isFile()) return null;
  const content = readSmallFile(path, limitBytes) ?? null;
  return {
    kind: "file",
    mode: Number(stat.mode) & MODE_BITS,
    size: Number(stat.size),
    hash: content === null ? null : hashBytes(content),
    content,
  };
}
