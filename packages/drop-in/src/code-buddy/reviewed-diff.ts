/** Code Buddy's reviewed diffs: applied whole, or not at all. */
import { hash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DropInOptions } from "../frame/options.ts";
import { begunThread, findCheckpoint } from "../frame/references.ts";
import { messageOf, Root } from "../frame/root.ts";
import { AGENT, idOf, markedFiles, take, THREAD, type Rewound } from "./checkpoint.ts";
import { rewindTo } from "./rewind-to.ts";

/** One file as it is proposed. */
export interface ProposedFileChange {
  /** Relative to the directory. */
  path: string;
  action: "create" | "modify" | "delete";
  baseContent: string | null;
  /** The first 16 hex digits of the SHA-256 of the base; null for a new file. */
  baseHash: string | null;
  /** Null deletes the file. */
  newContent: string | null;
}

/** Changes that were proposed together. */
export interface ProposedDiff {
  id: string;
  createdAt: string;
  workDir: string;
  origin: { kind: string; label: string };
  intent: string;
  files: ProposedFileChange[];
}

/** What the review said. */
export interface ReviewVerdict {
  diffId: string;
  decision: "accept" | "annotate" | "reject";
  annotations: { path: string; severity: "blocker" | "warning" | "suggestion"; message?: string }[];
}

/** Why a file cannot be applied. */
export interface DiffConflict {
  path: string;
  kind: "duplicate-path" | "unexpected-existing" | "missing-file" | "stale-base";
  detail: string;
}

/** What was done. */
export interface ApplyReport {
  diffId: string;
  applied: boolean;
  appliedFiles: string[];
  skippedFiles: string[];
  checkpointId: string | null;
  rolledBack: boolean;
  conflicts: DiffConflict[];
  errors: string[];
}

/** Where each checkpoint of this process is. */
const roots = new Map<string, Root>();

/**
 * Applies what was accepted, as one edit: a file that changed since it was proposed is a conflict, and what fails midway is
 * put back. `atomic` applies all files or none; `per-file` leaves out those with remarks and conflicts.
 */
export function applyReviewedDiff(
  diff: ProposedDiff,
  verdict: ReviewVerdict,
  { mode = "atomic" }: { mode?: "atomic" | "per-file" } = {},
  options: DropInOptions = {},
): ApplyReport {
  if (verdict.diffId !== diff.id) throw new Error(`verdict ${verdict.diffId} does not match diff ${diff.id}`);
  const root = new Root(diff.workDir, options);
  root.insideAll(diff.files.map(({ path }) => path));
  const all = diff.files.map(({ path }) => path);
  const nothing = (error: string, rest: Partial<ApplyReport> = {}): ApplyReport => ({
    diffId: diff.id,
    applied: false,
    appliedFiles: [],
    skippedFiles: all,
    checkpointId: null,
    rolledBack: false,
    conflicts: [],
    errors: [error],
    ...rest,
  });
  if (verdict.decision === "reject") return nothing("verdict is reject: nothing applied");
  if (verdict.decision === "annotate" && mode === "atomic")
    return nothing("verdict is annotate: atomic mode applies nothing until the diff is revised");
  const remarked = new Set(
    verdict.decision === "annotate"
      ? verdict.annotations.filter(({ severity }) => severity !== "suggestion").map(({ path }) => path)
      : [],
  );
  const conflicts = findConflicts(
    root,
    diff.files.filter(({ path }) => !remarked.has(path)),
  );
  if (conflicts.length > 0 && mode === "atomic")
    return nothing("files changed since the diff was proposed: nothing applied", { conflicts });
  const left = new Set([...remarked, ...conflicts.map(({ path }) => path)]);
  const files = diff.files.filter(({ path }) => !left.has(path));
  if (files.length === 0)
    return nothing("every file has remarks or conflicts: nothing applied", { conflicts });
  const skippedFiles = all.filter((path) => left.has(path));
  return { ...nothing(""), errors: [], conflicts, ...apply(root, diff.id, files, skippedFiles, all) };
}

function apply(
  root: Root,
  id: string,
  files: readonly ProposedFileChange[],
  skippedFiles: string[],
  all: string[],
): Partial<ApplyReport> {
  const { workspace } = root;
  const paths = files.map(({ path }) => path);
  const taken = take(root, `Before applying ${id}`, paths);
  const checkpointId = idOf(taken);
  roots.set(checkpointId, root);
  const thread = begunThread(workspace, AGENT, THREAD);
  const edit = workspace.turns.startEdit(thread, { paths, tool: "review" }).id;
  try {
    // whatever was written since the look above is in the saved state, and is noticed here
    const conflicts = findConflicts(root, files);
    if (conflicts.length > 0) throw new Error(`${conflicts[0]!.path}: ${conflicts[0]!.detail}`);
    for (const file of files) write(join(root.directory, file.path), file);
    workspace.turns.finalizeEdit(edit);
    return { applied: true, appliedFiles: paths, skippedFiles, checkpointId };
  } catch (error) {
    const rolledBack = workspace.turns.abortEdit(edit).outcome !== "conflicts";
    const end = rolledBack ? "rolled back" : "not everything could be put back";
    const errors = [`apply failed (${messageOf(error)}): ${end}`];
    return { applied: false, skippedFiles: all, checkpointId, rolledBack, errors };
  }
}

/** Puts the files of an applied diff back. */
export function rollbackAppliedDiff(checkpointId: string, options: DropInOptions = {}): Rewound {
  const root = roots.get(checkpointId) ?? new Root(undefined, options);
  try {
    // a directory is not protected for the sake of a question
    if (root.known === undefined) return unknown(checkpointId);
    const taken = findCheckpoint(root.workspace, checkpointId);
    const paths = markedFiles(taken);
    return rewindTo(root, taken, paths && { paths });
  } catch (error) {
    if ((error as { code?: string }).code !== "CHECKPOINT_NOT_FOUND") throw error;
    return unknown(checkpointId);
  }
}

function unknown(checkpointId: string): Rewound {
  return { success: false, restored: [], errors: [`Checkpoint not found: ${checkpointId}`] };
}

/** A new file takes no other's place; an existing one keeps its mode, and is replaced whole. */
function write(path: string, { action, newContent }: ProposedFileChange): void {
  if (newContent === null) return rmSync(path);
  mkdirSync(dirname(path), { recursive: true });
  if (action === "create") return writeFileSync(path, newContent, { flag: "wx" });
  const draft = `${path}.belay-${process.pid}`;
  try {
    writeFileSync(draft, newContent, { flag: "wx", mode: lstatSync(path).mode });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function findConflicts(root: Root, files: readonly ProposedFileChange[]): DiffConflict[] {
  const seen = new Set<string>();
  return files.flatMap(({ path, action, baseHash }): DiffConflict[] => {
    const isTwice = seen.has(path);
    seen.add(path);
    if (isTwice) return [{ path, kind: "duplicate-path", detail: "the path is in the diff more than once" }];
    const now = hashNow(join(root.directory, path));
    if (action === "create")
      return now === undefined
        ? []
        : [{ path, kind: "unexpected-existing", detail: "the file was made since" }];
    if (now === undefined) return [{ path, kind: "missing-file", detail: "the file has been deleted since" }];
    if (baseHash === null || now === baseHash) return [];
    return [{ path, kind: "stale-base", detail: `it changed since (expected ${baseHash}, found ${now})` }];
  });
}

/** Undefined when nothing is there; what is not a file has no hash that a base could have. */
function hashNow(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return stat.isFile() ? hash("sha256", readFileSync(path), "hex").slice(0, 16) : "no file";
}
