/** A directory during a scan: before it is examined and while it is. */
import type { FileStat, kindOf } from "../fs/file-stat.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { IgnoredBudget } from "../rules/ignored-budget.ts";
import type { DirectoryRules } from "../rules/ignore-rules.ts";
import type { PreviousEntries } from "./previous-entries.ts";

/** A directory to examine. */
export interface Visit {
  readonly path: BytePath;
  readonly rules: () => DirectoryRules;
  /** undefined = the names of the previous scan */
  readonly names: readonly string[] | undefined;
  readonly ownEntry: number;
  readonly parent: number;
  readonly before: number;
  /** Its watch is new: what native threads saw of it before does not count. */
  readonly isWatchNew: boolean;
  /** The budget of the ignored directory that this is or is in. */
  readonly budget?: IgnoredBudget | undefined;
  /** Limits the visit to these names; a directory among them that was not replaced is not entered. */
  readonly only?: ReadonlyMap<string, boolean>;
}

/** A directory that is being examined. */
export interface OpenVisit extends Visit {
  readonly statOf: (name: string) => FileStat | undefined;
  readonly directory: number;
  readonly cursor: PreviousEntries;
  readonly subdirectories: Visit[];
}

/** A name with the node that stands there. */
export interface NamedNode {
  readonly name: string;
  readonly path: BytePath;
  readonly stat: FileStat;
  readonly kind: ReturnType<typeof kindOf>;
}
