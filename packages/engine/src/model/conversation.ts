/**
 * Conversations and what is known of them: threads, messages, turns driven from outside, tool calls, agents.
 * The engine keeps what it is told; it never talks to an agent itself.
 */
import type { Checkpoint, Thread } from "./checkpoint.ts";
import type { BytePath } from "./byte-path.ts";
import type { Bounded } from "./deadline.ts";
import type { FileChange } from "./file-change.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { SessionName } from "./session.ts";

export interface ThreadRequest extends Bounded {
  readonly agent: string;
  /** What the agent calls the conversation; left out: the thread's own id. */
  readonly externalId?: string;
  readonly title?: string;
  /** The agent's process: when it is gone, so is the agent. Null: it is not known any more. */
  readonly client?: ProcessIdentity | null | undefined;
  /** The agent announces its tools: what happens while none is open is never its doing. */
  readonly brackets?: boolean;
}

/** A thread as lists show it. */
export interface ThreadSummary extends Thread {
  /** The last message, tool call, checkpoint or change of title. */
  readonly updatedAt: number;
  readonly messages: number;
  readonly checkpoints: number;
  readonly initialCheckpoint: CheckpointId | null;
  readonly session: SessionName;
  readonly lastApprovedAt: number | null;
}

export type MessageRole = "user" | "assistant" | "system" | "tool";

export interface MessageRequest {
  readonly role: MessageRole;
  readonly content: string;
  /** What the agent calls the message; a second message of the same name in a thread is the first one again. */
  readonly externalId?: string;
  readonly artifacts?: readonly unknown[];
}

export interface Message {
  readonly id: string;
  readonly thread: ThreadId;
  /** 0, 1, 2 … in the thread; rolled back ones keep theirs. */
  readonly index: number;
  readonly role: MessageRole;
  readonly content: string;
  readonly externalId: string | null;
  readonly createdAt: number;
  readonly session: SessionName;
  /** Taken before a user message; null for the others, and when automatic checkpoints are off. */
  readonly checkpoint: CheckpointId | null;
  readonly artifacts: readonly unknown[];
  /** Its turn was undone, or the conversation was taken back over it. Never deleted. */
  readonly rolledBack: boolean;
  /** Why its turn, or a part of it, was not captured; null when it was. */
  readonly uncaptured: string | null;
}

/** Work of an agent that no checkpoint could be taken of, as it is told afterwards. */
export interface UncapturedRequest {
  readonly at: number;
  readonly until: number;
  /** How many of its events were lost. */
  readonly events: number;
  readonly problem: string;
  /** The prompt, if it was one of them. */
  readonly prompt?: string;
  readonly messageId?: string;
}

/** The same in the timeline. */
export interface UncapturedTurn {
  readonly thread: ThreadId;
  readonly messageId: string | null;
  readonly prompt: string | null;
  readonly at: number;
  readonly until: number;
  readonly events: number;
  readonly problem: string;
  /** It comes after the checkpoint of this number. */
  readonly after: number;
}

export interface HistoryOptions {
  /** Only messages with a smaller index. */
  readonly before?: number;
  readonly limit?: number;
}

/** A stretch of history, oldest first. */
export interface History {
  readonly messages: readonly Message[];
  readonly total: number;
  /** `before` for the stretch in front of this one; null at the beginning. */
  readonly cursor: number | null;
}

export interface PromptRequest extends Bounded {
  readonly content: string;
  /** What lists show instead of its first characters: without what must not be shown. */
  readonly summary?: string;
  readonly messageId?: string;
  readonly artifacts?: readonly unknown[];
}

/** A user message and the turn it began. */
export interface Prompted {
  readonly message: Message;
  readonly checkpoint: Checkpoint | null;
  /** Null when automatic checkpoints are off: nothing to undo is recorded. */
  readonly turn: string | null;
  /** What was undone, restored or reset since the thread's last turn: to be told to the agent. */
  readonly rolledBack: readonly RolledBack[];
}

/** Work that an agent still believes to be there. */
export interface RolledBack {
  readonly by: "restore" | "reset";
  /** "Undid: …", "Restored to …" */
  readonly description: string;
  /** The first of the files that changed. */
  readonly paths: readonly BytePath[];
  readonly pathsTotal: number;
}

export interface ToolRequest extends Bounded {
  readonly tool: string;
  readonly toolUseId: string;
  /** Paths the input names, relative to the root or absolute: captured whatever the ignore files say. Those outside are warned of. */
  readonly paths?: readonly string[];
  /** The agent that calls it, where it is not the thread's own. */
  readonly agentId?: string;
  /** "Before Bash: npm test" is made of tool and this. */
  readonly summary?: string;
  /** `edit`: it writes nothing but the paths it names. `command`: it runs as a process that the agent starts. */
  readonly nature?: "edit" | "command";
}

export interface ToolResult extends Bounded {
  readonly toolUseId: string;
  readonly tool?: string;
  /** No event told of its end: it was interrupted, or never ran. */
  readonly unfinished?: boolean;
  /** The tool has answered, and what it started goes on until the turn ends. */
  readonly background?: boolean;
}

export interface AgentRequest extends Bounded {
  readonly id: string;
  readonly role: string;
  readonly parent?: string;
}

export interface AgentResult extends Bounded {
  readonly id: string;
  readonly status?: string;
  readonly cost?: number;
  readonly tokens?: number;
}

/** One run of an agent within a thread. */
export interface AgentRun {
  readonly id: string;
  readonly thread: ThreadId;
  readonly role: string;
  readonly status: string;
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** null: its agent did not say. */
  readonly cost: number | null;
  readonly tokens: number | null;
  readonly parent: string | null;
  readonly checkpoint: CheckpointId | null;
}

/** One file that a turn of the thread changed, as a capture recorded it. */
export interface FileEdit {
  readonly path: BytePath;
  readonly checkpoint: CheckpointId;
  readonly createdAt: number;
  /** The user message whose turn it was. */
  readonly messageIndex: number | null;
  readonly type: FileChange["type"];
  /** null when binary, too large, or no longer there. */
  readonly diff: string | null;
}

export interface EditRequest {
  /** The files that the tool may write, relative to the root. */
  readonly paths: readonly string[];
  readonly tool?: string;
  /** An open edit that this one is part of: only the outer one leaves a checkpoint. */
  readonly within?: string;
}

/** An edit that was announced and can be taken back. */
export interface OpenEdit {
  readonly id: string;
  readonly thread: ThreadId;
  readonly paths: readonly string[];
}
