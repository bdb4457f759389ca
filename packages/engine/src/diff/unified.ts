/**
 * A change of one file as a patch that `git apply` and `patch` accept. The patch is bytes: content that is
 * not UTF-8 applies exactly; `text` is for display only. Binary and too large content has another form
 * (`binaryDiff`). A file that became a symlink, or the reverse, is a deletion and an addition: two patches.
 */
import type { BytePath } from "../model/byte-path.ts";
import { binaryPatch } from "./binary-patch.ts";
import { groupIntoHunks, hunkText } from "./hunks.ts";
import { diffLines, splitLines, type LineChange } from "./lines.ts";
import { quotePath } from "./quote-path.ts";

/** File, executable or symlink, in git's notation. */
export type PatchMode = "100644" | "100755" | "120000";

/** The two versions of one file. */
export interface FileChange {
  /** Null when the file was added. */
  readonly oldPath: BytePath | null;
  /** Null when the file was deleted. */
  readonly newPath: BytePath | null;
  readonly oldContent: Buffer;
  readonly newContent: Buffer;
  readonly oldMode?: PatchMode;
  readonly newMode?: PatchMode;
  /** Unchanged lines shown around each change. */
  readonly context?: number;
}

/** How many lines a change added and deleted. */
export interface LineCounts {
  readonly linesAdded: number;
  readonly linesDeleted: number;
}

/** A patch and its line counts. */
export interface UnifiedDiff extends LineCounts {
  /** Empty when nothing changed. */
  readonly bytes: Buffer;
  readonly text: string;
}

/** The patch of one file. */
export function unifiedDiff(change: FileChange): UnifiedDiff {
  const [oldLines, newLines] = [splitLines(change.oldContent), splitLines(change.newContent)];
  const changes = diffLines(oldLines, newLines);
  const parts = metadataLines(change);
  if (changes.length > 0)
    parts.push(`--- ${sideLabel("a", change.oldPath)}`, `+++ ${sideLabel("b", change.newPath)}`);
  for (const hunk of groupIntoHunks(changes, { context: change.context ?? 3, oldLength: oldLines.length })) {
    parts.push(hunkText(hunk, oldLines, newLines));
  }
  const patch = parts.length === 0 ? "" : [gitLine(change), ...parts, ""].join("\n");
  return withText({ ...sumChanges(changes), bytes: Buffer.from(patch, "latin1") });
}

/** The patch of one file without comparing lines. */
export function binaryDiff(change: FileChange): Buffer {
  const { oldPath, newPath, oldContent, newContent } = change;
  const [before, after] = [oldPath === null ? null : oldContent, newPath === null ? null : newContent];
  const head = [gitLine(change), ...modeLines(change)].join("\n");
  return Buffer.from(`${head}\n${binaryPatch(before, after)}`, "latin1");
}

/** Only the line counts of a diff. */
export function countLines(oldContent: Buffer, newContent: Buffer): LineCounts {
  return sumChanges(diffLines(splitLines(oldContent), splitLines(newContent)));
}

/** Sums up the line counts of several files. */
export function sumChanges(changes: readonly LineChange[]): LineCounts {
  let [linesAdded, linesDeleted] = [0, 0];
  for (const [aStart, aEnd, bStart, bEnd] of changes) {
    linesDeleted += aEnd - aStart;
    linesAdded += bEnd - bStart;
  }
  return { linesAdded, linesDeleted };
}

/** Decodes the text on first use. */
function withText(diff: Omit<UnifiedDiff, "text">): UnifiedDiff {
  return {
    ...diff,
    get text() {
      return diff.bytes.toString("utf8");
    },
  };
}

function gitLine({ oldPath, newPath }: FileChange): string {
  const oldName = prefixed("a", (oldPath ?? newPath)!);
  const newName = prefixed("b", (newPath ?? oldPath)!);
  return `diff --git ${oldName} ${newName}`;
}

/** Mode changes, renames, and the lines that an empty file needs. */
function metadataLines(change: FileChange): string[] {
  const { oldPath, newPath, oldContent, newContent } = change;
  const lines = modeLines(change);
  if (oldPath === null) return [...lines, ...emptyFileLine(newContent, NO_FILE, EMPTY_FILE)];
  return newPath === null ? [...lines, ...emptyFileLine(oldContent, EMPTY_FILE, NO_FILE)] : lines;
}

function modeLines({ oldPath, newPath, oldMode = "100644", newMode = "100644" }: FileChange): string[] {
  if (oldPath === null) return [`new file mode ${newMode}`];
  if (newPath === null) return [`deleted file mode ${oldMode}`];
  const lines = oldMode === newMode ? [] : [`old mode ${oldMode}`, `new mode ${newMode}`];
  if (oldPath !== newPath) lines.push(`rename from ${quotePath(oldPath)}`, `rename to ${quotePath(newPath)}`);
  return lines;
}

/** Git's object names for a missing file and for an empty file. */
const NO_FILE = "0000000";
const EMPTY_FILE = "e69de29";

/**
 * No hunk shows that an empty file was added or deleted, and without this line `patch` does not delete it.
 */
function emptyFileLine(content: Buffer, from: string, to: string): string[] {
  return content.length === 0 ? [`index ${from}..${to}`] : [];
}

function sideLabel(prefix: string, path: BytePath | null): string {
  if (path === null) return "/dev/null";
  // as git does: without the tab, `patch` reads what follows a space as a date
  return prefixed(prefix, path) + (path.includes(" ") ? "\t" : "");
}

function prefixed(prefix: string, path: BytePath): string {
  return quotePath(`${prefix}/${path}` as BytePath);
}

/** A diff as programs without git write it: from the names on. Null where no line differs. */
export function fromNames(diff: string | null | undefined): string | null {
  const names = diff?.search(/^--- /m) ?? -1;
  return names < 0 ? null : diff!.slice(names);
}
