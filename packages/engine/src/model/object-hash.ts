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
