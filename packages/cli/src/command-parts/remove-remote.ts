/** `belay remote remove`: forgets a remote here, and with `--delete` what its server has, too. */
import type { Workspace } from "@belay/engine";
import { ContractError, EXIT } from "@belay/protocol/errors";
import { count, size } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { visible } from "../output/visible.ts";
import { createRemoteHost } from "../wiring/remote-host.ts";

type RemoveCall = Pick<Call, "environment" | "home" | "json" | "operands" | "output"> & {
  readonly options: { readonly delete?: boolean; readonly yes?: boolean };
};

/** `belay remote remove`: what is stored on the server stays, unless that is asked for. */
export async function removeRemote(call: RemoveCall, workspace: Workspace): Promise<number> {
  const [name = ""] = call.operands;
  const names = workspace.exchange.remotes().map((remote) => remote.name);
  if (!names.includes(name))
    throw new ContractError("REMOTE_NOT_FOUND", `There is no remote "${name}" here. Nothing was changed.`, {
      facts: { remotes: names },
    });
  if (call.options.delete === true) return deleteRemote(call, workspace, name);
  workspace.exchange.removeRemote(name);
  if (call.json) call.output.json({ removed: name });
  else call.output.print(`${visible(name)} is removed here. What is stored there stays.`);
  return EXIT.done;
}

async function deleteRemote(call: RemoveCall, workspace: Workspace, name: string): Promise<number> {
  const { findStoredSpace } = await import("@belay/remote");
  const stored = await findStoredSpace(workspace, name, await createRemoteHost(call));
  const { objects, bytes, others } = stored;
  const theirs = others.length === 0 ? "" : ` Lines of ${others.map(visible).join(", ")} are among it.`;
  const question = `This deletes all that ${visible(name)} has, for everyone: ${count(objects, "object")}, ${size(bytes)}.${theirs} It cannot be undone; checkpoints on this machine stay.\nDelete it?`;
  if (call.options.yes !== true && !(await confirm(call, question))) return declined(call);
  using bar = createProgressBar("Deleting", "object", !call.json && !call.output.quiet);
  await stored.delete((done, total) => bar.update({ done, total }));
  bar[Symbol.dispose]();
  if (call.json) call.output.json({ removed: name, deleted: { objects, bytes } });
  else
    call.output.print(
      `${visible(name)} is removed here, and ${count(objects, "object")} (${size(bytes)}) are deleted there.`,
    );
  return EXIT.done;
}
