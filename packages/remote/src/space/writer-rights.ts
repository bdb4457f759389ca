/**
 * Whether a signature counts. The roster that was in force when the server got the signed object decides, not the one of
 * today and not what the object says [R760]: times are the server's.
 */
import { certifiedKey, isCertifiedBy } from "../keys/certificate.ts";
import type { Certificate } from "../keys/key-pairs.ts";
import { mayDo, type Right } from "../keys/roles.ts";
import { isLineOf } from "../line/line-id.ts";
import type { SegmentHead } from "../line/segment.ts";
import { ADOPTION_FENCE_MS, takenAt } from "./adoptions.ts";
import { verifierOf, type SignedRoster } from "./roster.ts";
import type { Space } from "./space.ts";

/** What was signed, and when the server got it. */
export interface Signed {
  readonly member: string;
  readonly certificate?: Certificate | undefined;
  /** The server's time. */
  readonly at: number;
  readonly generation: number;
  readonly isSignedBy: (key: ReturnType<typeof verifierOf>) => boolean;
}

/** What came of looking at a signature. */
export type SignatureVerdict = "counts" | "forged" | "no-right";

/** Servers tell times in whole seconds. */
const CLOCK_MS = 1000;

/** Judges the signature of a segment, a head or a sweep. */
export function judgeSignature(space: Space, right: Right, signed: Signed): SignatureVerdict {
  const { member, certificate, isSignedBy } = signed;
  const found = space.members.get(member);
  if (found !== undefined) {
    if (!isSignedBy(verifierOf(found))) return "forged";
    return hadRight(space.rosters, right, signed) ? "counts" : "no-right";
  }
  if (certificate === undefined || !isVouchedFor(space, certificate, signed)) return "forged";
  const isInTime = signed.at <= certificate.until + CLOCK_MS && mayDo(certificate.role, right);
  const issuer = { ...signed, member: certificate.issuer };
  return isInTime && hadRight(space.rosters, "issue", issuer) ? "counts" : "no-right";
}

/**
 * Judges an object of a line: `foreign` when a member signed it who is not its writer, `late` when the line was adopted long before it
 * came [R2243]. [R1810] Only a base may be an admin's, who adopted the line.
 */
export function judgeLineObject(
  space: Space,
  { line, member, certificate, fold }: Pick<SegmentHead, "line" | "member" | "certificate" | "fold">,
  facts: Pick<Signed, "at" | "generation" | "isSignedBy">,
): SignatureVerdict | "foreign" | "late" {
  const signed = { ...facts, member, certificate };
  const verdict = judgeSignature(space, "line", signed);
  if (verdict === "forged") return verdict;
  const isLate = facts.at > (takenAt(space, line) ?? Infinity) + ADOPTION_FENCE_MS;
  if (isLineOf(line, member)) return isLate && verdict === "counts" ? "late" : verdict;
  const isAdopted = fold?.isBase === true && judgeSignature(space, "roster", signed) === "counts";
  return isAdopted ? "counts" : "foreign";
}

/** The member that writes a line, also where an admin signed its base. */
export function writerOfLine(
  { members }: Space,
  { line, member, adopted }: Pick<SegmentHead, "line" | "member" | "adopted">,
): string {
  if (isLineOf(line, member)) return member;
  // of a job: its token is in no roster
  if (adopted !== undefined && isLineOf(line, adopted.member)) return adopted.member;
  return [...members.keys()].find((id) => isLineOf(line, id)) ?? member;
}

function isVouchedFor(space: Space, certificate: Certificate, { member, isSignedBy }: Signed): boolean {
  const issuer = space.members.get(certificate.issuer);
  return (
    issuer !== undefined &&
    certificate.purpose === "token" &&
    certificate.id === member &&
    certificate.space === space.id &&
    certificate.fingerprint === space.fingerprint &&
    TOKEN_ROLES.has(certificate.role) &&
    isCertifiedBy(certificate, verifierOf(issuer)) &&
    isSignedBy(certifiedKey(certificate))
  );
}

/** A token never gives more than this, whatever its issuer wrote into it. */
const TOKEN_ROLES: ReadonlySet<string> = new Set(["agent", "reader"]);

/** Whether a roster gave a member a right at a time of the server. */
function hadRight(
  rosters: readonly SignedRoster[],
  right: Right,
  { member, at, generation }: Pick<Signed, "member" | "at" | "generation">,
): boolean {
  let wasMember = false;
  for (const [n, { roster, at: since }] of rosters.entries()) {
    const found = roster.members.find(({ id }) => id === member);
    if (found === undefined) continue;
    const end = Math.min(rosters[n + 1]?.at ?? Infinity, found.until ?? Infinity);
    // a server's clocks differ: a first segment may seem older than the roster that its writer had read
    const begin = wasMember ? since : -Infinity;
    wasMember = true;
    const isThen = at >= begin - CLOCK_MS && at <= end + CLOCK_MS;
    // what is sealed with a later secret was not written by one who left before it was made
    if (isThen && mayDo(found.role, right) && generation <= roster.generation) return true;
  }
  return false;
}
