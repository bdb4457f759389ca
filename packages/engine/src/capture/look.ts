/** What a look at the working copy is to include, and what it sees. */
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint, Doubt, ExcludedRoot, Gap, GitState } from "../model/checkpoint.ts";
import type { Bounded } from "../model/deadline.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import type { RecordedRules } from "../model/rules.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { ReadProgress } from "./parallel-read.ts";
import type { FileTable } from "../scan/file-table.ts";

/** What one look includes beyond what every look does. */
export interface Look extends Bounded {
  /** Paths to see whatever any ignore file says. */
  readonly included?: readonly BytePath[];
  /** Paths to which size limits do not apply. */
  readonly unlimited?: ReadonlySet<BytePath>;
  /** A checkpoint that the present will be compared with: what it has is seen, whatever today's rules say. */
  readonly since?: Checkpoint | undefined;
  /** Says, of what was seen, what else the caller has to see; the look is then repeated with that. */
  widen?(present: Present): Pick<Look, "included" | "unlimited"> | undefined;
  /** seq of the checkpoint for whose sake this capture is taken: no room is made at its cost. */
  readonly spared?: number | undefined;
  readonly progress?: ReadProgress | undefined;
}

/** The working copy as it was a moment ago. */
export interface Present {
  readonly snapshot: ObjectHash;
  readonly rules: ObjectHash;
  readonly recordedRules: RecordedRules;
  readonly excluded: ObjectHash;
  readonly excludedRoots: readonly ExcludedRoot[];
  /** What the newest checkpoint has, the rules leave out, and the disk has no longer. */
  readonly absent?: ReadonlySet<BytePath>;
  readonly files: number;
  readonly bytes: number;
  readonly gaps: readonly Gap[];
  readonly doubts: readonly Doubt[];
  readonly git: GitState | null;
  /** Where all of it can be read: the store, or the store and the disk. */
  readonly objects: ObjectSource;
  /** Of a live look: what changed, and since which snapshot. */
  readonly changes?: { readonly since: ObjectHash; readonly edits: readonly Edit[] };
}

/** One look: the present, and what the next look may reuse of it. */
export interface LookResult {
  readonly present: Present;
  /** Every path that was seen, with its stat. */
  readonly table: FileTable;
  /** Where on disk the content lies that was read just now. */
  readonly read: ReadonlyMap<ObjectHash, BytePath>;
  /** Lets the next look rely on this one; call it when the checkpoint it became is durable. */
  remember(checkpoint: Pick<Checkpoint, "id" | "snapshot">): void;
}
