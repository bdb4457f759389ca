/** The input of a scan, and its result. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import type { ExcludedDirectory, RecordedIgnoreFile } from "../model/rules.ts";
import type { FileTable } from "./file-table.ts";
import type { DirectoryRules } from "../rules/ignore-rules.ts";
import type { IgnoredLimits } from "../rules/ignored-budget.ts";

/** Reads files while the scan still runs. */
export interface EarlyReader {
  /** `at` is the file's place in `pending`, `index` its place in the table. */
  offer(at: number, path: BytePath, table: FileTable, index: number): void;
}

/** What to scan, by which rules and limits, and the scan before. */
export interface ScanRequest {
  readonly root: AbsolutePath;
  /** Creates the rules of the root directory; not called when there is nothing to judge. */
  readonly rules: () => DirectoryRules;
  readonly previous: FileTable | undefined;
  /**
   * True when the rules are presumed to be those of the previous scan and the file system keeps exact times.
   */
  readonly trustListings: boolean;
  /** True of a directory of the previous scan whose entries native threads have just seen to be as before. */
  seenSame?: ((directory: number) => boolean) | undefined;
  /** The only names to look at in a directory; undefined = every directory is listed. */
  namesIn?: ((directory: BytePath) => readonly string[]) | undefined;
  readonly ahead: EarlyReader | undefined;
  readonly fileLimitBytes: number;
  readonly ignoredLimits: IgnoredLimits;
  /** Paths to which the size limit does not apply. */
  readonly unlimited: ReadonlySet<BytePath>;
  /** Entries with times not older than this may change again without their times showing it. */
  readonly racySinceNs: bigint;
  /**
   * Called for each directory before it is listed; true when its watch is new, so that earlier looks do not
   * count.
   */
  entering?: ((path: BytePath) => boolean) | undefined;
}

/** Names to examine in one directory of the previous scan, and whether each was replaced. */
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
  /** Directories whose entries are all as before; their subdirectories may still differ. */
  readonly unchanged: Uint8Array;
  /** For each directory: the table index of its own entry (-1 for the root), and of its parent directory. */
  readonly ownEntry: readonly number[];
  readonly parent: readonly number[];
  /** The previous table's index of each directory, -1 when it is new. */
  readonly before: readonly number[];
  /** The inodes of files with several names, among those examined one by one. */
  readonly linked: readonly bigint[];
  readonly excluded: readonly ExcludedRoot[];
  /** Ignored directories that are left out because they are over their budget. */
  readonly overBudget: readonly ExcludedDirectory[];
  readonly ignoreFiles: readonly RecordedIgnoreFile[];
}
