import { GOING_BACK_EXITS, defineCommand } from "../call/command.ts";
import { STEP_OPTIONS } from "../going-back/step-command.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { activeThread } from "../call/thread-option.ts";

export default defineCommand({
  usage: "reset [--thread t] [--include-shared] [--best-effort] [--merge-anyway] [--dry-run] [--yes]",
  about: `Takes out what a thread (the last active one, or --thread) changed since its approved state, and what was
changed by hand. Changes of other threads stay. Where both wrote, the two are merged; if they cannot be told
apart, the paths are listed and nothing is changed. The present state is saved first: undo takes a reset back.`,
  options: STEP_OPTIONS,
  operands: { min: 0, max: 0 },
  exits: GOING_BACK_EXITS,
  examples: ["belay reset --dry-run", "belay reset --thread kqzv"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const { goBack } = await import("../going-back/go-back.ts");
      const { threadLabel } = await import("../output/thread-table.ts");
      const thread = await activeThread(workspace, call.options.thread);
      const includeShared = call.options["include-shared"] === true;
      const mergeAnyway = call.options["merge-anyway"] === true;
      const bestEffort = call.options["best-effort"] === true;
      return goBack(call, workspace, {
        verb: "reset",
        target: `${threadLabel(thread)} to its approved state`,
        plan: () => workspace.approvals.planReset(thread.id, { includeShared, mergeAnyway }),
        act: () => workspace.approvals.reset(thread.id, { includeShared, mergeAnyway, bestEffort }),
      });
    }),
});
