import { ANY_NUMBER, defineCommand, THREAD } from "../call/command.ts";
import { usageError } from "@belay/protocol/errors";
import { historySearch } from "../call/history-words.ts";
import { askedLimit, LIMIT_OPTIONS } from "../call/limit-option.ts";
import { threadId } from "../call/thread-option.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "log [words…] [-n n | --all] [-p | --stat] [--agent a] [--since time] [--watch]",
  about: [
    "What happened, newest first: turns of agents, changes by hand, your checkpoints, restores. Each line has",
    "the name that other commands take (T3), who, what, how many files and lines, and its state. ● marks what",
    "the files are now. Words are searched in prompts, names, notes and paths; agent: thread: file: tag: kind:",
    "session: before: after: has: is: narrow the search.",
  ].join("\n"),
  options: {
    ...LIMIT_OPTIONS,
    patch: { type: "boolean", short: "p", about: "with what each changed, line by line" },
    stat: { type: "boolean", about: "with the files that each changed" },
    agent: { type: "string", value: "name", about: "only turns of this agent" },
    thread: THREAD,
    since: { type: "string", value: "time", about: "only since then: 2h, 14:30, yesterday, 2026-11-01" },
    everything: {
      type: "boolean",
      short: "e",
      about: "also turns that changed nothing, and safety checkpoints",
    },
    watch: { type: "boolean", about: "stay, and print what happens as it happens (Ctrl-C ends it)" },
  },
  operands: { min: 0, max: ANY_NUMBER },
  examples: ["belay log -n 5", "belay log is:undone", "belay log -p -n 1", "belay log --since 2h --stat"],
  run: async (call) => {
    const { patch, stat, agent, everything } = call.options;
    if (patch === true && stat === true)
      throw usageError("-p and --stat cannot be combined.", "Use one of them.");
    const limit = askedLimit(call);
    const since = await sinceTime(call.options.since);
    if (agent === "") throw usageError("--agent needs a name.", "For example: --agent codex");
    const q = await historySearch(call.operands);
    return withWorkspace(call, async (workspace) => {
      const thread = await threadId(workspace, call.options.thread);
      const filter = {
        ...(q !== "" && { q }),
        ...(agent && { agent }),
        ...(thread && { thread }),
        ...(since !== undefined && { since }),
        ...(everything === true && { all: true }),
      };
      if (call.options.watch === true) {
        const { watchHistory } = await import("../command-parts/history-watch.ts");
        return watchHistory(call, workspace, { filter, limit });
      }
      const { printHistory } = await import("../command-parts/history-list.ts");
      return printHistory(call, workspace, {
        filter,
        limit,
        detail: patch === true ? "text" : stat === true ? "counts" : undefined,
        whenEmpty:
          Object.keys(filter).length === 0
            ? "Nothing happened yet."
            : "Nothing like that happened. `belay log` shows everything.",
      });
    });
  },
});

async function sinceTime(text: string | undefined): Promise<number | undefined> {
  if (text === undefined) return undefined;
  const { createSystem, parseTime } = await import("@belay/engine");
  const time = parseTime(text.replace(/^@/, ""), createSystem());
  if (time !== undefined) return time.from;
  throw usageError(`"${text}" is not a time.`, "For example: 10m, 2h, 3d, 14:30, yesterday or 2026-11-01");
}
