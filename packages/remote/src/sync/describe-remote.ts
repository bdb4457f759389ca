/** How a remote stands, from what this machine knows: no server is asked. */
import type { RemoteEntry, Workspace } from "@belay/engine";
import { keptSpace } from "../space/space.ts";
import type { Role } from "../keys/roles.ts";
import { MemoryRemoteStore } from "../stores/memory-remote-store.ts";
import type { Abilities } from "../stores/probe.ts";
import { Mirror } from "./mirror.ts";

/** What lists show of a remote. */
export interface RemoteState {
  readonly role: Role | null;
  readonly generation: number | null;
  readonly abilities: Abilities;
  /** Whether the space has a recovery key. */
  readonly recoveryKey: boolean | null;
  /** How many machines may change the members of the space, as far as is known here. */
  readonly admins: number;
  /** What waits to be sent: new content as it lies in the store, uncompressed. */
  readonly queued: { readonly checkpoints: number; readonly bytes: number };
}

/** How a remote stands, from what this machine knows. */
export function describeRemote(workspace: Workspace, remote: RemoteEntry, home: string): RemoteState {
  const space = keptSpace(home, remote.space, NO_STORE);
  const members = space?.roster.roster.members ?? [];
  return {
    role: members.find(({ id }) => id === remote.member)?.role ?? null,
    generation: space?.roster.roster.generation ?? null,
    abilities: JSON.parse(remote.abilities) as Abilities,
    recoveryKey: space === undefined ? null : members.some(({ isRecovery }) => isRecovery),
    admins: members.filter((member) => member.role === "admin" && !member.isRecovery).length,
    queued: queuedOf(workspace, remote, home),
  };
}

/** Nothing is asked of it. */
const NO_STORE = new MemoryRemoteStore();

function queuedOf(
  { exchange }: Workspace,
  { name, space, line }: RemoteEntry,
  home: string,
): RemoteState["queued"] {
  const { checkpoints } = exchange.queued(name);
  if (checkpoints === 0) return { checkpoints, bytes: 0 };
  using mirror = new Mirror(home, space);
  const counted = new Set<string>();
  let bytes = 0;
  for (const { kind, id } of exchange.records(name, exchange.outboxEnd(name))) {
    if (kind !== "checkpoint") continue;
    for (const { hash, isWithheld } of exchange.needed(
      id,
      (one) => counted.has(one) || mirror.place(line, one) !== undefined,
    )) {
      counted.add(hash);
      if (isWithheld !== true) bytes += exchange.locate([hash])[0]?.size ?? 0;
    }
  }
  return { checkpoints, bytes };
}
