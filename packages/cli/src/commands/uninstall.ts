import { defineCommand, YES, type Call } from "../command.ts";
import { confirm, declined } from "../confirmation.ts";
import { EXIT } from "../exit-code.ts";
import { count } from "../output/quantity.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace } from "../open-workspace.ts";

export default defineCommand({
  usage: "uninstall [--purge] [--yes]",
  about: [
    "Removes what Belay installed for agents in this directory (nothing yet). The files stay as they are,",
    "and so do the checkpoints; --purge also deletes those, which cannot be undone.",
  ].join("\n"),
  options: { purge: { type: "boolean", about: "delete all checkpoints for good" }, yes: YES },
  operands: { min: 0, max: 0 },
  run: async (call) => {
    const purge = call.options.purge === true;
    const { root, checkpoints } = await whatIsAtStake(call);
    const question = `Delete all ${count(checkpoints, "checkpoint")} of ${visible(root)} for good?`;
    if (purge && call.options.yes !== true && !(await confirm(call, question))) return declined(call);
    const { removeWorkspace } = await import("@belay/engine");
    const { id, path, store, purged } = await removeWorkspace(root, { home: call.home, purge });
    if (call.json) call.output.json({ workspace: id, path, store, purged });
    else call.output.print(removedText({ path, store, purged }));
    return EXIT.done;
  },
});

/** Opened to know it, and closed again before anything goes. */
function whatIsAtStake(call: Call): Promise<{ root: string; checkpoints: number }> {
  return withWorkspace(call, async (workspace) => {
    const { checkpoints } = await workspace.stats();
    return { root: workspace.root, checkpoints };
  });
}

function removedText({ path, store, purged }: { path: string; store: string; purged: boolean }): string {
  if (purged)
    return `${visible(path)} is no longer protected: its checkpoints are deleted. The files are untouched.`;
  return [
    `Nothing of Belay was installed in ${visible(path)}. Its checkpoints stay in ${visible(store)}.`,
    "→ `belay uninstall --purge` deletes them.",
  ].join("\n");
}
