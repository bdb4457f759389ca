/** What `doctor` says about the remotes of a workspace, from what this machine knows: no server is asked. */
import type { Workspace } from "@belay/engine";

/** One line of `doctor`. */
export interface RemoteCheck {
  readonly name: string;
  readonly status: "ok" | "warning";
  readonly detail: string;
  readonly hint?: string;
}

/** Checks every remote; none, and nothing is loaded [T13]. */
export async function remoteChecks(workspace: Workspace, home: string): Promise<RemoteCheck[]> {
  const remotes = workspace.exchange.remotes();
  if (remotes.length === 0) return [];
  const { describeRemote } = await import("@belay/remote");
  return remotes.map((remote): RemoteCheck => {
    const { recoveryKey, admins, role, abilities } = describeRemote(workspace, remote, home);
    const name = `remote ${remote.name}`;
    if (recoveryKey === false && admins === 1)
      return {
        name,
        status: "warning",
        detail: "The space has one admin and no recovery key: if that machine is lost, so is the space.",
        hint: "`belay remote keys add --recovery` makes a recovery key; `belay remote invite --role admin` a second admin.",
      };
    if (remote.problem !== null)
      return {
        name,
        status: "warning",
        detail: remote.problem,
        hint: remote.problem.startsWith("REMOTE_ROLLED_BACK")
          ? "`belay remote verify` says what is missing. `belay remote remove` and `belay remote add` send the whole history again, as a new line."
          : "`belay sync` tries again; local work is unaffected.",
      };
    const facts = [
      `role ${role ?? "unknown"}`,
      ...(abilities.deleteAllowed ? ["deletes possible with this access"] : []),
    ];
    return { name, status: "ok", detail: facts.join(", ") };
  });
}
