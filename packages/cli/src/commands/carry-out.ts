import { readFileSync } from "node:fs";
import { BEST_EFFORT, defineCommand } from "../call/command.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { EXIT } from "@belay/protocol/errors";

/** Internal: the resident process starts this for a plan of many files, so that it goes on serving meanwhile. */
export default defineCommand({
  usage: "carry-out <plan>",
  about: "Carries out a plan that the resident process showed, from standard input.",
  options: {
    "best-effort": BEST_EFFORT,
    "by-page": { type: "boolean", about: "record that a person asked for it in the page" },
  },
  operands: { min: 1, max: 1 },
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const { catchInterrupts } = await import("@belay/engine");
      using interrupt = catchInterrupts(() => undefined);
      workspace.interruptedBy(interrupt);
      const bestEffort = call.options["best-effort"] === true;
      const by = call.options["by-page"] === true ? ("page" as const) : undefined;
      const outcome = await workspace.carryOut(readFileSync(0), { bestEffort, by });
      // the process that reads this shows it, and leaves out what must not be shown
      await call.output.raw(JSON.stringify({ outcome }));
      return EXIT.done;
    }),
});
