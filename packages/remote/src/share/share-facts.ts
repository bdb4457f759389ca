/** What members know of a share: never its link or key. Sealed with the space's secret and signed by who made it. */
import type { MemberKeys } from "../keys/key-pairs.ts";
import { DamageError } from "../parcel/damage.ts";
import { OpenParcel, plainFrame, sealParcel } from "../parcel/parcel.ts";
import { presentSecret, secretFor, type Space } from "../space/space.ts";
import { RemoteFailure } from "../stores/remote-store.ts";

/** A share of a space; the link itself is kept nowhere. */
export interface SharedLink {
  readonly id: string;
  readonly checkpoint: string;
  readonly line: string;
  readonly member: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly bytes: number;
  readonly files: number;
}

/** The bytes of what members know of a share. */
export function sealShareFacts(
  facts: SharedLink,
  {
    space,
    keys,
    random,
  }: { readonly space: Space; readonly keys: MemberKeys; readonly random: (bytes: number) => Buffer },
): Buffer {
  return sealParcel([plainFrame("records", Buffer.from(JSON.stringify(facts)))], {
    kind: "head",
    key: space.names.shareFacts(facts.id),
    secret: presentSecret(space),
    salt: random(32),
    signer: keys.sign,
  });
}

/** All shares of a space; what cannot be read is left out. */
export async function listShares(space: Space): Promise<SharedLink[]> {
  const shares: SharedLink[] = [];
  for (const id of await shareIds(space)) {
    const key = space.names.shareFacts(id);
    const got = await space.store.get(key);
    if (got === undefined || got.bytes.length === 0) continue;
    try {
      const parcel = new OpenParcel(got.bytes, { key, kind: "head", secret: secretFor(space, got.bytes) });
      shares.push(JSON.parse(Buffer.concat(parcel.rawFrames("records", got.bytes)).toString()) as SharedLink);
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
    }
  }
  return shares.toSorted((a, b) => b.createdAt - a.createdAt);
}

async function shareIds({ store, names }: Space): Promise<string[]> {
  const ids = new Set<string>();
  for await (const { key } of store.list(names.shares))
    ids.add(key.slice(names.shares.length).split("/")[0]!);
  return [...ids];
}

/**
 * Ends a share: its objects are deleted or, where this access cannot delete, emptied. False when there is none. What was
 * downloaded before stays downloaded.
 */
export async function revokeShare({ store, names }: Space, id: string): Promise<boolean> {
  const keys: string[] = [];
  for await (const { key } of store.list(`${names.shares}${id}/`)) keys.push(key);
  if (keys.length === 0) return false;
  try {
    await store.remove(keys);
  } catch (error) {
    if (!(error instanceof RemoteFailure) || error.kind !== "denied") throw error;
  }
  for (const key of keys)
    if (((await store.get(key))?.bytes.length ?? 0) > 0)
      await store.put(key, Buffer.alloc(0), { createOnly: false });
  return true;
}
