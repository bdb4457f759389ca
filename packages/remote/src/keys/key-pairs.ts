/** Key pairs as 32 raw bytes: Ed25519 to sign, X25519 to receive secrets. `node:crypto` wants them in DER. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import type { Role } from "./roles.ts";

type Algorithm = "ed25519" | "x25519";

const PRIVATE_PREFIX: Record<Algorithm, Buffer> = {
  ed25519: Buffer.from("302e020100300506032b657004220420", "hex"),
  x25519: Buffer.from("302e020100300506032b656e04220420", "hex"),
};
const PUBLIC_PREFIX: Record<Algorithm, Buffer> = {
  ed25519: Buffer.from("302a300506032b6570032100", "hex"),
  x25519: Buffer.from("302a300506032b656e032100", "hex"),
};

/** A private key of 32 raw bytes. */
export function privateKey(algorithm: Algorithm, raw: Buffer): KeyObject {
  return createPrivateKey({
    key: Buffer.concat([PRIVATE_PREFIX[algorithm], raw]),
    format: "der",
    type: "pkcs8",
  });
}

/** A public key of 32 raw bytes. */
export function publicKey(algorithm: Algorithm, raw: Buffer): KeyObject {
  return createPublicKey({
    key: Buffer.concat([PUBLIC_PREFIX[algorithm], raw]),
    format: "der",
    type: "spki",
  });
}

/** The 32 raw bytes of the public half. */
export function rawPublic(key: KeyObject): Buffer {
  const half = key.type === "private" ? createPublicKey(key) : key;
  return half.export({ format: "der", type: "spki" }).subarray(-32);
}

/** What a member vouches for. */
export interface Certificate {
  readonly purpose: "token" | "invitation";
  readonly space: string;
  readonly fingerprint: string;
  /** The member that signed it. */
  readonly issuer: string;
  /** Derived from the keys below. */
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** Public keys, 32 bytes in hexadecimal. */
  readonly sign: string;
  readonly receive: string;
  /** By the server's clock. */
  readonly until: number;
  /** Of an invitation: when the membership that it gives ends; null when it does not. */
  readonly memberUntil: number | null;
  /** In base64. */
  readonly signature: string;
}

/** The keys of a member: what signs, and what secrets are sealed to. */
export interface MemberKeys {
  /** Derived from the public keys, so that it cannot be given to another member. */
  readonly id: string;
  readonly sign: KeyObject;
  readonly receive: KeyObject;
  /** Of a token: what a member of the space vouches for. */
  readonly certificate?: Certificate;
  /** Of a pass: the secrets of the space that it brings along, by generation. */
  readonly secrets?: ReadonlyMap<number, Buffer>;
}

/** The keys that two raw private keys are. */
export function memberKeys(raw: { readonly sign: Buffer; readonly receive: Buffer }): MemberKeys {
  const sign = privateKey("ed25519", raw.sign);
  const receive = privateKey("x25519", raw.receive);
  return { id: memberId(rawPublic(sign), rawPublic(receive)), sign, receive };
}

/** The id of the member with these public keys. */
export function memberId(sign: Buffer, receive: Buffer): string {
  return createHash("sha256")
    .update("belay member 1\0")
    .update(sign)
    .update(receive)
    .digest("hex")
    .slice(0, 32);
}
