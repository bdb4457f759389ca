import type { RemoteEntry, Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";

/** The remote of a name, or the only one. */
export function findRemote(workspace: Workspace, name: string | undefined): RemoteEntry {
  const all = workspace.exchange.remotes();
  const found =
    name === undefined ? (all.length === 1 ? all[0] : undefined) : all.find((one) => one.name === name);
  if (found !== undefined) return found;
  const why =
    name !== undefined
      ? `There is no remote "${name}" here.`
      : all.length === 0
        ? "This workspace has no remote."
        : "This workspace has several remotes.";
  throw new ContractError("REMOTE_NOT_FOUND", `${why} Nothing was changed.`, {
    hint: all.length === 0 ? "`belay remote add <name> <url>` adds one." : "Choose one with --remote.",
    facts: { remotes: all.map((one) => one.name) },
  });
}
