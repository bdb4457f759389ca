/** What an adapter is: everything Belay knows about one agent. It translates and decides nothing. */
import type { AgentEvent, EventKind, Reply } from "../events/agent-event.ts";
import type { AgentId } from "../events/agent-id.ts";
import type { Payload } from "../events/payload.ts";
import type { Conversations } from "../conversation/conversations.ts";
import type { HookFile, Place } from "../settings/hook-file.ts";

/** One agent's adapter. */
export interface AgentAdapter {
  readonly id: AgentId;
  /** As people write it: "Claude Code". */
  readonly title: string;
  /** undefined: not an event this agent is known to send. */
  parse(payload: Payload): AgentEvent | undefined;
  /** What the hook prints. Must never block the agent or decide anything for it. */
  answer(payload: Payload, reply: Reply): string;
  /** It sends events around its tools: what changes while none of them runs is not its doing. */
  readonly announcesTools: boolean;
  /** Its own process runs hooks and commands: by that process it can be told whether agent and command still run. */
  readonly startsItself: boolean;
  /** The events after which this agent takes text for its model, best first. */
  readonly tellsModelAt: readonly EventKind[];
  /** The programs and directories that show that the agent is used here. */
  traces(place: Place): { readonly programs: readonly string[]; readonly directories: readonly string[] };
  hookFiles(place: Place): readonly HookFile[];
  /** The same hooks come with a plugin that the user has switched on. */
  hasPlugin?(place: Place): Promise<boolean>;
  /** Said after an installation: what the user still has to do, and what is not covered. */
  readonly advice: readonly string[];
  /** What keeps hooks from running although they are installed. `thorough`: also what only the agent's program knows. */
  obstacles?(place: Place, how?: "quick" | "thorough"): Promise<string[]>;
  /** When the agent last worked in this directory, by its own files, if that was after a moment and can be known. */
  lastRun?(place: Place, since: number): Promise<number | null>;
  readonly conversations: Conversations;
}
