/** AgentSmithy's tracker of one dialog: checkpoints, approval, edits that can be aborted. */
import { displayPath, EngineError, type Checkpoint, type CheckpointId, type Gap } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { assertApplied } from "../frame/applied.ts";
import type { DropInOptions } from "../frame/options.ts";
import { Root } from "../frame/root.ts";
import { changedFiles, pendingFile, type ChangedFile } from "./changed-file.ts";
import { begunDialog, checkpointIn, dialogThread } from "./dialog-thread.ts";

/** A checkpoint as AgentSmithy knows it. */
export interface CheckpointInfo {
  commit_id: string;
  message: string;
  /** What could not be read, and why. */
  not_captured: { path: string; reason: string }[];
}

/** What the last restore of a tracker did. */
export interface LastRestore {
  new_checkpoint: string;
  safety_checkpoint: string;
  skipped: { path: string; reason: string }[];
}

/** Saves and restores a project for one dialog. Everything is in the project's store; a tracker holds nothing but an open edit. */
export class VersioningTracker {
  readonly project_root: string;
  readonly dialog_id: string | null;
  readonly #root: Root;
  #edit: string | undefined;
  #tracked: string[] | undefined;
  #staged = new Set<string>();
  #last: LastRestore | null = null;

  constructor(project_root: string, dialog_id: string | null = null, options: DropInOptions = {}) {
    this.#root = new Root(project_root, options);
    this.project_root = this.#root.directory;
    this.dialog_id = dialog_id;
  }

  /** What the last restore did; null before the first one. */
  get last_restore(): LastRestore | null {
    return this.#last;
  }

  /** Takes the checkpoint before a user message. */
  create_checkpoint(message: string): CheckpointInfo {
    const { workspace } = this.#root;
    const thread = dialogThread(workspace, this.dialog_id);
    const { checkpoint, gaps } = workspace.checkpoint({
      kind: "message",
      phase: "before",
      thread,
      description: message,
    });
    this.#staged.clear();
    const info = infoOf(checkpoint, gaps);
    if (gaps.length > 0) this.#root.log("warning", "not_captured", { files: firstOf(info.not_captured) });
    return info;
  }

  /** The checkpoints of all sessions of the dialog, oldest first. */
  list_checkpoints(): CheckpointInfo[] {
    const workspace = this.#root.known;
    if (workspace === undefined) return [];
    const thread = dialogThread(workspace, this.dialog_id);
    const listed = workspace.list({ thread }).toReversed();
    return listed.map((checkpoint) => infoOf(checkpoint, checkpoint.gaps));
  }

  /** Makes the present state the approved one and begins the next session. */
  approve_all(message?: string | null): {
    approved_commit: string;
    new_session: string;
    commits_approved: number;
  } {
    const { workspace } = this.#root;
    const thread = begunDialog(workspace, this.dialog_id);
    const approval = workspace.approvals.approve(thread, message ? { message } : {});
    return {
      approved_commit: approval.approved,
      new_session: approval.newSession,
      commits_approved: approval.checkpointsApproved,
    };
  }

  /** Brings the files back to the approved state and begins the next session. Throws with the paths that are in conflict. */
  reset_to_approved(): { reset_to: string; new_session: string; pre_reset_checkpoint?: string } {
    const { workspace } = this.#root;
    const outcome = workspace.approvals.reset(begunDialog(workspace, this.dialog_id));
    assertApplied(outcome);
    this.#staged.clear();
    const { resetTo, newSession, safetyCheckpoint } = outcome;
    return {
      reset_to: resetTo!,
      new_session: newSession!,
      ...(safetyCheckpoint !== null && { pre_reset_checkpoint: safetyCheckpoint }),
    };
  }

  /** Brings the files back to a checkpoint; returns what was written. Files that cannot be written are skipped: `last_restore`. */
  restore_checkpoint(commit_id: string): string[] {
    const workspace = this.#root.knownWith(commit_id);
    const thread = dialogThread(workspace, this.dialog_id);
    const { id } = checkpointIn(workspace, thread, commit_id);
    const description = `Restored to checkpoint ${id.slice(0, 8)}`;
    const outcome = workspace.restoreTo(id, { thread, description, bestEffort: true });
    const skipped = [...outcome.skipped, ...outcome.conflicts].map(({ path, reason }) => ({
      path: displayPath(path),
      reason,
    }));
    // a restore that finds nothing to do leaves the state that the checkpoint itself has
    this.#last = {
      new_checkpoint: outcome.newCheckpoint ?? id,
      safety_checkpoint: outcome.safetyCheckpoint ?? id,
      skipped,
    };
    for (const each of skipped) this.#root.log("warning", "restore_skipped", each);
    this.#staged.clear();
    const left = new Set(skipped.map(({ path }) => path));
    return outcome.plan.edits
      .filter(({ to }) => to !== undefined && to.kind !== "directory")
      .map(({ path }) => displayPath(path))
      .filter((path) => !left.has(path));
  }

  /** Saves files that a tool is about to write. An edit that is open ends, and keeps what it did. */
  start_edit(paths: Iterable<string>): void {
    this.finalize_edit();
    const { workspace } = this.#root;
    const thread = dialogThread(workspace, this.dialog_id);
    this.#edit = workspace.turns.startEdit(thread, { paths: this.#root.insideAll(paths) }).id;
  }

  /** Ends the edit; its files stay as they are. */
  finalize_edit(): void {
    const edit = this.#takeEdit();
    if (edit !== undefined) this.#root.workspace.turns.finalizeEdit(edit);
  }

  /** Puts the files of the edit back, and removes those that are new. */
  abort_edit(): void {
    const edit = this.#takeEdit();
    if (edit !== undefined) assertApplied(this.#root.workspace.turns.abortEdit(edit));
  }

  /** Groups the changes until the commit into one checkpoint. */
  begin_transaction(): void {
    this.#tracked = [];
  }

  /** Notes a change for the message of the transaction. */
  track_file_change(file_path: string, operation: string): void {
    this.#tracked?.push(`${operation}: ${file_path}`);
  }

  /** Takes one checkpoint of what was tracked; null when nothing was. */
  commit_transaction(message?: string | null): CheckpointInfo | null {
    const tracked = this.#tracked;
    this.#tracked = undefined;
    if (tracked === undefined || tracked.length === 0) return null;
    return this.create_checkpoint(message ?? `Transaction: ${tracked.join(", ")}`);
  }

  /** Forgets what was tracked; the files stay as they are. */
  abort_transaction(): void {
    this.#tracked = undefined;
  }

  /** Whether a transaction is open. */
  is_transaction_active(): boolean {
    return this.#tracked !== undefined;
  }

  /** Captures a file from now on, even if ignore files exclude it. */
  stage_file(file_path: string): void {
    this.#stage(file_path);
  }

  /** The same for a file that was deleted on purpose. */
  stage_file_deletion(file_path: string): void {
    this.#stage(file_path);
  }

  /** Whether files were staged since the last checkpoint of this tracker. */
  has_staged_changes(): boolean {
    return this.#staged.size > 0;
  }

  /** Forgets that files were staged; they are captured all the same. */
  clear_staging(): void {
    this.#staged.clear();
  }

  /** Whether the files differ from the newest checkpoint. */
  has_uncommitted_changes(): boolean {
    const workspace = this.#root.known;
    return workspace !== undefined && workspace.diff({ detail: "names" }).files.length > 0;
  }

  /** What a session changed since the approved state; the open one unless another is named. */
  get_staged_files(session_name?: string, include_diff = true): ChangedFile[] {
    if (session_name !== undefined) return this.get_tree_diff("main", session_name, include_diff);
    const workspace = this.#root.known;
    if (workspace === undefined) return [];
    const thread = begunDialog(workspace, this.dialog_id);
    const detail = include_diff ? "text" : "counts";
    return workspace.approvals.session(thread, { detail, content: true }).changedFiles.map(pendingFile);
  }

  /** Compares two states: "main", "session_2", "refs/heads/…" or checkpoints. */
  get_tree_diff(from_ref: string, to_ref: string, include_diff = true): ChangedFile[] {
    const workspace = this.#root.knownWith(from_ref);
    const [from, to] = [this.#stateOf(workspace, from_ref), this.#stateOf(workspace, to_ref)];
    return changedFiles(workspace, { from, to, withDiff: include_diff });
  }

  /** The checkpoint of a branch as AgentSmithy names them, or of an id. */
  #stateOf(workspace: SyncWorkspace, ref: string): CheckpointId {
    const thread = begunDialog(workspace, this.dialog_id);
    const name = ref.replace(/^refs\/heads\//, "");
    const sessions = workspace.approvals.sessions(thread);
    const session = name === "main" ? sessions.at(-1) : sessions.find((each) => each.name === name);
    if (session === undefined) return checkpointIn(workspace, thread, name).id;
    const state = name === "main" ? session.base : (session.approved ?? session.head ?? session.base);
    if (state !== null) return state;
    throw new EngineError(
      "CHECKPOINT_NOT_FOUND",
      `There is no checkpoint in "${ref}" yet. Nothing was changed.`,
      {
        checkpoint: ref,
      },
    );
  }

  #stage(path: string): void {
    const { workspace } = this.#root;
    const thread = dialogThread(workspace, this.dialog_id);
    const [inside] = this.#root.insideAll([path]);
    workspace.turns.finalizeEdit(workspace.turns.startEdit(thread, { paths: [inside!], tool: "stage" }).id);
    this.#staged.add(inside!);
  }

  #takeEdit(): string | undefined {
    const edit = this.#edit;
    this.#edit = undefined;
    return edit;
  }
}

function infoOf({ id, description }: Checkpoint, gaps: readonly Gap[]): CheckpointInfo {
  const notCaptured = gaps.map(({ path, reason }) => ({ path: displayPath(path), reason }));
  return { commit_id: id, message: description, not_captured: notCaptured };
}

const NAMED = 5;

/** The first ones with their reasons, and how many more. */
function firstOf(paths: CheckpointInfo["not_captured"]): string {
  const named = paths.slice(0, NAMED).map(({ path, reason }) => `${path} (${reason})`);
  const more = paths.length - named.length;
  return more > 0 ? `${named.join(", ")}, … and ${more} more` : named.join(", ");
}
