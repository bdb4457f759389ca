/**
 * What stands at one path of a snapshot. `gap` means: something was there and was not captured; it has
 * no content, is never written and never deleted. Absence is not an entry.
 */
import type { ObjectHash } from "./object-hash.ts";

export type GapReason = "too-large" | "unreadable" | "special" | "limit" | "forgotten";

export type Entry =
  | { readonly kind: "file"; readonly mode: number; readonly size: number; readonly hash: ObjectHash }
  | { readonly kind: "symlink"; readonly size: number; readonly hash: ObjectHash }
  | { readonly kind: "directory"; readonly mode: number; readonly hash: ObjectHash }
  | { readonly kind: "gap"; readonly reason: GapReason; readonly size: number };

/** The permission bits that are captured; setuid, setgid and sticky are not. */
export const MODE_BITS = 0o777;

/** True for everything but a directory that is there. */
export function isLeaf(entry: Entry | undefined): boolean {
  return entry !== undefined && entry.kind !== "directory";
}

export function isDirectory(entry: Entry | undefined): boolean {
  return entry?.kind === "directory";
}

/** True when a directory may stand behind an entry whose content is unknown. */
export function mayHoldMore(entry: Entry | undefined): boolean {
  return entry?.kind === "gap" && (entry.reason === "unreadable" || entry.reason === "forgotten");
}

/** True when a file that can be read now is, as far as can be told, what was seen and not captured: its size is all that is known. */
export function isUnseen(entry: Entry | undefined, now: Entry | undefined): boolean {
  return (
    entry?.kind === "gap" &&
    entry.reason !== "forgotten" &&
    entry.reason !== "special" &&
    now?.kind === "file" &&
    now.size === entry.size
  );
}

/** True for a FIFO, socket or device: it has no content that could be lost. */
export function isSpecial(entry: Entry | undefined): boolean {
  return entry?.kind === "gap" && entry.reason === "special";
}

/** Equal content, kind and mode. Two gaps are equal when their reason and size are: their content is unknown. */
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

/** Same as `sameEntry`, but a directory is only its existence and mode: its content has paths of its own. */
export function sameNode(a: Entry | undefined, b: Entry | undefined): boolean {
  if (a?.kind === "directory" && b?.kind === "directory") return a.mode === b.mode;
  return sameEntry(a, b);
}
