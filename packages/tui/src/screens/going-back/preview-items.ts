/** The lines of a restore preview that the pointer can stand on: files, folded groups, other threads' work. */
import { CHANGES, type Plan, type PlanFile } from "../../plans/plan.ts";

/** One line that can be chosen. */
export type Item =
  | { readonly is: "file"; readonly file: PlanFile }
  /** The rest of a group, beyond its first lines. */
  | { readonly is: "more"; readonly change: PlanFile["change"]; readonly hidden: number }
  /** A whole group on one line. */
  | { readonly is: "folded"; readonly change: PlanFile["change"]; readonly files: readonly PlanFile[] }
  | { readonly is: "alone"; readonly work: Plan["leftAlone"][number] };

/** A group of lines under its title. */
export interface Group {
  readonly change: PlanFile["change"];
  readonly total: number;
  readonly items: readonly Item[];
}

/** How much of a plan is listed. */
export interface Folding {
  /** Groups that were unfolded: all of their lines show. */
  readonly open: ReadonlySet<PlanFile["change"]>;
  /** The lines there are for groups and their titles. */
  readonly rows: number;
}

/** A group shows this many lines before the rest is folded away. */
const LISTED = 5;
/** Groups that fold to one line first, when there is no room: what comes back endangers nothing. */
const FOLDED_FIRST: readonly PlanFile["change"][] = ["mode", "create"];

/** The files of a plan, by what happens to them. */
export function previewGroups({ files }: Pick<Plan, "files">, { open, rows }: Folding): Group[] {
  const folded = new Set<PlanFile["change"]>();
  const made = () => CHANGES.flatMap((change) => groupOf(files, change, { open, folded }));
  for (const change of FOLDED_FIRST) {
    if (heightOf(made()) <= rows) break;
    if (!open.has(change)) folded.add(change);
  }
  return made();
}

function groupOf(
  files: readonly PlanFile[],
  change: PlanFile["change"],
  { open, folded }: { open: ReadonlySet<string>; folded: ReadonlySet<string> },
): Group[] {
  const mine = files.filter((file) => file.change === change);
  if (mine.length === 0) return [];
  if (folded.has(change))
    return [{ change, total: mine.length, items: [{ is: "folded", change, files: mine }] }];
  // a fold of one line would hide one line
  const shown = open.has(change) || mine.length <= LISTED + 1 ? mine : mine.slice(0, LISTED);
  const items = shown.map((file): Item => ({ is: "file", file }));
  const hidden = mine.length - shown.length;
  return [
    { change, total: mine.length, items: hidden > 0 ? [...items, { is: "more", change, hidden }] : items },
  ];
}

/** How many lines the groups take with their titles; a folded one stands beside its title. */
function heightOf(groups: readonly Group[]): number {
  return groups.reduce((sum, { items }) => sum + (items[0]?.is === "folded" ? 1 : items.length + 1), 0);
}

/** What names an item from one plan to the next. */
export function itemKey(item: Item): string {
  switch (item.is) {
    case "file":
      return `file ${item.file.path}`;
    case "alone":
      return `alone ${item.work.thread}`;
    default:
      return `${item.is} ${item.change}`;
  }
}
