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
  /** undefined = not an event this agent is known to send. */
  parse(payload: Payload): AgentEvent | undefined;
  /** What the hook prints. Must never block the agent or decide anything for it. */
  answer(payload: Payload, reply: Reply): string;
  /** True when it sends events around its tools: changes while none runs are not its own. */
  readonly announcesTools: boolean;
  /**
   * True when its own process runs hooks and commands: that process shows whether agent and command still
   * run.
   */
  readonly startsItself: boolean;
  /** The events after which this agent accepts text for its model, best first. */
  readonly tellsModelAt: readonly EventKind[];
  /** The programs and directories that show that the agent is used here. */
  traces(place: Place): { readonly programs: readonly string[]; readonly directories: readonly string[] };
  hookFiles(place: Place): readonly HookFile[];
  /** True when the user has enabled a plugin that brings the same hooks. */
  hasPlugin?(place: Place): Promise<boolean>;
  /** Printed after an installation: what the user still has to do, and what is not covered. */
  readonly advice: readonly string[];
  /** What prevents installed hooks from running. `thorough`: also what only the agent's program knows. */
  obstacles?(place: Place, how?: "quick" | "thorough"): Promise<string[]>;
  /**
   * When the agent last worked in this directory after a moment, judging by its own files; null when unknown.
   */
  lastRun?(place: Place, since: number): Promise<number | null>;
  readonly conversations: Conversations;
}
