/** The name of an object: the SHA-256 of its content. */
import { createHash, hash } from "node:crypto";

declare const hashBrand: unique symbol;
/** 64 lower-case hexadecimal digits. */
export type ObjectHash = string & { readonly [hashBrand]: true };

/** The length of a hash in bytes. */
export const HASH_BYTES = 32;

/** Hashes content that is in memory. */
export function hashBytes(content: Uint8Array): ObjectHash {
  return hash("sha256", content, "hex") as ObjectHash;
}

declare const keyBrand: unique symbol;
/** The 32 bytes of a name as Latin-1: for tables of names that come from bytes. */
export type HashKey = string & { readonly [keyBrand]: true };

/** The key that lies in bytes. */
export function keyAt(bytes: Buffer, at: number): HashKey {
  return bytes.toString("latin1", at, at + HASH_BYTES) as HashKey;
}

/** The name that a key stands for. */
export function nameOfKey(key: HashKey): ObjectHash {
  return Buffer.from(key, "latin1").toString("hex") as ObjectHash;
}

/** The key of a name. */
export function keyOfName(name: ObjectHash): HashKey {
  return Buffer.from(name, "hex").toString("latin1") as HashKey;
}

/** Hashes content that arrives in pieces. */
export function createContentHash(): { update(piece: Uint8Array): void; digest(): ObjectHash } {
  const running = createHash("sha256");
  return {
    update: (piece) => void running.update(piece),
    digest: () => running.digest("hex") as ObjectHash,
  };
}

/** The 32 bytes that a name stands for. */
export function hashToBytes(name: ObjectHash): Buffer {
  return Buffer.from(name, "hex");
}

/** The name that 32 bytes stand for. */
export function hashFromBytes(bytes: Uint8Array): ObjectHash {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex") as ObjectHash;
}

/** A name no object has: stands for the content of a directory that is examined path by path. */
export const NO_OBJECT = "0".repeat(HASH_BYTES * 2) as ObjectHash;
