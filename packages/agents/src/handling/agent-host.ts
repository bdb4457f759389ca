/**
 * What event handling needs of the keeper of checkpoints: the engine in the same process, or a client of the
 * resident one. The package owns this interface and imports neither. Every method may be slow or fail: the
 * caller has a deadline and turns a failure into a note of trouble, never into one of the agent's.
 */
import type { AgentRun, ToolStatus, TurnStatus } from "../events/agent-event.ts";
import type { Trouble } from "../state/trouble-log.ts";
import type { UncapturedWork } from "../state/uncaptured-work.ts";
import type { ClientProcess } from "../hooks/client-process.ts";

/** One conversation with an agent, as its adapter knows it. */
export interface ThreadRequest {
  readonly agent: string;
  /** The agent's own id of the conversation. Untrusted: never part of a path. */
  readonly externalId: string;
  /** Where the agent works now; a linked worktree is a workspace of its own. */
  readonly cwd: string;
  /** A subagent is at work: a title for a thread that only it works in, as in a worktree of its own. */
  readonly subagent?: string;
  /** The agent's own process, where it is known. */
  readonly client?: ClientProcess | undefined;
  /** The agent sends events around its tools. */
  readonly brackets: boolean;
  /** When the agent stops, or stopped, waiting: later changes are marked in the checkpoint. */
  readonly deadline?: Deadline | undefined;
}

/** `late`: the event was being carried out by then. `missed`: it was left behind and is made up for now. */
export interface Deadline {
  readonly at: number;
  readonly reason: "late" | "missed";
}

/** What a user told an agent: a prompt, as the agent's event has it. */
export interface UserMessage<Thread> {
  readonly thread: Thread;
  readonly messageId: string;
  readonly text: string;
  /** Of the checkpoint before it: "Before user message: …", secrets left out. */
  readonly description: string;
  /** Its first characters, secrets left out. */
  readonly summary: string;
}

/** A tool call that begins or ends. */
export interface ToolCall<Thread> {
  readonly thread: Thread;
  /** The message of the turn this call belongs to, if it is known. */
  readonly messageId: string | null;
  readonly tool: string;
  readonly toolUseId: string;
  /** Paths that the input names, absolute where the agent's directory is known. May lie outside the workspace. */
  readonly paths: readonly string[];
  /** `edit`: writes only these paths. `command`: runs as a child process of the agent. */
  readonly nature: "edit" | "command" | null;
  /** True when a process it starts outlives its answer. */
  readonly background: boolean;
  /** What the call is about, in a few words: the command, the file. Secrets left out. */
  readonly summary: string;
  /** "Before Bash: npm test" */
  readonly description: string;
  readonly run: AgentRun | null;
}

/** The end of a turn. */
export interface TurnEnd<Thread> {
  readonly thread: Thread;
  readonly messageId: string | null;
  readonly status: TurnStatus;
  /** The agent's last words, if it sent them. */
  readonly answer: string | null;
  /** Ids of subagents and commands that still run. */
  readonly background: readonly string[];
}

/** A subagent that starts or ends. */
export interface AgentActivity<Thread> {
  readonly thread: Thread;
  readonly messageId: string | null;
  readonly run: AgentRun;
  readonly description: string;
}

/** The keeper of checkpoints, as event handling calls it. */
export interface AgentHost<Thread = unknown> {
  /** The thread of this conversation, created if it is new; null where the directory is not protected. */
  openThread(request: ThreadRequest): Promise<Thread | null>;
  /**
   * Takes the checkpoint before the message and records it; returns what was undone or restored since the
   * last one.
   */
  message(message: UserMessage<Thread>): Promise<{ readonly notices: readonly string[] }>;
  /** Returns what the agent should know before the tool runs. */
  toolBefore(call: ToolCall<Thread>): Promise<{ readonly notices: readonly string[] } | void>;
  toolAfter(call: ToolCall<Thread> & { readonly status: ToolStatus }): Promise<void>;
  /** The agent was interrupted at this time, in the middle of its work. */
  interrupted(interrupt: { readonly thread: Thread; readonly at: number }): Promise<void>;
  agentStart(activity: AgentActivity<Thread>): Promise<void>;
  agentEnd(activity: AgentActivity<Thread> & { readonly status: TurnStatus }): Promise<void>;
  turnEnd(end: TurnEnd<Thread>): Promise<void>;
  /** The agent's session is over; a later event of the same conversation begins it again. */
  sessionEnd?(thread: Thread): Promise<void>;
  /** The user went back inside the agent: its conversation now stands before this message. */
  conversationRewound(rewind: { readonly thread: Thread; readonly messageId: string | null }): Promise<void>;
  /** The protected directory of a thread: names of files are shown from there. */
  rootOf?(thread: Thread): string;
  /** Told of files that a tool read: nothing is captured for it, and no answer waits for it. */
  filesRead?(read: { readonly cwd: string; readonly paths: readonly string[] }): void;
  /** Runs one of Belay's own slash commands; its output is shown to the user. */
  command?(command: { readonly name: string; readonly args: string; readonly cwd: string }): Promise<string>;
  /** Records work that could not be captured when it was done. */
  uncaptured?(work: UncapturedWork): Promise<void>;
  /** Told at once when an event could not be carried out, and a step may be without a capture. */
  captureFailed?(failure: { readonly agent: string; readonly cwd: string }): void;
  /** Records that something went wrong while the agent continued, for `belay doctor`. */
  trouble(trouble: Trouble): Promise<void>;
}
