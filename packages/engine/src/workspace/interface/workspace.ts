/**
 * The library's front door: one protected directory and everything that can be done with it.
 * Every method that changes files makes a safety checkpoint first and leaves a new checkpoint behind;
 * every method that reports success has already made it durable.
 */
import type { Branches } from "./branches.ts";
import type { Checkpoint, CheckpointRequest, TakenCheckpoint } from "../../model/checkpoint.ts";
import type {
  CaptureLimits,
  CheckpointDetails,
  Diff,
  DiffOptions,
  ExportedFile,
  FileContent,
  ShowOptions,
  WorkspaceStatus,
} from "../../queries/answers.ts";
import type { OpenSyntax } from "../../merge/parsers.ts";
import type { Alias } from "../../history/aliases.ts";
import type { Annotations } from "../../history/annotations.ts";
import type { CompareFileOptions, OneFileOptions } from "../../queries/compare-file.ts";
import type { Findings, FindOptions } from "../../model/finding.ts";
import type { FileDiff } from "../../model/file-diff.ts";
import type { Approvals } from "./approvals.ts";
import type { Events } from "./events.ts";
import type { Ghosts } from "./ghosts.ts";
import type { Imports } from "./imports.ts";
import type { Forks } from "./forks.ts";
import type { Exchange } from "./exchange.ts";
import type { Fixes } from "./fixes.ts";
import type { ConflictChoice, Merges, Merging, ResolvedConflict } from "./merges.ts";
import type { Runs } from "./runs.ts";
import type { PlanBook } from "../plan-book.ts";
import type { Threads } from "./threads.ts";
import type { Timeline } from "./timeline.ts";
import type { Turns } from "./turns.ts";
import type { Upkeep } from "./upkeep.ts";
import type { Versions } from "./versions.ts";
import type { CheckpointId, CheckpointRef, ThreadId, WorkspaceId } from "../../model/ids.ts";
import type { Pause } from "../../model/pause.ts";
import type { FailingCaptures } from "../../model/timeline.ts";
import type {
  Decision,
  Interrupt,
  ApplyOptions,
  ChosenHunks,
  Outcome,
  Plan,
  RestoreProgress,
} from "../../model/plan.ts";
import type { BytePath } from "../../model/byte-path.ts";
import type { FileChange } from "../../model/file-change.ts";
import type { PlanDetails, PlannedDiff } from "../../model/plan-details.ts";

/** Called now and then while a large capture reads files. */
export type Progress = (progress: { done: number; total: number; bytes: number }) => void;

/** Which checkpoints `list` returns. */
export interface ListOptions {
  readonly thread?: ThreadId;
  readonly kind?: string;
  /** Text in a name, note, description, tag, prompt, message or changed path; of several, all have to be found. */
  readonly search?: string | readonly string[];
  readonly limit?: number;
  /** The branch whose line to list; defaults to the present one. */
  readonly branch?: string;
  /** Look at the disk and fill in `hasChanges` of each message's checkpoint. */
  readonly fresh?: boolean;
}

/** What goes back: the files, the conversation (its messages are marked), or both. */
export type RestoreScope = "files" | "conversation" | "both";

/** What a restore brings back. */
export interface RestoreOptions {
  /** Relative to the root; files, whole directories or patterns. Left out: everything. */
  readonly paths?: readonly string[];
  /** Of these files only the given hunks. */
  readonly hunks?: readonly ChosenHunks[];
  /** Delete nothing: files that the checkpoint does not have stay. */
  readonly keepNew?: boolean;
  /** The thread on whose behalf files go back. */
  readonly thread?: ThreadId;
  /** What the restore and its new checkpoint are called. Left out: "Restored to checkpoint 12 (…)". */
  readonly description?: string;
  /** "files" unless another is chosen. */
  readonly scope?: RestoreScope;
  /**
   * Threads whose work stays as it is; "others": that of every thread but the one that goes back. A file that other
   * threads changed too goes back, and so does one that `paths` names itself. Left out: all work goes back.
   */
  readonly exceptThreads?: "others" | readonly ThreadId[];
  /** More files in the same plan, each brought back from a checkpoint of its own. */
  readonly also?: readonly { readonly ref: CheckpointRef; readonly paths: readonly string[] }[];
  /** Also write back the files outside the workspace that the checkpoint holds. `undo` does not take that back. */
  readonly outside?: boolean;
}

/** Which steps an undo or redo takes. */
export interface UndoOptions {
  /** How many steps; defaults to 1. */
  readonly count?: number;
  /** Only steps of this thread. */
  readonly thread?: ThreadId;
  /** Also changes that cannot be told apart from another thread's. */
  readonly includeShared?: boolean;
  /** Also what a command wrote that the step left in the background and that still runs. */
  readonly includeBackground?: boolean;
  /** What was decided about paths in conflict. */
  readonly decisions?: readonly Decision[];
  /** Also merges that do not parse, though both sides do. */
  readonly mergeAnyway?: boolean;
  /** Do what can be done instead of nothing when there are conflicts. */
  readonly bestEffort?: boolean;
}

/** What an undo takes back; of a part, the step stays where it is, and the undo is a step of its own. */
export interface PartialUndoOptions extends UndoOptions {
  /** Relative to the root; files, whole directories or patterns. Left out: everything. */
  readonly paths?: readonly string[];
  /** Of these files only the given hunks. */
  readonly hunks?: readonly ChosenHunks[];
}

/** What of a step a revert takes out. */
export interface RevertOptions {
  /** Relative to the root; files, whole directories or patterns. Left out: everything. */
  readonly paths?: readonly string[];
  /** Of these files only the given hunks. */
  readonly hunks?: readonly ChosenHunks[];
  /** Also changes that cannot be told apart from another thread's. */
  readonly includeShared?: boolean;
  /** What was decided about paths in conflict. */
  readonly decisions?: readonly Decision[];
  /** Also merges that do not parse, though both sides do. */
  readonly mergeAnyway?: boolean;
}

/** How captures learn what changed. */
export interface Watching {
  /** live: only what the watcher named is looked at. cold: each capture scans everything. */
  readonly state: "live" | "cold";
  /** Why captures are cold; null when they are live. */
  readonly reason: string | null;
  /** How many directories are watched. */
  readonly directories: number;
}

/** What a scan found that the watcher had not reported. */
export interface Reconciled {
  /** Paths that had changed unreported; the captures that lack the change now have the doubt `missed`. */
  readonly missed: readonly BytePath[];
  /** Those captures. */
  readonly checkpoints: readonly CheckpointId[];
}

/** A protected directory. Its timeline, conversations, turns, approvals, merges, upkeep and events are parts of it. */
export interface Workspace extends Branches, Forks<Workspace>, Ghosts, Imports, Merging, AsyncDisposable {
  readonly id: WorkspaceId;
  /** Names this working copy among those of all workspaces: the root by the workspace's id, a fork with its number. */
  readonly copyId: string;
  readonly root: string;
  /** The directory of the store; "memory" when there is none. */
  readonly store: string;
  /** The disk is full, and no other process can open the store while this one has it: close it soon. */
  readonly isAlone: boolean;
  /** What opening noticed: moved, replaced, recovered … */
  readonly notices: readonly string[];

  /** What happened here, turn by turn. */
  readonly timeline: Timeline;
  /** Conversations with agents. */
  readonly threads: Threads;
  /** Turns and the tool calls, agents and edits inside them. */
  readonly turns: Turns;
  /** Approval and reset of a thread's work. */
  readonly approvals: Approvals;
  /** Merges and their conflicts, one by one. */
  readonly merges: Merges;
  /** Checkpoints that were put on a branch on purpose. */
  readonly versions: Versions;
  /** Records of the programs of agents that Belay started. */
  readonly runs: Runs;
  /** Records of loops that fix what a review found. */
  readonly fixes: Fixes;
  /** Care of the store: verify, prune, gc, forget. */
  readonly upkeep: Upkeep;
  /** What happens here, as it happens. */
  readonly events: Events;
  /** What remotes need of the store. */
  readonly exchange: Exchange;

  /** Takes a checkpoint of the files as they are now. */
  checkpoint(request?: CheckpointRequest, progress?: Progress): Promise<TakenCheckpoint>;
  /** The checkpoints that are not pruned, newest first. */
  list(options?: ListOptions): Promise<Checkpoint[]>;
  /** The checkpoint that a reference names; throws `CHECKPOINT_NOT_FOUND`. */
  resolve(ref: CheckpointRef): Promise<Checkpoint>;
  /** Decides a conflict of a merge. */
  resolve(conflict: string, choice: ConflictChoice): Promise<ResolvedConflict>;
  /** A checkpoint with what it changed, its gaps, doubts and what was left out. */
  show(ref: CheckpointRef, options?: ShowOptions): Promise<CheckpointDetails>;
  /** `diff(a, b)` compares two checkpoints, `diff(a)` one with the disk; unified diffs included. */
  diff(from: CheckpointRef, to?: CheckpointRef): Promise<Diff>;
  /** Compares two checkpoints, or one with the disk, in as much detail as the options say. */
  diff(options: DiffOptions): Promise<Diff>;
  /** Compares one file of two checkpoints, or of one and the disk, line by line; null when it is the same in both. */
  diffFile(options: CompareFileOptions): Promise<FileDiff | null>;
  /** Where a text, a pattern or a file was in any checkpoint: since when, until when, and what became of it. */
  find(options: FindOptions): Promise<Findings>;
  /** How the workspace stands, compared with the disk. */
  status(): Promise<WorkspaceStatus>;
  /** A file at a checkpoint, or on disk (`null`); null when none is there. Content up to `limitBytes`. */
  file(ref: CheckpointRef | null, path: BytePath, limitBytes: number): Promise<FileContent | null>;
  /** The files of a checkpoint, for export: directories before what they hold. `paths`: only those at, below or like these. */
  files(ref: CheckpointRef, paths?: readonly string[]): AsyncIterable<ExportedFile>;
  /** Numbers of checkpoints since this time that came too late for some of their files, newest first. */
  lateSince(time: number): Promise<number[]>;

  /** Changes name, note and tags of a checkpoint together: all of it or nothing. */
  annotate(ref: CheckpointRef, change: Annotations): Promise<Checkpoint>;
  /** Sets the note of a checkpoint; an empty one takes it away. */
  note(ref: CheckpointRef, text: string): Promise<Checkpoint>;
  /** Sets the name of a checkpoint; an empty one takes it away. */
  rename(ref: CheckpointRef, name: string): Promise<Checkpoint>;
  /** Adds a tag to a checkpoint. */
  tag(ref: CheckpointRef, tag: string): Promise<Checkpoint>;
  /** Removes a tag from the checkpoint that has it. */
  untag(tag: string): Promise<Checkpoint>;
  /** Gives a checkpoint the name it has in another program; `resolve` finds it by it, or by its first seven characters. */
  addAlias(ref: CheckpointRef, alias: Alias): Promise<Checkpoint>;
  /** The names that checkpoints have in a program, and their checkpoints; those that were dropped are left out. */
  aliases(origin: string): Promise<Map<string, Checkpoint>>;

  /** Looks at what a restore would do; `restore(plan)` carries it out. */
  planRestore(ref: CheckpointRef, options?: RestoreOptions): Promise<Plan>;
  /** Looks at what an undo would do; null when there is nothing to undo. */
  planUndo(options?: PartialUndoOptions): Promise<Plan | null>;
  /** Looks at what a redo would do; null when there is nothing to redo. */
  planRedo(options?: UndoOptions): Promise<Plan | null>;
  /** Looks at what a revert would do. */
  planRevert(ref: CheckpointRef, options?: RevertOptions): Promise<Plan>;
  /** What a plan would do to each file, and who changed it since; throws `PLAN_STALE` where the plan is none any more. */
  planDetails(plan: Plan): Promise<PlanDetails>;
  /**
   * A file as it is on disk, compared with what a plan would make of it, and how many of its hunks can be chosen; null
   * where the plan leaves it alone.
   */
  diffPlanned(plan: Plan, options: OneFileOptions): Promise<PlannedDiff | null>;
  /** What a plan would do to each file, with diffs and patches. */
  planChanges(plan: Plan): Promise<FileChange[]>;
  /** The plans that were looked at and can still be carried out. */
  readonly plans: PlanBook;
  /** Carries out a plan; throws `PLAN_STALE` when the files, or whose changes they are, moved on since it was made. */
  restore(plan: Plan, options?: ApplyOptions): Promise<Outcome>;
  /** Carries out a plan that another process of the user showed and handed over (`plans.handOver`). */
  carryOut(handed: Uint8Array, options?: ApplyOptions): Promise<Outcome>;
  /** Plans and carries out a restore in one go. */
  restoreTo(ref: CheckpointRef, options?: RestoreOptions & ApplyOptions): Promise<Outcome>;
  /** Takes the last step out of the present. */
  undo(options?: PartialUndoOptions): Promise<Outcome>;
  /** Puts the last undone step back in. */
  redo(options?: UndoOptions): Promise<Outcome>;
  /** Takes out one step, which need not be the last. */
  revert(ref: CheckpointRef, options?: RevertOptions & ApplyOptions): Promise<Outcome>;
  /**
   * Asks these parsers about what undo, redo, revert and reset merge: a text that does not parse, though both sides do,
   * is a conflict. They are opened and loaded when the first such text comes up; undefined = lines alone count again.
   */
  parseWith(open: OpenSyntax | undefined): void;
  /** Lets a restore, undo, redo, revert or reset be stopped while it is under way; undefined = no longer. */
  interruptedBy(interrupt: Interrupt | undefined): void;
  /** Tells how far such an operation is, between two files; undefined = no longer. `tell` must not throw. */
  tellProgress(tell: ((at: RestoreProgress) => void) | undefined): void;

  /** How large what is captured may be. */
  readonly limits: CaptureLimits;
  /** How captures learn what changed. */
  readonly watching: Watching;
  /**
   * Watches the files from now on, so that a capture costs what changed. Never fails for want of watches: then
   * captures stay cold, and `watching` says why. Take a first capture of a big tree in another process: this one
   * gives way to the event loop, that one would not.
   */
  watch(options?: { directoryLimit?: number }): Promise<Watching>;
  /** Looks at everything once more, a little at a time, for what no watcher reports; meant for idle moments after a turn. */
  reconcile(): Promise<Reconciled>;

  /** Since when captures fail, and why; null where the newest work was captured, as far as is known. */
  readonly failing: FailingCaptures | null;
  /** The pause that this workspace is in, its own or that of all workspaces. */
  readonly paused: Pause | null;
  /**
   * Captures what stands now; then nothing is captured automatically until the pause ends: hooks are answered and prompts
   * recorded, without checkpoints. Checkpoints made by hand, `turns.run` and all ways back work as ever.
   */
  pause(pause: Pause, scope?: "workspace" | "all"): Promise<void>;
  /** Ends a pause and captures what changed in it. The pause of all goes on after the end of a workspace's own. */
  resume(scope?: "workspace" | "all"): Promise<void>;

  /** Stops watching, ends all reading of events and closes the store. */
  close(): Promise<void>;
}
