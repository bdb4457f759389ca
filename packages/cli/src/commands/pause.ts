import { pauseJson } from "@belay/server/json";
import { EXIT, usageError } from "@belay/protocol/errors";
import { defineCommand } from "../call/command.ts";
import { parseDuration } from "../call/duration.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { clockTime } from "@belay/tui/text";
import { inEveryWorkspace } from "../command-parts/pausing.ts";

const DEFAULT = "1h";
const LONGEST_MS = 7 * 86_400_000;

export default defineCommand({
  usage: "pause [duration] [--all]",
  about: [
    "Pauses automatic captures for the given time (default: an hour). They resume by themselves.",
    "Agents keep working and their prompts are recorded. `checkpoint`, `run`, `restore` and `undo` still work.",
  ].join("\n"),
  options: { all: { type: "boolean", about: "every protected directory, not only this one" } },
  operands: { min: 0, max: 1 },
  examples: ["belay pause", "belay pause 30m", "belay pause 2h --all"],
  run: async (call) => {
    const ms = parseDuration(call.operands[0] ?? DEFAULT);
    if (ms > LONGEST_MS)
      throw usageError("A pause lasts at most 7 days. Nothing was changed.", "For example: 2h");
    const since = Date.now();
    const pause = { since, until: since + ms };
    const { all = false } = call.options;
    if (all) await inEveryWorkspace(call, pause);
    else await withWorkspace(call, (workspace) => workspace.pause(pause));
    if (call.json) call.output.json({ paused: pauseJson(pause), all });
    else call.output.print(pausedText(pause.until, all));
    return EXIT.done;
  },
});

function pausedText(until: number, all: boolean): string {
  const [where, resume] = all ? ["anywhere", "belay resume --all"] : ["here", "belay resume"];
  return `Paused until ${clockTime(until)}: nothing is captured ${where} automatically. \`${resume}\` ends the pause.`;
}
