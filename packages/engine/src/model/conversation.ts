/**
 * Threads and what belongs to them: messages, turns, tool calls, agent runs. Agents report these facts; the
 * engine records them and never talks to an agent itself.
 */
import type { Checkpoint, Thread } from "./checkpoint.ts";
import type { BytePath } from "./byte-path.ts";
import type { Bounded } from "./deadline.ts";
import type { FileChange } from "./file-change.ts";
import type { CheckpointId, CheckpointRef, ThreadId } from "./ids.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { SessionName } from "./session.ts";

/** Which thread to open, and what the caller knows about its agent. */
export interface ThreadRequest extends Bounded {
  readonly agent: string;
  /** The agent's own id of the conversation; defaults to the thread's id. */
  readonly externalId?: string;
  readonly title?: string;
  /** The agent's process. When it ends, the agent's work has ended. Null clears an earlier value. */
  readonly client?: ProcessIdentity | null | undefined;
  /**
   * True if the agent announces every tool call: changes made while no call is open are never the agent's.
   */
  readonly brackets?: boolean;
}

/** A thread with the counts that lists show. */
export interface ThreadSummary extends Thread {
  /** The time of the last message, tool call, checkpoint or title change. */
  readonly updatedAt: number;
  readonly messages: number;
  readonly checkpoints: number;
  readonly initialCheckpoint: CheckpointId | null;
  readonly session: SessionName;
  readonly lastApprovedAt: number | null;
  /** When it was closed; null when it was not, or did something since. */
  readonly closedAt: number | null;
}

/** Who wrote a message. */
export type MessageRole = "user" | "assistant" | "system" | "tool";

/** A message to record in a thread. */
export interface MessageRequest {
  readonly role: MessageRole;
  readonly content: string;
  /** The agent's own id of the message. Recording the same id twice in a thread returns the first record. */
  readonly externalId?: string;
  readonly artifacts?: readonly unknown[];
}

/** One recorded message of a thread. */
export interface Message {
  readonly id: string;
  readonly thread: ThreadId;
  /** 0, 1, 2 … within the thread; rolled-back messages keep theirs. */
  readonly index: number;
  readonly role: MessageRole;
  readonly content: string;
  readonly externalId: string | null;
  readonly createdAt: number;
  readonly session: SessionName;
  /**
   * The checkpoint taken before a user message; null for other roles and while automatic checkpoints are off.
   */
  readonly checkpoint: CheckpointId | null;
  readonly artifacts: readonly unknown[];
  /** True when its turn was undone or the conversation was rewound past it. The record is never deleted. */
  readonly rolledBack: boolean;
  /** Why part of its turn, or all of it, was not captured; null when it was. */
  readonly uncaptured: string | null;
}

/** Agent work that no checkpoint covers, reported after the fact. */
export interface UncapturedRequest {
  readonly at: number;
  readonly until: number;
  /** How many events were lost. */
  readonly events: number;
  readonly problem: string;
  /** The prompt, if its event was among the lost ones. */
  readonly prompt?: string;
  readonly messageId?: string;
  /** What ended with a lost event: later changes are not its own. */
  readonly ends?: readonly WorkEnd[];
}

/** The end of a tool call, of a subagent with its calls, or of a turn. */
export interface WorkEnd {
  readonly of: { readonly kind: "call" | "agent"; readonly id: string } | { readonly kind: "turn" };
  readonly at: number;
}

/** Agent work that no checkpoint covers, as the timeline shows it. */
export interface UncapturedTurn {
  readonly thread: ThreadId;
  readonly messageId: string | null;
  readonly prompt: string | null;
  readonly at: number;
  readonly until: number;
  readonly events: number;
  readonly problem: string;
  /** The number of the checkpoint it follows. */
  readonly after: number;
}

/** Which page of a thread's messages to return. */
export interface HistoryOptions {
  /** Only messages with a smaller index. */
  readonly before?: number;
  readonly limit?: number;
}

/** One page of messages, oldest first. */
export interface History {
  readonly messages: readonly Message[];
  readonly total: number;
  /** The value of `before` that returns the preceding page; null on the first page. */
  readonly cursor: number | null;
}

/** A user message that begins a turn. */
export interface PromptRequest extends Bounded {
  readonly content: string;
  /** What lists show instead of the first characters, with secrets left out. */
  readonly summary?: string;
  readonly messageId?: string;
  readonly artifacts?: readonly unknown[];
  /** A checkpoint that was taken for this message already: it counts as the one before it if the files are still the same. */
  readonly checkpoint?: CheckpointRef;
}

/** A user message and the turn it began. */
export interface Prompted {
  readonly message: Message;
  readonly checkpoint: Checkpoint | null;
  /** Null while automatic checkpoints are off: there is no step to undo. */
  readonly turn: string | null;
  /** New contents of files that the checkpoint brought into the store; left out where none was taken. */
  readonly stored?: { readonly objects: number; readonly bytes: number };
  /** What was undone, restored or reset since the thread's last turn. The agent must be told. */
  readonly rolledBack: readonly RolledBack[];
}

/** Work that was taken out while the agent still believes it is there. */
export interface RolledBack {
  readonly by: "restore" | "reset";
  /** For example "Undid: …" or "Restored to …". */
  readonly description: string;
  /** The first of the changed files. */
  readonly paths: readonly BytePath[];
  readonly pathsTotal: number;
}

/** A tool call that is about to run. */
export interface ToolRequest extends Bounded {
  readonly tool: string;
  readonly toolUseId: string;
  /**
   * Paths named in the tool's input, absolute or relative to the root. They are captured even if ignore files
   * exclude them; paths outside the workspace produce a warning.
   */
  readonly paths?: readonly string[];
  /** The subagent that makes the call; left out when it is the thread's own agent. */
  readonly agentId?: string;
  /** What follows the tool's name in descriptions such as "Before Bash: npm test". */
  readonly summary?: string;
  /** `edit`: writes only the paths it names. `command`: runs as a child process of the agent. */
  readonly nature?: "edit" | "command";
}

/** The end of a tool call. */
export interface ToolResult extends Bounded {
  readonly toolUseId: string;
  readonly tool?: string;
  /** True when no event reported the end: the call was interrupted, or never ran. */
  readonly unfinished?: boolean;
  /** True when the tool has answered but a process it started keeps running until the turn ends. */
  readonly background?: boolean;
}

/** An agent run that begins within a thread. */
export interface AgentRequest extends Bounded {
  readonly id: string;
  readonly role: string;
  readonly parent?: string;
}

/** The end of an agent run. */
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
  /** Null when the agent did not report it. */
  readonly cost: number | null;
  readonly tokens: number | null;
  readonly parent: string | null;
  readonly checkpoint: CheckpointId | null;
}

/** One file that a turn changed, as a capture recorded it. */
export interface FileEdit {
  readonly path: BytePath;
  readonly checkpoint: CheckpointId;
  readonly createdAt: number;
  /** The index of the user message that began the turn. */
  readonly messageIndex: number | null;
  readonly type: FileChange["type"];
  /** Null when the file is binary, too large or gone. */
  readonly diff: string | null;
}

/** A file edit that a tool announces before it writes. */
export interface EditRequest {
  /** The files the tool may write, relative to the root. */
  readonly paths: readonly string[];
  readonly tool?: string;
  /** The id of an open edit that contains this one. Only the outermost edit leaves a checkpoint. */
  readonly within?: string;
}

/** An announced edit that has not ended and can still be aborted. */
export interface OpenEdit {
  readonly id: string;
  readonly thread: ThreadId;
  readonly paths: readonly string[];
}
