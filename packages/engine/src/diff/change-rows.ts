/** Edits as rows of changed files: directories left out, moved files paired. */
import type { BytePath } from "../model/byte-path.ts";
import type { Entry, GapReason } from "../model/entry.ts";
import type { FileChange } from "../model/file-change.ts";
import type { Edit } from "../model/plan.ts";
import { pairRenames } from "./renames.ts";

/** One changed file: what stood there and what stands there. */
export interface ChangeRow {
  readonly path: BytePath;
  readonly formerPath?: BytePath;
  readonly from: Leaf | undefined;
  readonly to: Leaf | undefined;
}

/** What is not a directory. */
export type Leaf = Exclude<Entry, { kind: "directory" }>;

/** One row per changed file. Directories are not files; gaps are changes without content. */
export function changeRows(edits: readonly Edit[]): ChangeRow[] {
  return pairMoved(edits.flatMap(toRows));
}

function toRows({ path, from, to }: Edit): ChangeRow[] {
  const [before, after] = [leafOf(from), leafOf(to)];
  if (before === undefined && after === undefined) return [];
  return [{ path, from: before, to: after }];
}

function leafOf(entry: Entry | undefined): Leaf | undefined {
  return entry?.kind === "directory" ? undefined : entry;
}

function pairMoved(rows: readonly ChangeRow[]): ChangeRow[] {
  const gone = rows.filter(({ to }) => to === undefined).map(({ path, from }) => ({ path, entry: from! }));
  const come = rows.filter(({ from }) => from === undefined).map(({ path, to }) => ({ path, entry: to! }));
  const { renames } = pairRenames(gone, come);
  if (renames.length === 0) return [...rows];
  const paired = new Set(renames.flatMap(({ from, to }) => [from.path, to.path]));
  const moved = renames.map(({ from, to }): ChangeRow => ({
    path: to.path,
    formerPath: from.path,
    from: leafOf(from.entry),
    to: leafOf(to.entry),
  }));
  return [
    ...rows.filter(({ path, from, to }) => !paired.has(path) || (from !== undefined && to !== undefined)),
    ...moved,
  ];
}

/** Why one of the two versions has no content. */
export function gapOf({ from, to }: ChangeRow): GapReason | undefined {
  if (to?.kind === "gap") return to.reason;
  return from?.kind === "gap" ? from.reason : undefined;
}

/** The size of the larger version of a changed file. */
export function largestOf({ from, to }: ChangeRow): number {
  return Math.max(from?.size ?? 0, to?.size ?? 0);
}

/** What became of a changed file: added, modified, deleted. */
export function typeOf({ formerPath, from, to }: ChangeRow): FileChange["type"] {
  if (formerPath !== undefined) return "renamed";
  if (from === undefined) return "added";
  if (to === undefined) return "deleted";
  const onlyMode = from.kind === "file" && to.kind === "file" && from.hash === to.hash;
  return onlyMode ? "mode" : "modified";
}
