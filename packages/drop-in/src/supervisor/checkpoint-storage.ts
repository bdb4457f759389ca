/** Stores checkpoints that a caller made, and loads any. */
import { CHECKPOINT_PRESETS, pathFromBytes, type BytePath, type ImportedFile } from "@belay/engine";
import type { DropInOptions } from "../frame/options.ts";
import { Root } from "../frame/root.ts";
import {
  checkpointIn,
  checkpointOf,
  sessionThread,
  type Checkpoint,
  type CheckpointFile,
  type StoredMark,
} from "./checkpoint.ts";
import { dropOld } from "./drop-old.ts";

/** The store of one session. */
export class CheckpointStorage {
  readonly #session: string;
  readonly #root: Root;

  constructor(sessionId: string, { projectDir, ...options }: { projectDir?: string } & DropInOptions = {}) {
    this.#session = sessionId;
    this.#root = new Root(projectDir, options, CHECKPOINT_PRESETS.tool);
  }

  /** Stores a checkpoint with the contents that the caller has. Restoring it deletes only what it says did not exist. */
  async storeCheckpoint(checkpoint: Checkpoint): Promise<void> {
    const { workspace } = this.#root;
    const thread = sessionThread(workspace, this.#session);
    const { name, annotation, toolUseId, git } = checkpoint;
    const files = checkpoint.files.map((file) => ({ ...file, path: this.#inside(file.path) }));
    const absent = checkpoint.files
      .filter(({ content }) => content === null)
      .map(({ path }) => this.#relative(path));
    const mark: StoredMark = { absent };
    workspace.importCheckpoint({
      origin: "supervisor",
      alias: checkpoint.id,
      thread,
      kind: checkpoint.type === "manual" ? "manual" : "tool",
      ...(checkpoint.type === "manual" ? {} : { phase: "before" as const }),
      description: checkpoint.description ?? name ?? "Stored checkpoint",
      createdAt: Date.parse(checkpoint.createdAt),
      messageIndex: checkpoint.messageIndex,
      ...(name !== undefined && { name }),
      ...(annotation !== undefined && { note: annotation }),
      ...(toolUseId !== undefined && { toolUseId }),
      ...(git !== undefined && {
        git: {
          branch: git.branch,
          commit: git.commitHash,
          dirty: git.hasUncommittedChanges,
          staged: git.stagedFiles,
        },
      }),
      conversation: { messageCount: 0, lastMessageId: null, artifacts: [mark] },
      files: files.flatMap(contentOf),
      covers: files.map(({ path }) => path),
    });
  }

  /** A checkpoint of the session with its contents; throws `CHECKPOINT_NOT_FOUND`. */
  async loadCheckpoint(id: string): Promise<Checkpoint> {
    const { workspace } = this.#root;
    return checkpointOf(workspace, this.#session, checkpointIn(workspace, this.#session, id));
  }

  /** Drops what is older than `maxAge` milliseconds; manual ones and the newest `maxCount` stay. */
  async pruneOldCheckpoints(maxAge: number, maxCount: number): Promise<void> {
    dropOld(this.#root, sessionThread(this.#root.workspace, this.#session), { maxAge, maxCount });
  }

  #relative(path: string): string {
    return this.#root.insideAll([path])[0]!;
  }

  #inside(path: string): BytePath {
    return pathFromBytes(Buffer.from(this.#relative(path)));
  }
}

function contentOf({
  path,
  content,
  encoding,
  mode,
}: Omit<CheckpointFile, "path"> & { path: BytePath }): ImportedFile[] {
  if (content === null) return [];
  const bytes = Buffer.from(content, encoding === "base64" ? "base64" : "utf8");
  return [{ path, kind: "file", mode: mode === 0 ? 0o644 : mode, content: bytes }];
}
