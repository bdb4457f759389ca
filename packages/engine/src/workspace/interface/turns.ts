/**
 * The part of a workspace that hooks, servers and agents drive while they work. A turn begins with a prompt
 * and ends with a stop, with the thread's next prompt, or with the undo that closes it.
 */
import type {
  AgentRequest,
  AgentResult,
  AgentRun,
  EditRequest,
  OpenEdit,
  PromptRequest,
  Prompted,
  ToolRequest,
  ToolResult,
} from "../../model/conversation.ts";
import type { Checkpoint, TakenCheckpoint, Thread } from "../../model/checkpoint.ts";
import type { Bounded } from "../../model/deadline.ts";
import type { ThreadId } from "../../model/ids.ts";
import type { Outcome } from "../../model/plan.ts";

/** What `turns.run` records about the work it brackets. */
export interface TurnRequest {
  readonly thread?: ThreadId;
  readonly agent?: string;
  readonly prompt?: string;
  readonly description?: string;
}

/** An open turn, as the work inside `turns.run` sees it. */
export interface Turn {
  readonly id: string;
  readonly thread: ThreadId;
  readonly before: Checkpoint;
  /** Announces paths that are about to be written on purpose, ignored ones included. */
  name(paths: readonly string[]): Promise<void>;
}

/** What the work returned, and the checkpoints around it. */
export interface TurnResult<Result> {
  readonly result: Result;
  readonly before: Checkpoint;
  readonly after: Checkpoint;
  readonly changed: boolean;
  readonly warnings: readonly string[];
}

/** Turns and the tool calls, agents and edits inside them; `workspace.turns`. */
export interface Turns {
  /** Runs `work` as one turn, with a checkpoint before and after; the turn ends also when `work` throws. */
  run<Result>(request: TurnRequest, work: (turn: Turn) => Promise<Result>): Promise<TurnResult<Result>>;
  /** Takes the checkpoint before a user message, records the message and begins a turn; ends the thread's open turn. */
  prompt(thread: ThreadId, request: PromptRequest): Promise<Prompted>;
  /** The stop: captures what the turn did. Null when no turn is open. */
  end(thread: ThreadId, options?: Bounded): Promise<TakenCheckpoint | null>;

  /** Call it before a tool runs. Null when the policy takes no checkpoint for it. */
  beginTool(thread: ThreadId, request: ToolRequest): Promise<TakenCheckpoint | null>;
  /** Call it after the tool ran or failed. Null when the policy takes no checkpoint for it. */
  endTool(thread: ThreadId, call: ToolResult): Promise<TakenCheckpoint | null>;
  /** Call it when an agent inside the thread starts. */
  beginAgent(thread: ThreadId, request: AgentRequest): Promise<AgentRun>;
  /** Call it when that agent is done. */
  endAgent(thread: ThreadId, result: AgentResult): Promise<AgentRun>;
  /** The agents that ran inside a thread. */
  agents(thread: ThreadId): Promise<AgentRun[]>;

  /** Saves the content of files that a tool is about to write, so that `abortEdit` can bring it back exactly. */
  startEdit(thread: ThreadId, request: EditRequest): Promise<OpenEdit>;
  /** Ends an edit. Takes a checkpoint only where the policy wants one. */
  finalizeEdit(edit: string): Promise<TakenCheckpoint | null>;
  /** Puts the files of this edit and of edits within it back; removes new ones. */
  abortEdit(edit: string): Promise<Outcome>;

  /** The threads with a tool under way. */
  threadsAtWork(): Promise<Thread[]>;
  /** Takes the checkpoint after a tool that looked cut off at two calls of this, seconds apart. Cheap enough to poll. */
  noticeCutOff(): Promise<TakenCheckpoint | null>;
  /** The agent was interrupted at this time: its open tools ended then. */
  interrupted(thread: ThreadId, at: number): Promise<TakenCheckpoint | null>;
}
