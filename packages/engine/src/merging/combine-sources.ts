/** Merges the work of checkpoints into a state of the working copy, in memory. Nothing is stored or written. */
import { asSeen, type Context } from "../capture/context.ts";
import type { Present } from "../capture/look.ts";
import { Overlay } from "../capture/overlay.ts";
import { absenceProof, provenChanges, type RuledSnapshot } from "../capture/proven-changes.ts";
import { compareTrees, lookUp } from "../diff/compare-trees.ts";
import { editTree } from "../diff/edit-tree.ts";
import type { MergedChanges } from "../merge/change-set.ts";
import { mergeSources, type Compared, type MergedSources } from "../merge/merge-sources.ts";
import type { Syntax } from "../merge/syntax.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { OnConflict } from "../model/merge.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import { createGeneratedAttribute } from "../rules/generated-attribute.ts";
import type { ObjectSource } from "../store/object-store.ts";

/** Work to merge: what changed from where it began to where it is. */
export interface CombinedSource {
  readonly name: string;
  /** Where the histories have met several times, all the last places. */
  readonly bases: readonly Checkpoint[];
  readonly head: Checkpoint;
}

/** How to merge. */
export interface CombineOptions {
  readonly onConflict: OnConflict;
  readonly syntax: Syntax | undefined;
  /** Content that decisions are about and the store does not have. */
  readonly extra?: ReadonlyMap<ObjectHash, Buffer> | undefined;
  /** See `SourcesInput.settle`; `put` takes content and returns its name. */
  settle?(changes: MergedChanges, source: number, at: SettlePlace): MergedChanges;
}

/** Where decisions about conflicts are put in. */
export interface SettlePlace {
  /** The state that the source is merged onto. */
  readonly snapshot: ObjectHash;
  readonly objects: ObjectSource;
  put(content: Buffer): ObjectHash;
}

/** The result, where its content is, and the content that the merge itself made. */
export interface Combined extends MergedSources<RuledSnapshot> {
  readonly objects: ObjectSource;
  readonly made: ReadonlyMap<ObjectHash, Buffer>;
}

/** Merges the sources into the present, in their order. */
export function combineSources(
  context: Context,
  present: Present,
  {
    sources,
    onConflict,
    syntax,
    settle,
    extra = new Map(),
  }: CombineOptions & { readonly sources: readonly CombinedSource[] },
): Combined {
  const objects = new Overlay(present.objects, context.workingCopy.root);
  const made = new Map<ObjectHash, Buffer>(extra);
  for (const [name, content] of extra) objects.small(name, content);
  const isAbsent = absenceProof(objects, present);
  const put = (content: Buffer) => {
    const name = hashBytes(content);
    objects.small(name, content);
    made.set(name, content);
    return name;
  };
  const merge = mergeSources<RuledSnapshot>({
    ours: present,
    sources: sources.map(({ name, bases, head }) => ({
      name,
      bases: bases.map((base) => asSeen(context, base)),
      head: asSeen(context, head),
    })),
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
    put,
    ...(settle === undefined
      ? {}
      : { settle: (changes, source, { snapshot }) => settle(changes, source, { snapshot, objects, put }) }),
  });
  return { ...merge, objects, made };
}

function compare(objects: ObjectSource, from: RuledSnapshot, to: RuledSnapshot): Compared {
  const changes = provenChanges(objects, from, to);
  const proven = new Set<BytePath>(changes.map(({ path }) => path));
  const all = compareTrees(objects, from.snapshot, to.snapshot);
  return { changes, unknown: all.map(({ path }) => path).filter((path) => !proven.has(path)) };
}
