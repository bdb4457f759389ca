/** Merging as data: what was combined and how, what is left to decide, and why. Documented in docs/spec.md, "Merging". */
import type { BytePath } from "./byte-path.ts";
import type { Entry } from "./entry.ts";
import type { CheckpointId } from "./ids.ts";
import type { ChangeCounts, FileChange } from "./file-change.ts";
import type { Outcome, Plan } from "./plan.ts";

/** How much a conflict asks of the user: format only, logic without overlap, overlapping logic, broken code or intent. */
export type Severity = "low" | "medium" | "high" | "critical";

/** What two sides disagree about. `check`: the merged result did not pass the user's own command. */
export type MergeConflictKind =
  | "content"
  | "delete-modify"
  | "rename"
  | "type"
  | "binary"
  | "symlink"
  | "lock"
  | "generated"
  | "check";

/** How a conflict can be decided; `both` is ours and then theirs, or both files side by side. `merger`: what an agent made. */
export type MergeOption = "ours" | "theirs" | "both" | "base" | "proposal" | "merger" | "delete" | "keep";

/** What was taken: an option, other text from a file, an editor or a program, or something else in each region. */
export type MergeTake = MergeOption | "file" | "edit" | "regenerate" | "regions";

/** Who decided: the analysis, a merger agent, or a person. */
export type ResolvedBy = "auto" | "merger" | "user";

/** How a conflict was decided. */
export interface ConflictResolution {
  readonly by: ResolvedBy;
  readonly take: MergeTake;
  readonly explanation: string | null;
  readonly dropped: readonly DroppedLine[];
  readonly at: number;
}

/** `format`: one side changed the layout only. `disjoint`: the changes touch without excluding each other. */
export type RegionClass = "format" | "disjoint" | "overlap";

/** Lines `[start, end)` of one version, counted from 0. */
export type RegionLines = readonly [start: number, end: number];

/** One place of a file that both sides changed. */
export interface ConflictRegion {
  readonly class: RegionClass;
  readonly base: RegionLines;
  readonly ours: RegionLines;
  readonly theirs: RegionLines;
}

/** One thing that the analysis found out. */
export interface ConflictFact {
  readonly code:
    | "overlap"
    | "disjoint"
    | "format"
    | "syntax"
    | "name"
    | "module"
    | "deleted"
    | "renamed"
    | "similar"
    | "type"
    | "binary"
    | "symlink"
    | "too-large"
    | "lock"
    | "generated"
    | "notebook"
    | "no-base"
    | "check";
  /** Counted from 1: of a region in ours, of a name or module in what was merged; null where no line is meant. */
  readonly line: number | null;
  readonly detail: string;
}

/** A path that both sides changed and that nothing combines with certainty. Nothing is written before it is decided. */
export interface MergeConflict {
  readonly id: string;
  /** The merge it belongs to, and the source whose changes it is about. */
  readonly merge: string;
  readonly source: string;
  readonly path: BytePath;
  /** Whose changes meet: those on our side first. */
  readonly agents: readonly string[];
  readonly severity: Severity;
  /** False for every open conflict: what can be resolved without asking is merged already. */
  readonly autoResolvable: boolean;
  /** One sentence, made of the first fact. */
  readonly reason: string;
  readonly kind: MergeConflictKind;
  readonly reasons: readonly ConflictFact[];
  readonly regions: readonly ConflictRegion[];
  readonly options: readonly MergeOption[];
  readonly state: "open" | "resolved";
  /** Null while it is open. */
  readonly resolution: ConflictResolution | null;
  /** What was chosen for single regions so far, by their numbers, counted from 1. */
  readonly chosen: Readonly<Record<number, MergeOption>>;
  /** The three versions; null where the path is absent. */
  readonly base: Entry | null;
  readonly ours: Entry | null;
  readonly theirs: Entry | null;
  /** The other path of a rename. */
  readonly otherPath: BytePath | null;
  /** The bytes of a version, as they were when the preview was made; null where it has none. */
  readonly content: (version: "base" | "ours" | "theirs") => Buffer | null;
  /** What analysis would write, for the user or a merger to accept; null where it has nothing to offer. */
  readonly proposal: Buffer | null;
  /** What a merger agent made, for a person to take; null where none was asked. */
  readonly merger: MadeByMerger | null;
}

/** A merger's answer that a person may take: its content is null where it is gone. */
export interface MadeByMerger {
  readonly content: Buffer | null;
  readonly explanation: string;
  readonly dropped: readonly DroppedLine[];
}

/** A line that a resolution leaves out on purpose, or brings back. */
export interface DroppedLine {
  readonly side: "ours" | "theirs";
  readonly text: string;
  readonly reason: string;
}

/** What a resolution does not keep to. */
export interface ResolutionProblem {
  /** `marks`: conflict marks. `outside`: a change beside the conflict. `broken`: see severity. `lost`, `back`: a side's line. */
  readonly check: "marks" | "outside" | "broken" | "lost" | "back";
  /** Counted from 1, in the resolution; null where no line is meant. */
  readonly line: number | null;
  readonly detail: string;
}

/** A path that both sides changed and that was combined with certainty. */
export interface MergedPath {
  readonly path: BytePath;
  readonly severity: "low" | "medium";
  readonly how: "lines" | "format" | "rename" | "lock" | "generated";
  readonly agents: readonly string[];
}

/** A path that stays as it is on our side, although theirs changed it. */
export interface NotMerged {
  readonly path: BytePath;
  readonly reason: string;
}

/** What becomes of a source: all of it is merged, all of it is held back, or it has nothing new. */
export type SourceOutcome = "merged" | "held" | "unchanged";

/** One source of a merge. */
export interface MergeSource {
  readonly name: string;
  readonly base: readonly CheckpointId[];
  /** Null where it was dropped since. */
  readonly head: CheckpointId | null;
  readonly outcome: SourceOutcome;
  /** The newest run whose work is in it; null where no run is. */
  readonly run: string | null;
  /** Commits in the repository of its fork, which a merge leaves there; null where there are none. */
  readonly ownCommits: ForkCommits | null;
}

/** Commits that only the repository of a fork has. */
export interface ForkCommits {
  readonly commits: number;
  /** Where they can be fetched from. */
  readonly path: string;
  /** The branches and tags that lead to them. */
  readonly refs: readonly string[];
}

/**
 * What to do about a source with conflicts. `hold`: the others are merged, this one waits whole. `none`: nothing is
 * merged. `partial`: its clean paths are merged too.
 */
export type OnConflict = "hold" | "none" | "partial";

/** Who resolved how many conflicts; success means that none is open. */
export interface MergeResolution {
  readonly autoResolved: number;
  readonly mergerResolved: number;
  readonly userResolved: number;
  readonly success: boolean;
}

/** A command that tried the result of a merge. */
export interface MergeCheck {
  readonly command: readonly string[];
  /** The source whose addition made it fail; null where it passed. */
  readonly source: string | null;
  readonly exitCode: number;
  readonly durationMs: number;
}

/** What a check said about a state. */
export interface CheckRun {
  readonly command: readonly string[];
  readonly exitCode: number;
  readonly durationMs: number;
  /** What it printed. */
  readonly output: string;
}

/** The user's programs that look at a merge before it changes a file, each in a scratch copy. */
export interface MergePrograms {
  /** Tries a state; it passes with exit code 0. */
  readonly check?: ((directory: string) => Promise<CheckRun>) | undefined;
  /** Generates a file of the copy again and returns its content; undefined where that cannot be done. */
  readonly regenerate?:
    | ((directory: string, path: string, kind: "lock" | "generated") => Promise<Buffer | undefined>)
    | undefined;
}

/** `open`: conflicts are left to decide, or their decisions to apply. */
export type MergeState = "open" | "applied" | "abandoned";

/** A merge as it is recorded, or would be. */
export interface Merge {
  readonly id: string;
  readonly state: MergeState;
  /** The name of the branch that was merged into. */
  readonly into: string;
  readonly sources: readonly MergeSource[];
  readonly merged: readonly MergedPath[];
  /** Combined with certainty in sources that are held back: it comes in with them, and can be taken up before. */
  readonly clean: readonly MergedPath[];
  readonly conflicts: readonly MergeConflict[];
  readonly notMerged: readonly NotMerged[];
  readonly checks: readonly MergeCheck[];
  readonly resolution: MergeResolution;
  readonly createdAt: number;
}

/** The plan of a merge: what `apply` would do, source by source. */
export interface MergePlan extends Plan {
  readonly merge: Merge;
}

/** What applying a merge did, and what is left of it. */
export interface MergeOutcome extends Outcome {
  readonly merge: Merge;
}

/** What a merge would do to the working copy. Nothing of it is written. */
export interface MergePreview {
  readonly id: string;
  readonly sources: readonly Pick<MergeSource, "name" | "base" | "head" | "outcome">[];
  readonly merged: readonly MergedPath[];
  readonly conflicts: readonly MergeConflict[];
  readonly notMerged: readonly NotMerged[];
  readonly resolution: MergeResolution;
  /** What would change, file by file. */
  readonly files: readonly FileChange[];
  readonly changes: ChangeCounts;
}
