/**
 * Plans a merge of branches into the files here, or the rest of one whose conflicts are decided. All of it is known
 * before anything is written: the result, what each source brings, and what is left to decide.
 */
import type { Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { compareTrees } from "../diff/compare-trees.ts";
import { branchAt, findBranch } from "../history/branches.ts";
import { checkpointAt } from "../history/checkpoints.ts";
import { lastMet } from "../history/common-base.ts";
import { resolveCheckpoint } from "../history/references.ts";
import { branchHere, headSeq } from "../history/line.ts";
import {
  findMerge,
  listConflicts,
  listMerges,
  type ConflictRecord,
  type MergeRecord,
  type SourceRecord,
} from "../history/merge-rows.ts";
import type { PathConflict } from "../merge/change-set.ts";
import type { Syntax } from "../merge/syntax.ts";
import { ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import { EngineError } from "../model/errors.ts";
import type { CheckpointId } from "../model/ids.ts";
import type { ConflictFact, OnConflict } from "../model/merge.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { assertRootThere } from "../scan/root.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { combineSources } from "./combine-sources.ts";
import { sourceAt, stateAt, toRecord } from "./planned-source.ts";
import { settleConflicts } from "./settle-conflicts.ts";

/** How to merge branches. */
export interface PlanMergeOptions {
  readonly onConflict: OnConflict;
  readonly syntax: Syntax | undefined;
}

/** What programs said about a merge before it is carried out. */
export interface ProgramResults {
  /** Conflicts that were decided by generating a file again. */
  readonly generated: readonly ConflictRecord[];
  /** The content of those files. */
  readonly contents: ReadonlyMap<ObjectHash, Buffer>;
  /** Sources that a check refused, by their numbers, and why. */
  readonly refused: ReadonlyMap<number, ConflictFact>;
}

/** A merge that no program has looked at. */
export const NO_RESULTS: ProgramResults = {
  generated: [],
  contents: new Map(),
  refused: new Map(),
};

/** A planned merge, and where the content of its states is: some of it is only on disk. */
export interface TriableMerge {
  readonly merge: PlannedMerge;
  readonly objects: ObjectSource;
  /** What the rules leave out of the files as they are. */
  readonly excluded: readonly ExcludedRoot[];
}

/** A merge that is planned and not carried out. Plain data, so that another process can carry it out. */
export interface PlannedMerge {
  /** What will be recorded. */
  readonly record: MergeRecord;
  /** The snapshot that it was planned on. */
  readonly base: ObjectHash;
  /** What was recorded of this merge, and of open merges of its sources, when it was planned: see `recordedOf`. */
  readonly recorded: string;
  /** From that snapshot to the result. */
  readonly edits: readonly Edit[];
  /** What each source brings, by its number in the record. */
  readonly parts: readonly { readonly source: number; readonly edits: readonly Edit[] }[];
  /** Content that the merge made. */
  readonly made: ReadonlyMap<ObjectHash, Buffer>;
}

/** The sources of a new merge, by the names of their branches; `states`: see `BranchMergeOptions`. */
export function sourcesOf(
  context: Context,
  names: readonly string[],
  states: ReadonlyMap<string, CheckpointId> = new Map(),
): SourceRecord[] {
  const { db } = context.store;
  const here = branchHere(db);
  const rows = names.map((name) => findBranch(db, name));
  const own = rows.find(({ id }) => id === here);
  if (own !== undefined)
    throw new EngineError(
      "BRANCH_IN_USE",
      `The files here are on "${own.name}": a branch is not merged into itself. Nothing was changed.`,
      { branch: own.name, path: null },
    );
  refuseOpen(
    context,
    rows.map(({ id }) => id),
  );
  return [...new Map(rows.map((row) => [row.id, row])).values()].map(({ id, name }) => {
    const bases = lastMet(db, { source: id, target: here });
    const state = states.get(name);
    const wanted = state === undefined ? undefined : resolveCheckpoint(db, state).seq;
    // what was merged already would be taken out again
    const isNew = wanted !== undefined && bases.every((base) => base <= wanted);
    return {
      branch: id,
      bases,
      head: isNew ? wanted : headSeq(db, id),
      outcome: "unchanged",
      checkpoint: null,
      step: null,
      takenOutBy: null,
    };
  });
}

/** A branch of which a merge is open would be merged twice. */
function refuseOpen({ store: { db } }: Context, branches: readonly number[]): void {
  for (const { id, sources } of listMerges(db, { into: branchHere(db), state: "open" })) {
    const held = sources.find(({ branch, outcome }) => outcome === "held" && branches.includes(branch));
    if (held === undefined) continue;
    const open = listConflicts(db, id).filter(({ state }) => state === "open").length;
    throw new EngineError(
      "MERGE_OPEN",
      `A merge of "${branchAt(db, held.branch).name}" is open${open === 0 ? "" : `, with ${open} conflict${open === 1 ? "" : "s"} to decide`}. Nothing was changed.`,
      { merge: id, open },
    );
  }
}

/**
 * What is recorded of a merge and of open merges of its sources, as one text. It is another one as soon as the merge is
 * given up, a decision is taken back, or a source is merged a second time.
 */
export function recordedOf({ store: { db } }: Context, { id, into, sources }: MergeRecord): string {
  const branches = sources.map(({ branch }) => branch);
  const rows = listMerges(db, { into }).filter(
    (merge) =>
      merge.id === id ||
      (merge.state === "open" &&
        merge.sources.some(({ branch, outcome }) => outcome === "held" && branches.includes(branch))),
  );
  return JSON.stringify(
    rows.map((merge) => [
      merge.id,
      merge.state,
      merge.sources,
      listConflicts(db, merge.id).map((conflict) => [conflict.id, conflict.state, conflict.result]),
    ]),
  );
}

/** The paths that sources changed, as bytes: what the languages of a merge are known by. */
export function pathsOfSources(context: Context, sources: readonly SourceRecord[]): BytePath[] {
  const { db, objects } = context.store;
  return sources.flatMap(({ bases, head }) => {
    const [from, to] = [stateAt(context, bases[0]!), checkpointAt(db, head)!];
    return compareTrees(objects, from.snapshot, to.snapshot).map(({ path }) => path);
  });
}

/** Plans a merge of new sources. */
export function planMerge(
  context: Context,
  sources: readonly SourceRecord[],
  options: PlanMergeOptions & { readonly results?: ProgramResults },
): TriableMerge {
  const { store, system } = context;
  const record = {
    id: system.newId(),
    into: branchHere(store.db),
    intoHead: headSeq(store.db),
    onConflict: options.onConflict,
    sources,
    merged: [],
    clean: [],
    notMerged: [],
    checks: [],
    conflicts: [],
    createdAt: system.now(),
  };
  const { results = NO_RESULTS } = options;
  return plan(context, { record, options, known: [], numbers: [...sources.keys()], results });
}

/** A merge that waits, into the branch that the files here are on; throws `MERGE_NOT_FOUND`. */
export function openHere({ store: { db } }: Context, id: string): Omit<MergeRecord, "conflicts"> {
  const { state, ...merge } = findMerge(db, id);
  if (state !== "open")
    throw new EngineError("MERGE_NOT_FOUND", `The merge "${id}" is not open. Nothing was changed.`, {
      merge: id,
    });
  if (merge.into !== branchHere(db))
    throw new EngineError(
      "MERGE_NOT_FOUND",
      `The merge "${id}" is into "${branchAt(db, merge.into).name}", and the files here are on "${branchAt(db, branchHere(db)).name}". Nothing was changed.`,
      { merge: id },
    );
  return merge;
}

/** How the rest of a merge is planned. */
export interface PlanRestOptions {
  readonly syntax: Syntax | undefined;
  readonly results?: ProgramResults;
  /** Leave out sources of which a conflict is open, instead of refusing. */
  readonly decidedOnly?: boolean;
}

/** Plans what is left of a merge whose conflicts are all decided; throws `MERGE_OPEN` while one is not. */
export function planRest(
  context: Context,
  id: string,
  { syntax, results = NO_RESULTS, decidedOnly = false }: PlanRestOptions,
): TriableMerge {
  const { db } = context.store;
  const merge = openHere(context, id);
  const isGenerated = ({ id: own }: ConflictRecord) => results.generated.some((each) => each.id === own);
  const known = listConflicts(db, id).filter((conflict) => !isGenerated(conflict));
  const isOpen = ({ state: its }: ConflictRecord) => its === "open";
  const open = decidedOnly ? 0 : known.filter(isOpen).length;
  if (open > 0)
    throw new EngineError(
      "MERGE_OPEN",
      `${open} conflict${open === 1 ? " is" : "s are"} not decided yet. Nothing was changed.`,
      { merge: id, open },
    );
  const undecided = new Set(known.filter(isOpen).map(({ sourceBranch }) => sourceBranch));
  const numbers = merge.sources.flatMap(({ outcome, branch }, number) =>
    outcome === "held" && !undecided.has(branch) ? [number] : [],
  );
  return plan(context, {
    record: { ...merge, conflicts: [] },
    options: { onConflict: "hold", syntax },
    known: known.filter((conflict) => !isOpen(conflict)),
    numbers,
    results,
  });
}

interface PlanWork {
  readonly record: MergeRecord;
  readonly options: PlanMergeOptions;
  /** Conflicts that were decided. */
  readonly known: readonly ConflictRecord[];
  /** Which of the sources are merged now. */
  readonly numbers: readonly number[];
  readonly results: ProgramResults;
}

function plan(context: Context, work: PlanWork): TriableMerge {
  const { record, options, numbers, results } = work;
  const known = [...work.known, ...results.generated];
  assertRootThere(context.workingCopy.root);
  const sources = numbers.map((number) => sourceAt(context, record.sources[number]!, number));
  const present = lookNow(context);
  const merge = combineSources(context, present, {
    ...options,
    sources,
    extra: results.contents,
    settle: (changes, at, place) => {
      const { branch, head, number } = sources[at]!;
      const resolved = known.filter(({ sourceBranch }) => sourceBranch === branch);
      const settled = settleConflicts(changes, resolved, { ...place, head: head.snapshot });
      const reason = results.refused.get(number);
      return reason === undefined
        ? settled
        : { ...settled, conflicts: [...settled.conflicts, refusedByCheck(reason)] };
    },
  });
  const made = new Map(merge.made);
  const conflicts = merge.conflicts
    .map((conflict) =>
      toRecord(context, conflict, { record, source: sources[conflict.source]!, merge, made, known }),
    )
    .toSorted((a, b) => (a.path === b.path ? 0 : a.path < b.path ? -1 : 1));
  const states = [present, ...merge.states];
  const parts = sources.flatMap(({ number }, at) => {
    const edits = compareTrees(merge.objects, states[at]!.snapshot, states[at + 1]!.snapshot);
    return merge.outcomes[at] === "merged" || edits.length > 0 ? [{ source: number, edits }] : [];
  });
  const outcomes = new Map(numbers.map((number, at) => [number, merge.outcomes[at]!]));
  const planned: PlannedMerge = {
    record: {
      ...record,
      sources: record.sources.map((source, number) => ({
        ...source,
        // what was held and is equal by now has come in
        outcome: asContinued(source, outcomes.get(number)),
      })),
      merged: [...record.merged, ...merge.merged],
      clean: merge.clean,
      notMerged: [...record.notMerged, ...merge.notMerged],
      conflicts,
    },
    base: present.snapshot,
    recorded: recordedOf(context, record),
    edits: compareTrees(merge.objects, present.snapshot, merge.result.snapshot),
    parts: withHeldThatEnded(record, outcomes, parts),
    made,
  };
  return { merge: planned, objects: merge.objects, excluded: present.excludedRoots };
}

/** The whole source is in question, not a path of it. */
function refusedByCheck(reason: ConflictFact): PathConflict {
  return {
    taken: false,
    path: ROOT_PATH,
    kind: "check",
    severity: "critical",
    facts: [reason],
    regions: [],
    options: ["theirs"],
    proposal: null,
    base: undefined,
    ours: undefined,
    theirs: undefined,
  };
}

function asContinued(
  source: SourceRecord,
  now: SourceRecord["outcome"] | undefined,
): SourceRecord["outcome"] {
  if (now === undefined) return source.outcome;
  return source.outcome === "held" && now === "unchanged" ? "merged" : now;
}

/** A source that was held back and brings nothing now still has a checkpoint: from then on it counts as merged. */
function withHeldThatEnded(
  record: MergeRecord,
  outcomes: ReadonlyMap<number, SourceRecord["outcome"]>,
  parts: PlannedMerge["parts"],
): PlannedMerge["parts"] {
  const ended = record.sources.flatMap(({ outcome }, source) =>
    outcome === "held" && outcomes.get(source) === "unchanged" ? [{ source, edits: [] }] : [],
  );
  return [...parts, ...ended].sort((a, b) => a.source - b.source);
}
