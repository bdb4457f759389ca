import { readFileSync, writeSync } from "node:fs";
import type { WorkerInput } from "../agents/hook-worker.ts";
import { defineCommand } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";

/** Not for people: what `belay hook` starts where there is no resident process. */
export default defineCommand({
  usage: "hook-worker",
  about: "One event of a hook, given on standard input, carried out however long it takes.",
  options: {},
  operands: { min: 0, max: 0 },
  run: async (call) => {
    const event = JSON.parse(readFileSync(0, "utf8")) as WorkerInput;
    const { runHookAlone } = await import("../agents/run-hook.ts");
    const answer = await runHookAlone(call.home, { ...event, input: Buffer.from(event.input, "utf8") });
    try {
      writeSync(1, answer);
    } catch {
      // the hook has left
    }
    return EXIT.done;
  },
});
