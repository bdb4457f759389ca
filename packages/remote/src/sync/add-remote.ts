/** Adds a remote to a workspace: the server is probed, its space made or entered. */
import type { RemoteEntry, Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { recoveryKeys } from "../keys/recovery-key.ts";
import type { MemberKeys } from "../keys/key-pairs.ts";
import { invitationIn, keysToEnterSpace } from "../space/own-keys.ts";
import { createSpace, findSpaces, keepSpace, type Space } from "../space/space.ts";
import { probeStore, type Abilities } from "../stores/probe.ts";
import type { RemoteStore } from "../stores/remote-store.ts";
import { enterSpace, entryFor, probeForClone, SMALL_BYTES, soleSpace } from "./enter-space.ts";
import { memberName, type RemoteHost } from "./remote-host.ts";
import { translating } from "./translate-failure.ts";

/** What to add. */
export interface NewRemote {
  readonly name: string;
  /** The address of a space, or an invitation to one. */
  readonly url: string;
  /** The recovery key of the space that is there, as it was typed; needed where this machine has no key of it. */
  readonly recoveryKey?: string | undefined;
  /** Called with the seed of a new space's recovery key, before anything is written; false ends it. */
  readonly keepRecoveryKey: (seed: Buffer) => Promise<boolean>;
}

/** A remote that was added. */
export interface AddedRemote {
  readonly remote: RemoteEntry;
  readonly abilities: Abilities;
  /** False when the space was there already. */
  readonly created: boolean;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const SEED_BYTES = 30;

/** Adds a remote to a workspace: probes the server, makes or joins the space. Undefined when the user declined. */
export async function addRemote(
  workspace: Workspace,
  request: NewRemote,
  host: RemoteHost,
): Promise<AddedRemote | undefined> {
  const { name } = request;
  if (!NAME.test(name))
    throw new ContractError("USAGE", `"${name}" cannot be the name of a remote.`, {
      hint: "Use letters, digits, dots, hyphens and underscores.",
    });
  if (workspace.exchange.remotes().some((remote) => remote.name === name))
    throw new ContractError("REMOTE_EXISTS", `There is a remote "${name}" already. Nothing was changed.`, {
      facts: { remote: name },
    });
  return translating(async () => {
    const invitation = invitationIn(request.url);
    const url = invitation?.url ?? request.url;
    const store = host.connect(url);
    const { now, random } = host.around;
    const [found, ...others] = await findSpaces(store);
    const own = keysToEnterSpace(host, found);
    // a server that only permits reading can be joined; it refuses a push
    const abilities = await (found === undefined
      ? probeStore(store, { random, now })
      : probeForClone(store, { random, now, largeBytes: SMALL_BYTES }));
    const lookedAt = now();
    const made =
      found === undefined
        ? await makeSpace(store, request, { own, host })
        : await enterSpace(store, { space: soleSpace(found, others), request, own, host, invitation });
    if (made === undefined) return undefined;
    keepSpace(host.home, made, lookedAt);
    const remote = entryFor({ name, url }, made, { member: own.id, abilities, host });
    workspace.exchange.addRemote(remote);
    return { remote, abilities, created: found === undefined };
  });
}

/** The user keeps the recovery key before there is anything that it opens. */
async function makeSpace(
  store: RemoteStore,
  { keepRecoveryKey }: NewRemote,
  { own, host }: { readonly own: MemberKeys; readonly host: RemoteHost },
): Promise<Space | undefined> {
  const { random } = host.around;
  const seed = random(SEED_BYTES);
  if (!(await keepRecoveryKey(seed))) return undefined;
  return createSpace(store, { own, name: memberName(host), recovery: recoveryKeys(seed) }, random);
}
