/** Files outside the workspace that a tool named: kept apart from the tree, written only on request. */
import type { Entry } from "./entry.ts";

/** A file outside the workspace as a checkpoint holds it. */
export interface OutsideFile {
  /** Absolute, without links on the way. */
  readonly path: string;
  /** undefined: it did not exist. */
  readonly entry: (Entry & { readonly kind: "file" }) | undefined;
}

/** What a restore would do to a file outside, or why it leaves it alone. */
export interface OutsideEdit {
  readonly path: string;
  readonly type: "create" | "restore" | "delete" | "mode" | "kept";
  readonly from: OutsideFile["entry"];
  readonly to: OutsideFile["entry"];
  /** Why it is kept. */
  readonly reason?: string;
}

/** What a restore did outside the workspace. */
export interface OutsideOutcome {
  readonly written: readonly OutsideEdit[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}
