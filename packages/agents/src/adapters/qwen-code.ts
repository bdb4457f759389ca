/** Qwen Code: Claude Code's events with Gemini CLI's tools. */
import { join } from "node:path";
import type { AgentAdapter } from "./adapter.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import { filesOnly } from "../conversation/conversations.ts";
import { allToolsBut, hookCommand, type HookEntry, type Place } from "../settings/hook-file.ts";
import { digest, type Payload } from "../events/payload.ts";
import { answerClaudeShape, parseClaudeShape } from "./claude-shape.ts";
import { words } from "../events/word-list.ts";

const TOOLS = allToolsBut(
  words(
    "read_file read_many_files list_directory glob grep_search web_fetch web_search todo_write agent task",
  ),
);
const EVENTS = words(`
  SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure SubagentStart
  SubagentStop Stop StopFailure SessionEnd
`);
const TIMEOUT_MS = 30_000;

/** Qwen Code's adapter. */
export const qwenCode: AgentAdapter = {
  id: "qwen-code",
  title: "Qwen Code",
  parse,
  answer: answerClaudeShape,
  announcesTools: true,
  startsItself: true,
  tellsModelAt: ["prompt"],
  traces: ({ user, root }) => ({
    programs: ["qwen"],
    directories: [join(user, ".qwen"), ...(root === null ? [] : [join(root, ".qwen")])],
  }),
  hookFiles: (place) => [
    { kind: "entries", path: settingsPath(place), entries: hookEntries(place), defaults: {} },
  ],
  advice: ["Only files can be rewound: Qwen Code has no way to shorten a conversation from outside."],
  async obstacles(place) {
    const { qwenObstacles } = await import("./obstacles.ts");
    return qwenObstacles(place, settingsFiles(place));
  },
  async lastRun({ user, root }, since) {
    const { dashedProjectName, hashedProjectName, lastRunIn } = await import("../conversation/last-run.ts");
    if (root === null) return null;
    const projects = [join("projects", dashedProjectName(root)), join("tmp", hashedProjectName(root))];
    return lastRunIn(
      projects.map((project) => join(user, ".qwen", project, "chats")),
      "",
      since,
    );
  },
  conversations: filesOnly("Qwen Code"),
};

/** It sends the prompt again with every round of tool results, under the same id: that counts once. */
function parse(payload: Payload): AgentEvent | undefined {
  const event = parseClaudeShape(payload);
  if (event?.kind !== "prompt" || event.turnId === null) return event;
  return { ...event, key: digest(event.turnId) };
}

function hookEntries(place: Place): HookEntry[] {
  const command = hookCommand(place, "qwen-code");
  return EVENTS.map((event) => ({
    at: ["hooks", event],
    value: {
      ...(event.includes("ToolUse") ? { matcher: TOOLS } : {}),
      hooks: [{ type: "command", command, timeout: TIMEOUT_MS }],
    },
  }));
}

/** The user's first. */
function settingsFiles(place: Place): string[] {
  const scopes = place.root === null ? (["user"] as const) : (["user", "shared"] as const);
  return scopes.map((scope) => settingsPath({ ...place, scope }));
}

function settingsPath({ user, root, scope }: Place): string {
  return join(scope === "shared" && root !== null ? root : user, ".qwen", "settings.json");
}
