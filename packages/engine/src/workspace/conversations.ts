/**
 * The part of a workspace that hooks, servers and agents drive: conversations and who is at work. A turn
 * begins with a prompt and ends with a stop, with the thread's next prompt, or with the undo that closes it.
 */
import type {
  AgentRequest,
  AgentResult,
  AgentRun,
  EditRequest,
  FileEdit,
  History,
  HistoryOptions,
  Message,
  MessageRequest,
  OpenEdit,
  PromptRequest,
  Prompted,
  ThreadRequest,
  ThreadSummary,
  ToolRequest,
  ToolResult,
  UncapturedRequest,
  UncapturedTurn,
} from "../model/conversation.ts";
import type { Thread } from "../model/checkpoint.ts";
import type { Bounded } from "../model/deadline.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Outcome } from "../model/plan.ts";
import type { TakenCheckpoint } from "./workspace.ts";

/** What is done when words of this conversation were forgotten. */
export type AfterForget = (thread: Pick<Thread, "agent" | "externalId">) => Promise<void>;

export interface Conversations {
  /** Newest first; deleted ones are not listed. */
  threads(): Promise<ThreadSummary[]>;
  /** By id, unique prefix of it, or external id. */
  thread(ref: string): Promise<ThreadSummary>;
  /** Finds or creates a thread, without a checkpoint: its first one becomes its approved state. */
  openThread(request: ThreadRequest): Promise<Thread>;
  /** Finds a thread, or creates it and takes its initial checkpoint. */
  createThread(request: ThreadRequest): Promise<ThreadSummary>;
  updateThread(thread: ThreadId, change: { readonly title: string | null }): Promise<ThreadSummary>;
  /** No longer listed, and what was said in it is forgotten. Its checkpoints stay and can be restored, unless they are to be pruned with it. */
  deleteThread(thread: ThreadId, options?: { readonly checkpoints?: boolean }): Promise<void>;
  /** Called whenever words of a conversation were forgotten, whichever way was taken: others keep some beside the store. */
  afterForget(work: AfterForget): void;

  /** A user message: the checkpoint before it, the message, and a new turn; ends the thread's open turn. */
  prompt(thread: ThreadId, request: PromptRequest): Promise<Prompted>;
  /** Any other message; a user message is a prompt. */
  addMessage(thread: ThreadId, request: MessageRequest): Promise<Message>;
  history(thread: ThreadId, options?: HistoryOptions): Promise<History>;
  /** Work that no checkpoint could be taken of, told afterwards: it stands in the timeline as such. */
  noteUncaptured(thread: ThreadId, turn: UncapturedRequest): Promise<void>;
  /** What was not captured, newest first. */
  uncaptured(thread?: ThreadId): Promise<UncapturedTurn[]>;
  /** The stop: captures what the turn did. Null when no turn is open. */
  endTurn(thread: ThreadId, options?: Bounded): Promise<TakenCheckpoint | null>;

  /** Before a tool runs. Null when the policy takes no checkpoint for it. */
  beginTool(thread: ThreadId, request: ToolRequest): Promise<TakenCheckpoint | null>;
  /** After it ran, or failed. Null when the policy takes no checkpoint for it. */
  endTool(thread: ThreadId, call: ToolResult): Promise<TakenCheckpoint | null>;

  /** The checkpoint after a tool that looked cut off at an earlier look too, seconds ago. Cheap: for those who look often. */
  noticeCutOff(): Promise<TakenCheckpoint | null>;
  /** The agent was interrupted at this time: its tools that were under way are over since then. */
  interrupted(thread: ThreadId, at: number): Promise<TakenCheckpoint | null>;
  /** The same for plans that are only looked at: nothing is recorded, and what is planned here goes by it. */
  assumeInterrupted(thread: ThreadId, at: number): void;
  /** The threads with a tool under way. */
  threadsAtWork(): Promise<Thread[]>;

  beginAgent(thread: ThreadId, request: AgentRequest): Promise<AgentRun>;
  endAgent(thread: ThreadId, result: AgentResult): Promise<AgentRun>;
  agents(thread: ThreadId): Promise<AgentRun[]>;

  /** What the thread's turns changed, newest first: derived from the captures, with diffs. */
  fileEdits(thread: ThreadId, options?: { readonly limit?: number }): Promise<FileEdit[]>;

  /** Before a tool writes these files: their content is safe, and `abortEdit` brings it back exactly. */
  startEdit(thread: ThreadId, request: EditRequest): Promise<OpenEdit>;
  /** The tool is done. A checkpoint only where the policy wants one. */
  finalizeEdit(edit: string): Promise<TakenCheckpoint | null>;
  /** Puts the files of this edit back, those of edits within it too; new ones are removed. */
  abortEdit(edit: string): Promise<Outcome>;
}
