/** A checkpoint as other programs see it (docs/spec.md, section "Checkpoints"). */
import type { RemoteOrigin } from "./origin.ts";
import type { BytePath } from "./byte-path.ts";
import type { GapReason } from "./entry.ts";
import type { ChangeCounts } from "./file-change.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { ObjectHash } from "./object-hash.ts";

/** What caused a checkpoint. */
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
  | "timer"
  | "switch"
  | "fork"
  | "merge";

/** Whether a checkpoint was taken before or after the event that caused it. */
export type CheckpointPhase = "before" | "after";
/** Why a captured path may not be what stood there at the moment of the checkpoint. */
export type DoubtReason = "late" | "unstable" | "missed" | "mid-restore";

/** A path that a capture saw and did not capture. */
export interface Gap {
  readonly path: BytePath;
  readonly reason: GapReason;
  readonly size: number;
}

/** A path that was captured with a reservation. */
export interface Doubt {
  readonly path: BytePath;
  readonly reason: DoubtReason;
}

/** A directory or file that the rules leave out. `bytes` is null until it has been measured. */
export interface ExcludedRoot {
  readonly path: BytePath;
  readonly rule: string;
  readonly bytes: number | null;
}

/** What git said about the workspace at the moment of a checkpoint. */
export interface GitState {
  readonly branch: string | null;
  readonly commit: string | null;
  readonly dirty: boolean;
  readonly staged: readonly string[];
}

/** The agent run that a checkpoint belongs to. */
export interface AgentFacts {
  readonly id: string;
  readonly role: string;
  readonly status: string;
  /** Null when unknown. */
  readonly cost: number | null;
  readonly tokens: number | null;
}

/** How far the agent's conversation had come at the moment of a checkpoint. */
export interface ConversationFacts {
  readonly messageCount: number;
  readonly lastMessageId: string | null;
  readonly artifacts: readonly unknown[];
}

/** A snapshot and why it was taken. */
export interface Checkpoint {
  readonly id: CheckpointId;
  readonly seq: number;
  /** The name of the branch it is on; null when it was captured elsewhere. */
  readonly branch: string | null;
  /** The fork it was taken in; null for the workspace's root. */
  readonly fork: string | null;
  /** What it was imported from, such as "moldable"; null when it was captured here. */
  readonly origin: string | null;
  /** The line it was fetched from; null for all others. */
  readonly fetchedFrom: RemoteOrigin | null;
  /** Whether every remote is known to have it; null where there is no remote. */
  readonly synced: boolean | null;
  /** When it came into this store, or was last used if it was fetched; null when it was captured here. */
  readonly arrivedAt: number | null;
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
  /** For a message's checkpoint: whether anything changed before the next one; null when not compared. */
  readonly hasChanges: boolean | null;
  /** Set in lists when a step that began or ended here can no longer be undone. */
  readonly undoDropped?: boolean;
  readonly agent: AgentFacts | null;
  readonly conversation: ConversationFacts | null;
  readonly git: GitState | null;
  readonly files: number;
  readonly bytes: number;
  readonly changes: ChangeCounts;
  /** The first `CARRIED_LIMIT` of them; `show` has all. */
  readonly gaps: readonly Gap[];
  readonly gapsTotal: number;
  readonly doubts: readonly Doubt[];
  readonly doubtsTotal: number;
}

/** A checkpoint that was just taken, and what to know about it. */
export interface TakenCheckpoint {
  readonly id: CheckpointId;
  readonly checkpoint: Checkpoint;
  /** The tree equals the newest checkpoint's: the row exists, nothing else was stored. */
  readonly unchanged: boolean;
  /** Contents of files that the store did not have before: how many, and their bytes before compression. */
  readonly stored: { readonly objects: number; readonly bytes: number };
  /** Paths that were seen and not captured. */
  readonly gaps: readonly Gap[];
  /** Paths that were captured with a reservation. */
  readonly doubts: readonly Doubt[];
  readonly warnings: readonly string[];
  readonly durationMs: number;
  /** Of a checkpoint before a tool: paths it names that other agents here changed since its turn began. */
  readonly overlaps?: readonly { readonly path: string; readonly threads: readonly ThreadId[] }[];
}

/** How many gaps and doubts a checkpoint object carries; queries return the rest. */
export const CARRIED_LIMIT = 200;

/** Why a checkpoint is taken, and what the caller knows about the moment. */
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
  /**
   * Paths the caller is about to write on purpose. They are captured from now on, even if ignore files
   * exclude them.
   */
  readonly paths?: readonly string[];
  /** Paths this one checkpoint must hold although `.belayignore` or the defaults exclude them. */
  readonly include?: readonly string[];
  /** Absolute paths outside the workspace that the caller is about to write; taken where the settings say so. */
  readonly outside?: readonly string[];
}

/** Belay's record of one conversation with an agent. */
export interface Thread {
  readonly id: ThreadId;
  readonly agent: string;
  readonly externalId: string;
  readonly title: string | null;
  readonly createdAt: number;
}
