/** The address of a remote of the workspace here. */
import type { Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";

/** The name and address of a remote that a command names; throws when there is none of that name. */
export function findRemoteHere(workspace: Workspace, name: string): { url: string; name: string } {
  const remotes = workspace.exchange.remotes();
  const found = remotes.find((remote) => remote.name === name);
  if (found !== undefined) return { url: found.url, name: found.name };
  throw new ContractError("REMOTE_NOT_FOUND", `There is no remote "${name}" here. Nothing was changed.`, {
    hint: "Give the address: belay clone s3://<bucket>/<prefix> <directory>.",
    facts: { remotes: remotes.map((remote) => remote.name) },
  });
}
