import { ContractError, EXIT } from "@belay/protocol/errors";
import { defineCommand } from "../call/command.ts";

export default defineCommand({
  usage: "start",
  about: [
    "Starts the resident process, which captures within milliseconds and serves the API.",
    "Commands and hooks start it by themselves; it ends after some time without use.",
  ].join("\n"),
  options: {},
  operands: { min: 0, max: 0 },
  examples: ["belay start"],
  run: async (call) => {
    const { ResidentProcess } = await import("../resident/resident-process.ts");
    const facts = await new ResidentProcess(call.home).start();
    if (facts === undefined)
      throw new ContractError(
        "RESIDENT_FAILED",
        "The resident process did not start. Commands work without it.",
        {
          hint: `Its log is ${call.home}/run/resident.log.`,
        },
      );
    const { url, token, pid } = facts;
    if (call.json) call.output.print(JSON.stringify({ url, token, pid }));
    else call.output.print(`The resident process is running (process ${pid}) at ${url}.`);
    return EXIT.done;
  },
});
