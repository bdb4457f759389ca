/**
 * The roster of a space: its members, their keys and roles, and the generation of its secret. Rosters are numbered,
 * each names the hash of the one before, and an admin of the one before signs it. The hash of the first is the
 * fingerprint of the space: a server cannot pass off another space under the same address.
 */
import { createHash, type KeyObject } from "node:crypto";
import { memberId, publicKey, rawPublic, type MemberKeys } from "../keys/key-pairs.ts";
import { DamageError, expectSound, NewerFormatError } from "../parcel/damage.ts";
import { LIMIT } from "../parcel/limits.ts";
import { OpenParcel, plainFrame, sealParcel, type SpaceSecret } from "../parcel/parcel.ts";

/** The version of what rosters say. A newer one is not written to. */
const ROSTER_FORMAT = 1;

/** What a member may do. */
export type Role = "admin" | "member";

/** One member of a space: a person's machine, or the recovery key. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly isRecovery: boolean;
  /** Public keys, 32 bytes in hexadecimal. */
  readonly sign: string;
  readonly receive: string;
}

/** What a roster says. */
export interface Roster {
  readonly format: number;
  readonly space: string;
  readonly number: number;
  readonly previous: string | null;
  readonly generation: number;
  /** The admin who signed this one. */
  readonly signer: string;
  readonly members: readonly Member[];
}

/** A roster with the hash of its bytes. */
export interface SignedRoster {
  readonly roster: Roster;
  readonly hash: string;
}

/** A member with the public halves of these keys. */
export function memberOf(
  keys: MemberKeys,
  facts: { readonly name: string; readonly role: Role; readonly isRecovery: boolean },
): Member {
  return {
    id: keys.id,
    ...facts,
    sign: rawPublic(keys.sign).toString("hex"),
    receive: rawPublic(keys.receive).toString("hex"),
  };
}

/** The key that verifies what a member signed. */
export function verifierOf(member: Member): KeyObject {
  return publicKey("ed25519", Buffer.from(member.sign, "hex"));
}

/** The bytes of a roster. */
export function sealRoster(
  facts: Omit<Roster, "format" | "signer">,
  sealing: {
    readonly key: string;
    readonly secret: SpaceSecret;
    readonly salt: Buffer;
    readonly signer: MemberKeys;
  },
): Buffer {
  const { signer, ...rest } = sealing;
  const roster: Roster = { format: ROSTER_FORMAT, signer: signer.id, ...facts };
  const frame = plainFrame("records", Buffer.from(JSON.stringify(roster)));
  return sealParcel([frame], { kind: "roster", ...rest, signer: signer.sign });
}

/** Opens a roster and proves that an admin of the one before, or of itself if it is the first, signed it. */
export function openRoster(
  bytes: Buffer,
  opening: { readonly key: string; readonly secret: SpaceSecret; readonly before: SignedRoster | undefined },
): SignedRoster {
  const { key, secret, before } = opening;
  expectSound(bytes.length <= LIMIT.parcelBytes, "a roster is larger than is allowed");
  const parcel = new OpenParcel(bytes, { key, kind: "roster", secret });
  const roster = toRoster(Buffer.concat(parcel.rawFrames("records", bytes)).toString("utf8"));
  expectSound(roster.space === secret.space, "the roster is of another space");
  expectSound(
    roster.number === (before?.roster.number ?? 0) + 1,
    "the roster has another number than its key",
  );
  expectSound(roster.previous === (before?.hash ?? null), "the roster does not follow the one before");
  const signer = (before?.roster ?? roster).members.find(({ id }) => id === roster.signer);
  expectSound(signer?.role === "admin", "the roster is not signed by an admin");
  expectSound(parcel.isSignedBy(verifierOf(signer)), "the signature of the roster is forged");
  return { roster, hash: createHash("sha256").update(bytes).digest("hex") };
}

function toRoster(text: string): Roster {
  let roster: Partial<Roster>;
  try {
    roster = JSON.parse(text) as Partial<Roster>;
  } catch (cause) {
    throw new DamageError("the roster is not JSON", { cause });
  }
  if (Number(roster.format) > ROSTER_FORMAT) throw new NewerFormatError("a space of a newer format");
  const isRoster =
    roster.format === ROSTER_FORMAT &&
    Number.isSafeInteger(roster.generation) &&
    Array.isArray(roster.members);
  expectSound(isRoster, "the roster has another shape");
  for (const { id, sign, receive } of roster.members!) {
    const areKeys = /^[0-9a-f]{64}$/.test(sign) && /^[0-9a-f]{64}$/.test(receive);
    expectSound(areKeys, "a member of the roster has no keys");
    const derived = memberId(Buffer.from(sign, "hex"), Buffer.from(receive, "hex"));
    expectSound(derived === id, "a member of the roster has the id of other keys");
  }
  return roster as Roster;
}
