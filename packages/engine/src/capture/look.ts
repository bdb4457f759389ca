/** What one look at the working copy is asked, and what it answers. */
import type { BytePath } from "../model/byte-path.ts";
import type { Doubt, ExcludedRoot, Gap, GitState } from "../model/checkpoint.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import type { ExcludedDirectory, RecordedRules } from "../model/rules.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { ReadProgress } from "./parallel-read.ts";
import type { StatCache } from "../scan/stat-cache.ts";

/** What one capture may treat differently. */
export interface LookRequest {
  readonly named: readonly BytePath[];
  readonly excluded: readonly ExcludedDirectory[];
  /** Paths to capture whatever any ignore file says, this once. */
  readonly included?: readonly BytePath[];
  /** Paths to which size limits do not apply. */
  readonly unlimited?: ReadonlySet<BytePath>;
  /** Paths to read whatever their stat says. */
  readonly forced?: ReadonlySet<BytePath>;
  readonly progress?: ReadProgress | undefined;
  /** The watcher has told everything that happened up to now: what it did not name is as before. */
  readonly settled?: boolean;
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
  /** What the next scan may reuse, once the content is durable. */
  readonly cache: StatCache;
  /** Entries that had to be read, because the stat cache did not know them as they are. */
  readonly readCount: number;
  /** Of a live capture: what changed, and since which snapshot. */
  readonly changes?: { readonly since: ObjectHash; readonly edits: readonly Edit[] };
  /** Of a live capture: what is to be read again after the answer. */
  readonly hot?: ReadonlyMap<BytePath, ObjectHash>;
  /** When it began, by the clock that stamps files. */
  readonly startNs: bigint;
}
