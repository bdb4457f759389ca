import { ANY_NUMBER, defineCommand, GOING_BACK_EXITS, INTERACTIVE } from "../call/command.ts";
import { workspacePaths } from "../call/workspace-path.ts";
import { isCount, STEP_OPTIONS, stepOptions } from "../going-back/step-command.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage:
    "undo [n] [paths…] [-i] [--include-shared] [--include-background] [--best-effort] [--merge-anyway] [--dry-run [-p]] [--yes]",
  about: `Undoes the last step (an agent's turn, a restore, a revert), or the last n as one. Touches only what the
step changed: later edits of other lines and other files stay. If there are conflicts, they are listed and
nothing is changed. Asks when several files are affected. With paths (also patterns such as '*.ts') or -i
it takes back only a part: the step itself stays, and the next undo takes that part back.`,
  options: {
    ...STEP_OPTIONS,
    interactive: INTERACTIVE,
    "include-background": {
      type: "boolean",
      about: "also take back what the step's background commands wrote, if they still run",
    },
  },
  operands: { min: 0, max: ANY_NUMBER },
  exits: GOING_BACK_EXITS,
  examples: [
    "belay undo",
    "belay undo 3 --dry-run",
    "belay undo --dry-run -p",
    "belay undo src/parser.ts --dry-run",
  ],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const { goBack } = await import("../going-back/go-back.ts");
      const { namingTurns } = await import("../going-back/turn-of-path.ts");
      const includeBackground = call.options["include-background"] === true;
      const [first, ...rest] = call.operands;
      const given = isCount(first) ? rest : call.operands;
      const paths = workspacePaths(workspace, call.directory, given);
      const named = { paths, typed: given };
      const options = {
        ...(await stepOptions(call, workspace, isCount(first) ? first : null)),
        includeBackground,
        ...(paths && { paths }),
      };
      return goBack(call, workspace, {
        verb: "undo",
        plan: (hunks) =>
          namingTurns(workspace, named, () => workspace.planUndo({ ...options, ...(hunks && { hunks }) })),
        act: () => namingTurns(workspace, named, () => workspace.undo(options)),
      });
    }),
});
