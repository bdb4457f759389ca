/** What would become of the files if the work between other checkpoints were merged into them? */
import { combineSources } from "../merging/combine-sources.ts";
import type { Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { compareTrees } from "../diff/compare-trees.ts";
import { countChanges } from "../diff/count-changes.ts";
import { fileChanges } from "../diff/file-changes.ts";
import { resolveState } from "../history/references.ts";
import type { SourceConflict } from "../merge/merge-sources.ts";
import type { Syntax } from "../merge/syntax.ts";
import { displayPath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { DiffDetail } from "../model/file-change.ts";
import type { CheckpointRef } from "../model/ids.ts";
import type { MergeConflict, MergePreview, OnConflict } from "../model/merge.ts";
import { assertRootThere } from "../scan/root.ts";
import type { ObjectSource } from "../store/object-store.ts";

/** Work to merge: what changed from one checkpoint to another. */
export interface MergeRequestSource {
  /** Whose work it is, as conflicts name it. */
  readonly name: string;
  /** Where the work began. Where the histories have met several times, all the last places. */
  readonly base: CheckpointRef | readonly CheckpointRef[];
  readonly head: CheckpointRef;
}

/** How to merge. */
export interface MergeOptions {
  /** "hold" unless another is chosen. */
  readonly onConflict?: OnConflict;
  /** What knows the languages of the files; without it, only lines count. */
  readonly syntax?: Syntax;
  /** How much is said of each file; "counts" unless another is chosen. */
  readonly detail?: DiffDetail;
}

/** The paths that the sources changed, as text. */
export function pathsToMerge(context: Context, sources: readonly MergeRequestSource[]): string[] {
  const { objects } = context.store;
  return sources.flatMap(({ base, head }) => {
    const [from] = basesOf(context, base);
    const to = resolveState(context, head);
    return compareTrees(objects, from!.snapshot, to.snapshot).map(({ path }) => displayPath(path));
  });
}

/** Merges in memory and reports what came of it. */
export function previewMerge(
  context: Context,
  sources: readonly MergeRequestSource[],
  { onConflict = "hold", syntax, detail = "counts" }: MergeOptions,
): MergePreview {
  assertRootThere(context.workingCopy.root);
  const resolved = sources.map(({ name, base, head }) => ({
    name,
    bases: basesOf(context, base),
    head: resolveState(context, head),
  }));
  const present = lookNow(context);
  const merge = combineSources(context, present, { sources: resolved, onConflict, syntax });
  const { objects } = merge;
  const id = context.system.newId();
  const edits = compareTrees(objects, present.snapshot, merge.result.snapshot);
  return {
    id,
    sources: resolved.map(({ name, bases, head }, at) => ({
      name,
      base: bases.map((base) => base.id),
      head: head.id,
      outcome: merge.outcomes[at]!,
    })),
    merged: merge.merged,
    conflicts: merge.conflicts.map((conflict) =>
      describe(conflict, {
        id: context.system.newId(),
        merge: id,
        source: resolved[conflict.source]!.name,
        objects,
      }),
    ),
    notMerged: merge.notMerged,
    resolution: {
      autoResolved: merge.merged.length,
      mergerResolved: 0,
      userResolved: 0,
      success: merge.conflicts.length === 0,
    },
    files: fileChanges(objects, edits, { detail }),
    changes: countChanges(edits),
  };
}

function basesOf(context: Context, base: MergeRequestSource["base"]): Checkpoint[] {
  return [base].flat().map((ref) => resolveState(context, ref));
}

function describe(
  conflict: SourceConflict,
  { id, merge, source, objects }: { id: string; merge: string; source: string; objects: ObjectSource },
): MergeConflict {
  const { path, agents, severity, kind, facts, regions, options, proposal, otherPath } = conflict;
  return {
    id,
    merge,
    source,
    path,
    agents,
    severity,
    autoResolvable: false,
    reason: facts[0]!.detail,
    kind,
    reasons: facts,
    regions,
    options,
    state: "open",
    resolution: null,
    chosen: {},
    base: conflict.base ?? null,
    ours: conflict.ours ?? null,
    theirs: conflict.theirs ?? null,
    otherPath: otherPath ?? null,
    content: (version) => {
      const entry = conflict[version];
      return entry?.kind === "file" || entry?.kind === "symlink" ? objects.read(entry.hash) : null;
    },
    proposal,
    merger: null,
  };
}
