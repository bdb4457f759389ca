/**
 * Copilot CLI: a hook file of its own. It also runs the hooks in Claude Code's settings, in snake_case, so
 * most events come twice where both are installed; the two share the time of the event. Calls have no ids,
 * and subagents have conversations of their own.
 */
import { join } from "node:path";
import type { AgentAdapter } from "./adapter.ts";
import type { AgentEvent, Reply } from "../events/agent-event.ts";
import { filesOnly } from "../conversation/conversations.ts";
import { hookCommand, type Place } from "../settings/hook-file.ts";
import { digest, momentOf, objectOf, textOf, type Payload } from "../events/payload.ts";
import { parseClaudeShape } from "./claude-shape.ts";
import { words } from "../events/word-list.ts";

const EVENTS = words(`
  sessionStart userPromptSubmitted preToolUse postToolUse postToolUseFailure subagentStart
  subagentStop agentStop sessionEnd
`);

/** The one name of each tool, whichever of the two forms it came in. */
const TOOLS: Readonly<Record<string, string>> = {
  bash: "Bash",
  create: "Write",
  edit: "Edit",
  task: "Agent",
};

/** Copilot CLI's adapter. */
export const copilotCli: AgentAdapter = {
  id: "copilot-cli",
  title: "Copilot CLI",
  parse,
  answer,
  announcesTools: true,
  startsItself: true,
  tellsModelAt: ["prompt"],
  traces: ({ user, environment }) => ({
    programs: ["copilot"],
    directories: [copilotHome(user, environment)],
  }),
  hookFiles: (place) => [{ kind: "whole", path: hooksPath(place), text: hooksFile(place) }],
  advice: [
    "Copilot CLI runs the hooks of a repository only in folders you trust.",
    "Only files can be rewound: Copilot CLI has no way to shorten a conversation from outside. Use its /rewind.",
  ],
  async obstacles(place) {
    const { copilotObstacles } = await import("./obstacles.ts");
    return copilotObstacles(place, join(copilotHome(place.user, place.environment), "config.json"));
  },
  conversations: filesOnly("Copilot CLI", "its own /rewind"),
};

function parse(payload: Payload): AgentEvent | undefined {
  const event = parseClaudeShape(inClaudeShape(payload));
  if (event === undefined || event.kind === "ignored") return event;
  const parent = textOf(payload, "parentAgentId", "parent_agent_id");
  const parentSession = event.run?.id === event.session ? parent : null;
  const moment = momentOf(payload, "timestamp");
  const key = moment === null ? event.key : digest(moment, subject(event));
  return { ...event, parentSession, key };
}

function subject(event: AgentEvent): string {
  if (event.kind === "tool-before" || event.kind === "tool-after") return event.use.match;
  return event.kind === "prompt" ? event.text : (event.run?.id ?? "");
}

/** Its own form does not name the event: the fields show which one it is. */
function inClaudeShape(payload: Payload): Payload {
  const tool = textOf(payload, "toolName", "tool_name");
  return {
    hook_event_name: textOf(payload, "hook_event_name") ?? eventName(payload),
    session_id: textOf(payload, "sessionId", "session_id"),
    timestamp: payload["timestamp"],
    cwd: textOf(payload, "cwd"),
    transcript_path: textOf(payload, "transcriptPath", "transcript_path"),
    prompt: textOf(payload, "prompt"),
    tool_name: tool === null ? null : (TOOLS[tool] ?? tool),
    tool_input: objectOf(payload, "toolArgs", "tool_input"),
    agent_id: textOf(payload, "agentId", "agent_id"),
    agent_type: textOf(payload, "agentType", "agent_type"),
    last_assistant_message: textOf(payload, "response", "last_assistant_message"),
  };
}

function eventName(payload: Payload): string | null {
  const has = (key: string) => Object.hasOwn(payload, key);
  if (has("hookName")) return "Notification";
  if (has("toolName")) {
    if (has("toolResult")) return "PostToolUse";
    return has("error") ? "PostToolUseFailure" : "PreToolUse";
  }
  if (has("prompt")) return "UserPromptSubmit";
  if (has("source")) return "SessionStart";
  if (has("agentName")) return has("stopReason") ? "SubagentStop" : "SubagentStart";
  if (has("stopReason")) return "Stop";
  return has("reason") ? "SessionEnd" : null;
}

/** In its own form and, for events that came through Claude Code's settings, in that one. */
function answer(payload: Payload, { context, warning }: Reply): string {
  const event = textOf(payload, "hook_event_name");
  return JSON.stringify({
    ...(warning === undefined ? {} : { systemMessage: warning }),
    ...(context === undefined ? {} : { additionalContext: context }),
    ...(context === undefined || event === null
      ? {}
      : { hookSpecificOutput: { hookEventName: event, additionalContext: context } }),
  });
}

function hooksFile(place: Place): string {
  const bash = hookCommand(place, "copilot-cli");
  const hooks = Object.fromEntries(
    EVENTS.map((event) => [event, [{ type: "command", bash, timeoutSec: 30 }]]),
  );
  return `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`;
}

function hooksPath({ user, root, scope, environment }: Place): string {
  if (scope === "shared" && root !== null) return join(root, ".github", "hooks", "belay.json");
  return join(copilotHome(user, environment), "hooks", "belay.json");
}

function copilotHome(user: string, environment: NodeJS.ProcessEnv): string {
  return environment["COPILOT_HOME"] || join(user, ".copilot");
}
