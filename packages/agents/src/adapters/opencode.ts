/**
 * opencode: a thin plugin that passes each event to the hook command and waits for it. Subagents have
 * conversations of their own.
 */
import { join } from "node:path";
import type { AgentAdapter } from "./adapter.ts";
import type { AgentEvent, Origin, Reply } from "../events/agent-event.ts";
import { opencodeConversations } from "../conversation/opencode-conversations.ts";
import type { Place } from "../settings/hook-file.ts";
import { opencodePlugin } from "../hooks/opencode-plugin.ts";
import { digest, listOf, objectOf, textOf, type Payload } from "../events/payload.ts";
import { toolUse } from "../events/tool-use.ts";

/** The adapter for opencode: its plugin, its settings, its tools. */
export const opencode: AgentAdapter = {
  id: "opencode",
  title: "opencode",
  parse,
  answer: (_payload, { context, warning }: Reply) => JSON.stringify({ context, warning }),
  announcesTools: true,
  startsItself: true,
  tellsModelAt: ["prompt"],
  traces: ({ user, root, environment }) => ({
    programs: ["opencode"],
    directories: [configDirectory(user, environment), ...(root === null ? [] : [join(root, ".opencode")])],
  }),
  hookFiles: (place) => [{ kind: "whole", path: pluginPath(place), text: opencodePlugin(place) }],
  advice: ["opencode loads plugins when it starts: restart it if it is running."],
  conversations: opencodeConversations,
};

function parse(payload: Payload): AgentEvent | undefined {
  const input = objectOf(payload, "input");
  switch (textOf(payload, "belay_event")) {
    case "chat.message":
      return parseMessage(payload, input);
    case "tool.execute.before":
    case "tool.execute.after":
      return parseTool(payload, input);
    case "session.created":
    case "session.idle":
      return parseSession(payload, input);
    default:
      return undefined;
  }
}

function originOf(payload: Payload, session: string, key: string): Origin {
  const cwd = textOf(payload, "directory");
  return { session, parentSession: null, cwd, transcript: null, turnId: null, run: null, moment: null, key };
}

function parseMessage(payload: Payload, input: Payload): AgentEvent | undefined {
  const output = objectOf(payload, "output");
  const message = objectOf(output, "message");
  const session = textOf(input, "sessionID") ?? textOf(message, "sessionID");
  const messageId = textOf(message, "id");
  if (session === null || messageId === null) return undefined;
  const texts = listOf(output, "parts").filter(
    (part) => part["type"] === "text" && part["synthetic"] !== true,
  );
  const text = texts.flatMap((part) => textOf(part, "text") ?? []).join("\n");
  return { ...originOf(payload, session, messageId), kind: "prompt", text, messageId };
}

function parseTool(payload: Payload, input: Payload): AgentEvent | undefined {
  const session = textOf(input, "sessionID");
  const tool = textOf(input, "tool");
  const toolUseId = textOf(input, "callID");
  if (session === null || tool === null || toolUseId === null) return undefined;
  const output = objectOf(payload, "output");
  const args = { ...objectOf(output, "args"), ...objectOf(input, "args") };
  const use = toolUse({ tool, input: args, toolUseId, cwd: textOf(payload, "directory") });
  const origin = originOf(payload, session, toolUseId);
  if (payload["belay_event"] === "tool.execute.before") return { ...origin, kind: "tool-before", use };
  const exit = objectOf(output, "metadata")["exit"];
  const status = typeof exit === "number" && exit !== 0 ? "failed" : "done";
  return { ...origin, kind: "tool-after", use, status };
}

function parseSession(payload: Payload, input: Payload): AgentEvent | undefined {
  const info = objectOf(input, "info");
  const session = textOf(input, "sessionID") ?? textOf(info, "id");
  if (session === null) return undefined;
  const origin = originOf(payload, session, digest(payload));
  if (payload["belay_event"] === "session.idle") {
    const answer = textOf(objectOf(payload, "output"), "answer");
    return { ...origin, kind: "turn-end", status: "done", answer, background: [] };
  }
  const parent = textOf(info, "parentID");
  if (parent === null) return { ...origin, kind: "session-start" };
  const role = textOf(info, "agent") ?? "subagent";
  return { ...origin, session: parent, kind: "agent-start", run: { id: session, role } };
}

function pluginPath({ user, root, scope, environment }: Place): string {
  const directory =
    scope === "shared" && root !== null ? join(root, ".opencode") : configDirectory(user, environment);
  return join(directory, "plugins", "belay.js");
}

function configDirectory(user: string, environment: NodeJS.ProcessEnv): string {
  return join(environment["XDG_CONFIG_HOME"] || join(user, ".config"), "opencode");
}
