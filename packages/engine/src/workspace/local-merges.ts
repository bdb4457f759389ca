/** Merging in a workspace of this process. */
import { broughtBy } from "../merging/brought-by.ts";
import {
  abandonMerge,
  decide,
  findConflict,
  offer,
  reopen,
  type Offer,
} from "../merging/decide-conflicts.ts";
import { describeConflict, describeMerge, describePlanned } from "../merging/describe-merge.ts";
import {
  NO_RESULTS,
  pathsOfSources,
  planMerge,
  planRest,
  sourcesOf,
  type PlannedMerge,
  type TriableMerge,
} from "../merging/plan-merge.ts";
import { takeUp } from "../merging/take-up.ts";
import {
  generateFor,
  isMadeByProgram,
  stateAfter,
  tryMerge,
  withGenerated,
  type MergeTrial,
} from "../merging/try-merge.ts";
import type { Scratch, ScratchState } from "../fork/scratch.ts";
import { versionsOf } from "../merging/resolution-result.ts";
import { branchAt, findBranch, otherCopyOn } from "../history/branches.ts";
import { appendEvent } from "../history/events.ts";
import { findMerge, listConflicts, listMerges } from "../history/merge-rows.ts";
import { markedText } from "../merge/resolve-regions.ts";
import type { Syntax } from "../merge/syntax.ts";
import { displayPath, type BytePath } from "../model/byte-path.ts";
import type { CheckpointId } from "../model/ids.ts";
import type {
  Merge,
  MergeConflict,
  MergeOutcome,
  MergePlan,
  MergePreview,
  MergePrograms,
} from "../model/merge.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Outcome, Plan } from "../model/plan.ts";
import {
  pathsToMerge,
  previewMerge,
  type MergeOptions,
  type MergeRequestSource,
} from "../queries/preview-merge.ts";
import { tryDecision, type TriedChoice, type TriedDecision } from "../queries/try-decision.ts";
import { isRootThere } from "../scan/root.ts";
import type { WorkingCopies } from "./create-context.ts";
import type {
  BranchMergeOptions,
  ConflictChoice,
  Merges,
  Merging,
  ResolvedConflict,
} from "./interface/merges.ts";
import type { Runner } from "./runner.ts";
import type { WayRequest } from "./way-request.ts";

/** How a plan is made of a request, and carried out. */
export interface PlanKeeper {
  plan(request: WayRequest): Promise<Plan>;
  restore(plan: Plan): Promise<Outcome>;
  /** Opens another working copy of the same store; undefined for a store in memory, which has one. */
  readonly openCopy?: WorkingCopies["open"] | undefined;
  /** Writes a state into a scratch copy. */
  scratch(state: ScratchState): Promise<Scratch>;
}

/** Each method of `Merges` and `Merging`, in terms of the layers below. */
export class LocalMerges implements Merges, Merging {
  readonly #runner: Runner;
  readonly #plans: PlanKeeper;

  constructor(runner: Runner, plans: PlanKeeper) {
    this.#runner = runner;
    this.#plans = plans;
  }

  async preview(sources: readonly MergeRequestSource[], options: MergeOptions = {}): Promise<MergePreview> {
    const { context } = this.#runner;
    await options.syntax?.load(this.#runner.read(() => pathsToMerge(context, sources)));
    return this.#runner.look(() => previewMerge(context, sources, options));
  }

  async planMerge(branches: readonly string[], options: BranchMergeOptions = {}): Promise<MergePlan> {
    const { context } = this.#runner;
    const { onConflict = "hold", syntax } = options;
    await this.#captureElsewhere(branches);
    const sources = this.#runner.read(() => sourcesOf(context, branches, options.states));
    await this.#load(syntax, () => pathsOfSources(context, sources));
    const { merge } = await this.#tried(options, new Set(), (results) =>
      this.#runner.look(() => planMerge(context, sources, { onConflict, syntax, results })),
    );
    if (options.announce === true) this.#announce(merge);
    return this.#keep(merge);
  }

  async planRest(
    merge: string,
    options: Pick<BranchMergeOptions, "syntax" | "programs"> = {},
  ): Promise<MergePlan> {
    const { context, db } = this.#runner;
    const { syntax } = options;
    await this.#load(syntax, () => pathsOfSources(context, findMerge(db, merge).sources));
    const accepted = listConflicts(db, merge).filter(
      ({ kind, state }) => kind === "check" && state !== "open",
    );
    const planned = await this.#tried(
      options,
      new Set(accepted.map(({ sourceBranch }) => sourceBranch)),
      (results) => this.#runner.look(() => planRest(context, merge, { syntax, results })),
    );
    return this.#keep(planned.merge);
  }

  async regenerate(
    merge: string,
    { syntax, regenerate }: Parameters<Merges["regenerate"]>[1],
  ): Promise<ResolvedConflict[]> {
    const { context, db } = this.#runner;
    await this.#load(syntax, () => pathsOfSources(context, findMerge(db, merge).sources));
    const trial = this.#trial({ regenerate }, new Set(), (results) =>
      this.#runner.look(() => planRest(context, merge, { syntax, results, decidedOnly: true })),
    );
    const bySource = Map.groupBy(
      listConflicts(db, merge).filter(isMadeByProgram),
      (each) => each.sourceBranch,
    );
    const decided: ResolvedConflict[] = [];
    let results = NO_RESULTS;
    for (const conflicts of bySource.values()) {
      const made = await generateFor(trial, results, conflicts);
      results = withGenerated(results, made);
      for (const { conflict, content } of made)
        decided.push(await this.resolve(conflict.id, { content, take: "regenerate", by: "auto" }));
    }
    return decided;
  }

  async tryAnswers<Result>(
    merge: string,
    answers: ReadonlyMap<string, Buffer>,
    work: (directory: string) => Promise<Result>,
  ): Promise<Result> {
    const { context, db } = this.#runner;
    const made = listConflicts(db, merge).flatMap((conflict) => {
      const content = answers.get(conflict.id);
      return content === undefined ? [] : [{ conflict, content }];
    });
    const results = withGenerated(NO_RESULTS, made);
    const planned = await this.#runner.look(() =>
      planRest(context, merge, { syntax: undefined, results, decidedOnly: true }),
    );
    const state = stateAfter(context, planned, planned.merge.parts.length);
    return this.#inScratch(state, work);
  }

  async merge(plan: MergePlan): Promise<MergeOutcome> {
    const outcome = await this.#plans.restore(plan);
    return { ...outcome, merge: describeMerge(this.#runner.context, plan.merge.id) ?? plan.merge };
  }

  async list(): Promise<Merge[]> {
    const { context, db } = this.#runner;
    return listMerges(db).map(({ id }) => describeMerge(context, id)!);
  }

  async show(merge: string): Promise<Merge> {
    const { context, db } = this.#runner;
    return describeMerge(context, findMerge(db, merge).id)!;
  }

  async conflicts(merge?: string): Promise<MergeConflict[]> {
    const { context, db } = this.#runner;
    if (merge !== undefined) findMerge(db, merge);
    return listConflicts(db, merge).map((conflict) => describeConflict(context, conflict, this.#read));
  }

  async conflict(ref: string): Promise<MergeConflict> {
    const { context } = this.#runner;
    return describeConflict(context, findConflict(context, ref), this.#read);
  }

  async resolve(ref: string, choice: ConflictChoice): Promise<ResolvedConflict> {
    const { context } = this.#runner;
    await choice.syntax?.load([displayPath(findConflict(context, ref).path)]);
    const { conflict, ...rest } = this.#runner.read(() => decide(context, ref, choice));
    this.#runner.events.wake();
    return { ...rest, conflict: describeConflict(context, conflict, this.#read) };
  }

  async tryOut(ref: string, choice: TriedChoice): Promise<TriedDecision> {
    const { context } = this.#runner;
    await choice.syntax?.load([displayPath(findConflict(context, ref).path)]);
    return this.#runner.read(() => tryDecision(context, ref, choice));
  }

  async offer(ref: string, made: Offer): Promise<MergeConflict> {
    const { context } = this.#runner;
    return describeConflict(
      context,
      this.#runner.read(() => offer(context, ref, made)),
      this.#read,
    );
  }

  async takeUp(
    merge: string,
    path: BytePath,
    { syntax }: Pick<BranchMergeOptions, "syntax"> = {},
  ): Promise<MergeConflict> {
    const { context, db } = this.#runner;
    await this.#load(syntax, () => pathsOfSources(context, findMerge(db, merge).sources));
    const conflict = await this.#runner.look(() => takeUp(context, { merge, path, syntax }));
    return describeConflict(context, conflict, this.#read);
  }

  async reopen(ref: string): Promise<MergeConflict> {
    const { context } = this.#runner;
    const conflict = reopen(context, ref);
    this.#runner.events.wake();
    return describeConflict(context, conflict, this.#read);
  }

  async broughtBy(branch: string): Promise<CheckpointId | null> {
    return broughtBy(this.#runner.context, branch)?.id ?? null;
  }

  async marked(ref: string): Promise<Buffer> {
    const { context, db } = this.#runner;
    const conflict = findConflict(context, ref);
    const versions = this.#runner.read(() => versionsOf(conflict, { read: this.#read }));
    const [into, source] = [findMerge(db, conflict.merge).into, conflict.sourceBranch];
    return markedText(versions, { ours: branchAt(db, into).name, theirs: branchAt(db, source).name });
  }

  async abandonMerge(merge: string): Promise<Merge> {
    const { context } = this.#runner;
    abandonMerge(context, merge);
    this.#runner.events.wake();
    return describeMerge(context, merge)!;
  }

  readonly #read = (hash: ObjectHash): Buffer => this.#runner.context.store.objects.read(hash);

  #tried(
    { programs = {} }: Pick<BranchMergeOptions, "programs">,
    accepted: ReadonlySet<number>,
    plan: MergeTrial["plan"],
  ): Promise<TriableMerge> {
    return tryMerge(this.#trial(programs, accepted, plan));
  }

  #trial(programs: MergePrograms, accepted: ReadonlySet<number>, plan: MergeTrial["plan"]): MergeTrial {
    const { context } = this.#runner;
    return { context, programs, accepted, plan, inScratch: (state, work) => this.#inScratch(state, work) };
  }

  async #inScratch<Result>(
    state: ScratchState,
    work: (directory: string) => Promise<Result>,
  ): Promise<Result> {
    const scratch = await this.#plans.scratch(state);
    try {
      return await work(scratch.path);
    } finally {
      await scratch.close();
    }
  }

  async #load(syntax: Syntax | undefined, pathsOf: () => ReturnType<typeof pathsOfSources>): Promise<void> {
    if (syntax !== undefined) await syntax.load(this.#runner.read(pathsOf).map(displayPath));
  }

  /** What was written in another working copy and no checkpoint has yet belongs to its branch too. */
  async #captureElsewhere(branches: readonly string[]): Promise<void> {
    const { db } = this.#runner;
    for (const name of branches) {
      const copy = otherCopyOn(db, findBranch(db, name).id);
      if (copy === undefined || this.#plans.openCopy === undefined || !isRootThere(copy.root)) continue;
      await using opened = this.#plans.openCopy(copy);
      await opened.checkpoint({ kind: "safety", description: "Before merge" });
    }
  }

  #announce({ record }: PlannedMerge): void {
    const { db, context } = this.#runner;
    const data = {
      merge: record.id,
      sources: record.sources.map(({ branch }) => branchAt(db, branch).name),
      open: record.conflicts.length,
    };
    const at = context.system.now();
    db.transaction(() => appendEvent(db, { type: "merge_planned", thread: null, at, data }));
    this.#runner.events.wake();
  }

  async #keep(merge: PlannedMerge): Promise<MergePlan> {
    const plan = await this.#plans.plan({ way: "merge", request: { merge } });
    return { ...plan, merge: describePlanned(this.#runner.context, merge, this.#read) };
  }
}
