/** Checkpoints as Mimir's snapshots. */
import { displayPath, type Checkpoint, type CheckpointKind } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { withLazy } from "../frame/contents.ts";
import type { FileSnapshot, Snapshot, SnapshotType } from "./types.ts";

/** The kinds of checkpoint that are listed as snapshots. */
const SHOWN: ReadonlySet<CheckpointKind> = new Set([
  "manual",
  "agent",
  "auto-fix",
  "timer",
  "tool",
  "message",
]);

/** Whether a checkpoint is listed as a snapshot: not what Belay takes for its own safety, and not the ends of turns. */
export function isShown({ kind, phase }: Checkpoint): boolean {
  return SHOWN.has(kind) && phase !== "after";
}

/** Mimir's form of an id. */
export function idOf({ id }: Checkpoint): string {
  return `snap-${id}`;
}

/** The kind of checkpoint that a type of snapshot is. */
export function kindOf(type: SnapshotType, description: string | undefined): CheckpointKind {
  if (type === "manual") return "manual";
  if (type === "auto-agent") return "agent";
  return description?.startsWith("Auto-fix attempt") === true ? "auto-fix" : "timer";
}

/** A checkpoint in Mimir's form. Its files are listed when they are looked at, and each content when it is. */
export function snapshotOf(workspace: SyncWorkspace, checkpoint: Checkpoint): Snapshot {
  const { kind, createdAt, conversation, agent, description, tags, bytes } = checkpoint;
  const facts: Omit<Snapshot, "files"> = {
    id: idOf(checkpoint),
    timestamp: new Date(createdAt),
    type: kind === "manual" ? "manual" : kind === "agent" ? "auto-agent" : "auto-checkpoint",
    conversation: {
      messageCount: conversation?.messageCount ?? 0,
      lastMessageId: conversation?.lastMessageId ?? "",
      artifacts: (conversation?.artifacts ?? []).filter((each): each is string => typeof each === "string"),
    },
    ...(agent !== null && {
      agent: {
        id: agent.id,
        role: agent.role,
        status: agent.status,
        cost: agent.cost ?? 0,
        tokens: agent.tokens ?? 0,
      },
    }),
    description,
    tags: [...tags],
    size: bytes,
  };
  return withLazy<typeof facts, Pick<Snapshot, "files">>(facts, {
    files: () => filesOf(workspace, checkpoint),
  });
}

function filesOf(workspace: SyncWorkspace, { id }: Checkpoint): FileSnapshot[] {
  return [...workspace.files(id)]
    .filter(({ kind }) => kind !== "directory")
    .map(({ path, hash, content }) => {
      const facts = { path: displayPath(path), hash, ...typeOf(displayPath(path)) };
      return withLazy<typeof facts, Pick<FileSnapshot, "content">>(facts, {
        content: () => Buffer.concat([...content()]),
      });
    });
}

const TYPES: Readonly<Record<string, string>> = {
  ts: "text/x-typescript",
  tsx: "text/x-typescript",
  js: "text/javascript",
  mjs: "text/javascript",
  json: "application/json",
  md: "text/markdown",
  html: "text/html",
  css: "text/css",
  py: "text/x-python",
  txt: "text/plain",
  svg: "image/svg+xml",
  png: "image/png",
  jpg: "image/jpeg",
};

function typeOf(path: string): { mimeType?: string } {
  const mimeType = TYPES[path.slice(path.lastIndexOf(".") + 1).toLowerCase()];
  return mimeType === undefined ? {} : { mimeType };
}
