/**
 * The form of events that Claude Code introduced and that Codex, Qwen Code, Copilot CLI and others adopted
 * with small differences: names in `hook_event_name`, fields in snake_case.
 */
import type { AgentEvent, Origin, Reply } from "../events/agent-event.ts";
import type { AgentRun } from "../events/agent-event.ts";
import { digest, listOf, momentOf, objectOf, textOf, type Payload } from "../events/payload.ts";
import { toolUse } from "../events/tool-use.ts";
import { words } from "../events/word-list.ts";

/** Known events without meaning for Belay; unknown events give `undefined`. */
const IGNORED = new Set(
  words(`
  PostToolBatch Notification PermissionRequest PermissionDenied PreCompact PostCompact
  PreModelSwitch PostModelSwitch PreModelRequest PostModelRequest TaskCreated TaskCompleted
  TeammateIdle Setup ConfigChange InstructionsLoaded CwdChanged FileChanged MessageDisplay
  DirectoryAdded Elicitation ElicitationResult UserPromptExpansion PreCompress
`),
);

/** A background task that ended arrives as a prompt that no person typed. */
const WAKE_UP = /^\s*<task-notification>/;

/** An event of this form; undefined for one that is not known. */
export function parseClaudeShape(payload: Payload): AgentEvent | undefined {
  const session = textOf(payload, "session_id");
  const name = textOf(payload, "hook_event_name");
  if (session === null || name === null) return undefined;
  const origin = originOf(payload, session);
  switch (name) {
    case "SessionStart":
      return { ...origin, kind: "session-start" };
    case "SessionEnd":
      return { ...origin, kind: "session-end" };
    case "UserPromptSubmit":
      return parsePrompt(payload, origin);
    case "PreToolUse":
    case "PostToolUse":
    case "PostToolUseFailure":
      return parseTool(payload, origin, name);
    case "SubagentStart":
    case "SubagentStop":
      return parseSubagent(origin, name);
    case "Stop":
    case "StopFailure":
    case "Interrupt":
      return parseStop(payload, origin, name);
    default:
      return IGNORED.has(name) ? { ...origin, kind: "ignored" } : undefined;
  }
}

/** Adds what was rolled back to the prompt's context, and shows trouble to the user; decides nothing. */
export function answerClaudeShape(payload: Payload, { context, warning }: Reply): string {
  const event = textOf(payload, "hook_event_name");
  const tells = context !== undefined && event !== null;
  return JSON.stringify({
    ...(warning === undefined ? {} : { systemMessage: warning }),
    ...(tells ? { hookSpecificOutput: { hookEventName: event, additionalContext: context } } : {}),
  });
}

function originOf(payload: Payload, session: string): Origin {
  return {
    session,
    parentSession: null,
    cwd: textOf(payload, "cwd"),
    transcript: textOf(payload, "transcript_path"),
    turnId: textOf(payload, "prompt_id", "turn_id"),
    run: runOf(payload),
    moment: momentOf(payload, "timestamp"),
    key: digest(payload),
  };
}

function runOf(payload: Payload): AgentRun | null {
  const id = textOf(payload, "agent_id");
  return id === null ? null : { id, role: textOf(payload, "agent_type", "agent_name") ?? "subagent" };
}

function parsePrompt(payload: Payload, origin: Origin): AgentEvent {
  const text = withoutReminders(textOf(payload, "prompt") ?? "");
  if (text === "") return { ...origin, kind: "ignored" };
  const key = digest(origin.turnId, text, origin.moment);
  if (WAKE_UP.test(text)) return { ...origin, key, kind: "wake-up" };
  return { ...origin, key, kind: "prompt", text, messageId: origin.turnId };
}

const REMINDER = ["<system-reminder>", "</system-reminder>"] as const;

/** The user's own words, without the reminders that the agent adds for its model. */
function withoutReminders(prompt: string): string {
  const [begin, end] = REMINDER;
  let text = prompt;
  for (let rest = text.trimStart(); rest.startsWith(begin); rest = text.trimStart()) {
    const close = rest.indexOf(end);
    if (close < 0) break;
    text = rest.slice(close + end.length).trimStart();
  }
  for (let rest = text.trimEnd(); rest.endsWith(end); rest = text.trimEnd()) {
    const open = rest.lastIndexOf(begin);
    if (open < 0) break;
    text = rest.slice(0, open).trimEnd();
  }
  return text;
}

function parseTool(payload: Payload, origin: Origin, name: string): AgentEvent | undefined {
  const tool = textOf(payload, "tool_name");
  if (tool === null) return undefined;
  const input = objectOf(payload, "tool_input");
  const toolUseId = textOf(payload, "tool_use_id");
  const use = toolUse({ tool, input, toolUseId, cwd: origin.cwd });
  const key = toolUseId ?? digest(use.match, origin.moment);
  if (name === "PreToolUse") return { ...origin, key, kind: "tool-before", use };
  const status = name === "PostToolUseFailure" ? "failed" : "done";
  // Claude Code itself moves a command that takes too long to the background
  const isLeft = textOf(objectOf(payload, "tool_response"), "backgroundTaskId") !== null;
  const background = status === "done" && (use.background || isLeft);
  return { ...origin, key, kind: "tool-after", use: { ...use, background }, status };
}

function parseSubagent(origin: Origin, name: string): AgentEvent | undefined {
  const { run } = origin;
  if (run === null) return undefined;
  if (name === "SubagentStart") return { ...origin, kind: "agent-start", run };
  return { ...origin, kind: "agent-end", run, status: "done" };
}

function parseStop(payload: Payload, origin: Origin, name: string): AgentEvent {
  const running = listOf(payload, "background_tasks").filter((task) => task["status"] === "running");
  return {
    ...origin,
    kind: "turn-end",
    status: name === "Stop" ? "done" : name === "StopFailure" ? "failed" : "interrupted",
    answer: textOf(payload, "last_assistant_message"),
    background: running.flatMap((task) => textOf(task, "id") ?? []),
  };
}
