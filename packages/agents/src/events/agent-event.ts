/**
 * The common form of all agents' events. Adapters translate; `handling/handle-event.ts` decides what to do.
 */

/** A part of an agent's work that was delegated to a subagent. */
export interface AgentRun {
  readonly id: string;
  readonly role: string;
}

/** `unfinished`: its end was not reported. It was interrupted, or never allowed to run. */
export type ToolStatus = "done" | "failed" | "unfinished";
/** How a turn or a subagent ended. */
export type TurnStatus = "done" | "failed" | "interrupted";

/** Where an event comes from. */
export interface Origin {
  readonly session: string;
  /** The conversation that started this one, for agents whose subagents have conversations of their own. */
  readonly parentSession: string | null;
  /** null: the payload does not say. */
  readonly cwd: string | null;
  readonly transcript: string | null;
  /** The agent's own id of the turn or prompt, where its events carry one. */
  readonly turnId: string | null;
  /** The subagent this happened in; null = the agent itself. */
  readonly run: AgentRun | null;
  /** The agent's own time of the event, where it reports one. */
  readonly moment: number | null;
  /**
   * The same when the event is delivered twice, and different for any other event of its kind. If the payload
   * has neither an id nor a time (`isNamed`), a second "continue" looks like the first.
   */
  readonly key: string;
}

/** One tool call, as far as its name and input tell. */
export interface ToolUse {
  readonly tool: string;
  /** null where the agent's calls have no ids: then `match` connects before and after. */
  readonly toolUseId: string | null;
  readonly match: string;
  readonly mutates: boolean;
  readonly paths: readonly string[];
  /** `edit`: writes only the paths it names. `command`: runs a program. */
  readonly nature: "edit" | "command" | null;
  /** True when a process it starts outlives its answer. */
  readonly background: boolean;
  /** The command, the file, the task: what a person would recognise the call by. */
  readonly subject: string;
}

/** One event of any agent. */
export type AgentEvent = Origin &
  (
    | { readonly kind: "session-start" }
    | { readonly kind: "session-end" }
    | { readonly kind: "prompt"; readonly text: string; readonly messageId: string | null }
    /** Looks like a prompt, but is the agent telling itself that background work ended. */
    | { readonly kind: "wake-up" }
    | { readonly kind: "tool-before"; readonly use: ToolUse }
    | { readonly kind: "tool-after"; readonly use: ToolUse; readonly status: ToolStatus }
    | { readonly kind: "agent-start"; readonly run: AgentRun }
    | { readonly kind: "agent-end"; readonly run: AgentRun; readonly status: TurnStatus }
    | {
        readonly kind: "turn-end";
        readonly status: TurnStatus;
        readonly answer: string | null;
        readonly background: readonly string[];
      }
    | { readonly kind: "command"; readonly name: string; readonly args: string }
    /** Known, with nothing to do. */
    | { readonly kind: "ignored" }
  );

/** The kinds of events. */
export type EventKind = AgentEvent["kind"];

/** True when the agent distinguishes this event from another one like it. */
export function isNamed(event: AgentEvent): boolean {
  if (event.moment !== null) return true;
  if (event.kind === "tool-before" || event.kind === "tool-after") return event.use.toolUseId !== null;
  if (event.kind === "prompt" && event.messageId !== null) return true;
  return event.turnId !== null || event.run !== null;
}

/** What Belay has to say to the agent or its user after an event. */
export interface Reply {
  /** For the model: what was rolled back. */
  readonly context?: string;
  /** For the user: what went wrong. */
  readonly warning?: string;
  /** For the user: what a slash command printed. It replaces the prompt. */
  readonly output?: string;
}
