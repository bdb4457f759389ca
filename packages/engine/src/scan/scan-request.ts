/** The input of a scan, and its result. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import type { ExcludedDirectory, RecordedIgnoreFile } from "../model/rules.ts";
import type { FileTable } from "./file-table.ts";
import type { DirectoryRules } from "../rules/ignore-rules.ts";
import type { IgnoredLimits } from "../rules/ignored-budget.ts";

/** Reads files while the scan still looks for more. */
export interface EarlyReader {
  /** `at` is the file's place among the pending ones, `index` its place in the table. */
  offer(at: number, path: BytePath, table: FileTable, index: number): void;
}

/** What to scan, by which rules and limits, and the scan before. */
export interface ScanRequest {
  readonly root: AbsolutePath;
  /** Makes the rules for the root directory; not called when nothing has to be judged. */
  readonly rules: () => DirectoryRules;
  readonly previous: FileTable | undefined;
  /** The rules are believed to be those of the previous scan, and the file system keeps exact times. */
  readonly trustListings: boolean;
  /** True of a directory of the previous scan whose entries native threads have just seen to be as before. */
  seenSame?: ((directory: number) => boolean) | undefined;
  readonly ahead: EarlyReader | undefined;
  readonly fileLimitBytes: number;
  readonly ignoredLimits: IgnoredLimits;
  /** Paths to which the size limit does not apply. */
  readonly unlimited: ReadonlySet<BytePath>;
  /** Entries whose times are not older than this may change again without a trace. */
  readonly racySinceNs: bigint;
  /** Told of each directory before it is listed; true when its watch is new, so that what was seen before does not count. */
  entering?: ((path: BytePath) => boolean) | undefined;
}

/** Names to look at in one directory of the previous scan, and whether each was replaced. */
export interface NamesToSee {
  readonly path: BytePath;
  readonly names: ReadonlyMap<string, boolean>;
  readonly rules: () => DirectoryRules;
}

/** What a scan found. */
export interface Scan {
  readonly table: FileTable;
  /** Indexes of files and symbolic links whose content must be read. */
  readonly pending: readonly number[];
  readonly pendingPaths: readonly BytePath[];
  /** Directories of the table whose entries are all as before; their subdirectories may still differ. */
  readonly unchanged: Uint8Array;
  /** For each directory: the table index of its own entry (-1 for the root), and of its parent directory. */
  readonly ownEntry: readonly number[];
  readonly parent: readonly number[];
  /** The previous table's index of each directory, -1 when it is new. */
  readonly before: readonly number[];
  /** The inodes of files with more than one name, of those that were looked at one by one. */
  readonly linked: readonly bigint[];
  readonly excluded: readonly ExcludedRoot[];
  /** Ignored directories that are left out because they hold too much. */
  readonly overBudget: readonly ExcludedDirectory[];
  readonly ignoreFiles: readonly RecordedIgnoreFile[];
}
