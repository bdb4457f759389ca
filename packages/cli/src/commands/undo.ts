import { defineCommand } from "../call/command.ts";
import { STEP_OPTIONS, stepOptions } from "../going-back/step-command.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "undo [n] [--include-shared] [--include-background] [--best-effort] [--dry-run] [--yes]",
  about: `Takes back the last step (a turn of an agent, a restore, a revert), or the last n as one. Only what the
step changed is touched: later edits of other lines and other files stay. What stands in the way is named
and nothing is changed. Asks when several files are affected.`,
  options: {
    ...STEP_OPTIONS,
    "include-background": {
      type: "boolean",
      about: "also what a command wrote that the step left in the background and that still runs",
    },
  },
  operands: { min: 0, max: 1 },
  examples: ["belay undo", "belay undo 3 --dry-run"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const { goBack } = await import("../going-back/go-back.ts");
      const includeBackground = call.options["include-background"] === true;
      const options = { ...(await stepOptions(call, workspace)), includeBackground };
      return goBack(call, workspace, {
        verb: "undo",
        plan: () => workspace.planUndo(options),
        act: () => workspace.undo(options),
      });
    }),
});
