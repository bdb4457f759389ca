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
