/** A changed file as AgentSmithy shows it. */
import { displayPath, fromNames, type CheckpointId, type FileChange, type PendingFile } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { bytesAt, textOf } from "../frame/contents.ts";

/** One file that differs between two states. */
export interface ChangedFile {
  path: string;
  status: "added" | "modified" | "deleted";
  additions: number;
  deletions: number;
  /** Unified, when it was requested and there are lines. */
  diff: string | null;
  /** The text of the first state. */
  base_content: string | null;
  is_binary: boolean;
  is_too_large: boolean;
}

/** What differs between two checkpoints; a renamed file is deleted there and added here. */
export function changedFiles(
  workspace: SyncWorkspace,
  { from, to, withDiff }: { from: CheckpointId; to: CheckpointId; withDiff: boolean },
): ChangedFile[] {
  const detail = withDiff ? "text" : "counts";
  const compare = (...paths: string[]) =>
    workspace.diff({ from, to, detail, ...(paths.length > 0 && { paths }) }).files;
  const files = compare().flatMap((file) =>
    file.from === undefined ? [file] : [file.from, file.path].flatMap((path) => compare(displayPath(path))),
  );
  return files.map((file) => {
    const isText = !file.binary && !file.tooLarge && file.gap === undefined && file.type !== "added";
    const base = isText ? bytesAt(workspace, from, displayPath(file.path)) : null;
    return changedFile(file, base === null ? null : textOf(base).content);
  });
}

/** A change that is not approved. */
export function pendingFile(file: PendingFile): ChangedFile {
  return changedFile(file, file.baseContent);
}

function changedFile(file: FileChange, base: string | null): ChangedFile {
  return {
    path: displayPath(file.path),
    status: file.type === "added" || file.type === "deleted" ? file.type : "modified",
    additions: file.linesAdded ?? 0,
    deletions: file.linesDeleted ?? 0,
    diff: fromNames(file.diff),
    base_content: base,
    is_binary: file.binary,
    is_too_large: file.tooLarge,
  };
}
