import { ALL_ENTRIES, defineCommand, DRY_RUN, GOING_BACK_EXITS, PATCH, YES } from "../call/command.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "switch <branch> [--keep-files] [--dry-run [-p]] [--yes]",
  about: `Goes to another branch: captures the present on the branch that is left, then makes the files those of the
other one. \`belay undo\` goes back, files and branch together. Asks when several files are affected, and refuses
while an agent or its tool runs here unless --yes says so. With --keep-files no file changes: the files as they are become
the other branch's next checkpoint.`,
  options: {
    "keep-files": { type: "boolean", about: "leave the files as they are" },
    "dry-run": DRY_RUN,
    patch: PATCH,
    all: ALL_ENTRIES,
    yes: YES,
  },
  operands: { min: 1, max: 1 },
  exits: GOING_BACK_EXITS,
  examples: ["belay switch idea", "belay switch main --dry-run"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const { goBack } = await import("../going-back/go-back.ts");
      const [name = ""] = call.operands;
      const options = {
        keepFiles: call.options["keep-files"] === true,
        whileWorking: call.options.yes === true,
      };
      return goBack(call, workspace, {
        verb: "switch",
        target: `to ${name}`,
        plan: () => workspace.planSwitch(name, options),
        act: async () => workspace.restore(await workspace.planSwitch(name, options)),
      });
    }),
});
