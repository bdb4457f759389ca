import { GOING_BACK_EXITS, defineCommand } from "../call/command.ts";
import { STEP_OPTIONS, stepOptions } from "../going-back/step-command.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "undo [n] [--include-shared] [--include-background] [--best-effort] [--dry-run] [--yes]",
  about: `Undoes the last step (an agent's turn, a restore, a revert), or the last n as one. Touches only what the
step changed: later edits of other lines and other files stay. If there are conflicts, they are listed and
nothing is changed. Asks when several files are affected.`,
  options: {
    ...STEP_OPTIONS,
    "include-background": {
      type: "boolean",
      about: "also take back what the step's background commands wrote, if they still run",
    },
  },
  operands: { min: 0, max: 1 },
  exits: GOING_BACK_EXITS,
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
