import { ContractError, EXIT } from "@belay/protocol/errors";
import { defineCommand } from "../call/command.ts";

export default defineCommand({
  usage: "stop",
  about: "Ends the resident process. Everything it has acknowledged is durable; commands work without it.",
  options: {},
  operands: { min: 0, max: 0 },
  examples: ["belay stop"],
  run: async (call) => {
    const { ResidentProcess } = await import("../resident/resident-process.ts");
    const resident = new ResidentProcess(call.home);
    const facts = resident.facts();
    if (!(await resident.stop()))
      throw new ContractError("RESIDENT_FAILED", "The resident process did not stop. Nothing was lost.", {
        hint: `\`kill ${facts?.pid ?? "<pid>"}\` ends it.`,
      });
    if (call.json) call.output.json({ running: false, stopped: facts !== undefined });
    else call.output.print(facts === undefined ? "The resident process was not running." : "Stopped.");
    return EXIT.done;
  },
});
