/** Stores checkpoints that a caller made, and loads any. */
import {
  CHECKPOINT_PRESETS,
  pathFromBytes,
  type BytePath,
  type Checkpoint as Taken,
  type ImportedFile,
} from "@belay/engine";
import type { DropInOptions } from "../frame/options.ts";
import { Root } from "../frame/root.ts";
import {
  checkpointIn,
  checkpointOf,
  knownSession,
  ORIGIN,
  sessionThread,
  storedName,
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

  /**
   * Stores a checkpoint with the contents that the caller has. Restoring it deletes only what it says did not exist. One that the
   * store has is not stored again; another one by the same id is refused: what was stored is not replaced.
   */
  async storeCheckpoint(checkpoint: Checkpoint): Promise<void> {
    const { workspace } = this.#root;
    const known = this.#known(checkpoint.id);
    // of one that was captured here the store has more than the caller
    if (known?.origin === null) return;
    if (known !== undefined) return assertSame(checkpoint, checkpointOf(workspace, this.#session, known));
    const thread = sessionThread(workspace, this.#session);
    const { name, annotation, toolUseId, git } = checkpoint;
    const files = checkpoint.files.map((file) => ({ ...file, path: this.#inside(file.path) }));
    const absent = checkpoint.files
      .filter(({ content }) => content === null)
      .map(({ path }) => this.#relative(path));
    const mark: StoredMark = { id: checkpoint.id, absent };
    workspace.importCheckpoint({
      origin: ORIGIN,
      alias: storedName(this.#session, checkpoint.id),
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
    const workspace = this.#root.knownWith(id);
    return checkpointOf(workspace, this.#session, checkpointIn(workspace, this.#session, id));
  }

  /** Drops what is older than `maxAge` milliseconds; manual ones and the newest `maxCount` stay. */
  async pruneOldCheckpoints(maxAge: number, maxCount: number): Promise<void> {
    const workspace = this.#root.known;
    const thread = workspace && knownSession(workspace, this.#session);
    if (thread !== undefined) dropOld(this.#root, thread, { maxAge, maxCount });
  }

  #known(id: string): Taken | undefined {
    try {
      return checkpointIn(this.#root.workspace, this.#session, id);
    } catch (error) {
      if ((error as { code?: string }).code !== "CHECKPOINT_NOT_FOUND") throw error;
      return undefined;
    }
  }

  #relative(path: string): string {
    return this.#root.insideAll([path])[0]!;
  }

  #inside(path: string): BytePath {
    return pathFromBytes(Buffer.from(this.#relative(path)));
  }
}

/** What is stored under an id stays what it is. */
function assertSame(checkpoint: Checkpoint, known: Checkpoint): void {
  const contents = ({ files }: Checkpoint) => new Map(files.map(({ path, content }) => [path, content]));
  const stored = contents(known);
  const isSame = [...contents(checkpoint)].every(([path, content]) => stored.get(path) === content);
  if (isSame) return;
  throw new Error(`There is another checkpoint ${checkpoint.id} with other contents. Nothing was stored.`);
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
