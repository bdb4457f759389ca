/** Which files are indexed, which are never sent anywhere, and how they are read. */
import { hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Larger files are not indexed. */
export const MOST_BYTES = 1024 * 1024;
const LOOKED_AT = 8192;

/** The text of bytes; undefined for what is none: a NUL near the beginning, or not UTF-8. */
export function textOf(bytes: Buffer): string | undefined {
  if (bytes.length > MOST_BYTES || bytes.subarray(0, LOOKED_AT).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The name of a content, as the store has it. */
export function contentHash(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}

/** A regular file's bytes; undefined where there is none, it is too large, or a link leads to it. */
export function readRegularFile(root: string, path: string): Buffer | undefined {
  let descriptor: number;
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    descriptor = openSync(join(root, path), flags);
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(descriptor);
    return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(descriptor) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

const PRIVATE =
  /(^|\/)(\.env[^/]*|\.npmrc|\.netrc|\.pgpass|id_(rsa|dsa|ecdsa|ed25519)[^/]*|[^/]*\.(pem|key|p12|pfx|crt|cer|der|jks|keystore|kdbx|asc|gpg))$|(^|\/)\.ssh\//i;

/** True for what holds secrets by its name: it is never sent to an endpoint. */
export function isPrivate(path: string): boolean {
  return PRIVATE.test(path);
}
