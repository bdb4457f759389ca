/** `belay remote list`. */
import type { RemoteEntry, Workspace } from "@belay/engine";
import type { RemoteState } from "@belay/remote";
import { EXIT } from "@belay/protocol/errors";
import { count, relativeTime } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import type { Output } from "../output/output.ts";
import { table } from "../output/table.ts";
import { visible } from "../output/visible.ts";
import { engineKind } from "../wiring/connect-remote.ts";

type ListCall = Pick<Call, "home" | "json" | "operands" | "output">;

/** Lists the remotes; no server is asked. */
export async function listRemotes(call: ListCall, workspace: Workspace): Promise<number> {
  const { describeRemote } = await import("@belay/remote");
  const remotes = workspace.exchange.remotes();
  const described = remotes.map((remote) => ({
    remote,
    state: describeRemote(workspace, remote, call.home),
  }));
  if (call.json)
    call.output.json({ remotes: described.map(({ remote, state }) => remoteJson(remote, state)) });
  else call.output.print(remotes.length === 0 ? NONE : remotesText(described, call.output));
  return EXIT.done;
}

const NONE = "This workspace has no remote.\n→ `belay remote add <name> s3://<bucket>/<prefix>` adds one.";

/** A remote as `--json` prints it. */
export function remoteJson(remote: RemoteEntry, state: RemoteState): Record<string, unknown> {
  const { createOnly, deleteAllowed, versioned = false, skewMs } = state.abilities;
  return {
    name: remote.name,
    url: remote.url,
    space: remote.space,
    fingerprint: remote.fingerprint,
    line: remote.line,
    role: state.role,
    generation: state.generation,
    engine: { kind: engineKind(remote.url), createOnly, deleteAllowed, versioned, skewMs },
    recoveryKey: state.recoveryKey,
    queued: state.queued,
    lastPushedAt: remote.pushedAt === null ? null : new Date(remote.pushedAt).toISOString(),
    lastPulledAt: remote.pulledAt === null ? null : new Date(remote.pulledAt).toISOString(),
    problem: remote.problem,
  };
}

function remotesText(
  described: readonly { readonly remote: RemoteEntry; readonly state: RemoteState }[],
  output: Output,
): string {
  const { style } = output;
  const rows = described.map(({ remote, state }) => {
    const waiting = state.queued.checkpoints;
    return [
      { text: visible(remote.name), paint: style.bold },
      { text: waiting === 0 ? "everything is sent" : `${count(waiting, "checkpoint")} not sent yet` },
      { text: remote.pushedAt === null ? "never pushed" : relativeTime(remote.pushedAt) },
      { text: visible(remote.url), paint: style.dim },
    ];
  });
  const problems = described.flatMap(({ remote }) =>
    remote.problem === null
      ? []
      : [`${style.yellow("!")} ${visible(remote.name)}: ${visible(remote.problem)}`],
  );
  return [table(rows, { width: output.width, flexible: 3 }), ...problems].join("\n");
}
