/** The two kinds of scan: the whole working copy, or some names. */
import type { BytePath } from "../model/byte-path.ts";
import { FileTable } from "./file-table.ts";
import { OverBudget } from "../rules/ignored-budget.ts";
import type { NamesToSee, Scan, ScanRequest } from "./scan-request.ts";
import { Scanner } from "./scanner.ts";

/** Scans the whole working copy by its rules. */
export function scanTree(request: ScanRequest): Scan {
  const over = new Map<BytePath, string>();
  for (let using = request; ;) {
    try {
      return new Scanner(using, new FileTable(request.previous), { over }).run();
    } catch (error) {
      if (!(error instanceof OverBudget)) throw error;
      // it was within its budget last time: now every name must be judged
      over.set(error.root, error.reason);
      using = { ...request, trustListings: false, seenSame: undefined };
    }
  }
}

/**
 * Scans some names, and every directory that is new or was replaced. `index` finds directories of the
 * previous scan.
 */
export function scanNames(
  request: ScanRequest & { previous: FileTable },
  names: Iterable<NamesToSee>,
  index: ReadonlyMap<BytePath, number>,
): Scan {
  const table = new FileTable();
  // the same list, so that the numbers in both tables mean the same
  table.exclusions = request.previous.exclusions;
  return new Scanner(request, table, { index }).runSome(names);
}
