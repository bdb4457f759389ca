/** Contents that are read when they are looked at: a list of a thousand checkpoints reads nothing. */
import { isUtf8 } from "node:buffer";
import { pathFromBytes, type CheckpointId } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";

/** A content as text. */
export interface Text {
  readonly content: string;
  readonly encoding: "utf-8" | "base64";
}

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** The bytes of a file at a checkpoint; null when it has none there. */
export function bytesAt(workspace: SyncWorkspace, checkpoint: CheckpointId, path: string): Buffer | null {
  return workspace.file(checkpoint, pathFromBytes(Buffer.from(path)), NO_LIMIT)?.content ?? null;
}

/** Bytes as text: base64 where they are not UTF-8. */
export function textOf(bytes: Buffer): Text {
  return isUtf8(bytes)
    ? { content: bytes.toString("utf8"), encoding: "utf-8" }
    : { content: bytes.toString("base64"), encoding: "base64" };
}

/** Gives an object properties that are computed when they are first read, and then stay. */
export function withLazy<Facts extends object, Lazy extends object>(
  facts: Facts,
  lazy: { readonly [Name in keyof Lazy]: () => Lazy[Name] },
): Facts & Lazy {
  for (const [name, read] of Object.entries<() => unknown>(lazy as Record<string, () => unknown>)) {
    Object.defineProperty(facts, name, {
      configurable: true,
      enumerable: true,
      get() {
        const value = read();
        Object.defineProperty(facts, name, { value, configurable: true, enumerable: true, writable: true });
        return value;
      },
    });
  }
  return facts as Facts & Lazy;
}
