/**
 * The staging directory of one operation: `<root>/.belay-stage-<op>`, on the same file system as the
 * files it will become, never captured. It holds new content (`n<i>`) until it is renamed into place and
 * the nodes that were replaced or removed (`o<i>`) until the operation is recorded.
 * [R9] Nothing in it is thrown away before its content is proved to be in the store.
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { syncDirectory, syncFileSystem, syncFile } from "../fs/durable-file.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { createDirectory, createFile, createLink, removeEmptyDirectory, removeName } from "../fs/mutate.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Edit } from "../model/plan.ts";
import type { ContentSink } from "../store/content-sink.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { STAGE_PREFIX } from "./hard-excludes.ts";
import { readFileContent, readLinkContent } from "./read-content.ts";

/** Beyond this many files one sync of the file system is cheaper than one each. */
const SYNC_EACH_LIMIT = 64;

function stagePath(operation: string): BytePath {
  return `${STAGE_PREFIX}${operation}` as BytePath;
}

/** An edit and its number in the journal, by which its nodes in the stage are found again. */
export interface NumberedEdit extends Edit {
  readonly index: number;
}

export function numberEdits(edits: readonly Edit[]): NumberedEdit[] {
  return edits.map((edit, index) => ({ ...edit, index }));
}

export class Stage {
  readonly path: AbsolutePath;

  constructor(root: AbsolutePath, operation: string) {
    this.path = below(root, stagePath(operation));
  }

  create(): void {
    createDirectory(this.path);
  }

  newNode(index: number): AbsolutePath {
    return below(this.path, `n${index}`);
  }

  oldNode(index: number): AbsolutePath {
    return below(this.path, `o${index}`);
  }

  /** Writes the new content of every edit that needs some, checked against its hash and synced. */
  fill(edits: readonly NumberedEdit[], objects: ObjectSource): void {
    const files = edits.flatMap(({ from, to, index }) =>
      needsContent(from, to) ? [{ index, to: to! }] : [],
    );
    const each = files.length <= SYNC_EACH_LIMIT;
    for (const { index, to } of files) {
      const path = this.newNode(index);
      if (to.kind === "symlink") createLink(path, objects.read(to.hash));
      else if (to.kind === "file") createFile(path, objects.pieces(to.hash), { mode: to.mode, sync: each });
    }
    // [R4] content is durable before the journal names it
    if (!each && !syncFileSystem(this.path))
      for (const { index, to } of files) if (to.kind === "file") syncFile(this.newNode(index));
    syncDirectory(this.path);
  }

  /** Removes the directory with everything in it; for use after the operation is recorded or never began. */
  remove(): void {
    if (statNode(this.path) === undefined) return;
    for (const name of listDirectory(this.path)) removeName(below(this.path, name));
    removeEmptyDirectory(this.path);
  }
}

/** True when an edit puts bytes somewhere; a change of mode alone does not. */
export function needsContent(from: Edit["from"], to: Edit["to"]): boolean {
  if (to === undefined || to.kind === "directory" || to.kind === "gap") return false;
  return !(from?.kind === to.kind && from.hash === to.hash);
}

/** Staging directories that an interrupted operation left in the root. */
export function findStages(root: AbsolutePath): string[] {
  return listDirectory(root)
    .filter((name) => name.startsWith(STAGE_PREFIX))
    .map((name) => name.slice(STAGE_PREFIX.length));
}

/**
 * Stores every old node of a left-over stage whose content the store does not have yet, then removes the
 * stage. Staged new content came from the store and needs no saving.
 */
export function salvageStage(stage: Stage, sink: ContentSink): number {
  let saved = 0;
  for (const name of listDirectory(stage.path)) {
    const path = below(stage.path, name);
    const stat = statNode(path);
    if (stat === undefined || !name.startsWith("o")) continue;
    if (kindOf(stat) === "file") readFileContent(path, sink);
    else if (kindOf(stat) === "symlink") readLinkContent(path, sink);
    saved += 1;
  }
  return saved;
}
