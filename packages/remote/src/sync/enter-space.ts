/** Enters a space that is there, as adding a remote and cloning do: as the member of this home, by an invitation, or by the recovery key. */
import type { RemoteEntry } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { parseRecoveryKey, recoveryKeys } from "../keys/recovery-key.ts";
import type { MemberKeys } from "../keys/key-pairs.ts";
import type { OpenPass } from "../keys/pass.ts";
import { newLineId } from "../line/line-id.ts";
import { acceptInvitation, joinSpace } from "../space/change-roster.ts";
import { keptSpace, openSpace, type Space } from "../space/space.ts";
import { probeStore, type Abilities } from "../stores/probe.ts";
import { RemoteFailure, type RemoteStore } from "../stores/remote-store.ts";
import { memberName, type RemoteHost } from "./remote-host.ts";

/** The space, entered; `entering` says in whose name and with which key. */
export async function enterSpace(
  store: RemoteStore,
  entering: {
    readonly space: string;
    readonly request: { readonly recoveryKey?: string | undefined };
    readonly own: MemberKeys;
    readonly host: RemoteHost;
    readonly invitation?: OpenPass | undefined;
  },
): Promise<Space> {
  const { space, request, own, host, invitation } = entering;
  // [R1502] what another workspace of this home saw of the roster must still be there
  const known = keptSpace(host.home, space, store);
  if (invitation !== undefined)
    return acceptInvitation(store, invitation, { own, name: memberName(host), known, ...host.around });
  if (request.recoveryKey === undefined) return openSpace(store, space, own, known);
  const seed = parseRecoveryKey(request.recoveryKey);
  if (seed === undefined)
    throw new ContractError(
      "SPACE_KEY_MISSING",
      "That is not a recovery key: a letter is wrong or missing. Nothing was changed.",
      {
        hint: "It is 52 letters and digits in groups of four; the last group proves the others.",
        facts: { space },
      },
    );
  const admin = recoveryKeys(seed);
  const opened = await openSpace(store, space, admin, known);
  return joinSpace(opened, { admin, own, name: memberName(host) }, host.around.random);
}

/** The only space below an address. */
export function soleSpace(found: string, others: readonly string[]): string {
  if (others.length === 0) return found;
  throw new ContractError("USAGE", "There are several spaces below that address.", {
    hint: "Give each space a prefix of its own.",
  });
}

/** A space that holds parcels has shown that large objects are kept: a clone need not try it again. */
export const SMALL_BYTES = 1024;

/** A server that only permits reading can be cloned from; it refuses a push. */
export async function probeForClone(
  store: RemoteStore,
  around: Parameters<typeof probeStore>[1],
): Promise<Abilities> {
  try {
    return await probeStore(store, around);
  } catch (error) {
    if (!(error instanceof RemoteFailure) || error.kind !== "denied") throw error;
    return { createOnly: false, etagIsMd5: false, deleteAllowed: false, skewMs: 0 };
  }
}

/** What a workspace keeps of a space that was just entered. It writes a line of its own there. */
export function entryFor(
  { name, url }: { readonly name: string; readonly url: string },
  space: Space,
  facts: {
    readonly member: string;
    readonly abilities: Abilities;
    readonly host: RemoteHost;
    readonly began?: string;
  },
): RemoteEntry {
  const { member, abilities, host, began } = facts;
  return {
    name,
    url,
    space: space.id,
    fingerprint: space.fingerprint,
    member,
    line: newLineId(member, host.around.random),
    began: began ?? null,
    abilities: JSON.stringify(abilities),
    segment: 0,
    segmentHash: null,
    createdAt: host.around.now(),
    pushedAt: null,
    pulledAt: null,
    problem: null,
  };
}
