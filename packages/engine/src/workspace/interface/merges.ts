/** The part of a workspace that brings work from elsewhere into the working copy. */
import type {
  DroppedLine,
  Merge,
  MergeConflict,
  MergeOption,
  MergeOutcome,
  MergePlan,
  MergePrograms,
  MergePreview,
  MergeTake,
  OnConflict,
  ResolutionProblem,
  ResolvedBy,
} from "../../model/merge.ts";
import type { BytePath } from "../../model/byte-path.ts";
import type { CheckpointId } from "../../model/ids.ts";
import type { Syntax } from "../../merge/syntax.ts";
import type { MergeOptions, MergeRequestSource } from "../../queries/preview-merge.ts";
import type { TriedChoice, TriedDecision } from "../../queries/try-decision.ts";

/** How to merge branches. */
export interface BranchMergeOptions {
  /** "hold" unless another is chosen. */
  readonly onConflict?: OnConflict;
  /** What knows the languages of the files; without it, only lines count. */
  readonly syntax?: Syntax;
  /** Tell readers of events that a merge is planned. */
  readonly announce?: boolean;
  /** Programs that look at the result, in scratch copies, before it is planned for good. */
  readonly programs?: MergePrograms | undefined;
  /** The states that sources are merged as, by their names; without one, the newest of the branch. An older one than the last merge took counts for nothing. */
  readonly states?: ReadonlyMap<string, CheckpointId>;
}

/** How a conflict is decided. */
export type ConflictChoice = (
  | {
      readonly take: MergeOption;
      /** Only this region, counted from 1. */
      readonly region?: number;
    }
  | {
      /** Other content. */
      readonly content: Buffer;
      /** How it came about; defaults to "edit". */
      readonly take?: MergeTake;
    }
) & {
  readonly by?: ResolvedBy;
  readonly explanation?: string;
  readonly dropped?: readonly DroppedLine[];
  readonly syntax?: Syntax;
};

/** A decision that was recorded. */
export interface ResolvedConflict {
  readonly conflict: MergeConflict;
  /** What the text does not keep to; nothing was refused for it. */
  readonly warnings: readonly ResolutionProblem[];
  /** How many conflicts of the merge are left to decide. */
  readonly open: number;
}

/** What a workspace can do with the work of other branches. */
export interface Merging {
  /**
   * Plans a merge of branches, in the order of their names, into the files as they are now. What forks have and no
   * checkpoint is captured first; apart from that nothing is stored or written before `merge`. Throws `BRANCH_NOT_FOUND`, and `MERGE_OPEN` while a merge of one of them waits for decisions.
   */
  planMerge(sources: readonly string[], options?: BranchMergeOptions): Promise<MergePlan>;
  /** Carries a plan out: one step, one undo. Throws `PLAN_STALE` when the files changed since. */
  merge(plan: MergePlan): Promise<MergeOutcome>;
  /** The conflicts of a merge, or of all that are open. */
  conflicts(merge?: string): Promise<MergeConflict[]>;
  /** Decides a conflict. No file is touched: `merges.planRest` applies what was decided. Throws `ANSWER_REFUSED`. */
  resolve(conflict: string, choice: ConflictChoice): Promise<ResolvedConflict>;
  /** Takes a decision back. */
  reopen(conflict: string): Promise<MergeConflict>;
  /** Gives a merge up. What it brought stays, what was held back is as if it had not been tried. */
  abandonMerge(id: string): Promise<Merge>;
}

/** Merges and conflicts one by one, and what deciding them needs; `workspace.merges`. */
export interface Merges {
  /**
   * What merging the sources into the files as they are now would do, source by source in the order given: what is
   * certain, what conflicts and why. Nothing is stored or written.
   */
  preview(sources: readonly MergeRequestSource[], options?: MergeOptions): Promise<MergePreview>;
  /** Plans what is left of a merge whose conflicts are all decided; throws `MERGE_OPEN` while one is not. */
  planRest(merge: string, options?: Pick<BranchMergeOptions, "syntax" | "programs">): Promise<MergePlan>;
  /**
   * Generates files of an open merge again, whose conflicts are of kind `lock` or `generated`, and decides those
   * conflicts; those of a source of which anything else is open stay. Returns the ones that were decided.
   */
  regenerate(
    merge: string,
    options: Pick<BranchMergeOptions, "syntax"> & Required<Pick<MergePrograms, "regenerate">>,
  ): Promise<ResolvedConflict[]>;
  /** Runs work in a scratch copy of what an open merge would lead to with these answers to its conflicts. */
  tryAnswers<Result>(
    merge: string,
    answers: ReadonlyMap<string, Buffer>,
    work: (directory: string) => Promise<Result>,
  ): Promise<Result>;
  /** Merges, newest first; conflicts included. */
  list(): Promise<Merge[]>;
  /** One merge; throws `MERGE_NOT_FOUND`. */
  show(merge: string): Promise<Merge>;
  /**
   * One conflict by its id, the beginning of it, or the path of one into the branch here; throws `CONFLICT_NOT_FOUND`,
   * and `CONFLICT_AMBIGUOUS` where several match.
   */
  conflict(ref: string): Promise<MergeConflict>;
  /** What a decision would come to. Nothing is recorded. Throws `ANSWER_REFUSED`. */
  tryOut(conflict: string, choice: TriedChoice): Promise<TriedDecision>;
  /** Keeps what a merger agent made as the option `merger`; nothing is decided by it. */
  offer(
    conflict: string,
    made: {
      readonly content: Buffer;
      readonly explanation: string;
      readonly dropped: readonly DroppedLine[];
    },
  ): Promise<MergeConflict>;
  /**
   * Takes up a path that a source which is held back combines by itself: a conflict from then on, decided as it was
   * combined, which `workspace.resolve` decides otherwise. No file is touched. Throws `CONFLICT_NOT_FOUND` where nothing is
   * combined there.
   */
  takeUp(merge: string, path: BytePath, options?: Pick<BranchMergeOptions, "syntax">): Promise<MergeConflict>;
  /** The checkpoint that brought a branch into the files here, which `revert` takes out; null when it is not in them. */
  broughtBy(branch: string): Promise<CheckpointId | null>;
  /** The mechanical merge of a conflict with marks at what is left to decide. */
  marked(conflict: string): Promise<Buffer>;
}
