import { realpathSync } from "node:fs";
import type { RemovalReport } from "@belay/agents";
import type { WorkspaceSummary } from "@belay/engine";
import { ASKING_EXITS, defineCommand, YES, type Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { ContractError, EXIT, usageError } from "@belay/protocol/errors";
import { innermostRoot } from "../call/innermost-root.ts";
import { count } from "@belay/tui/text";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "uninstall [--agent a,b | --purge] [--yes]",
  about: [
    "Stops protecting this directory and removes the hooks that Belay installed for agents in it. The files stay",
    "as they are, and so do the checkpoints: `belay init` finds them again. --purge deletes them, which cannot be",
    "undone. With --agent only the hooks of these agents are removed, and the directory stays protected.",
  ].join("\n"),
  options: {
    agent: {
      type: "string",
      multiple: true,
      value: "a,b",
      about: "remove only the hooks of these agents; may be given several times",
    },
    purge: { type: "boolean", about: "delete all checkpoints permanently" },
    yes: YES,
  },
  operands: { min: 0, max: 0 },
  exits: ASKING_EXITS,
  examples: ["belay uninstall --agent codex", "belay uninstall", "belay uninstall --purge"],
  run: async (call) => {
    const purge = call.options.purge === true;
    if (call.options.agent !== undefined) return removeSome(call, call.options.agent, purge);
    const { removableWorkspace, removeWorkspace } = await import("@belay/engine");
    const workspace = await removableWorkspace(call.directory, { home: call.home });
    const { path: root, checkpoints } = workspace;
    const question = `Permanently delete all ${checkpointsOf(workspace)} of ${visible(root)}?`;
    if (purge && call.options.yes !== true && !(await confirm(call, question))) return declined(call);
    const { removeHooks } = await import("../agents/agent-hooks.ts");
    const hooks = await removeHooks(call.home, root, { now: Date.now() });
    const { id, path, store, purged, forks } = await removeWorkspace(root, { home: call.home, purge });
    if (call.json) call.output.json({ workspace: id, path, store, purged, forks, hooks });
    else call.output.print(removedText({ path, store, purged, forks, hooks, checkpoints }));
    return EXIT.done;
  },
});

/** Removes the hooks of some agents and nothing else. */
async function removeSome(call: Call, names: readonly string[], purge: boolean): Promise<number> {
  if (purge) throw usageError("--agent removes hooks alone, --purge everything.", "Choose one of them.");
  const { protectedRoots } = await import("@belay/engine");
  const { chooseAgents, placeFor, removeHooks } = await import("../agents/agent-hooks.ts");
  const here = realpathSync(call.directory);
  const roots = protectedRoots({ home: call.home }).map(({ path }) => path);
  const root = innermostRoot(roots, here);
  if (root === undefined)
    throw new ContractError(
      "WORKSPACE_NOT_FOUND",
      `${visible(here)} is not protected. Nothing was changed.`,
      {
        hint: "Go to a directory that `belay workspaces` lists.",
        facts: { path: here },
      },
    );
  const agents = (await chooseAgents(names, placeFor(call.home, root))).map(({ id }) => id);
  const hooks = await removeHooks(call.home, root, { now: Date.now(), agents });
  if (call.json) call.output.json({ path: root, agents, hooks });
  else {
    const lines =
      hooks.length > 0 ? hooks.map(hookText) : ["The settings of these agents hold no hooks for it."];
    call.output.print([...lines, `${visible(root)} stays protected.`].join("\n"));
  }
  return hooks.some(({ outcome }) => outcome === "refused") ? EXIT.refused : EXIT.done;
}

interface Removed extends Pick<WorkspaceSummary, "path" | "store" | "checkpoints"> {
  readonly purged: boolean;
  readonly forks: readonly string[];
  readonly hooks: readonly RemovalReport[];
}

function removedText({ path, store, purged, forks, hooks, checkpoints }: Removed): string {
  const removed = hooks.length > 0 ? hooks.map(hookText) : ["No agent's settings hold hooks for it."];
  const ended = `${visible(path)} is no longer protected. Your ${hooks.length > 0 ? "other " : ""}files are untouched.`;
  const left = forks.map((fork) => `Its fork ${visible(fork)} stays, and is not protected either.`);
  if (purged) return [...removed, ended, ...left, "Its checkpoints are deleted."].join("\n");
  return [
    ...removed,
    ended,
    ...left,
    `Its ${checkpointsOf({ checkpoints })} ${checkpoints === 1 ? "stays" : "stay"} in ${visible(store)}.`,
    "→ `belay init` protects it again, with its checkpoints; `belay uninstall --purge` deletes them.",
  ].join("\n");
}

/** One line on what happened to the hooks in one file. */
function hookText({ path, outcome, reason, usedBy }: RemovalReport): string {
  const file = visible(path);
  switch (outcome) {
    case "refused":
      return `! ${file} was left alone: ${visible(reason ?? "")}`;
    case "deleted":
      return `${file} was deleted: nothing but Belay's hooks was in it.`;
    case "restored":
      return `${file} is as it was before Belay.`;
    case "changed":
      return `Belay's hooks were taken out of ${file}.`;
    case "unchanged":
      return usedBy === undefined
        ? `${file} had no hooks of Belay in it.`
        : `${file} keeps Belay's hooks, which ${usedBy.map(visible).join(", ")} ${usedBy.length === 1 ? "needs" : "need"}; here they do nothing from now on.`;
  }
}

function checkpointsOf({ checkpoints }: Pick<WorkspaceSummary, "checkpoints">): string {
  return checkpoints === null ? "checkpoints" : count(checkpoints, "checkpoint");
}
