/**
 * The edits of a plan as a list: what is deleted first, then what changes, what comes back, modes; within each, what has
 * a mark first. On a terminal a directory that comes or goes as a whole is one line with its number of files.
 */
import type { Plan, PlannedFile, Workspace } from "@belay/engine";
import { planOperationType, type PlanOperationType } from "@belay/server/json";
import { count, fitLine } from "@belay/tui/text";
import { listText } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import type { Style } from "../output/style.ts";
import { table, type Cell } from "../output/table.ts";
import { visible, visiblePath } from "../output/visible.ts";

type Edit = Plan["edits"][number];

/** What is known of the files of a plan, and how the list is printed. */
export interface EditListContext {
  readonly output: Output;
  readonly all: boolean | undefined;
  /** Empty where the plan was not examined. */
  readonly files: ReadonlyMap<string, PlannedFile>;
  /** The agent of each thread. */
  readonly agents: ReadonlyMap<string, string>;
  /** What captures keep to now. */
  readonly limits: Workspace["limits"];
}

/** These edits of a plan, one a line. */
export function editList(plan: Plan, edits: readonly Edit[], given: EditListContext): string {
  const { output, all } = given;
  const hasThreads = [...given.files.values()].some(({ threads }) => threads.length > 0);
  const context: RowContext = { ...given, hasThreads };
  const folds = output.isTerminal && all !== true;
  const rows = (folds ? fold(edits) : edits.map((edit) => ({ edit, inside: 0 }))).sort(
    (a, b) => rankOf(a.edit, context) - rankOf(b.edit, context) || (a.edit.path < b.edit.path ? -1 : 1),
  );
  return listText(rows, { output, all }, (shown) =>
    rowsText(
      shown.map((row) => cellsOf(plan, row, context)),
      output,
    ),
  );
}

interface RowContext extends EditListContext {
  /** Whether a thread changed any of the files. */
  readonly hasThreads: boolean;
}

interface Row {
  readonly edit: Edit;
  /** How many files of a directory this line stands for. */
  readonly inside: number;
}

/** A directory that is made or removed stands for all that is in it; one with a single file gives way to the file. */
function fold(edits: readonly Edit[]): Row[] {
  const tops = edits.filter(isWholeDirectory).map(({ path }) => path);
  const topOf = (path: string) => tops.find((top) => path.startsWith(`${top}/`));
  const inside = Map.groupBy(
    edits.filter((edit) => touchesFile(edit) && topOf(edit.path) !== undefined),
    ({ path }) => topOf(path)!,
  );
  return edits.flatMap((edit): Row[] => {
    const top = topOf(edit.path);
    if (top !== undefined) return [];
    const files = inside.get(edit.path) ?? [];
    return files.length === 1 ? [{ edit: files[0]!, inside: 0 }] : [{ edit, inside: files.length }];
  });
}

function isWholeDirectory({ from, to }: Edit): boolean {
  return (from === undefined && to?.kind === "directory") || (from?.kind === "directory" && to === undefined);
}

function touchesFile({ from, to }: Edit): boolean {
  return [from, to].some((entry) => entry !== undefined && entry.kind !== "directory");
}

const RANKS: Readonly<Record<PlanOperationType, number>> = {
  delete: 0,
  replace: 2,
  restore: 2,
  create: 4,
  mode: 6,
};

function rankOf(edit: Edit, context: RowContext): number {
  const isMarked = marksAt(edit, context).length > 0;
  return RANKS[planOperationType(edit)] + (isMarked ? 0 : 1);
}

const SIGNS: Readonly<Record<PlanOperationType, { sign: string; paint: keyof Style }>> = {
  create: { sign: "+", paint: "green" },
  restore: { sign: "~", paint: "yellow" },
  delete: { sign: "-", paint: "red" },
  mode: { sign: "m", paint: "cyan" },
  replace: { sign: "!", paint: "yellow" },
};

/** The sign and verb, the path, how much changes, what to look at. */
function cellsOf(plan: Plan, { edit, inside }: Row, context: RowContext): Cell[] {
  const { style } = context.output;
  const type = planOperationType(edit);
  const { sign, paint } = SIGNS[type];
  const verb = plan.merged.includes(edit.path) ? "merge" : type;
  const slash = (edit.to ?? edit.from)?.kind === "directory" ? "/" : "";
  return [
    { text: `${sign} ${verb}`, paint: style[paint] },
    { text: visiblePath(edit.path) + slash },
    { text: inside > 0 ? count(inside, "file") : amountAt(context.files.get(edit.path)), paint: style.dim },
    { text: marksAt(edit, context).join(", "), paint: style.yellow },
  ];
}

function amountAt(file: PlannedFile | undefined): string {
  return file === undefined ? "" : amountOf(file);
}

/** `+6 -12`, `binary`, or nothing where it was not counted. */
export function amountOf(file: PlannedFile): string {
  if (file.binary) return "binary";
  const parts = [file.plus ? `+${file.plus}` : "", file.minus ? `-${file.minus}` : ""];
  return parts.filter((part) => part !== "").join(" ");
}

function marksAt({ path }: Edit, context: RowContext): string[] {
  const file = context.files.get(path);
  if (file === undefined) return [];
  const marks = marksOf(file, context);
  // where no agent changed anything, by hand is no news
  return context.hasThreads ? marks : marks.filter((mark) => mark !== "by hand");
}

/** `scripts change`, `by hand`, `by hand too`, `codex too`, and doubts by their codes. */
export function marksOf(file: PlannedFile, { agents }: Pick<EditListContext, "agents">): string[] {
  const agentOf = (thread: string) => visible(agents.get(thread) ?? "another agent");
  const own = file.threads.length > file.others.length;
  return [
    ...(file.scripts ? ["scripts change"] : []),
    ...(file.byHand ? [file.threads.length > 0 ? "by hand too" : "by hand"] : []),
    ...new Set(file.others.map((thread) => (own ? `${agentOf(thread)} too` : `work of ${agentOf(thread)}`))),
    ...file.reasons.filter((reason) => reason !== MERGED && !reason.startsWith("maybe ")),
  ];
}

/** The verb says it. */
const MERGED = "merged with later changes";

const NARROW = 60;

/** In a narrow window marks stand below their path: they are not to be cut. */
function rowsText(rows: readonly (readonly Cell[])[], output: Output): string {
  const options = { width: output.width, indent: "  ", wraps: true, flexible: 1 };
  if (output.width >= NARROW) return table(rows, { ...options, dispensable: [2] });
  return rows
    .flatMap((row) => {
      const marks = row[3]?.text ?? "";
      const line = table([row.slice(0, 3)], options);
      return marks === "" ? [line] : [line, output.style.yellow(fitLine(`      ${marks}`, output.width))];
    })
    .join("\n");
}
