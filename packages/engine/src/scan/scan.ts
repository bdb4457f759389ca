/** The ways to look at the working copy: at all of it, or at some names. */
import type { BytePath } from "../model/byte-path.ts";
import { FileTable } from "./file-table.ts";
import { OverBudget } from "../rules/ignored-budget.ts";
import type { NamesToSee, Scan, ScanRequest } from "./scan-request.ts";
import { Scanner } from "./scanner.ts";

/** Looks at everything. */
export function scanTree(request: ScanRequest): Scan {
  const over = new Map<BytePath, string>();
  for (let using = request; ;) {
    try {
      return new Scanner(using, new FileTable(request.previous), { over }).run();
    } catch (error) {
      if (!(error instanceof OverBudget)) throw error;
      // it was within its budget the last time: now every name is to be judged
      over.set(error.root, error.reason);
      using = { ...request, trustListings: false, seenSame: undefined };
    }
  }
}

/** Looks at some names only, and at all of a directory that is new or was replaced; `index` finds those of the previous scan. */
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
