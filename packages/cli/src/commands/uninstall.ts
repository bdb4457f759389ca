import type { RemovalReport } from "@belay/agents";
import { defineCommand, YES, type Call } from "../command.ts";
import { confirm, declined } from "../confirmation.ts";
import { EXIT } from "../exit-code.ts";
import { count } from "../output/quantity.ts";
import { visible } from "../output/visible.ts";
import { withWorkspace } from "../open-workspace.ts";

export default defineCommand({
  usage: "uninstall [--purge] [--yes]",
  about: [
    "Removes the hooks that Belay installed for agents in this directory. The files stay as they are,",
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
    const { removeHooks } = await import("../agents/agent-hooks.ts");
    const hooks = await removeHooks(call.home, root, Date.now());
    const { id, path, store, purged } = await removeWorkspace(root, { home: call.home, purge });
    if (call.json) call.output.json({ workspace: id, path, store, purged, hooks });
    else call.output.print(removedText({ path, store, purged, hooks }));
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

interface Removed {
  readonly path: string;
  readonly store: string;
  readonly purged: boolean;
  readonly hooks: readonly RemovalReport[];
}

function removedText({ path, store, purged, hooks }: Removed): string {
  const removed = hooks.map(({ path: file, outcome, reason }) =>
    outcome === "refused"
      ? `! ${visible(file)} was left alone: ${visible(reason ?? "")}`
      : `Hooks taken out of ${visible(file)}.`,
  );
  if (purged)
    return [
      ...removed,
      `${visible(path)} is no longer protected: its checkpoints are deleted. The files are untouched.`,
    ].join("\n");
  return [
    ...(removed.length > 0 ? removed : [`No hooks of Belay were installed for ${visible(path)}.`]),
    `Its checkpoints stay in ${visible(store)}.`,
    "→ `belay uninstall --purge` deletes them.",
  ].join("\n");
}
