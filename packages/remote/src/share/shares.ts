/** The shares of a workspace on one of its remotes: with the members of its space, and by links outside it. */
import type { Checkpoint, RemoteEntry, Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { expectMayWrite, keysOf } from "../space/own-keys.ts";
import { findRemote } from "../sync/find-remote.ts";
import { reopened } from "../sync/present-space.ts";
import { openExchange } from "../sync/remote.ts";
import { memberName, type RemoteHost } from "../sync/remote-host.ts";
import { translating } from "../sync/translate-failure.ts";
import { makeShareLink, type LinkRequest } from "./make-share.ts";
import { listShares, revokeShare, type SharedLink } from "./share-facts.ts";

/** A checkpoint that is kept for the members of a space. */
export interface SharedWithMembers {
  readonly checkpoint: Checkpoint;
  /** How members name it: the remote and the id of the checkpoint. */
  readonly reference: string;
}

/** The shares of one remote. */
export interface Shares {
  readonly entry: RemoteEntry;
  /** Keeps a checkpoint for the members, and sends it. */
  withMembers(checkpoint: Checkpoint): Promise<SharedWithMembers>;
  /** Copies a checkpoint out of the space. The link is a secret, and kept nowhere. */
  byLink(request: LinkRequest): Promise<{ readonly link: string; readonly share: SharedLink }>;
  /** All links of the space, and the checkpoints of this workspace that are kept for members. */
  list(): Promise<{ readonly links: readonly SharedLink[]; readonly kept: readonly SharedWithMembers[] }>;
  /** Ends a share, by the id of a link or a checkpoint. False when there is none. */
  revoke(id: string): Promise<boolean>;
}

const PIN = /^shared-[k-z]{16}$/;

/** Opens the shares of a remote. */
export function openShares(workspace: Workspace, name: string | undefined, host: RemoteHost): Shares {
  const entry = findRemote(workspace, name);
  const keys = keysOf(host, entry);
  const fresh = () => reopened(host.connect(entry.url), entry, { keys, host });
  const referenceOf = ({ id }: Checkpoint) => `${entry.name}/${id}`;
  const send = async () => {
    using remote = openExchange(workspace, entry.name, host);
    await remote.push();
  };
  const created = (
    { id, thread }: Checkpoint,
    facts: { readonly share: string; readonly expiresAt: number | null },
  ) =>
    workspace.exchange.tell({ type: "share_created", remote: entry.name, checkpoint: id, ...facts }, thread);
  return {
    entry,
    withMembers: async (checkpoint) => {
      expectPushed(entry);
      // a tag is kept by every retention, here and there
      await workspace.tag(checkpoint.id, `shared-${checkpoint.id}`);
      await send();
      created(checkpoint, { share: checkpoint.id, expiresAt: null });
      return { checkpoint, reference: referenceOf(checkpoint) };
    },
    byLink: (request) =>
      translating(async () => {
        const space = await fresh();
        const { now, random } = host.around;
        expectMayWrite(space, keys, now());
        const member = memberName(host);
        const sharing = { space, keys, line: entry.line, member, now: now(), random };
        const made = await makeShareLink(workspace, request, sharing);
        created(request.checkpoint, { share: made.share.id, expiresAt: made.share.expiresAt });
        return made;
      }),
    list: () =>
      translating(async () => {
        const links = await listShares(await fresh());
        const all = await workspace.list();
        const kept = all.filter(({ tags }) => tags.some((tag) => PIN.test(tag)));
        return {
          links,
          kept: kept.map((checkpoint) => ({ checkpoint, reference: referenceOf(checkpoint) })),
        };
      }),
    revoke: (id) =>
      translating(async () => {
        const pinned = (await workspace.list()).find(({ tags }) => tags.includes(`shared-${id}`));
        if (pinned !== undefined) {
          await workspace.untag(`shared-${id}`);
          await send();
          return true;
        }
        return /^[0-9a-f]{32}$/.test(id) && revokeShare(await fresh(), id);
      }),
  };
}

/** The first push asks about secrets: it is not made on the side. */
function expectPushed({ name, segment }: RemoteEntry): void {
  if (segment > 0) return;
  throw new ContractError("USAGE", `Nothing has been pushed to ${name} yet. Nothing was shared.`, {
    hint: "`belay push` sends the history of this directory; then share again.",
  });
}
