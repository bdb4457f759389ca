/** A checkpoint object that this store does not have: it was made by a session's manager, or by other code. */
import { relative } from "node:path";
import { pathFromBytes, type Checkpoint as Taken } from "@belay/engine";
import { bytesAt, textOf } from "../frame/contents.ts";
import { findCheckpoint } from "../frame/references.ts";
import type { Root } from "../frame/root.ts";
import { ORIGIN, take, type Checkpoint, type FileSnapshot } from "./checkpoint.ts";

/** The checkpoint of this store that stands for the object: itself, the present if that is the same, or an imported one. */
export function adopt(root: Root, checkpoint: Checkpoint): Taken {
  const { workspace } = root;
  try {
    return findCheckpoint(workspace, checkpoint.id);
  } catch (error) {
    if ((error as { code?: string }).code !== "CHECKPOINT_NOT_FOUND") throw error;
  }
  const files = checkpoint.files.map((file) => ({ ...file, path: relative(root.directory, file.path) }));
  const present = take(root, checkpoint.description, undefined);
  const isSame = files.every(
    (file) => contentOf(root, present, file.path) === (file.existed ? file.content : null),
  );
  if (isSame) {
    workspace.addAlias(present.id, { origin: ORIGIN, name: checkpoint.id });
    return present;
  }
  return workspace.importCheckpoint({
    origin: ORIGIN,
    alias: checkpoint.id,
    kind: "manual",
    description: checkpoint.description,
    createdAt: checkpoint.timestamp.getTime(),
    covers: files.map(({ path }) => bytePath(path)),
    files: files
      .filter(({ existed }) => existed)
      .map((file) => ({ path: bytePath(file.path), kind: "file", mode: 0o644, content: bytesOf(file) })),
  });
}

function contentOf(root: Root, { id }: Taken, path: string): string | null {
  const bytes = bytesAt(root.workspace, id, path);
  return bytes === null ? null : textOf(bytes).content;
}

function bytesOf({ content, encoding }: FileSnapshot): Buffer {
  return Buffer.from(content, encoding === "base64" ? "base64" : "utf8");
}

function bytePath(path: string) {
  return pathFromBytes(Buffer.from(path));
}
