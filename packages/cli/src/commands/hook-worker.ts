import { readFileSync, writeSync } from "node:fs";
import type { WorkerInput } from "../agents/hook-worker.ts";
import { defineCommand } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";

/** Internal: `belay hook` starts this when there is no resident process. */
export default defineCommand({
  usage: "hook-worker",
  about: "Carries out one hook event from standard input, however long it takes.",
  options: {},
  operands: { min: 0, max: 0 },
  run: async (call) => {
    const event = JSON.parse(readFileSync(0, "utf8")) as WorkerInput;
    const { runHookAlone } = await import("../agents/run-hook-alone.ts");
    const answer = await runHookAlone(call.home, { ...event, input: Buffer.from(event.input, "utf8") });
    try {
      writeSync(1, answer);
    } catch {
      // the hook has ended
    }
    return EXIT.done;
  },
});
