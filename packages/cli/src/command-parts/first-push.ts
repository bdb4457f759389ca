/** What a push asks and says: secrets before the first one, and a line that was taken. */
import type { Workspace } from "@belay/engine";
import type { OpenedRemote, PushReport } from "@belay/remote";
import { ContractError } from "@belay/protocol/errors";
import { confirm } from "../call/confirmation.ts";
import type { Call } from "../call/command.ts";
import { visible } from "../output/visible.ts";
import { warnAll } from "../wiring/open-workspace.ts";

type PushCall = Pick<Call, "output"> & { readonly options: { readonly yes?: boolean | undefined } };

/** As many places are named before the first push. */
const NAMED_PLACES = 20;

/** Asks before something that looks like a secret leaves the machine for the first time. */
export async function maySend(
  call: PushCall,
  workspace: Workspace,
  remote: Pick<OpenedRemote, "entry" | "hadFirst">,
): Promise<boolean> {
  const { name, segment, pushedAt, began, createdAt } = remote.entry;
  if (segment > 0 || pushedAt !== null || call.options.yes === true) return true;
  const { findSecrets } = await import("./found-secrets.ts");
  // a clone came from there: only what was made here since is new to the remote
  const since = began === null ? 0 : createdAt;
  const { exchange } = workspace;
  const kept: ReadonlySet<string> = exchange.keptBack(exchange.checkpoints(), () => false).names;
  const isSent = (hash: string) => remote.hadFirst(hash) || kept.has(hash);
  const { places, more } = await findSecrets(workspace, { most: NAMED_PLACES, since, isSent });
  if (places.length === 0) return true;
  const listed = [...places.map(visible), ...(more ? ["and more"] : [])];
  if (!call.output.canAsk) {
    const message = "The first push would send what looks like secrets. Nothing was sent.";
    workspace.exchange.noteProblem(name, `SECRETS_FOUND: ${message}`);
    throw new ContractError("SECRETS_FOUND", message, { facts: { places }, list: listed });
  }
  call.output.print(["These look like secrets:", ...listed.map((place) => `  ${place}`)].join("\n"));
  return confirm(call, "Everything is encrypted before it leaves this machine. Send them too?");
}

/** [T4] Says that a copy of this store writes the line that was this store's. */
export function warnForked(
  call: Pick<Call, "output">,
  { forkedFrom, adoptedBy }: Pick<PushReport, "forkedFrom" | "adoptedBy">,
): void {
  if (forkedFrom === null) return;
  if (adoptedBy !== null)
    return warnAll(call, [
      `${visible(adoptedBy)} adopted the line of this store while it was away. Everything was sent again: this store goes on as a line of its own.`,
    ]);
  warnAll(call, [
    "A copy of this store writes the same line. Nothing of it was overwritten: this store goes on as a line of its own.",
  ]);
}
