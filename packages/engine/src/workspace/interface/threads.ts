/** The part of a workspace that keeps conversations: threads, their messages, and what their turns changed. */
import type {
  FileEdit,
  History,
  HistoryOptions,
  Message,
  MessageRequest,
  ThreadRequest,
  ThreadSummary,
  UncapturedRequest,
  UncapturedTurn,
} from "../../model/conversation.ts";
import type { Thread } from "../../model/checkpoint.ts";
import type { ThreadId } from "../../model/ids.ts";
import type { ForgetWordsReport } from "../../model/reports.ts";

/** Conversations with agents; `workspace.threads`. */
export interface Threads {
  /** All threads, newest first; deleted ones are not listed. */
  list(): Promise<ThreadSummary[]>;
  /** The thread with this id, unique prefix of an id, or external id. */
  get(ref: string): Promise<ThreadSummary>;
  /** Finds or creates a thread, without a checkpoint: its first one becomes its approved state. */
  open(request: ThreadRequest): Promise<Thread>;
  /** Finds a thread, or creates it and takes its initial checkpoint. */
  create(request: ThreadRequest): Promise<ThreadSummary>;
  /** Changes the title of a thread. */
  update(thread: ThreadId, change: { readonly title: string | null }): Promise<ThreadSummary>;
  /** Says that a conversation is over, for policies that keep less of such ones. Its next event opens it again. */
  close(thread: ThreadId): Promise<ThreadSummary>;
  /** Hides a thread and forgets its words. Its checkpoints stay restorable unless `checkpoints` prunes them too; those that are versions stay. */
  delete(thread: ThreadId, options?: { readonly checkpoints?: boolean }): Promise<void>;

  /** Adds a message; one of the user's is a prompt, as with `turns.prompt`. */
  addMessage(thread: ThreadId, request: MessageRequest): Promise<Message>;
  /** The messages of a thread, page by page. */
  history(thread: ThreadId, options?: HistoryOptions): Promise<History>;
  /** What the thread's turns changed, newest first: derived from the captures, with diffs. */
  fileEdits(thread: ThreadId, options?: { readonly limit?: number }): Promise<FileEdit[]>;
  /** Records in the timeline work of which no checkpoint could be taken. */
  noteUncaptured(thread: ThreadId, turn: UncapturedRequest): Promise<void>;
  /** The work that was not captured, newest first; of all threads unless one is named. */
  uncaptured(thread?: ThreadId): Promise<UncapturedTurn[]>;

  /** Forgets a thread's words wherever they were written down; files and checkpoints stay. */
  forget(ref: string, options?: { readonly dryRun?: boolean }): Promise<ForgetWordsReport>;
  /** Forgets one message, by its id or the agent's name for it, and the words of its turn. */
  forgetMessage(ref: string, options?: { readonly dryRun?: boolean }): Promise<ForgetWordsReport>;
}
