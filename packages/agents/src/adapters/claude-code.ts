/**
 * Claude Code: hooks in its settings, the model for most other agents. It sends no event when it is
 * interrupted.
 */
import { join } from "node:path";
import type { AgentAdapter } from "./adapter.ts";
import type { AgentEvent, Reply } from "../events/agent-event.ts";
import { claudeConversations } from "../conversation/claude-conversations.ts";
import { allToolsBut, hookCommand, type HookEntry, type Place } from "../settings/hook-file.ts";
import { digest, textOf, type Payload } from "../events/payload.ts";
import { words } from "../events/word-list.ts";
import { answerClaudeShape, parseClaudeShape } from "./claude-shape.ts";

/** Tools that only read, or that have events of their own: hooks for them would only slow the agent down. */
const TOOLS = allToolsBut(
  words(`
  Read Grep Glob LS WebFetch WebSearch TodoWrite AskUserQuestion ToolSearch BashOutput KillShell
  TaskOutput TaskStop Agent Task
`),
);

const OWN_COMMAND = /^\/belay:[a-z-]+(\s|$)/;

const EVENTS: readonly (readonly [event: string, timeout: number, matcher?: string])[] = [
  ["SessionStart", 30],
  ["UserPromptSubmit", 30],
  ["PreToolUse", 30, TOOLS],
  ["PostToolUse", 30, TOOLS],
  ["PostToolUseFailure", 30, TOOLS],
  ["SubagentStart", 30],
  ["SubagentStop", 30],
  ["Stop", 30],
  ["StopFailure", 30],
  // Claude Code waits 1.5 seconds for all of these together, unless a hook asks for more.
  ["SessionEnd", 5],
];

/** An administrator's settings, which nothing overrides. */
const MANAGED_SETTINGS = "/etc/claude-code/managed-settings.json";

/** Claude Code's adapter. */
export const claudeCode: AgentAdapter = {
  id: "claude-code",
  title: "Claude Code",
  parse,
  answer,
  announcesTools: true,
  startsItself: true,
  tellsModelAt: ["prompt", "tool-before"],
  traces: ({ user, root, environment }) => ({
    programs: ["claude"],
    directories: [configDirectory(user, environment), ...(root === null ? [] : [join(root, ".claude")])],
  }),
  hookFiles: (place) => [
    { kind: "entries", path: settingsPath(place), entries: hookEntries(place), defaults: {} },
  ],
  async hasPlugin(place) {
    const { claudePluginIsOn } = await import("./obstacles.ts");
    return claudePluginIsOn(allSettings(place));
  },
  advice: [
    "Claude Code reads its hooks when it starts: restart sessions that are open.",
    "Commands typed with `!` run without hooks; their changes are captured with the next prompt.",
  ],
  async obstacles(place) {
    const { claudeObstacles } = await import("./obstacles.ts");
    return claudeObstacles([...allSettings(place), MANAGED_SETTINGS]);
  },
  async lastRun({ user, root, environment }, since) {
    const { dashedProjectName, lastRunIn } = await import("../conversation/last-run.ts");
    if (root === null) return null;
    const project = join(configDirectory(user, environment), "projects", dashedProjectName(root));
    return lastRunIn([project], ".jsonl", since);
  },
  conversations: claudeConversations,
};

/** The entries of the settings, also used by the plugin's `hooks.json`. */
export function hookEntries(place: Place): HookEntry[] {
  const command = hookCommand(place, "claude-code");
  return EVENTS.map(([event, timeout, matcher]) => ({
    at: ["hooks", event],
    value: {
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [{ type: "command", command, timeout }],
    },
  }));
}

function allSettings(place: Place): string[] {
  const scopes = place.root === null ? (["user"] as const) : (["user", "shared", "local"] as const);
  return scopes.map((scope) => settingsPath({ ...place, scope }));
}

function settingsPath({ user, root, scope, environment }: Place): string {
  if (scope === "user" || root === null) return join(configDirectory(user, environment), "settings.json");
  return join(root, ".claude", scope === "shared" ? "settings.json" : "settings.local.json");
}

function configDirectory(user: string, environment: NodeJS.ProcessEnv): string {
  return environment["CLAUDE_CONFIG_DIR"] || join(user, ".claude");
}

function parse(payload: Payload): AgentEvent | undefined {
  const event = parseCommand(payload) ?? parseClaudeShape(payload);
  // Our own slash commands are also sent as prompts, just before: they begin no turn.
  const isOwn = event?.kind === "prompt" && OWN_COMMAND.test(event.text);
  return isOwn ? { ...event, kind: "ignored" } : event;
}

/** `/belay:undo` and the like, from the plugin: the hook carries them out, and the model never sees them. */
function parseCommand(payload: Payload): AgentEvent | undefined {
  if (payload["hook_event_name"] !== "UserPromptExpansion") return undefined;
  const name = /^belay:([a-z-]+)$/.exec(textOf(payload, "command_name") ?? "")?.[1];
  const session = textOf(payload, "session_id");
  if (name === undefined || session === null) return undefined;
  return {
    kind: "command",
    name,
    args: textOf(payload, "command_args") ?? "",
    session,
    parentSession: null,
    cwd: textOf(payload, "cwd"),
    transcript: textOf(payload, "transcript_path"),
    turnId: textOf(payload, "prompt_id"),
    run: null,
    moment: null,
    key: digest(payload),
  };
}

/** "block" only means that the slash command's text is not sent to the model: it is already done. */
function answer(payload: Payload, reply: Reply): string {
  if (reply.output === undefined) return answerClaudeShape(payload, reply);
  return JSON.stringify({ decision: "block", reason: reply.output });
}
