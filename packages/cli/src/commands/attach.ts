import { defineCommand } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { warnAll } from "../open-workspace.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "attach <id>",
  about: [
    "Gives the current directory the store of a project that was here or elsewhere before: after a move",
    "that Belay did not notice, or a fresh clone. `belay workspaces` shows the ids.",
  ].join("\n"),
  options: {},
  operands: { min: 1, max: 1 },
  run: async (call) => {
    const { attachWorkspace } = await import("@belay/engine");
    await using workspace = await attachWorkspace(call.operands[0] ?? "", call.directory, {
      home: call.home,
    });
    warnAll(call, workspace.notices);
    const { store, checkpoints } = await workspace.status();
    if (call.json) call.output.json({ workspace: workspace.id, path: workspace.root, store, checkpoints });
    else
      call.output.print(
        `${visible(workspace.root)} has its ${checkpoints} checkpoints back.\n→ \`belay diff\` shows what differs from the newest.`,
      );
    return EXIT.done;
  },
});
