/** `belay remote add`: probes the server, makes or joins a space, and sees to it that its recovery key is kept. */
import { readFileSync } from "node:fs";
import type { Workspace } from "@belay/engine";
import { EXIT } from "@belay/protocol/errors";
import type { Call } from "../call/command.ts";
import { declined } from "../call/confirmation.ts";
import { visible } from "../output/visible.ts";
import { warnAll } from "../wiring/open-workspace.ts";
import { withLock, withRecords } from "../wiring/connect-remote.ts";
import { createRemoteHost } from "../wiring/remote-host.ts";
import { accessPolicy } from "./access-policy.ts";
import { remoteJson } from "./list-remotes.ts";
import { keepRecoveryKey, readRecoveryFile } from "./recovery-file.ts";

type AddCall = Pick<Call, "directory" | "environment" | "home" | "json" | "operands" | "output"> & {
  readonly options: {
    readonly "recovery-file"?: string;
    readonly records?: string;
    readonly "lock-days"?: string;
  };
};

/** `belay remote add`: adds a remote and keeps its recovery key. */
export async function addRemote(call: AddCall, workspace: Workspace): Promise<number> {
  const remote = await import("@belay/remote");
  const [name = "", place = ""] = call.operands;
  const { records } = call.options;
  const address = place === "-" ? readFileSync(0, "utf8").trim() : place;
  const days = call.options["lock-days"];
  const locked = days === undefined ? address : withLock(address, days);
  const url = records === undefined ? locked : withRecords(locked, records);
  const file = call.options["recovery-file"];
  const added = await remote.addRemote(
    workspace,
    {
      name,
      url,
      recoveryKey: readRecoveryFile(call, file),
      keepRecoveryKey: (seed) => keepRecoveryKey(call, remote.formatRecoveryKey(seed), file),
    },
    await createRemoteHost(call),
  );
  if (added === undefined) return declined(call);
  if (!added.abilities.createOnly)
    warnAll(call, [
      "This server cannot refuse to overwrite: two copies of a store are told apart one push later.",
    ]);
  // a deletion of what is locked only hides it
  if (added.abilities.deleteAllowed && days === undefined)
    warnAll(call, [
      "This access can delete what is stored. Everyday access should not: take that right away on the server.",
    ]);
  const state = remote.describeRemote(workspace, added.remote, call.home);
  const policy = accessPolicy(url);
  const { remote: entry, created } = added;
  if (call.json) call.output.json({ remote: remoteJson(entry, state), created, policy });
  else call.output.print(addedText({ name, created, file, policy }));
  return EXIT.done;
}

function addedText({ name, created, file, policy }: Added): string {
  const space = created ? "a new space" : "the space that was there";
  const key =
    created && file !== undefined
      ? ` Its recovery key is in ${visible(file)}: keep it apart from this machine.`
      : "";
  // a machine that joins has an access already
  const access = created ? `Everyday access needs this on the server, and no more:\n${policy}\n` : "";
  return `${visible(name)} is ${space}.${key}\n${access}→ \`belay push\` sends the history of this directory, encrypted.`;
}

interface Added {
  readonly name: string;
  readonly created: boolean;
  readonly file: string | undefined;
  readonly policy: string;
}
