/** A checkpoint as other programs see it (docs/spec.md, section "Checkpoints"). */
import type { BytePath } from "./byte-path.ts";
import type { GapReason } from "./entry.ts";
import type { ChangeCounts } from "./file-change.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { ObjectHash } from "./object-hash.ts";

export type CheckpointKind =
  | "manual"
  | "message"
  | "tool"
  | "agent"
  | "turn"
  | "initial"
  | "safety"
  | "restore"
  | "approve"
  | "reset"
  | "auto-fix"
  | "timer";

export type CheckpointPhase = "before" | "after";
export type DoubtReason = "late" | "unstable" | "missed" | "mid-restore";

export interface Gap {
  readonly path: BytePath;
  readonly reason: GapReason;
  readonly size: number;
}

export interface Doubt {
  readonly path: BytePath;
  readonly reason: DoubtReason;
}

/** A directory or file that the rules leave out. `bytes` is null while nobody has measured it. */
export interface ExcludedRoot {
  readonly path: BytePath;
  readonly rule: string;
  readonly bytes: number | null;
}

export interface GitState {
  readonly branch: string | null;
  readonly commit: string | null;
  readonly dirty: boolean;
  readonly staged: readonly string[];
}

export interface AgentFacts {
  readonly id: string;
  readonly role: string;
  readonly status: string;
  /** null: not known. */
  readonly cost: number | null;
  readonly tokens: number | null;
}

export interface ConversationFacts {
  readonly messageCount: number;
  readonly lastMessageId: string | null;
  readonly artifacts: readonly unknown[];
}

export interface Checkpoint {
  readonly id: CheckpointId;
  readonly seq: number;
  readonly thread: ThreadId | null;
  readonly session: string | null;
  readonly kind: CheckpointKind;
  readonly phase: CheckpointPhase | null;
  readonly name: string | null;
  readonly note: string | null;
  readonly tags: readonly string[];
  readonly description: string;
  readonly createdAt: number;
  readonly snapshot: ObjectHash;
  readonly rules: ObjectHash;
  readonly excluded: ObjectHash;
  readonly parents: readonly CheckpointId[];
  readonly messageId: string | null;
  readonly messageIndex: number | null;
  readonly toolUseId: string | null;
  readonly tool: string | null;
  readonly rolledBack: boolean;
  /** Of a message's checkpoint: whether anything changed until the next one; null = not compared. */
  readonly hasChanges: boolean | null;
  /** In lists: a step that began or ended here can no longer be undone. */
  readonly undoDropped?: boolean;
  readonly agent: AgentFacts | null;
  readonly conversation: ConversationFacts | null;
  readonly git: GitState | null;
  readonly files: number;
  readonly bytes: number;
  readonly changes: ChangeCounts;
  /** The first of them; `show` has all. */
  readonly gaps: readonly Gap[];
  readonly gapsTotal: number;
  readonly doubts: readonly Doubt[];
  readonly doubtsTotal: number;
}

/** How many gaps and doubts a checkpoint carries with it. */
export const CARRIED_LIMIT = 200;

/** Why a checkpoint is taken, and what is known about the moment. */
export interface CheckpointRequest {
  readonly kind?: CheckpointKind;
  readonly phase?: CheckpointPhase;
  readonly thread?: ThreadId;
  readonly name?: string;
  readonly note?: string;
  readonly tags?: readonly string[];
  readonly description?: string;
  readonly messageId?: string;
  readonly messageIndex?: number;
  readonly toolUseId?: string;
  readonly tool?: string;
  readonly agent?: AgentFacts;
  readonly conversation?: ConversationFacts;
  /** Paths the caller is about to write on purpose: captured from now on, whatever the ignore files say. */
  readonly paths?: readonly string[];
  /** Paths that this one checkpoint is to hold although `.belayignore` or the defaults leave them out. */
  readonly include?: readonly string[];
}

export interface Thread {
  readonly id: ThreadId;
  readonly agent: string;
  readonly externalId: string;
  readonly title: string | null;
  readonly createdAt: number;
}
