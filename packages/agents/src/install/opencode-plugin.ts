/**
 * The plugin that opencode loads: plain JavaScript for Bun, which only passes events on and waits for the
 * answer. It never throws: an error in a hook of a plugin stops the tool.
 */
import { HOOK_MARK, type Place } from "./hook-file.ts";

export function opencodePlugin({ scope, belayHome }: Place): string {
  const home =
    scope === "shared" ? 'process.env.BELAY_HOME || join(homedir(), ".belay")' : JSON.stringify(belayHome);
  return `// Belay's plugin for opencode: checkpoints before prompts and tools. Written by belay.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const HOOK = join(${home}, "${HOOK_MARK}");
const DEADLINE_MS = 15000;

export const Belay = async ({ directory }) => {
  const send = (belay_event, input, output, id) =>
    new Promise((done) => {
      const finish = (text) => {
        try {
          done(JSON.parse(text));
        } catch {
          done({});
        }
      };
      try {
        if (!existsSync(HOOK)) return done({});
        const child = spawn(HOOK, ["opencode"], { cwd: directory, stdio: ["pipe", "pipe", "ignore"] });
        let text = "";
        const timer = setTimeout(() => finish(""), DEADLINE_MS);
        child.on("error", () => finish(""));
        child.stdin.on("error", () => undefined);
        child.stdout.on("data", (part) => (text += part));
        child.on("close", () => {
          clearTimeout(timer);
          finish(text);
        });
        child.stdin.end(JSON.stringify({ belay_event, directory, input, output, id }));
      } catch {
        done({});
      }
    });

${HOOKS}};
`;
}

/** The part that knows opencode's events. */
const HOOKS = `  // What the model said last in each conversation: its end is announced without it.
  const answers = new Map();

  return {
    "chat.message": async (input, output) => {
      const { context } = await send("chat.message", input, { message: output?.message, parts: output?.parts });
      if (!context || !Array.isArray(output?.parts)) return;
      const { id: messageID, sessionID } = output.message ?? {};
      const id = "prt_belay" + Date.now().toString(36);
      output.parts.push({ id, messageID, sessionID, type: "text", synthetic: true, text: context });
    },
    "tool.execute.before": async (input, output) => {
      await send("tool.execute.before", input, { args: output?.args });
    },
    "tool.execute.after": async (input, output) => {
      await send("tool.execute.after", input, { metadata: { exit: output?.metadata?.exit } });
    },
    event: async ({ event }) => {
      const { part, sessionID } = event?.properties ?? {};
      // Of the user's own words no end is told.
      const isSaid = event?.type === "message.part.updated" && part?.type === "text" && part.time?.end;
      if (isSaid) answers.set(part.sessionID, part.text);
      if (event?.type !== "session.created" && event?.type !== "session.idle") return;
      const answer = answers.get(sessionID);
      answers.delete(sessionID);
      await send(event.type, event.properties, { answer }, event.id);
    },
  };
`;
