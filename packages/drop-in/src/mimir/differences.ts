/** Differences in Mimir's form: real lines, and a file that was moved is one that went and one that came. */
import {
  displayPath,
  fromNames,
  pathFromBytes,
  type Checkpoint,
  type CheckpointRef,
  type FileChange as Changed,
} from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { bytesAt } from "../frame/contents.ts";
import type { FileChange, FileDiff, Snapshot, SnapshotDiff } from "./types.ts";

const BINARY = "Binary files differ";

/** What changed between two checkpoints, file by file. */
export function fileDiffs(workspace: SyncWorkspace, from: CheckpointRef, to: Checkpoint): FileDiff[] {
  const { files } = workspace.diff({ from, to: to.id, detail: "text" });
  const start = workspace.resolve(from).id;
  const whole: Whole = (path, sign) =>
    wholeFile(bytesAt(workspace, sign === "-" ? start : to.id, path), path, sign);
  return files.flatMap((each) => inMimirsForm(each, whole));
}

/** What a restore would do to the files. */
export function restoreDiffs(workspace: SyncWorkspace, to: Checkpoint): FileDiff[] {
  const present = (path: string) =>
    workspace.file(null, pathFromBytes(Buffer.from(path)), Number.POSITIVE_INFINITY)?.content ?? null;
  const whole: Whole = (path, sign) =>
    wholeFile(sign === "-" ? present(path) : bytesAt(workspace, to.id, path), path, sign);
  return workspace.planChanges(workspace.planRestore(to.id)).flatMap((each) => inMimirsForm(each, whole));
}

/** What a restore would do to the files, without their texts. */
export function fileChanges(workspace: SyncWorkspace, from: CheckpointRef, to: Checkpoint): FileChange[] {
  return fileDiffs(workspace, from, to).map(({ path, type, linesAdded, linesDeleted }) => ({
    path,
    type,
    linesAdded,
    linesDeleted,
  }));
}

type Whole = (path: string, sign: "-" | "+") => string;

function inMimirsForm(change: Changed, whole: Whole): FileDiff[] {
  const { path, from, type, linesAdded, linesDeleted } = change;
  if (from !== undefined) {
    const [old, now] = [displayPath(from), displayPath(path)];
    const [went, came] = [whole(old, "-"), whole(now, "+")];
    return [
      { path: old, type: "deleted", diff: went, linesAdded: 0, linesDeleted: linesIn(went, "-") },
      { path: now, type: "added", diff: came, linesAdded: linesIn(came, "+"), linesDeleted: 0 },
    ];
  }
  const kind = type === "added" || type === "deleted" ? type : "modified";
  const lines = { linesAdded: linesAdded ?? 0, linesDeleted: linesDeleted ?? 0 };
  return [{ path: displayPath(path), type: kind, diff: diffText(change), ...lines }];
}

/** Without git's own lines before the names: a change of mode alone has none. */
function diffText({ diff, binary }: Changed): string {
  return binary ? BINARY : (fromNames(diff) ?? "");
}

/** A file that went or came, as a unified diff. */
function wholeFile(content: Buffer | null, path: string, sign: "-" | "+"): string {
  const bytes = content ?? Buffer.alloc(0);
  if (bytes.includes(0)) return BINARY;
  const lines = bytes.toString("utf8").replace(/\n$/, "").split("\n");
  const count = bytes.length === 0 ? 0 : lines.length;
  const head =
    sign === "-"
      ? `--- a/${path}\n+++ /dev/null\n@@ -1,${count} +0,0 @@\n`
      : `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${count} @@\n`;
  return head + (count === 0 ? "" : lines.map((line) => `${sign}${line}\n`).join(""));
}

function linesIn(diff: string, sign: "-" | "+"): number {
  return diff.split("\n").filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
}

/** What the conversation gained between two snapshots. */
export function conversationDiff(
  from: Snapshot["conversation"],
  to: Snapshot["conversation"],
): SnapshotDiff["conversationDiff"] {
  const known = new Set(from.artifacts);
  return {
    messagesAdded: Math.max(0, to.messageCount - from.messageCount),
    artifactsAdded: to.artifacts.filter((artifact) => !known.has(artifact)),
  };
}
