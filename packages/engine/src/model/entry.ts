/**
 * What stands at one path of a snapshot. A `gap` was seen and not captured: it has no content, and Belay
 * never writes or deletes it. An absent path has no entry.
 */
import type { ObjectHash } from "./object-hash.ts";

/** Why a path was seen and not captured. */
export type GapReason = "too-large" | "unreadable" | "special" | "limit" | "forgotten" | "withheld";

/** One path of a snapshot: its kind, mode, size and content hash. */
export type Entry =
  | { readonly kind: "file"; readonly mode: number; readonly size: number; readonly hash: ObjectHash }
  | { readonly kind: "symlink"; readonly size: number; readonly hash: ObjectHash }
  | { readonly kind: "directory"; readonly mode: number; readonly hash: ObjectHash }
  | { readonly kind: "gap"; readonly reason: GapReason; readonly size: number };

/** The permission bits that are captured; setuid, setgid and sticky are not. */
export const MODE_BITS = 0o777;

/** True for everything except an existing directory. */
export function isLeaf(entry: Entry | undefined): boolean {
  return entry !== undefined && entry.kind !== "directory";
}

/** True for a captured directory. */
export function isDirectory(entry: Entry | undefined): boolean {
  return entry?.kind === "directory";
}

/** True when the entry may be a directory whose content is unknown. */
export function mayHoldMore(entry: Entry | undefined): boolean {
  return entry?.kind === "gap" && (entry.reason === "unreadable" || entry.reason === "forgotten");
}

/**
 * True when a file that is readable now may be the one that was seen and not captured. Only the size is
 * known, so only the size is compared.
 */
export function isUnseen(entry: Entry | undefined, now: Entry | undefined): boolean {
  return (
    entry?.kind === "gap" &&
    entry.reason !== "forgotten" &&
    entry.reason !== "withheld" &&
    entry.reason !== "special" &&
    now?.kind === "file" &&
    now.size === entry.size
  );
}

/** True for a FIFO, socket or device, which has no content to lose. */
export function isSpecial(entry: Entry | undefined): boolean {
  return entry?.kind === "gap" && entry.reason === "special";
}

/**
 * Equal kind, content and mode. Gaps are equal when reason and size are, because their content is unknown.
 */
export function sameEntry(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  switch (a.kind) {
    case "file":
      return b.kind === "file" && a.hash === b.hash && a.mode === b.mode;
    case "symlink":
      return b.kind === "symlink" && a.hash === b.hash;
    case "directory":
      return b.kind === "directory" && a.hash === b.hash && a.mode === b.mode;
    case "gap":
      return b.kind === "gap" && a.reason === b.reason && a.size === b.size;
  }
}

/**
 * Like `sameEntry`, but directories compare by existence and mode only: their children are compared path by
 * path.
 */
export function sameNode(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a?.kind === "directory" && b?.kind === "directory") return a.mode === b.mode;
  return sameEntry(a, b);
}
