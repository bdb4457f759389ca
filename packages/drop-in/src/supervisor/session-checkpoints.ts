/** Makes, lists, annotates and drops the checkpoints of sessions. */
import {
  CHECKPOINT_PRESETS,
  EngineError,
  type CheckpointRequest,
  type Diff,
  type ThreadId,
} from "@belay/engine";
import type { DropInOptions } from "../frame/options.ts";
import { Root } from "../frame/root.ts";
import {
  checkpointIn,
  checkpointOf,
  knownSession,
  listIn,
  sessionsIn,
  sessionThread,
  type Checkpoint,
  type Session,
} from "./checkpoint.ts";
import { dropOld } from "./drop-old.ts";

/** Which directory, and whether tools cause checkpoints by themselves. */
export interface CheckpointManagerOptions extends DropInOptions {
  projectDir?: string;
  autoCheckpoint?: boolean;
}

/** What a tool is about to do. */
export interface AboutTool {
  toolName: string;
  affectedPaths: string[];
  description: string;
  toolUseId?: string;
}

/** A session has at most this many manual checkpoints. */
const MOST_MANUAL = 50;

/** The checkpoints of all sessions of one project. */
export class CheckpointManager {
  /** The project; the interceptor and the engine of rollbacks work in the same one. */
  readonly root: Root;
  readonly #autoCheckpoint: boolean;

  constructor({ projectDir, autoCheckpoint = true, ...options }: CheckpointManagerOptions = {}) {
    this.root = new Root(projectDir, options, CHECKPOINT_PRESETS.tool);
    this.#autoCheckpoint = autoCheckpoint;
  }

  /** Whether tools cause checkpoints by themselves. */
  get isAutomatic(): boolean {
    return this.#autoCheckpoint;
  }

  /** Takes the checkpoint before a tool; null when that is switched off. The whole project is captured, whatever the paths. */
  async createAutoCheckpoint(session: Session, about: AboutTool): Promise<Checkpoint | null> {
    if (!this.#autoCheckpoint) return null;
    const { toolName, affectedPaths, description, toolUseId } = about;
    return this.#take(session, {
      kind: "tool",
      phase: "before",
      description,
      tool: toolName,
      paths: affectedPaths.flatMap((path) => this.root.inside(path) || []),
      ...(toolUseId !== undefined && { toolUseId }),
    });
  }

  /** Takes a checkpoint that stays until it is deleted; the fifty-first of a session is refused with `LIMIT_REACHED`. */
  async createManualCheckpoint(
    session: Session,
    { name, annotation }: { name?: string; annotation?: string } = {},
  ): Promise<Checkpoint> {
    const { workspace } = this.root;
    const thread = sessionThread(workspace, session.id);
    const manual = workspace.list({ thread, kind: "manual" }).filter(({ origin }) => origin === null);
    if (manual.length >= MOST_MANUAL) throw tooMany(thread);
    return this.#take(session, {
      kind: "manual",
      description: name ?? "Manual checkpoint",
      ...(name !== undefined && { name }),
      ...(annotation !== undefined && { note: annotation }),
    });
  }

  /** The checkpoints of a session, oldest first. No content is read. */
  async listCheckpoints(sessionId: string): Promise<Checkpoint[]> {
    const workspace = this.root.known;
    const thread = workspace && knownSession(workspace, sessionId);
    if (workspace === undefined || thread === undefined) return [];
    return listIn(workspace, thread).map((taken) => checkpointOf(workspace, sessionId, taken));
  }

  /** A checkpoint of a session; throws `CHECKPOINT_NOT_FOUND`. */
  async getCheckpoint(sessionId: string, id: string): Promise<Checkpoint> {
    const workspace = this.root.knownWith(id);
    return checkpointOf(workspace, sessionId, checkpointIn(workspace, sessionId, id));
  }

  /** Changes what people wrote on a checkpoint; what is left out stays. */
  async updateAnnotation(
    sessionId: string,
    id: string,
    { name, annotation }: { name?: string; annotation?: string },
  ): Promise<Checkpoint> {
    const workspace = this.root.knownWith(id);
    const { id: own } = checkpointIn(workspace, sessionId, id);
    const changed = workspace.annotate(own, {
      ...(name !== undefined && { name }),
      ...(annotation !== undefined && { note: annotation }),
    });
    return checkpointOf(workspace, sessionId, changed);
  }

  /** Drops a checkpoint; for a day it can be brought back (`belay prune --undo`). */
  async deleteCheckpoint(sessionId: string, id: string): Promise<void> {
    const workspace = this.root.knownWith(id);
    workspace.upkeep.deleteCheckpoint(checkpointIn(workspace, sessionId, id).id);
  }

  /** Compares a checkpoint with another, or with the disk. */
  async diff(sessionId: string, id: string, otherId?: string): Promise<Diff> {
    const workspace = this.root.knownWith(id);
    const from = checkpointIn(workspace, sessionId, id).id;
    return otherId === undefined
      ? workspace.diff(from)
      : workspace.diff(from, checkpointIn(workspace, sessionId, otherId).id);
  }

  /** Drops checkpoints before tools that are older, in milliseconds; manual ones and the newest of each session stay. */
  async prune(maxAge: number, maxCount: number): Promise<number> {
    const workspace = this.root.known;
    if (workspace === undefined) return 0;
    const dropped = sessionsIn(workspace).map(({ id }) => dropOld(this.root, id, { maxAge, maxCount }));
    return dropped.reduce((sum, count) => sum + count, 0);
  }

  #take(session: Session, request: CheckpointRequest): Checkpoint {
    const { workspace } = this.root;
    const thread = sessionThread(workspace, session.id);
    const index = session.messageIndex === undefined ? {} : { messageIndex: session.messageIndex };
    const { checkpoint, warnings } = workspace.checkpoint({ thread, ...index, ...request });
    for (const warning of warnings) this.root.log("warning", "checkpoint", { warning });
    return checkpointOf(workspace, session.id, checkpoint);
  }
}

function tooMany(thread: ThreadId): EngineError<"LIMIT_REACHED"> {
  return new EngineError(
    "LIMIT_REACHED",
    `This session has ${MOST_MANUAL} manual checkpoints, the most it can have. No checkpoint was taken.`,
    { limit: MOST_MANUAL, thread },
  );
}
