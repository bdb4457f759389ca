/** How differences are drawn, and what their buttons do. */
import type { CodeLook } from "./code.tsx";
import type { ChangedFile } from "./files.ts";
import type { DiffHunk } from "./patch.ts";

/** How all files of a view are drawn. */
export interface DiffLook extends CodeLook {
  readonly whitespace: "exact" | "ignore";
}

/** What a file's buttons do; a view leaves out what it has no use for. */
export interface FileActions {
  /** "Restore this file…" or "Undo this file…" */
  readonly fileWords?: string;
  onFile?(file: ChangedFile): void;
  /** "Restore this hunk…" or "Undo this hunk…" */
  readonly hunkWords?: string;
  onHunk?(file: ChangedFile, hunk: DiffHunk): void;
  onCopied(what: string): void;
  onFailed?(error: Error): void;
}
