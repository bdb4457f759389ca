/** Codex: `hooks.json`, in Claude Code's form. It runs no hook until the user trusts it. */
import { join } from "node:path";
import type { AgentAdapter } from "./adapter.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import { codexConversations } from "../conversation/codex-conversations.ts";
import { hookCommand, type HookEntry, type Place } from "../settings/hook-file.ts";
import { digest, textOf, type Payload } from "../events/payload.ts";
import { answerClaudeShape, parseClaudeShape } from "./claude-shape.ts";

const EVENTS: readonly (readonly [event: string, timeout: number])[] = [
  ["SessionStart", 30],
  ["UserPromptSubmit", 30],
  ["PreToolUse", 30],
  ["PostToolUse", 30],
  ["SubagentStart", 30],
  ["SubagentStop", 30],
  ["Stop", 30],
  // Codex allows these two no more than three seconds.
  ["Interrupt", 3],
  ["SessionEnd", 3],
];

/** The adapter for Codex: its hooks, its settings, its tools. */
export const codex: AgentAdapter = {
  id: "codex",
  title: "Codex",
  parse: (payload) => parseNotify(payload) ?? parseStop(payload) ?? parseClaudeShape(payload),
  answer: answerClaudeShape,
  announcesTools: true,
  startsItself: true,
  tellsModelAt: ["prompt"],
  traces: ({ user, root, environment }) => ({
    programs: ["codex"],
    directories: [codexHome(user, environment), ...(root === null ? [] : [join(root, ".codex")])],
  }),
  hookFiles: (place) => [
    { kind: "entries", path: hooksPath(place), entries: hookEntries(place), defaults: {} },
  ],
  advice: [
    "Codex skips new hooks without saying so until you trust them: start `codex`, type `/hooks` and approve the " +
      "ones that run belay-hook. Belay does not approve them for you. The command line never changes with " +
      "updates, so the approval lasts.",
    "A command that Codex's own policy rejects shows as a call without an end.",
  ],
  async obstacles(place, how = "thorough") {
    const { codexObstacles, codexTrustObstacles } = await import("./obstacles.ts");
    if (how === "thorough") return codexObstacles(place);
    const config = join(codexHome(place.user, place.environment), "config.toml");
    return codexTrustObstacles(config, hooksPath(place));
  },
  async lastRun({ user, root, environment }, since) {
    const { lastRunByDay } = await import("../conversation/last-run.ts");
    return root === null ? null : lastRunByDay(join(codexHome(user, environment), "sessions"), root, since);
  },
  conversations: codexConversations,
};

function hookEntries(place: Place): HookEntry[] {
  const command = hookCommand(place, "codex");
  return EVENTS.map(([event, timeout]) => ({
    at: ["hooks", event],
    value: { hooks: [{ type: "command", command, timeout }] },
  }));
}

function hooksPath({ user, root, scope, environment }: Place): string {
  const directory = scope === "shared" && root !== null ? join(root, ".codex") : codexHome(user, environment);
  return join(directory, "hooks.json");
}

function codexHome(user: string, environment: NodeJS.ProcessEnv): string {
  return environment["CODEX_HOME"] || join(user, ".codex");
}

/** The older `notify` program reports only the end of a turn, whether hooks are trusted or not. */
function parseNotify(payload: Payload): AgentEvent | undefined {
  const session = textOf(payload, "thread-id");
  if (payload["type"] !== "agent-turn-complete" || session === null) return undefined;
  const turnId = textOf(payload, "turn-id");
  const answer = textOf(payload, "last-assistant-message");
  return {
    kind: "turn-end",
    status: "done",
    answer,
    background: [],
    session,
    parentSession: null,
    cwd: textOf(payload, "cwd"),
    transcript: null,
    turnId,
    run: null,
    moment: null,
    key: digest(turnId, answer),
  };
}

/** Has the same key as the `notify` for this end, so that only one of the two counts. */
function parseStop(payload: Payload): AgentEvent | undefined {
  const event = parseClaudeShape(payload);
  if (event?.kind !== "turn-end" || event.status !== "done") return undefined;
  return { ...event, key: digest(event.turnId, event.answer) };
}
