/** What would become of the files if the work between other checkpoints were merged into them? */
import { asSeen, type Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { Overlay } from "../capture/overlay.ts";
import { absenceProof, provenChanges, type RuledSnapshot } from "../capture/proven-changes.ts";
import { compareTrees, lookUp } from "../diff/compare-trees.ts";
import { countChanges } from "../diff/count-changes.ts";
import { editTree } from "../diff/edit-tree.ts";
import { fileChanges } from "../diff/file-changes.ts";
import { resolveState } from "../history/references.ts";
import { mergeSources, type Compared, type SourceConflict } from "../merge/merge-sources.ts";
import type { Syntax } from "../merge/syntax.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { DiffDetail } from "../model/file-change.ts";
import type { CheckpointRef } from "../model/ids.ts";
import type { MergeConflict, MergePreview, OnConflict } from "../model/merge.ts";
import { hashBytes } from "../model/object-hash.ts";
import { createGeneratedAttribute } from "../rules/generated-attribute.ts";
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
  const objects = new Overlay(present.objects, context.workingCopy.root);
  const isAbsent = absenceProof(objects, present);
  const states = resolved.map(({ name, bases, head }) => ({
    name,
    bases: bases.map((base) => asSeen(context, base)),
    head: asSeen(context, head),
  }));
  const merge = mergeSources<RuledSnapshot>({
    ours: present,
    sources: states,
    onConflict,
    syntax,
    compare: (from, to) => compare(objects, from, to),
    isGenerated: createGeneratedAttribute((path) => {
      const { entry } = lookUp(objects, present.snapshot, path);
      return entry?.kind === "file" ? objects.read(entry.hash) : undefined;
    }),
    isAbsent: (path, other) => isAbsent(path, other),
    edit: (state, edits) => ({
      ...state,
      snapshot: editTree({ source: objects, sink: objects }, state.snapshot, edits),
    }),
    read: (entry) => (entry.kind === "file" ? objects.read(entry.hash) : Buffer.alloc(0)),
    put: (content) => {
      const name = hashBytes(content);
      objects.small(name, content);
      return name;
    },
  });
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
    conflicts: merge.conflicts.map((conflict) => describe(conflict, { context, merge: id, objects })),
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

function compare(objects: ObjectSource, from: RuledSnapshot, to: RuledSnapshot): Compared {
  const changes = provenChanges(objects, from, to);
  const proven = new Set<BytePath>(changes.map(({ path }) => path));
  const all = compareTrees(objects, from.snapshot, to.snapshot);
  return { changes, unknown: all.map(({ path }) => path).filter((path) => !proven.has(path)) };
}

function describe(
  conflict: SourceConflict,
  { context, merge, objects }: { context: Context; merge: string; objects: ObjectSource },
): MergeConflict {
  const { path, agents, severity, kind, facts, regions, options, proposal, otherPath } = conflict;
  return {
    id: context.system.newId(),
    merge,
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
    base: conflict.base ?? null,
    ours: conflict.ours ?? null,
    theirs: conflict.theirs ?? null,
    otherPath: otherPath ?? null,
    content: (version) => {
      const entry = conflict[version];
      return entry?.kind === "file" || entry?.kind === "symlink" ? objects.read(entry.hash) : null;
    },
    proposal,
  };
}
