/**
 * Cursor: `hooks.json`. Written after Cursor's own hook runtime and not yet run against Cursor itself. It may also
 * load Claude Code's settings, with payloads in its own form.
 */
import { join } from "node:path";
import type { AgentAdapter } from "./adapter.ts";
import type { AgentEvent, Origin, Reply } from "../events/agent-event.ts";
import type { AgentRun, TurnStatus } from "../events/agent-event.ts";
import { filesOnly } from "../conversation/conversations.ts";
import { hookCommand, type HookEntry, type Place } from "../settings/hook-file.ts";
import { digest, objectOf, textOf, type Payload } from "../events/payload.ts";
import { toolUse } from "../events/tool-use.ts";
import { words } from "../events/word-list.ts";

const EVENTS = words(`
  sessionStart beforeSubmitPrompt preToolUse postToolUse postToolUseFailure subagentStart
  subagentStop stop sessionEnd
`);
/** Known, and covered by the events above. */
const IGNORED =
  /^(before|after)(shellExecution|MCPExecution|ReadFile|TabFileRead|FileEdit|TabFileEdit|AgentResponse|AgentThought)$|^(preCompact|workspaceOpen)$/i;

/** The adapter for Cursor: its hooks, its settings, its tools. */
export const cursor: AgentAdapter = {
  id: "cursor",
  title: "Cursor",
  parse,
  answer,
  announcesTools: true,
  // which of the editor's processes runs hooks and commands is not known
  startsItself: false,
  // A prompt's hook may only let it pass; the first answer that accepts text is a tool's.
  tellsModelAt: ["session-start", "tool-after"],
  traces: ({ user, root }) => ({
    programs: ["cursor", "cursor-agent"],
    directories: [join(user, ".cursor"), ...(root === null ? [] : [join(root, ".cursor")])],
  }),
  hookFiles: (place) => [
    { kind: "entries", path: hooksPath(place), entries: hookEntries(place), defaults: { version: 1 } },
  ],
  advice: [
    "Only files can be rewound: Cursor has no way to shorten a conversation from outside.",
    "The model learns of a rollback with its first tool call, not with the prompt. Tab completions are not events.",
  ],
  conversations: filesOnly("Cursor"),
};

function parse(payload: Payload): AgentEvent | undefined {
  const session = textOf(payload, "conversation_id", "session_id");
  const sent = textOf(payload, "hook_event_name");
  if (session === null || sent === null) return undefined;
  const name = sent.charAt(0).toLowerCase() + sent.slice(1);
  const origin = originOf(payload, session);
  switch (name) {
    case "sessionStart":
      return { ...origin, kind: "session-start" };
    case "sessionEnd":
      return { ...origin, kind: "session-end" };
    case "beforeSubmitPrompt":
    case "userPromptSubmit":
      return parsePrompt(payload, origin);
    case "preToolUse":
    case "postToolUse":
    case "postToolUseFailure":
      return parseTool(payload, origin, name);
    case "subagentStart":
    case "subagentStop":
      return parseSubagent(payload, origin, name);
    case "stop":
      return parseStop(payload, origin);
    default:
      return IGNORED.test(name) ? { ...origin, kind: "ignored" } : undefined;
  }
}

function originOf(payload: Payload, session: string): Origin {
  const roots = payload["workspace_roots"];
  const root: unknown = Array.isArray(roots) ? roots[0] : undefined;
  return {
    session,
    parentSession: null,
    cwd: textOf(payload, "cwd") ?? (typeof root === "string" ? root : null),
    transcript: textOf(payload, "transcript_path"),
    turnId: textOf(payload, "generation_id"),
    run: null,
    moment: null,
    key: digest({ ...payload, hook_event_name: null }),
  };
}

function parsePrompt(payload: Payload, origin: Origin): AgentEvent {
  const text = textOf(payload, "prompt");
  if (text === null) return { ...origin, kind: "ignored" };
  return { ...origin, key: digest(origin.turnId, text), kind: "prompt", text, messageId: origin.turnId };
}

function parseTool(payload: Payload, origin: Origin, name: string): AgentEvent | undefined {
  const tool = textOf(payload, "tool_name");
  if (tool === null) return undefined;
  const toolUseId = textOf(payload, "tool_use_id");
  const use = toolUse({ tool, input: objectOf(payload, "tool_input"), toolUseId, cwd: origin.cwd });
  const key = toolUseId ?? origin.key;
  if (name === "preToolUse") return { ...origin, key, kind: "tool-before", use };
  return { ...origin, key, kind: "tool-after", use, status: name === "postToolUse" ? "done" : "failed" };
}

function parseSubagent(payload: Payload, origin: Origin, name: string): AgentEvent | undefined {
  const id = textOf(payload, "subagent_id");
  if (id === null) return undefined;
  const run: AgentRun = { id, role: textOf(payload, "subagent_type") ?? "subagent" };
  const session = textOf(payload, "parent_conversation_id") ?? origin.session;
  if (name === "subagentStart") return { ...origin, session, kind: "agent-start", run };
  return { ...origin, session, kind: "agent-end", run, status: statusOf(payload) };
}

/** Unlike most agents, Cursor also reports that a turn was aborted. */
function parseStop(payload: Payload, origin: Origin): AgentEvent {
  return { ...origin, kind: "turn-end", status: statusOf(payload), answer: null, background: [] };
}

function statusOf(payload: Payload): TurnStatus {
  const status = textOf(payload, "status");
  if (status === "aborted") return "interrupted";
  return status === "error" ? "failed" : "done";
}

function answer(payload: Payload, { context }: Reply): string {
  const name = textOf(payload, "hook_event_name") ?? "";
  if (/^(beforeSubmitPrompt|UserPromptSubmit)$/i.test(name)) return JSON.stringify({ continue: true });
  return JSON.stringify(context === undefined ? {} : { additional_context: context });
}

function hookEntries(place: Place): HookEntry[] {
  const command = hookCommand(place, "cursor");
  return EVENTS.map((event) => ({ at: ["hooks", event], value: { command, timeout: 30 } }));
}

function hooksPath({ user, root, scope }: Place): string {
  return join(scope === "shared" && root !== null ? root : user, ".cursor", "hooks.json");
}
