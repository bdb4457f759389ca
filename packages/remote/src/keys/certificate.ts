/**
 * A certificate: a member vouches for a key, for one purpose, with one role, until a time of the server. Tokens sign
 * segments with such a key; an invitation is a certificate that lets its holder add one member to the roster.
 */
import { sign, verify, type KeyObject } from "node:crypto";
import { memberId, publicKey, rawPublic, type Certificate, type MemberKeys } from "./key-pairs.ts";
import { isRole } from "./roles.ts";

/** What is certified. */
export type CertificateFacts = Pick<
  Certificate,
  "purpose" | "space" | "fingerprint" | "name" | "role" | "until" | "memberUntil"
>;

/** Certifies the public halves of keys. */
export function certify(facts: CertificateFacts, subject: MemberKeys, issuer: MemberKeys): Certificate {
  const unsigned = {
    ...facts,
    issuer: issuer.id,
    id: subject.id,
    sign: rawPublic(subject.sign).toString("hex"),
    receive: rawPublic(subject.receive).toString("hex"),
  };
  return { ...unsigned, signature: sign(null, signedBytes(unsigned), issuer.sign).toString("base64") };
}

/** Whether the holder of this key signed the certificate, and it is what it should be. */
export function isCertifiedBy(certificate: Certificate, issuer: KeyObject): boolean {
  const { sign: signing, receive, id, role, until, signature } = certificate;
  const isWhole =
    /^[0-9a-f]{64}$/.test(signing) &&
    /^[0-9a-f]{64}$/.test(receive) &&
    isRole(role) &&
    Number.isSafeInteger(until) &&
    memberId(Buffer.from(signing, "hex"), Buffer.from(receive, "hex")) === id;
  return isWhole && verify(null, signedBytes(certificate), issuer, Buffer.from(signature, "base64"));
}

/** The key that verifies what the holder of a certificate signed. */
export function certifiedKey({ sign: signing }: Certificate): KeyObject {
  return publicKey("ed25519", Buffer.from(signing, "hex"));
}

function signedBytes(facts: Omit<Certificate, "signature">): Buffer {
  const { purpose, space, fingerprint, issuer, id, name, role, until, memberUntil } = facts;
  const said = [
    purpose,
    space,
    fingerprint,
    issuer,
    id,
    name,
    role,
    facts.sign,
    facts.receive,
    until,
    memberUntil,
  ];
  return Buffer.from(`belay certificate 1\0${JSON.stringify(said)}`);
}
