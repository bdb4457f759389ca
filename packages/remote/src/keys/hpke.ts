/**
 * HPKE (RFC 9180), base mode, one message: X25519, HKDF-SHA256 and AES-256-GCM. Secrets of a space are sealed to each
 * member with it. The vectors of the RFC are the test; they need AES-128-GCM, so the cipher is a parameter.
 */
import { createCipheriv, createDecipheriv, createHmac, diffieHellman, type KeyObject } from "node:crypto";
import { DamageError, expectSound } from "../parcel/damage.ts";
import { privateKey, publicKey, rawPublic } from "./key-pairs.ts";

/** The ciphers of RFC 9180 that are known here. */
export const AEAD = {
  aes128: { id: 1, name: "aes-128-gcm", keyBytes: 16 },
  aes256: { id: 2, name: "aes-256-gcm", keyBytes: 32 },
} as const;

type Aead = (typeof AEAD)[keyof typeof AEAD];

const KEM_ID = 0x0020;
const KDF_ID = 0x0001;
const VERSION = Buffer.from("HPKE-v1");
const PUBLIC_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const EMPTY = Buffer.alloc(0);

/** What sealing and opening have in common. */
export interface HpkeContext {
  readonly info: Buffer;
  readonly aad?: Buffer;
  readonly aead?: Aead;
}

/** Seals a message to the holder of a public key. `ephemeral`: 32 random bytes, never used twice. */
export function hpkeSeal(
  message: Buffer,
  to: { readonly recipient: Buffer; readonly ephemeral: Buffer },
  { info, aad = EMPTY, aead = AEAD.aes256 }: HpkeContext,
): Buffer {
  const ephemeral = privateKey("x25519", to.ephemeral);
  const enc = rawPublic(ephemeral);
  const shared = sharedSecret(
    ephemeral,
    publicKey("x25519", to.recipient),
    Buffer.concat([enc, to.recipient]),
  );
  const { key, nonce } = keySchedule(shared, info, aead);
  const cipher = createCipheriv(aead.name, key, nonce).setAAD(aad);
  return Buffer.concat([enc, cipher.update(message), cipher.final(), cipher.getAuthTag()]);
}

/** Opens a sealed message; throws when it was sealed to another key or altered. */
export function hpkeOpen(
  sealed: Buffer,
  recipient: KeyObject,
  { info, aad = EMPTY, aead = AEAD.aes256 }: HpkeContext,
): Buffer {
  expectSound(sealed.length >= PUBLIC_BYTES + TAG_BYTES, "a sealed secret is cut off");
  const enc = sealed.subarray(0, PUBLIC_BYTES);
  try {
    const context = Buffer.concat([enc, rawPublic(recipient)]);
    const shared = sharedSecret(recipient, publicKey("x25519", enc), context);
    const { key, nonce } = keySchedule(shared, info, aead);
    const decipher = createDecipheriv(aead.name, key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad);
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
    const body = sealed.subarray(PUBLIC_BYTES, sealed.length - TAG_BYTES);
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch (cause) {
    throw new DamageError("a sealed secret does not open with this key", { cause });
  }
}

/** The secret that both sides derive from the exchange of keys (DHKEM). */
function sharedSecret(own: KeyObject, other: KeyObject, context: Buffer): Buffer {
  const suite = Buffer.concat([Buffer.from("KEM"), twoBytes(KEM_ID)]);
  const dh = diffieHellman({ privateKey: own, publicKey: other });
  const prk = labeledExtract(suite, EMPTY, { label: "eae_prk", input: dh });
  return labeledExpand(suite, prk, { label: "shared_secret", info: context, length: 32 });
}

/** Key and nonce of the first message of a context (base mode). */
function keySchedule(shared: Buffer, info: Buffer, aead: Aead): { key: Buffer; nonce: Buffer } {
  const suite = Buffer.concat([Buffer.from("HPKE"), twoBytes(KEM_ID), twoBytes(KDF_ID), twoBytes(aead.id)]);
  const pskIdHash = labeledExtract(suite, EMPTY, { label: "psk_id_hash", input: EMPTY });
  const infoHash = labeledExtract(suite, EMPTY, { label: "info_hash", input: info });
  const context = Buffer.concat([Buffer.from([0]), pskIdHash, infoHash]);
  const secret = labeledExtract(suite, shared, { label: "secret", input: EMPTY });
  return {
    key: labeledExpand(suite, secret, { label: "key", info: context, length: aead.keyBytes }),
    nonce: labeledExpand(suite, secret, { label: "base_nonce", info: context, length: NONCE_BYTES }),
  };
}

function labeledExtract(
  suite: Buffer,
  salt: Buffer,
  { label, input }: { readonly label: string; readonly input: Buffer },
): Buffer {
  return hmac(salt, Buffer.concat([VERSION, suite, Buffer.from(label), input]));
}

function labeledExpand(
  suite: Buffer,
  prk: Buffer,
  { label, info, length }: { readonly label: string; readonly info: Buffer; readonly length: number },
): Buffer {
  const labeled = Buffer.concat([twoBytes(length), VERSION, suite, Buffer.from(label), info]);
  // no output here is longer than one block
  return hmac(prk, Buffer.concat([labeled, Buffer.from([1])])).subarray(0, length);
}

function hmac(key: Buffer, data: Buffer): Buffer {
  return createHmac("sha256", key).update(data).digest();
}

function twoBytes(number: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(number);
  return bytes;
}
