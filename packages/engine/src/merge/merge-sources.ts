/**
 * Merges several sources, in their order, each onto the result of those before it. [R95] A source is merged whole or
 * held back whole; nothing is written here, so a merge that is given up leaves no trace.
 */
import type { BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import type { MergedPath, NotMerged, OnConflict, SourceOutcome } from "../model/merge.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import type { MergedChanges, PathConflict } from "./change-set.ts";
import { mergeChanges } from "./merge-changes.ts";
import type { Syntax } from "./syntax.ts";

/** What differs between two states, and what one of them says nothing about. */
export interface Compared {
  readonly changes: readonly Edit[];
  readonly unknown: readonly BytePath[];
}

/** One source: what changed from its base to its head. Several bases are all equally good. */
export interface Source<State> {
  readonly name: string;
  readonly bases: readonly State[];
  readonly head: State;
}

/** The states to merge and how to look into them. */
export interface SourcesInput<State> {
  readonly ours: State;
  readonly sources: readonly Source<State>[];
  readonly onConflict: OnConflict;
  readonly syntax: Syntax | undefined;
  compare(from: State, to: State): Compared;
  /** True when a path that our state lacks was truly absent. */
  isAbsent(path: BytePath, other: Entry): boolean;
  /** The state that results from edits. */
  edit(state: State, edits: readonly Edit[]): State;
  read(entry: Entry): Buffer;
  put(content: Buffer): ObjectHash;
  /** True for files that the project itself calls generated. */
  isGenerated?(path: BytePath): boolean;
  /** What was decided already about conflicts of a source, put in their place; `state` is what it is merged onto. */
  settle?(changes: MergedChanges, source: number, state: State): MergedChanges;
}

/** A conflict, the number of its source, and whose changes meet there. */
export type SourceConflict = PathConflict & { readonly source: number; readonly agents: readonly string[] };

/** What became of all sources. */
export interface MergedSources<State> {
  readonly result: State;
  /** The state after each source; of one that was held back, the state before it. */
  readonly states: readonly State[];
  /** The state that each source was merged onto. */
  readonly onto: readonly State[];
  readonly outcomes: readonly SourceOutcome[];
  readonly merged: readonly MergedPath[];
  /** What is combined already in sources that are held back, and comes in with them. */
  readonly clean: readonly MergedPath[];
  readonly conflicts: readonly SourceConflict[];
  readonly notMerged: readonly NotMerged[];
}

/** What the sides are called where no agent is named. */
const OWN_NAME = "you";

/** Merges the sources into our state. */
export function mergeSources<State>(input: SourcesInput<State>): MergedSources<State> {
  const outcomes: SourceOutcome[] = [];
  const merged: MergedPath[] = [];
  const clean: MergedPath[] = [];
  const conflicts: SourceConflict[] = [];
  const notMerged: NotMerged[] = [];
  const states: State[] = [];
  const onto: State[] = [];
  const authors = new Map<BytePath, string[]>();
  let result = input.ours;
  for (const [number, source] of input.sources.entries()) {
    const { changes: found, touched, agentsOf } = mergeSource(input, source, { result, authors });
    const changes = input.settle?.(found, number, result) ?? found;
    for (const conflict of changes.conflicts)
      conflicts.push({ ...conflict, source: number, agents: agentsOf(conflict) });
    const isRefused = changes.conflicts.some(({ kind }) => kind === "check");
    const isHeld = changes.conflicts.length > 0 && (isRefused || input.onConflict !== "partial");
    outcomes.push(touched.length === 0 ? "unchanged" : changes.conflicts.length > 0 ? "held" : "merged");
    states.push(result);
    onto.push(result);
    const list = isHeld ? clean : merged;
    for (const each of changes.merged) {
      const { otherPath } = changes.combined.get(each.path) ?? {};
      list.push({ ...each, agents: agentsOf({ path: each.path, otherPath }) });
    }
    if (isHeld) continue;
    notMerged.push(...changes.notMerged);
    result = input.edit(result, changes.edits);
    states[number] = result;
    for (const { path } of changes.edits) authors.set(path, [...(authors.get(path) ?? []), source.name]);
  }
  if (input.onConflict !== "none" || conflicts.length === 0)
    return { result, states, onto, outcomes, merged, clean, conflicts, notMerged };
  const held = outcomes.map((outcome) => (outcome === "merged" ? "held" : outcome));
  const untouched = states.map(() => input.ours);
  return {
    result: input.ours,
    states: untouched,
    onto,
    outcomes: held,
    merged: [],
    clean: [...merged, ...clean],
    conflicts,
    notMerged: [],
  };
}

function mergeSource<State>(
  input: SourcesInput<State>,
  { name, bases, head }: Source<State>,
  { result, authors }: { result: State; authors: ReadonlyMap<BytePath, readonly string[]> },
): {
  changes: MergedChanges;
  touched: readonly Edit[];
  agentsOf: (of: { path: BytePath; otherPath?: BytePath | undefined }) => string[];
} {
  const [base, ...others] = bases as [State, ...State[]];
  const [ours, theirs] = [input.compare(base, result), input.compare(base, head)];
  const own = new Set(input.compare(base, input.ours).changes.map(({ path }) => path));
  const changes = mergeChanges({
    ours: ours.changes,
    theirs: theirs.changes,
    unknown: unknownPaths(input, { ours, theirs, name }),
    ambiguous: others.flatMap((other) => input.compare(base, other).changes),
    read: (entry) => input.read(entry),
    put: (content) => input.put(content),
    syntax: input.syntax,
    isGenerated: (path) => input.isGenerated?.(path) === true,
  });
  return {
    changes,
    touched: theirs.changes,
    agentsOf: ({ path, otherPath = path }) => {
      const isOwn = own.has(path) || own.has(otherPath);
      const earlier = [path, otherPath].flatMap((each) => authors.get(each) ?? []);
      return [...new Set([...(isOwn ? [OWN_NAME] : []), ...earlier, name])];
    },
  };
}

/** [R12] What the rules of a side leave out is neither new nor gone there. */
function unknownPaths<State>(
  input: SourcesInput<State>,
  { ours, theirs, name }: { ours: Compared; theirs: Compared; name: string },
): Map<BytePath, string> {
  const [leftOut, changed] = [new Set(ours.unknown), new Set(ours.changes.map(({ path }) => path))];
  const unseen = theirs.changes.filter(
    ({ path, from, to }) =>
      leftOut.has(path) ||
      (from === undefined && to !== undefined && !changed.has(path) && !input.isAbsent(path, to)),
  );
  return new Map([
    ...unseen.map(({ path }) => [path, "the rules here leave it out"] as const),
    ...theirs.unknown.map((path) => [path, `the rules of ${name} leave it out`] as const),
  ]);
}
