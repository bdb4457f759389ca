import { GOING_BACK_EXITS, defineCommand } from "../call/command.ts";
import { STEP_OPTIONS, stepOptions } from "../going-back/step-command.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "redo [n] [--include-shared] [--best-effort] [--merge-anyway] [--dry-run] [--yes]",
  about: `Redoes the last undone step, or the last n. Works even after other changes, as long as they do not touch
the same lines.`,
  options: STEP_OPTIONS,
  operands: { min: 0, max: 1 },
  exits: GOING_BACK_EXITS,
  examples: ["belay redo", "belay redo 3 --dry-run"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const { goBack } = await import("../going-back/go-back.ts");
      const options = await stepOptions(call, workspace);
      return goBack(call, workspace, {
        verb: "redo",
        plan: () => workspace.planRedo(options),
        act: () => workspace.redo(options),
      });
    }),
});
