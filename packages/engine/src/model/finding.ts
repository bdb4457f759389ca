/** Where a text or a file was in the history of a workspace. */
import type { BytePath } from "./byte-path.ts";
import type { CheckpointId, CheckpointRef, ThreadId } from "./ids.ts";

/** What to look for. Without text and pattern: files by their paths. */
export interface FindOptions {
  /** Exactly these bytes, anywhere in a file. */
  readonly text?: string;
  /** Tried line by line; its flags are ignored. */
  readonly pattern?: RegExp;
  readonly ignoreCase?: boolean;
  /** Relative to the root; only these files and what is below them. */
  readonly paths?: readonly string[];
  /** Only files that a pattern like `*.ts` or `src/**` matches; without a slash it is tried against names. */
  readonly files?: string;
  /** Only what this checkpoint has; else every checkpoint is searched. */
  readonly at?: CheckpointRef;
  /** Describe at most this many files; the newest come first. */
  readonly limit?: number;
  /** With text or pattern: also when each matching line of these files was there, who brought it and who took it out. */
  readonly history?: boolean;
  /** How long a pattern may take for one pack, which is at most 4 MiB; 10 s unless another time is given. */
  readonly patternLimitMs?: number;
  readonly progress?: (done: number, total: number) => void;
}

/** What was found, and in how much. */
export interface Findings {
  readonly files: readonly FoundFile[];
  /** How many files matched, described or not. */
  readonly total: number;
  /** The lines of the described files, newest first; only where they were asked for. */
  readonly lines?: readonly FoundLine[];
  readonly checkpoints: number;
  /** Distinct contents that were looked at. */
  readonly contents: number;
  /** Damaged parts of the store that could not be looked at. */
  readonly unreadable: number;
}

/** A file and when it matched, newest first. */
export interface FoundFile {
  readonly path: BytePath;
  /** Whether it matches as it is on disk now. */
  readonly onDisk: boolean;
  readonly spans: readonly FoundSpan[];
}

/** A stretch of checkpoints in which a file matched. */
export interface FoundSpan {
  readonly first: FoundPlace;
  readonly last: FoundPlace;
  /** What brought it; null for the oldest checkpoint there is, and where it is not known. */
  readonly since: FoundCause | null;
  /** Null in the newest checkpoint's span. */
  readonly gone: FoundEnd | null;
  readonly binary: boolean;
  /** The first matching lines in the last version, and their numbers. */
  readonly lines: readonly string[];
  readonly lineNumbers: readonly number[];
}

/** A checkpoint in which something was found. */
export interface FoundPlace {
  readonly id: CheckpointId;
  readonly seq: number;
  readonly at: number;
}

/** What happened, as the timeline calls it. */
export interface FoundCause {
  /** Null where the timeline has no row of its own for it. */
  readonly ref: string | null;
  readonly title: string;
  readonly agent: string | null;
}

/** The first checkpoint in which a file no longer matched. */
export interface FoundEnd extends FoundPlace {
  /** `left-out`: the rules stopped capturing it, so it may still have been there. */
  readonly how: "deleted" | "changed" | "left-out" | "not-captured" | "forgotten";
  readonly by: FoundCause | null;
}

/** A stretch of checkpoints in which a file had a matching line, wherever in the file it stood. */
export interface FoundLine {
  readonly path: BytePath;
  readonly text: string;
  readonly first: FoundPlace;
  /** Null while it is in the newest checkpoint. */
  readonly last: FoundPlace | null;
  /** Null for the oldest checkpoint there is, and where it is not known. */
  readonly addedBy: FoundAuthor | null;
  readonly removedBy: FoundAuthor | null;
}

/** What happened, and whose it was; a change by hand has neither thread nor agent. */
export interface FoundAuthor extends FoundCause {
  readonly thread: ThreadId | null;
  /** The tool that made it, where captures around tools show that. */
  readonly tool: string | null;
  readonly messageId: string | null;
  readonly prompt: string | null;
}
