/**
 * Limits a plan to chosen hunks. A file of which some are chosen goes from its present content to the present content
 * with only those changes; one of which none is chosen stays, and with it whatever stands in its way or needs it gone.
 * A file without lines to choose from (new, deleted, binary, large, only its mode) is one hunk. A mode changes with the
 * last of a file's hunks.
 */
import { hunksBetween } from "../diff/choose-hunks.ts";
import { TEXT_DIFF_LIMIT_BYTES } from "../diff/content-kind.ts";
import { ancestorPaths, displayPath, type BytePath } from "../model/byte-path.ts";
import { isLeaf, type Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { ChosenHunks, Edit, Plan } from "../model/plan.ts";
import type { ObjectSource } from "../store/object-store.ts";

/** Where the content of both sides is, and where the made content goes. */
export interface HunkContent {
  readonly objects: ObjectSource;
  put(bytes: Buffer): ObjectHash;
}

type Limited = Pick<Plan, "description" | "edits" | "conflicts" | "hunks">;

/** The plan with only the chosen hunks of the given files; other files are as planned. */
export function chooseHunks<Draft extends Limited>(
  plan: Draft,
  chosen: readonly ChosenHunks[],
  content: HunkContent,
): Draft {
  const byPath = new Map<BytePath, Set<number>>();
  for (const { path, hunks } of chosen) byPath.set(path, new Set([...(byPath.get(path) ?? []), ...hunks]));
  const dropped = new Set<BytePath>();
  const left: ChosenHunks[] = [];
  const edits = plan.edits.flatMap((edit) => {
    const numbers = byPath.get(edit.path);
    if (numbers === undefined || !(isLeaf(edit.from) || isLeaf(edit.to))) return [edit];
    byPath.delete(edit.path);
    const { limited, isWhole } = limit(edit, numbers, content);
    if (!isWhole) left.push({ path: edit.path, hunks: [...numbers].sort((a, b) => a - b) });
    if (limited === undefined) dropped.add(edit.path);
    return limited === undefined ? [] : [limited];
  });
  for (const { path } of plan.conflicts) byPath.delete(path);
  for (const [path, numbers] of byPath) if (numbers.size > 0) throw noHunk(path, Math.min(...numbers));
  if (left.length === 0) return { ...plan, hunks: null };
  return {
    ...plan,
    description: `${plan.description} (in part)`,
    edits: withoutDependent(plan.edits, edits, dropped),
    hunks: left,
  };
}

/** How many hunks of an edit can be chosen. */
export function countHunks({ from, to }: Edit, objects: ObjectSource): number {
  return linesOf(from, to, objects)?.count ?? 1;
}

function linesOf(from: Entry | undefined, to: Entry | undefined, objects: ObjectSource) {
  if (from?.kind !== "file" || to?.kind !== "file" || from.hash === to.hash) return undefined;
  if (Math.max(from.size, to.size) > TEXT_DIFF_LIMIT_BYTES) return undefined;
  return hunksBetween(objects.read(from.hash), objects.read(to.hash));
}

function limit(
  edit: Edit,
  numbers: ReadonlySet<number>,
  { objects, put }: HunkContent,
): { readonly limited: Edit | undefined; readonly isWhole: boolean } {
  const lines = linesOf(edit.from, edit.to, objects);
  const count = lines?.count ?? 1;
  for (const number of numbers)
    if (!Number.isInteger(number) || number < 0 || number >= count) throw noHunk(edit.path, number);
  if (numbers.size === count) return { limited: edit, isWhole: true };
  if (numbers.size === 0 || lines === undefined || edit.from?.kind !== "file")
    return { limited: undefined, isWhole: false };
  const bytes = lines.with(numbers);
  const to = { kind: "file", mode: edit.from.mode, size: bytes.length, hash: put(bytes) } as const;
  return { limited: { ...edit, to }, isWhole: false };
}

/** Without what cannot happen, or need not, because dropped paths stay as they are. */
function withoutDependent(
  planned: readonly Edit[],
  edits: readonly Edit[],
  dropped: ReadonlySet<BytePath>,
): readonly Edit[] {
  if (dropped.size === 0) return edits;
  const stay = planned.filter(({ path, from }) => dropped.has(path) && from !== undefined);
  const occupied = new Set(stay.flatMap(({ path }) => ancestorPaths(path)));
  const inTheWay = new Set(stay.filter(({ from }) => isLeaf(from)).map(({ path }) => path));
  const possible = edits.filter(
    ({ path, from, to }) =>
      !(from?.kind === "directory" && to?.kind !== "directory" && occupied.has(path)) &&
      !ancestorPaths(path).some((above) => inTheWay.has(above)),
  );
  const unneeded = new Set(
    planned
      .filter(({ path, from }) => dropped.has(path) && from === undefined)
      .flatMap(({ path }) => ancestorPaths(path)),
  );
  return withoutUnneeded(possible, unneeded);
}

/** Directories that were to be made for dropped files come only for what else comes inside; deepest first. */
function withoutUnneeded(edits: readonly Edit[], unneeded: ReadonlySet<BytePath>): readonly Edit[] {
  const needed = new Set<BytePath>();
  return edits
    .toReversed()
    .filter(({ path, from, to }) => {
      const isMade = from === undefined && to?.kind === "directory";
      if (isMade && unneeded.has(path) && !needed.has(path)) return false;
      if (to !== undefined) for (const above of ancestorPaths(path)) needed.add(above);
      return true;
    })
    .toReversed();
}

function noHunk(path: BytePath, number: number): EngineError<"PLAN_STALE"> {
  return new EngineError(
    "PLAN_STALE",
    `${displayPath(path)} has no hunk ${number} in this plan. Nothing was changed; make a new plan.`,
    { plan: "" },
  );
}
