/** What differs between two checkpoints, or between a checkpoint and the disk? */
import { asSeen, type Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { provenChanges } from "../capture/proven-changes.ts";
import { countChanges } from "../diff/count-changes.ts";
import { fileChanges } from "../diff/file-changes.ts";
import { resolveCheckpoint } from "../history/references.ts";
import { isAtOrBelow } from "../model/byte-path.ts";
import type { FileChange } from "../model/file-change.ts";
import type { Edit } from "../model/plan.ts";
import { parsePaths } from "../model/workspace-path.ts";
import { assertRootThere } from "../scan/root.ts";
import type { Diff, DiffOptions } from "./answers.ts";

/** Compares two checkpoints, or a checkpoint and the disk. */
export function compareStates(context: Context, options: DiffOptions): Diff {
  const { db, objects } = context.store;
  const from = resolveCheckpoint(db, options.from ?? "@");
  const to = options.to === undefined ? undefined : resolveCheckpoint(db, options.to);
  if (to === undefined) assertRootThere(context.worktree.root);
  const other = to === undefined ? lookNow(context, { since: from }) : { ...asSeen(context, to), objects };
  const edits = onlyBelow(provenChanges(other.objects, asSeen(context, from), other), options.paths);
  const files = fileChanges(other.objects, edits, { detail: options.detail });
  return {
    from: from.id,
    to: to?.id ?? null,
    files,
    summary: { ...countChanges(edits), ...sumLines(files) },
  };
}

function onlyBelow(edits: readonly Edit[], texts: readonly string[] | undefined): readonly Edit[] {
  const paths = parsePaths(texts);
  return paths === undefined
    ? edits
    : edits.filter(({ path }) => paths.some((chosen) => isAtOrBelow(path, chosen)));
}

function sumLines(files: readonly FileChange[]): Pick<Diff["summary"], "linesAdded" | "linesDeleted"> {
  const sum = (key: "linesAdded" | "linesDeleted") =>
    files.reduce((total, file) => total + (file[key] ?? 0), 0);
  return { linesAdded: sum("linesAdded"), linesDeleted: sum("linesDeleted") };
}
