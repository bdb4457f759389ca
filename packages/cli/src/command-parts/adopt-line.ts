/** `belay remote adopt`: an admin takes over a line whose machine is gone. */
import type { Workspace } from "@belay/engine";
import { EXIT } from "@belay/protocol/errors";
import { relativeTime } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { visible } from "../output/visible.ts";
import { createRemoteHost } from "../wiring/remote-host.ts";

type AdoptCall = Pick<Call, "environment" | "home" | "json" | "operands" | "output"> & {
  readonly options: { readonly remote?: string; readonly yes?: boolean };
};

/** `belay remote adopt`: adopts the line of a machine that is gone. */
export async function adoptLine(call: AdoptCall, workspace: Workspace): Promise<number> {
  const { openMembers } = await import("@belay/remote");
  const [wanted = ""] = call.operands;
  const members = openMembers(workspace, call.options.remote, await createRemoteHost(call));
  const { line, name, idleMs } = await members.adoptable(wanted);
  const last = relativeTime(Date.now() - idleMs);
  const question = `${visible(name)} wrote this line last ${last}. ${BACK}\nAdopt it?`;
  if (call.options.yes !== true && !(await confirm(call, question))) return declined(call);
  await members.adopt(line);
  const remote = members.entry.name;
  if (call.json) call.output.json({ remote, adopted: { line, name } });
  else
    call.output.print(
      `The line of ${visible(name)} is adopted: with its own pushes this machine lets go there what the policy of ${visible(remote)} does not keep. ${BACK}`,
    );
  return EXIT.done;
}

const BACK = "Should its machine come back, it goes on as a line of its own and loses nothing.";
