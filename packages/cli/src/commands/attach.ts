import { realpathSync } from "node:fs";
import type { WorkspaceSummary } from "@belay/engine";
import { defineCommand, YES } from "../command.ts";
import { confirm, declined } from "../confirmation.ts";
import { EXIT } from "../exit-code.ts";
import { warnAll } from "../open-workspace.ts";
import { count } from "../output/quantity.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "attach <id> [--yes]",
  about: [
    "Gives the current directory the store of a project that was here or elsewhere before: after a move",
    "that Belay did not notice, or a fresh clone. `belay workspaces` shows the ids. Asks when the other directory",
    "still exists: it is not protected any more afterwards.",
  ].join("\n"),
  options: { yes: YES },
  operands: { min: 1, max: 1 },
  run: async (call) => {
    const { attachWorkspace, workspaceById } = await import("@belay/engine");
    const taken = await workspaceById(call.operands[0] ?? "", { home: call.home });
    if (
      call.options.yes !== true &&
      isInUse(taken, call.directory) &&
      !(await confirm(call, question(taken)))
    )
      return declined(call);
    await using workspace = await attachWorkspace(taken.id, call.directory, { home: call.home });
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

function isInUse({ path, exists, endedAt }: WorkspaceSummary, directory: string): boolean {
  return exists && endedAt === null && path !== realpathSync(directory);
}

function question({ path, checkpoints }: WorkspaceSummary): string {
  const what = checkpoints === null ? "the store" : `the ${count(checkpoints, "checkpoint")}`;
  return `${visible(path)} is still there. Take ${what} away from it, so that it is not protected any more?`;
}
