import { pauseJson } from "@belay/server/json";
import { ContractError, EXIT } from "@belay/protocol/errors";
import { defineCommand, type Call } from "../call/command.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { clockTime } from "@belay/tui/text";
import { inEveryWorkspace } from "../command-parts/pausing.ts";

export default defineCommand({
  usage: "resume [--all]",
  about: "Ends a pause. The next capture includes what changed meanwhile.",
  options: { all: { type: "boolean", about: "end every pause, also those of single directories" } },
  operands: { min: 0, max: 0 },
  examples: ["belay resume", "belay resume --all"],
  run: async (call) => {
    const { all = false } = call.options;
    const wasPaused = all ? await inEveryWorkspace(call, null) : await resumeHere(call);
    if (call.json) call.output.json({ paused: null, resumed: wasPaused, all });
    else call.output.print(wasPaused ? "Captures have resumed." : "It was not paused; captures continue.");
    return EXIT.done;
  },
});

/** True when it was paused. */
function resumeHere(call: Call): Promise<boolean> {
  return withWorkspace(call, async (workspace) => {
    const { paused } = workspace;
    if (paused === null) return false;
    await workspace.resume();
    const left = workspace.paused;
    if (left === null) return true;
    throw new ContractError(
      "PAUSED_EVERYWHERE",
      `Every directory is paused until ${clockTime(left.until)}, this one too: nothing is captured.`,
      { facts: { paused: pauseJson(left) } },
    );
  });
}
