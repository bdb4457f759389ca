import {
  ALL_ENTRIES,
  ANY_NUMBER,
  BEST_EFFORT,
  defineCommand,
  DRY_RUN,
  GOING_BACK_EXITS,
  INCLUDE_SHARED,
  INTERACTIVE,
  MERGE_ANYWAY,
  PATCH,
  YES,
} from "../call/command.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { workspacePaths } from "../call/workspace-path.ts";

export default defineCommand({
  usage:
    "revert <checkpoint> [paths…] [-i] [--include-shared] [--best-effort] [--merge-anyway] [--dry-run [-p]] [--yes]",
  about: [
    "Reverts what one step or checkpoint changed and keeps everything that came later. If lines were",
    "changed again meanwhile, the conflicts are listed and nothing is changed. Paths (also patterns such",
    "as '*.ts') or -i choose a part. The name of a branch that was merged takes its work out again.",
  ].join("\n"),
  options: {
    "include-shared": INCLUDE_SHARED,
    "best-effort": BEST_EFFORT,
    "merge-anyway": MERGE_ANYWAY,
    interactive: INTERACTIVE,
    "dry-run": DRY_RUN,
    patch: PATCH,
    yes: YES,
    all: ALL_ENTRIES,
  },
  operands: { min: 1, max: ANY_NUMBER },
  exits: GOING_BACK_EXITS,
  examples: ["belay revert @turn-1", "belay revert 12", "belay revert 12 src/parser.ts --dry-run"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const [typed = "", ...given] = call.operands;
      // a branch that was merged is taken out by itself
      const { localReference } = await import("../command-parts/remote-reference.ts");
      const ref = (await workspace.merges.broughtBy(typed)) ?? (await localReference(call, workspace, typed));
      const { goBack } = await import("../going-back/go-back.ts");
      const { checkpointLabel } = await import("../output/checkpoint-table.ts");
      const { turnLabel } = await import("../output/turn-text.ts");
      const { pathNames } = await import("../output/visible.ts");
      const { isTurnName } = await import("@belay/engine");
      const { resolveNamingPaths } = await import("../going-back/turn-of-path.ts");
      const target = await resolveNamingPaths(call, workspace, ref);
      // fixed here: "@turn" and times mean something else a moment later
      const turn = isTurnName(ref) ? await workspace.timeline.row(ref) : undefined;
      const step = turn?.ref ?? target.id;
      const label =
        turn === undefined ? checkpointLabel(target, call.output.style) : turnLabel(turn, call.output);
      const paths = workspacePaths(workspace, call.directory, given);
      const options = {
        includeShared: call.options["include-shared"] === true,
        mergeAnyway: call.options["merge-anyway"] === true,
        ...(paths && { paths }),
      };
      const bestEffort = call.options["best-effort"] === true;
      return goBack(call, workspace, {
        verb: "revert",
        target: `${paths === undefined ? "" : `${pathNames(paths)} of `}${label}`,
        plan: (hunks) => workspace.planRevert(step, { ...options, ...(hunks && { hunks }) }),
        act: () => workspace.revert(step, { ...options, bestEffort }),
      });
    }),
});
