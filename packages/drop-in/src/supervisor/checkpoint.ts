/** Checkpoints as the supervisor's design has them. */
import {
  displayPath,
  EngineError,
  pathFromBytes,
  type Checkpoint as Taken,
  type FileChange,
  type ThreadId,
} from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { textOf, withLazy } from "../frame/contents.ts";
import { begunThread, findCheckpoint, findThread } from "../frame/references.ts";

/** A conversation that is supervised. */
export interface Session {
  id: string;
  messageIndex?: number;
  cwd?: string;
}

/** One file at the moment of a checkpoint. */
export interface CheckpointFile {
  path: string;
  /** Null: it did not exist. */
  content: string | null;
  encoding: "utf-8" | "base64";
  /** Permission bits. */
  mode: number;
  /** SHA-256; "deleted" where it did not exist. */
  hash: string;
}

/** The state before a tool, or one that a person made. */
export interface Checkpoint {
  id: string;
  sessionId: string;
  type: "auto" | "manual";
  name?: string;
  annotation?: string;
  messageIndex: number;
  toolUseId?: string;
  /** What differs from the present, as it was then. */
  files: CheckpointFile[];
  git?: { branch: string; commitHash: string; hasUncommittedChanges: boolean; stagedFiles: string[] };
  createdAt: string;
  sizeBytes: number;
  description?: string;
  rolledBack?: boolean;
  /** Paths that were seen and not captured: a rollback leaves them alone. */
  notCaptured?: { path: string; reason: string }[];
}

const AGENT = "supervisor";
/** The namespace of the ids that callers gave their checkpoints. */
export const ORIGIN = "supervisor";

/** What the store calls a checkpoint that a caller stored: ids are a session's own. */
export function storedName(session: string, id: string): string {
  return `${session}/${id}`;
}

/** The thread of a session, begun with a checkpoint of the present if there is none. */
export function sessionThread(workspace: SyncWorkspace, session: string): ThreadId {
  return begunThread(workspace, AGENT, session);
}

/** The thread of a session that has begun; else undefined. */
export function knownSession(workspace: SyncWorkspace, session: string): ThreadId | undefined {
  return findThread(workspace, AGENT, session)?.id;
}

/** The threads of all sessions of the supervisor. */
export function sessionsIn(workspace: SyncWorkspace): { id: ThreadId; session: string }[] {
  return workspace.threads
    .list()
    .filter(({ agent }) => agent === AGENT)
    .map(({ id, externalId }) => ({ id, session: externalId }));
}

/** A checkpoint of this session; throws `CHECKPOINT_NOT_FOUND`. */
export function checkpointIn(workspace: SyncWorkspace, session: string, ref: string): Taken {
  const stored = workspace.aliases(ORIGIN).get(storedName(session, ref));
  const checkpoint = stored ?? findCheckpoint(workspace, ref);
  if (checkpoint.thread === knownSession(workspace, session) || checkpoint.thread === null) return checkpoint;
  throw new EngineError(
    "CHECKPOINT_NOT_FOUND",
    `There is no checkpoint "${ref}" in session ${session}. Nothing was changed.`,
    { checkpoint: ref },
  );
}

/** The checkpoints that this design shows, oldest first: those before tools, and those that people made. */
export function listIn(workspace: SyncWorkspace, thread: ThreadId): Taken[] {
  const isShown = ({ kind, phase, origin }: Taken) =>
    kind === "manual" || (kind === "tool" && phase !== "after") || origin !== null;
  return workspace.list({ thread }).filter(isShown).toReversed();
}

/** A checkpoint in the design's form. Its files are found when they are looked at, and each content when it is. */
export function checkpointOf(workspace: SyncWorkspace, sessionId: string, taken: Taken): Checkpoint {
  const { kind, name, note, messageIndex, toolUseId, git, createdAt, bytes, description, gaps } = taken;
  const facts: Omit<Checkpoint, "files"> = {
    id: idOf(taken),
    sessionId,
    type: kind === "manual" ? "manual" : "auto",
    ...(name !== null && { name }),
    ...(note !== null && { annotation: note }),
    messageIndex: messageIndex ?? 0,
    ...(toolUseId !== null && { toolUseId }),
    ...(git !== null && {
      git: {
        branch: git.branch ?? "",
        commitHash: git.commit ?? "",
        hasUncommittedChanges: git.dirty,
        stagedFiles: [...git.staged],
      },
    }),
    createdAt: new Date(createdAt).toISOString(),
    sizeBytes: bytes,
    description,
    rolledBack: taken.rolledBack,
    notCaptured: gaps.map(({ path, reason }) => ({ path: displayPath(path), reason })),
  };
  return withLazy<typeof facts, Pick<Checkpoint, "files">>(facts, { files: () => filesOf(workspace, taken) });
}

/** What differs from the present; of a state that a caller stored, everything it holds. */
function filesOf(workspace: SyncWorkspace, taken: Taken): CheckpointFile[] {
  if (taken.origin !== null) return storedFiles(workspace, taken);
  const { files } = workspace.diff({ from: taken.id, detail: "names" });
  return files.flatMap((change) => pathsOf(change)).map((path) => fileAt(workspace, taken, path));
}

function pathsOf({ path, from }: FileChange): string[] {
  return [...(from === undefined ? [] : [displayPath(from)]), displayPath(path)];
}

/** The mark of a stored checkpoint: what its caller calls it, and the files that did not exist. */
export interface StoredMark {
  readonly id: string;
  readonly absent: readonly string[];
}

/** What callers know a checkpoint by: the id that they gave it, or Belay's. */
export function idOf(taken: Taken): string {
  return markOf(taken)?.id ?? taken.id;
}

function markOf({ origin, conversation }: Taken): Partial<StoredMark> | undefined {
  const [mark] = (conversation?.artifacts ?? []) as (Partial<StoredMark> | undefined)[];
  return origin === ORIGIN ? mark : undefined;
}

function storedFiles(workspace: SyncWorkspace, taken: Taken): CheckpointFile[] {
  const present = [...workspace.files(taken.id)]
    .filter(({ kind }) => kind !== "directory")
    .map(({ path }) => displayPath(path));
  return [...present, ...(markOf(taken)?.absent ?? [])].map((path) => fileAt(workspace, taken, path));
}

function fileAt(workspace: SyncWorkspace, { id }: Taken, path: string): CheckpointFile {
  const at = () => workspace.file(id, pathFromBytes(Buffer.from(path)), 0);
  const bytes = () =>
    workspace.file(id, pathFromBytes(Buffer.from(path)), Number.POSITIVE_INFINITY)?.content ?? null;
  const file = at();
  const facts = { path, mode: file?.mode ?? 0, hash: file?.hash ?? "deleted" };
  return withLazy<typeof facts, Pick<CheckpointFile, "content" | "encoding">>(facts, {
    content: () => {
      const content = bytes();
      return content === null ? null : textOf(content).content;
    },
    encoding: () => textOf(bytes() ?? Buffer.alloc(0)).encoding,
  });
}
