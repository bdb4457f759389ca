/** `belay forget --everywhere`: the machines that share a remote are asked to forget the same content. */
import type { Workspace } from "@belay/engine";
import { ContractError, usageError } from "@belay/protocol/errors";
import type { Call } from "../call/command.ts";
import { visible } from "../output/visible.ts";

/** What is forgotten here. */
export interface ForgottenHere {
  /** The engine's name for it. */
  readonly name: string;
  readonly kind: "checkpoint" | "path" | "outside";
  readonly always: boolean;
}

/** What is said before, and what asks the others. */
export interface AskingEverywhere {
  readonly question: string;
  readonly publish: () => Promise<void>;
}

/** [R2027] Finds out whether this machine may ask, and what it asks for; nothing is changed yet. */
export async function askEverywhere(
  call: Pick<Call, "environment" | "home" | "output">,
  workspace: Workspace,
  { name, kind, always }: ForgottenHere,
): Promise<AskingEverywhere> {
  const remotes = workspace.exchange.remotes();
  if (remotes.length === 0)
    throw new ContractError("REMOTE_NOT_FOUND", "This workspace has no remote. Nothing was changed.", {
      hint: "Without --everywhere it is forgotten here.",
      facts: { remotes: [] },
    });
  if (kind === "outside")
    throw usageError(
      "--everywhere is for files in the directory. Nothing was changed.",
      "Without --everywhere it is forgotten here.",
    );
  const { openMembers } = await import("@belay/remote");
  const { createRemoteHost } = await import("../wiring/remote-host.ts");
  const host = await createRemoteHost(call);
  const request = workspace.exchange.contentsOf(name, always);
  const spaces = remotes.map((remote) => openMembers(workspace, remote.name, host));
  for (const space of spaces) await space.expectMayForget(request);
  const names = remotes.map((remote) => visible(remote.name)).join(", ");
  return {
    question: `\nEvery machine that shares ${names} will purge the same content from its checkpoints at its next push or pull.`,
    publish: async () => {
      for (const space of spaces) await space.forgetEverywhere(request);
    },
  };
}
