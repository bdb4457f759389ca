/** What members know of a share: never its link or key. Sealed with the space's secret and signed by who made it. */
import type { Certificate, MemberKeys } from "../keys/key-pairs.ts";
import { DamageError, expectSound } from "../parcel/damage.ts";
import { OpenParcel, readHeader, sealValue } from "../parcel/parcel.ts";
import { presentSecret, secretFor, type Space } from "../space/space.ts";
import { judgeSignature } from "../space/writer-rights.ts";
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

/** With who says so. */
interface SaidShare extends SharedLink {
  readonly by: string;
  readonly certificate?: Certificate | undefined;
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
  const said: SaidShare = { ...facts, by: keys.id, certificate: keys.certificate };
  return sealValue(said, {
    kind: "head",
    key: space.names.shareFacts(facts.id),
    secret: presentSecret(space),
    salt: random(32),
    signer: keys.sign,
  });
}

/** All shares of a space; what cannot be read, or has no signature of a member who may write, is left out. */
export async function listShares(space: Space): Promise<SharedLink[]> {
  const shares: SharedLink[] = [];
  for (const [id, modified] of await shareIds(space)) {
    const key = space.names.shareFacts(id);
    const got = await space.store.get(key);
    if (got === undefined || got.bytes.length === 0) continue;
    try {
      shares.push(openShareFacts(space, { id, key, bytes: got.bytes, modified }));
    } catch (error) {
      if (!(error instanceof DamageError)) throw error;
    }
  }
  return shares.toSorted((a, b) => b.createdAt - a.createdAt);
}

/** [R1840] Who shared it is who signed it, by the roster that was in force then. */
function openShareFacts(
  space: Space,
  stored: { readonly id: string; readonly key: string; readonly bytes: Buffer; readonly modified: number },
): SharedLink {
  const { id, key, bytes, modified } = stored;
  const parcel = new OpenParcel(bytes, { key, kind: "head", secret: secretFor(space, bytes) });
  const { by, certificate, ...facts } = parse(Buffer.concat(parcel.rawFrames("records", bytes)).toString());
  const verdict = judgeSignature(space, "line", {
    member: by,
    certificate,
    at: modified,
    generation: readHeader(bytes).generation,
    isSignedBy: (signer) => parcel.isSignedBy(signer),
  });
  expectSound(verdict === "counts" && facts.id === id, "no member who may write signed this share");
  const member = space.members.get(by)?.name ?? certificate?.name ?? by.slice(0, 8);
  return { ...facts, member };
}

function parse(text: string): SaidShare {
  try {
    return JSON.parse(text) as SaidShare;
  } catch (cause) {
    throw new DamageError("what is said of a share is not JSON", { cause });
  }
}

/** The ids of shares, and when the server got what is said of each. */
async function shareIds({ store, names }: Space): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  for await (const { key, modified } of store.list(names.shares)) {
    const id = key.slice(names.shares.length).split("/")[0]!;
    if (key === names.shareFacts(id)) ids.set(id, modified);
  }
  return ids;
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
