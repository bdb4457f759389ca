/** What one ghost's commit is made of: for a few changes as they are, else as the stream that `git fast-import` reads. */
import { fileWriter, type FileWriter } from "../fs/file-writer.ts";
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { DirectCommit } from "../git/direct-commit.ts";
import { joinPath, type BytePath } from "../model/byte-path.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { GhostChanges, GhostWrite } from "./ghost-tree.ts";

/** The commit of a ghost. */
export interface GhostCommit extends GhostChanges {
  readonly id: string;
  readonly message: string;
  /** Seconds since 1970. */
  readonly time: number;
  /** HEAD; null when it has no commit yet. */
  readonly parent: string | null;
  /** Its tree, if it is known. */
  readonly parentTree: string | undefined;
  /** The tree that the changes are made to; defaults to that of the parent. */
  readonly tree: string | undefined;
  /** Where the workspace root lies in the repository. */
  readonly prefix: BytePath;
}

/** The commit with paths as the repository has them. */
export function directCommit(objects: ObjectSource, { prefix, ...ghost }: GhostCommit): DirectCommit {
  return {
    ...ghost,
    deletes: ghost.deletes.map((path) => joinPath(prefix, path)),
    writes: ghost.writes.map(({ path, mode, from }) => ({
      path: joinPath(prefix, path),
      mode,
      from: "object" in from ? from : { size: from.size, read: () => read(objects, from.hash) },
    })),
  };
}

function read(objects: ObjectSource, hash: ObjectHash): Buffer {
  return Buffer.concat([...objects.pieces(hash)]);
}

/** Writes the stream that git imports into a file. */
export function writeStream(path: AbsolutePath, objects: ObjectSource, ghost: GhostCommit): void {
  using writer = fileWriter(path);
  const message = Buffer.from(ghost.message);
  writer.write(
    `feature done\ncommit refs/heads/${ghost.id}\nmark :1\n` +
      `committer Belay <ghost@belay.invalid> ${ghost.time} +0000\ndata ${message.length}\n`,
  );
  writer.write(message);
  writer.write("\n");
  if (ghost.parent !== null) writer.write(`from ${ghost.parent}\n`);
  if (ghost.tree !== undefined) writer.write(`M 040000 ${ghost.tree} ""\n`);
  // what becomes a directory must be gone before anything is written below it
  for (const deleted of ghost.deletes) writer.write(`D ${quoted(joinPath(ghost.prefix, deleted))}\n`);
  for (const write of ghost.writes)
    writeFile(writer, objects, { ...write, path: joinPath(ghost.prefix, write.path) });
  writer.write(`\nget-mark :1\nls :1 ""\n`);
  if (ghost.parent !== null) writer.write(`ls ${ghost.parent} ""\n`);
  writer.write("done\n");
}

function writeFile(writer: FileWriter, objects: ObjectSource, { path, mode, from }: GhostWrite): void {
  const octal = mode.toString(8);
  if ("object" in from) return writer.write(`M ${octal} ${from.object} ${quoted(path)}\n`);
  writer.write(`M ${octal} inline ${quoted(path)}\ndata ${from.size}\n`);
  for (const piece of objects.pieces(from.hash)) writer.write(piece);
  writer.write("\n");
}

/** A path as git quotes it: every byte that could mean something else in octal digits. */
function quoted(path: BytePath): string {
  // oxlint-disable-next-line no-control-regex -- these bytes are what has to be quoted
  const escaped = path.replaceAll(/[\x00-\x1f"\\\x7f-\xff]/g, (byte) => {
    return `\\${byte.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });
  return `"${escaped}"`;
}
