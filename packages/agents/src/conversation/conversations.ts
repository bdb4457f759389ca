/**
 * Rewinding the conversation along with the files. Nothing is ever removed from a conversation: where the
 * agent allows it, a fork is made that ends before a message, and the original stays as it is.
 */
import type { AgentEvent } from "../events/agent-event.ts";
import type { HookNotes } from "../state/hook-notes.ts";

/** A conversation to fork, and before which message. */
export interface ForkRequest {
  /** The agent's own id of the conversation. */
  readonly session: string;
  /** The fork ends before this message. */
  readonly messageId: string;
  /** The message before it; null when it is the first. */
  readonly previousMessageId: string | null;
  readonly transcript: string | null;
  readonly cwd: string;
  /** The user's home directory. */
  readonly user: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** What became of a fork. */
export type ForkResult =
  /** `resume` is the command that opens the new conversation. */
  | { readonly outcome: "forked"; readonly session: string; readonly resume: readonly string[] }
  /** There is nothing before the message: start a new conversation. */
  | { readonly outcome: "empty"; readonly resume: readonly string[] }
  | { readonly outcome: "files-only" | "failed"; readonly reason: string };

/** A conversation that came from another machine. */
export interface TakeOverRequest {
  /** The agent's transcript of it. */
  readonly text: string;
  /** The directory it was about there; null when that is not known. */
  readonly from: string | null;
  /** The directory that it goes on in. */
  readonly cwd: string;
  /** The user's home directory. */
  readonly user: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** What can be done with an agent's conversations. */
export interface Conversations {
  fork(request: ForkRequest): Promise<ForkResult>;
  /** Gives the agent a conversation of another machine; only where it can resume one. */
  takeOver?(request: TakeOverRequest): Promise<ForkResult>;
  /** When the agent was last interrupted, according to its transcript; null when that is not recorded. */
  interruptedAt?(transcript: string): Promise<number | null>;
  /** Whether the user went back inside the agent since the last event, which no agent reports. */
  noticeRewind?(event: AgentEvent, notes: HookNotes): Promise<{ messageId: string | null } | undefined>;
}

/** For agents whose conversations cannot be shortened from outside. */
export function filesOnly(title: string, instead?: string): Conversations {
  const advice = instead === undefined ? "" : ` Use ${instead} for the conversation.`;
  const reason = `Only files can be rewound: ${title} offers no way to fork a conversation at a message.${advice}`;
  return { fork: async () => ({ outcome: "files-only", reason }) };
}
