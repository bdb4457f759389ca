/** The name of an object: the SHA-256 of its content. */
import { createHash, hash } from "node:crypto";

declare const hashBrand: unique symbol;
/** 64 lower-case hexadecimal digits. */
export type ObjectHash = string & { readonly [hashBrand]: true };

export const HASH_BYTES = 32;

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

export function hashToBytes(name: ObjectHash): Buffer {
  return Buffer.from(name, "hex");
}

export function hashFromBytes(bytes: Uint8Array): ObjectHash {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex") as ObjectHash;
}

/** The name of no object: stands for the content of a directory that is looked at one path at a time. */
export const NO_OBJECT = "0".repeat(HASH_BYTES * 2) as ObjectHash;
