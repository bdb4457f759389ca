/** A space that this home has entered, as it is now. */
import type { RemoteEntry } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { MemberKeys } from "../keys/key-pairs.ts";
import { keepSpace, keptSpace, openSpace, type Space } from "../space/space.ts";
import type { RemoteStore } from "../stores/remote-store.ts";
import type { RemoteHost } from "./remote-host.ts";

/** How long a list of members is used before the server is asked whether it changed: within that time a push is two requests. */
const ROSTER_MS = 10 * 60_000;

/** A space, and when the server was asked for it, by this machine's clock. */
export interface LookedAtSpace extends Space {
  readonly lookedAt: number;
}

/** The space as this home knows it, or as the server has it now where that is too long ago. */
export async function presentSpace(
  store: RemoteStore,
  entry: RemoteEntry,
  who: { readonly keys: MemberKeys; readonly host: RemoteHost },
): Promise<LookedAtSpace> {
  const kept = keptSpace(who.host.home, entry.space, store);
  const age = who.host.around.now() - (kept?.lookedAt ?? 0);
  return kept !== undefined && age >= 0 && age < ROSTER_MS ? kept : reopened(store, entry, who);
}

/** The space as the server has it now; its fingerprint must be the one that was trusted first. */
export async function reopened(
  store: RemoteStore,
  entry: RemoteEntry,
  { keys, host }: { readonly keys: MemberKeys; readonly host: RemoteHost },
): Promise<LookedAtSpace> {
  const known = keptSpace(host.home, entry.space, store);
  // [R2243] a machine may sleep between the question and the answer: what it learns is as old as the question
  const lookedAt = host.around.now();
  const space = await openSpace(store, entry.space, keys, known);
  if (space.fingerprint !== entry.fingerprint)
    throw new ContractError(
      "REMOTE_ROLLED_BACK",
      "The space at that address is another one than before. Nothing was changed.",
      {
        facts: { remote: entry.name },
      },
    );
  keepSpace(host.home, space, lookedAt);
  return { ...space, lookedAt };
}
