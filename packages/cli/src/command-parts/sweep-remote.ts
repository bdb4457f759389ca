/** `belay remote gc`: what no line of a space needs any more. */
import type { Workspace } from "@belay/engine";
import { EXIT, usageError } from "@belay/protocol/errors";
import { count, size } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import { createRemoteHost } from "../wiring/remote-host.ts";

type SweepCall = Pick<Call, "environment" | "home" | "json" | "operands" | "output"> & {
  readonly options: { readonly "dry-run"?: boolean };
};

/** Says what a sweep of a remote would delete. */
export async function sweepRemote(call: SweepCall, workspace: Workspace): Promise<number> {
  if (call.options["dry-run"] !== true)
    throw usageError(
      "Deleting on a remote is not switched on in this version: it has not been tried long enough. Nothing was deleted.",
      "`belay remote gc --dry-run` says what could go.",
    );
  const { openRemote } = await import("@belay/remote");
  using remote = openRemote(workspace, call.operands[0], await createRemoteHost(call));
  const report = await remote.planSweep();
  if (call.json) call.output.json(report);
  else {
    const { condemned, deleted, bytesFreed } = report;
    call.output.print(
      `A sweep would condemn ${count(condemned, "object")} and delete ${count(deleted, "object")} (${size(bytesFreed)}). Nothing was changed.`,
    );
  }
  return EXIT.done;
}
