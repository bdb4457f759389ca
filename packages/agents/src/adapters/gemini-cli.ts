/** Gemini CLI: hooks in its settings. Its tool calls have no ids, and several run at once. */
import { join } from "node:path";
import type { AgentAdapter } from "./adapter.ts";
import type { AgentEvent, Reply } from "../events/agent-event.ts";
import { filesOnly } from "../conversation/conversations.ts";
import { allToolsBut, hookCommand, type HookEntry, type Place } from "../settings/hook-file.ts";
import { textOf, type Payload } from "../events/payload.ts";
import { words } from "../events/word-list.ts";
import { answerClaudeShape, parseClaudeShape } from "./claude-shape.ts";

/** Its names for Claude Code's events. */
const NAMES: Readonly<Record<string, string>> = {
  BeforeAgent: "UserPromptSubmit",
  AfterAgent: "Stop",
  BeforeTool: "PreToolUse",
  AfterTool: "PostToolUse",
  SessionStart: "SessionStart",
  SessionEnd: "SessionEnd",
  PreCompress: "PreCompress",
  Notification: "Notification",
};

const TOOLS = allToolsBut(
  words(`
  read_file read_many_files list_directory glob grep_search search_file_content web_fetch
  google_web_search write_todos ask_user
`),
);
const EVENTS = ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"];
/** Here in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Gemini CLI's adapter. */
export const geminiCli: AgentAdapter = {
  id: "gemini-cli",
  title: "Gemini CLI",
  parse,
  answer: (payload: Payload, reply: Reply) => answerClaudeShape(payload, reply),
  announcesTools: true,
  startsItself: true,
  tellsModelAt: ["prompt"],
  traces: ({ user, root }) => ({
    programs: ["gemini"],
    directories: [join(user, ".gemini"), ...(root === null ? [] : [join(root, ".gemini")])],
  }),
  hookFiles: (place) => [
    { kind: "entries", path: settingsPath(place), entries: hookEntries(place), defaults: {} },
  ],
  advice: [
    "Gemini CLI's tool calls have no ids: two equal calls that run at the same time are told apart by order.",
    "Only files can be rewound: Gemini CLI has no way to shorten a conversation from outside. Use its /rewind.",
  ],
  async obstacles(place) {
    const { geminiObstacles } = await import("./obstacles.ts");
    return geminiObstacles(place, settingsFiles(place));
  },
  async lastRun({ user, root }, since) {
    const { geminiProjects, lastRunIn } = await import("../conversation/last-run.ts");
    return root === null ? null : lastRunIn(geminiProjects(join(user, ".gemini"), root), "", since);
  },
  conversations: filesOnly("Gemini CLI", "its own /rewind"),
};

function parse(payload: Payload): AgentEvent | undefined {
  const name = NAMES[textOf(payload, "hook_event_name") ?? ""];
  if (name === undefined) return undefined;
  const answer = textOf(payload, "prompt_response");
  const event = parseClaudeShape({ ...payload, hook_event_name: name, last_assistant_message: answer });
  if (event?.kind !== "tool-after") return event;
  const response = payload["tool_response"];
  const failed = typeof response === "object" && response !== null && "error" in response && response.error;
  return failed ? { ...event, status: "failed" } : event;
}

function hookEntries(place: Place): HookEntry[] {
  const command = hookCommand(place, "gemini-cli");
  return EVENTS.map((event) => ({
    at: ["hooks", event],
    value: {
      ...(event.endsWith("Tool") ? { matcher: TOOLS } : {}),
      hooks: [{ name: "belay", type: "command", command, timeout: TIMEOUT_MS }],
    },
  }));
}

/** The user's first. */
function settingsFiles(place: Place): string[] {
  const scopes = place.root === null ? (["user"] as const) : (["user", "shared"] as const);
  return scopes.map((scope) => settingsPath({ ...place, scope }));
}

function settingsPath({ user, root, scope }: Place): string {
  return join(scope === "shared" && root !== null ? root : user, ".gemini", "settings.json");
}
