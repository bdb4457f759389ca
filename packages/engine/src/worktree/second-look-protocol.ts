/** What a scan and the thread that helps it agree on. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { StatColumns } from "./stat-columns.ts";

/** The previous scan's table, in memory that both threads see. */
export interface SharedTable extends Omit<StatColumns, "names"> {
  readonly entryCount: Uint32Array;
  /** Names and paths as they are in the stat cache, with a zero byte between two. */
  readonly names: Uint8Array;
  readonly directories: Uint8Array;
}

export interface LookTask {
  readonly root: AbsolutePath;
  readonly table: SharedTable;
  /** A claim for each directory of the table. */
  readonly claims: Int32Array;
}

/** Who looks at a directory, and what the second one saw. */
export const CLAIM = { free: 0, first: 1, second: 2, same: 3, other: 4 } as const;
