/**
 * The roster of a space: its members, their keys and roles, and the generation of its secret. Rosters are numbered,
 * each names the hash of the one before, and an admin of the one before signs it. The hash of the first is the
 * fingerprint of the space: a server cannot pass off another space under the same address.
 */
import { createHash, type KeyObject } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ForgetRequest } from "@belay/engine";
import { certifiedKey, isCertifiedBy } from "../keys/certificate.ts";
import { memberId, publicKey, rawPublic, type Certificate, type MemberKeys } from "../keys/key-pairs.ts";
import { DamageError, expectSound, NewerFormatError } from "../parcel/damage.ts";
import { LIMIT } from "../parcel/limits.ts";
import { OpenParcel, sealValue, type SpaceSecret } from "../parcel/parcel.ts";
import { isRole, type Role } from "../keys/roles.ts";
import { isPolicy, type Policy } from "./policy.ts";

/** The version of what rosters say. A newer one is not written to. */
const ROSTER_FORMAT = 1;

/** One member of a space: a person's machine, or the recovery key. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly isRecovery: boolean;
  /** Public keys, 32 bytes in hexadecimal. */
  readonly sign: string;
  readonly receive: string;
  /** What it signs after this time of the server does not count. */
  readonly until?: number;
}

/** What a roster says. */
export interface Roster {
  readonly format: number;
  readonly space: string;
  readonly number: number;
  readonly previous: string | null;
  readonly generation: number;
  /** The admin who signed this one, or the holder of an invitation. */
  readonly signer: string;
  readonly members: readonly Member[];
  /** The invitation by which its newest member came. */
  readonly accepts?: Certificate;
  /** What an admin set; the rest is as usual. */
  readonly policy?: Partial<Policy>;
  /** [R2027] What an admin asked last to be forgotten everywhere. Later rosters carry it on; the first one that has it counts. */
  readonly forgets?: ForgetEverywhere;
  /** [R2240] Lines whose machines are gone, and the admins who restate them since. */
  readonly adoptions?: readonly Adoption[];
  /** [R2245] The generation that an admin wants older content to be encrypted with again, by each line's writer. */
  readonly rewrite?: number;
}

/** A line that an admin took over. */
export interface Adoption {
  readonly line: string;
  /** The member who restates it. */
  readonly by: string;
}

/** A request to forget something, with the number of the roster that brought it. */
export interface ForgetEverywhere extends ForgetRequest {
  readonly number: number;
}

/** A roster with the hash of its bytes, and when the server got it. */
export interface SignedRoster {
  readonly roster: Roster;
  readonly hash: string;
  readonly at: number;
}

/** A member with the public halves of these keys. */
export function memberOf(
  keys: MemberKeys,
  facts: {
    readonly name: string;
    readonly role: Role;
    readonly isRecovery: boolean;
    readonly until?: number;
  },
): Member {
  return {
    id: keys.id,
    ...facts,
    sign: rawPublic(keys.sign).toString("hex"),
    receive: rawPublic(keys.receive).toString("hex"),
  };
}

/** Making a key of its bytes takes as long as verifying with it: a line has one for thousands of segments. */
const verifiers = new WeakMap<Member, KeyObject>();

/** The key that verifies what a member signed. */
export function verifierOf(member: Member): KeyObject {
  const known = verifiers.get(member);
  if (known !== undefined) return known;
  const key = publicKey("ed25519", Buffer.from(member.sign, "hex"));
  verifiers.set(member, key);
  return key;
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
  return sealValue(roster, { kind: "roster", ...rest, signer: signer.sign });
}

/**
 * Opens a roster and proves it: an admin of the one before, or of itself if it is the first, signed it; or it adds
 * nothing but the one member that an invitation is for.
 */
export function openRoster(
  bytes: Buffer,
  opening: {
    readonly key: string;
    readonly secret: SpaceSecret;
    /** All rosters before it, proved. */
    readonly chain: readonly SignedRoster[];
    /** When the server got it. */
    readonly at: number;
  },
): SignedRoster {
  const { key, secret, chain, at } = opening;
  const before = chain.at(-1);
  expectSound(bytes.length <= LIMIT.parcelBytes, "a roster is larger than is allowed");
  const parcel = new OpenParcel(bytes, { key, kind: "roster", secret });
  const roster = toRoster(Buffer.concat(parcel.rawFrames("records", bytes)).toString("utf8"));
  if (roster.accepts === undefined) expectByAdmin(roster, parcel, before?.roster);
  else {
    expectInvited(roster, roster.accepts, { chain, at });
    const isByHolder = parcel.isSignedBy(certifiedKey(roster.accepts));
    expectSound(isByHolder, "the signature of the roster is forged");
  }
  const isNext =
    roster.space === secret.space &&
    roster.generation === secret.generation &&
    roster.previous === (before?.hash ?? null) &&
    key.endsWith(`/${String(roster.number).padStart(12, "0")}`) &&
    roster.number > (before?.roster.number ?? 0);
  if (!isNext) throw new MisplacedRosterError("the roster does not follow the one before");
  return { roster, hash: createHash("sha256").update(bytes).digest("hex"), at };
}

/** An admin signed it, and it does not belong there: a server that swaps, or hides one in between. */
export class MisplacedRosterError extends DamageError {}

function expectByAdmin(roster: Roster, parcel: OpenParcel, before: Roster | undefined): void {
  const signer = (before ?? roster).members.find(({ id }) => id === roster.signer);
  expectSound(signer?.role === "admin", "the roster is not signed by an admin");
  expectSound(parcel.isSignedBy(verifierOf(signer)), "the signature of the roster is forged");
}

/** [R761] An invitation adds one member, once, in time, with its role, and changes nothing else. */
function expectInvited(
  roster: Roster,
  invitation: Certificate,
  { chain, at }: { readonly chain: readonly SignedRoster[]; readonly at: number },
): void {
  const before = chain.at(-1)?.roster;
  const issuer = before?.members.find(({ id }) => id === invitation.issuer);
  expectSound(before !== undefined && issuer?.role === "admin", "an admin did not issue the invitation");
  const isOurs =
    invitation.purpose === "invitation" &&
    invitation.space === roster.space &&
    invitation.fingerprint === chain[0]!.hash &&
    invitation.id === roster.signer &&
    isCertifiedBy(invitation, verifierOf(issuer));
  expectSound(isOurs, "the invitation is forged");
  expectSound(at <= invitation.until, "the invitation had expired");
  const isUsed = chain.some((one) => one.roster.accepts?.id === invitation.id);
  expectSound(!isUsed, "the invitation was used before");
  const added = roster.members.at(-1);
  const expected = {
    ...before,
    number: roster.number,
    previous: roster.previous,
    signer: roster.signer,
    members: [...before.members, added],
    accepts: invitation,
  };
  const isAllowed =
    isDeepStrictEqual(roster, expected) &&
    added?.role === invitation.role &&
    !added.isRecovery &&
    (added.until ?? null) === invitation.memberUntil &&
    !before.members.some(({ id }) => id === added.id);
  expectSound(isAllowed, "the roster changes more than the invitation allows");
}

/** As many contents fit one request. */
export const FORGETS_LIMIT = 2_000;

function isForgetRequest(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { number, contents, checkpoint, always } = value as Record<string, unknown>;
  return (
    Number.isSafeInteger(number) &&
    Array.isArray(contents) &&
    contents.length <= FORGETS_LIMIT &&
    contents.every((name) => typeof name === "string" && /^[0-9a-f]{64}$/.test(name)) &&
    (checkpoint === null || typeof checkpoint === "string") &&
    typeof always === "boolean"
  );
}

function isAdoption(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { line, by } = value as Record<string, unknown>;
  return [line, by].every((id) => typeof id === "string" && /^[0-9a-f]{32}$/.test(id));
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
    Array.isArray(roster.members) &&
    (roster.accepts === undefined || (typeof roster.accepts === "object" && roster.accepts !== null)) &&
    (roster.policy === undefined || isPolicy(roster.policy)) &&
    (roster.forgets === undefined || isForgetRequest(roster.forgets)) &&
    (roster.adoptions === undefined ||
      (Array.isArray(roster.adoptions) && roster.adoptions.every(isAdoption))) &&
    (roster.rewrite === undefined || Number.isSafeInteger(roster.rewrite));
  expectSound(isRoster, "the roster has another shape");
  for (const { id, sign, receive, role } of roster.members!) {
    expectSound(isRole(role), "a member of the roster has an unknown role");
    const areKeys = /^[0-9a-f]{64}$/.test(sign) && /^[0-9a-f]{64}$/.test(receive);
    expectSound(areKeys, "a member of the roster has no keys");
    const derived = memberId(Buffer.from(sign, "hex"), Buffer.from(receive, "hex"));
    expectSound(derived === id, "a member of the roster has the id of other keys");
  }
  return roster as Roster;
}
