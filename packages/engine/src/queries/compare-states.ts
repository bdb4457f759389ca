/** What differs between two checkpoints, or between a checkpoint and the disk? */
import { asSeen, type Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import type { Present } from "../capture/look.ts";
import { provenChanges } from "../capture/proven-changes.ts";
import { unrecordedIn, type Unrecorded } from "../capture/unrecorded.ts";
import { countChanges } from "../diff/count-changes.ts";
import { isLeaf } from "../model/entry.ts";
import { fileChanges } from "../diff/file-changes.ts";
import { authorsBetween, type Authors } from "../history/authors.ts";
import { seqOf } from "../history/checkpoints.ts";
import { resolveState } from "../history/references.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import { isDamage } from "../model/errors.ts";
import type { FileChange } from "../model/file-change.ts";
import type { Edit } from "../model/plan.ts";
import { parsePaths } from "../model/workspace-path.ts";
import { ChosenPaths } from "../rules/chosen-paths.ts";
import { assertRootThere } from "../scan/root.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { Diff, DiffOptions } from "./answers.ts";

/** Compares two checkpoints, or a checkpoint and the disk. */
export function compareStates(context: Context, options: DiffOptions): Diff {
  const { from, to, objects, edits, present } = changesBetween(context, options);
  const described = describeEdits(objects, edits, options);
  if (options.authors !== true) return { from, to, ...described };
  const authors = authorsOf(context, { from, to, present });
  const files = described.files.map((file) => {
    const { threads = [], byHand = false } = authors.get(file.path) ?? {};
    return { ...file, authors: { threads: [...threads], byHand } };
  });
  return { from, to, ...described, files };
}

/** Who changed what between two states, whichever of them is the older one. */
function authorsOf(
  context: Context,
  { from, to, present }: Pick<Diff, "from" | "to"> & { readonly present: Present | undefined },
): ReadonlyMap<BytePath, Authors> {
  const { db } = context.store;
  const first = seqOf(db, from) ?? 0;
  const last = to === null ? Number.MAX_SAFE_INTEGER : (seqOf(db, to) ?? first);
  const span = { after: Math.min(first, last), until: Math.max(first, last) };
  return authorsBetween(db, span, present === undefined ? undefined : unrecordedIfKnown(context, present));
}

/** What no checkpoint has yet; where the newest one is damaged, that is not known. */
function unrecordedIfKnown(context: Context, present: Present): Unrecorded | undefined {
  try {
    return unrecordedIn(context, present);
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

/** Edits as files and in numbers; those of some paths, if the options name them. */
export function describeEdits(
  objects: ObjectSource,
  all: readonly Edit[],
  { paths, detail: asked }: Pick<DiffOptions, "paths" | "detail">,
): Pick<Diff, "files" | "summary"> {
  const edits = onlyBelow(all, paths);
  const isLong =
    asked === "list" && edits.filter(({ from, to }) => isLeaf(from) || isLeaf(to)).length > LISTED_FILES;
  const detail = asked !== "list" ? asked : isLong ? "names" : "counts";
  const files = fileChanges(objects, edits, { detail, marksDamage: detail === "counts" });
  const lines = isLong ? { linesAdded: null, linesDeleted: null } : sumLines(files);
  return { files, summary: { ...countChanges(edits), ...lines } };
}

/** [R1911] Of more files than this a list does without lines: reading thousands would keep everything else waiting. */
const LISTED_FILES = 300;

/** The proven changes from one state to another, and where both can be read. */
export function changesBetween(
  context: Context,
  options: Pick<DiffOptions, "from" | "to">,
): Pick<Diff, "from" | "to"> & {
  readonly edits: readonly Edit[];
  readonly objects: ObjectSource;
  /** The disk, where it is one of the two. */
  readonly present: Present | undefined;
} {
  const { objects } = context.store;
  const from = resolveState(context, options.from ?? "@");
  const to = options.to === undefined ? undefined : resolveState(context, options.to);
  if (to === undefined) assertRootThere(context.workingCopy.root);
  const present = to === undefined ? lookNow(context, { since: from }) : undefined;
  const other = present ?? { ...asSeen(context, to!), objects };
  return {
    from: from.id,
    to: to?.id ?? null,
    edits: provenChanges(other.objects, asSeen(context, from), other),
    objects: other.objects,
    present,
  };
}

function onlyBelow(edits: readonly Edit[], texts: readonly string[] | undefined): readonly Edit[] {
  const paths = parsePaths(texts);
  if (paths === undefined) return edits;
  const known = new Set(edits.flatMap(({ path }) => [path, ...ancestorPaths(path)]));
  const chosen = new ChosenPaths(paths, (path) => known.has(path));
  return edits.filter(({ path }) => chosen.includes(path));
}

function sumLines(files: readonly FileChange[]): Pick<Diff["summary"], "linesAdded" | "linesDeleted"> {
  const sum = (key: "linesAdded" | "linesDeleted") =>
    files.reduce((total, file) => total + (file[key] ?? 0), 0);
  return { linesAdded: sum("linesAdded"), linesDeleted: sum("linesDeleted") };
}
