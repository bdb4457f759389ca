/** An event that could not be carried out: noted in the place set aside for it, with what ended with it. */
import type { AgentAdapter } from "../adapters/adapter.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import { openHookNotes, type HookNotes } from "../state/hook-notes.ts";
import { noteUncaptured, type LostEnd } from "../state/uncaptured-work.ts";
import { belongsTo } from "./handle-event.ts";

/** What is known of a lost event. */
export interface Lost {
  readonly adapter: AgentAdapter;
  readonly event: AgentEvent;
  readonly cwd: string;
  /** When the agent sent it. */
  readonly at: number;
  readonly problem: string;
}

/** [R2300] Notes the event for its conversation. The agent is not told of a failure to do so. */
export function noteLost(home: string, { adapter, event: sent, cwd, at, problem }: Lost): void {
  const { session, event } = belongsTo({ home, adapter }, sent);
  const ends = endsWith(event, openHookNotes(home, adapter.id, session)).map((of) => ({ of, at }));
  noteUncaptured(home, { agent: adapter.id, event: { ...event, session }, ends, cwd, now: at, problem });
}

/** What is over with an event, whether or not it could be carried out. */
function endsWith(event: AgentEvent, notes: HookNotes): LostEnd["of"][] {
  switch (event.kind) {
    case "tool-after": {
      const { use } = event;
      if (!use.mutates || use.background) return [];
      const begun = notes.openCalls().find((call) => call.match === use.match);
      return [{ kind: "call", id: begun?.toolUseId ?? use.toolUseId ?? use.match }];
    }
    case "agent-end":
      return [{ kind: "agent", id: event.run.id }];
    case "turn-end":
      // a subagent's own stop is framed by the event about that subagent
      return event.run === null ? [{ kind: "turn" }] : [];
    case "prompt":
    case "session-end": {
      const isOpen = notes.openTurn() !== null || notes.openCalls().length > 0;
      return event.run === null && isOpen ? [{ kind: "turn" }] : [];
    }
    default:
      return [];
  }
}
