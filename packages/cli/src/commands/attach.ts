import { realpathSync } from "node:fs";
import type { AttachPlan, WorkspaceSummary } from "@belay/engine";
import { ASKING_EXITS, defineCommand, YES } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { EXIT } from "@belay/protocol/errors";
import { warnAll } from "../wiring/open-workspace.ts";
import { count } from "@belay/tui/text";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "attach <id> [--yes]",
  about: [
    "Attaches a store to the current directory, for example after a move that Belay did not notice, or to a fresh",
    "clone. `belay workspaces` shows the ids. Asks when the store's directory still exists, because that one is no",
    "longer protected afterwards, and when this one holds files that are not the project's: those survive every",
    "restore, and are captured from then on. Home directories are refused, as by `belay init`.",
  ].join("\n"),
  options: { yes: YES },
  operands: { min: 1, max: 1 },
  exits: ASKING_EXITS,
  examples: ["belay attach kqzvnwxyzkqzvnwx"],
  run: async (call) => {
    const { attachWorkspace, planAttach } = await import("@belay/engine");
    const plan = await planAttach(call.operands[0] ?? "", call.directory, { home: call.home });
    const question = questionOf(plan, call.directory);
    if (call.options.yes !== true && question !== "" && !(await confirm(call, question)))
      return declined(call);
    await using workspace = await attachWorkspace(plan.workspace.id, call.directory, { home: call.home });
    warnAll(call, workspace.notices);
    const { store, checkpoints } = await workspace.status();
    if (call.json) call.output.json({ workspace: workspace.id, path: workspace.root, store, checkpoints });
    else
      call.output.print(
        `${visible(workspace.root)} has its ${count(checkpoints, "checkpoint")} back.\n→ \`belay diff\` shows what differs from the newest.`,
      );
    return EXIT.done;
  },
});

/** One question for all objections: with --yes, the person confirms what the message names. */
function questionOf({ workspace, isAlike }: AttachPlan, directory: string): string {
  const reasons = [
    ...(isAlike ? [] : [strangeness(workspace, directory)]),
    ...(isInUse(workspace, directory) ? [departure(workspace)] : []),
  ];
  return reasons.join(" ");
}

function strangeness({ path }: WorkspaceSummary, directory: string): string {
  return `${visible(directory)} holds files that are not from ${visible(path)}. Attach that project's checkpoints to it anyway, and not to an empty directory?`;
}

function isInUse({ path, exists, endedAt }: WorkspaceSummary, directory: string): boolean {
  return exists && endedAt === null && path !== realpathSync(directory);
}

function departure({ path, checkpoints }: WorkspaceSummary): string {
  const what = checkpoints === null ? "the store" : `the ${count(checkpoints, "checkpoint")}`;
  return `${visible(path)} still exists. Move ${what} here, and stop protecting ${visible(path)}?`;
}
