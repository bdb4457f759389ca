/**
 * Conflicts as a person decides them: who changed what, both sides, the options. Undo, redo and reset ask this way, and
 * so does a merge of parallel agents, which names its sides after the agents and brings proposals as further options.
 */

/** How hard a conflict is. High: the same lines. Critical: it cannot be merged, or would not parse. */
export type Severity = "low" | "medium" | "high" | "critical";

/** One way to decide a conflict. */
export interface ConflictOption {
  readonly id: string;
  readonly text: string;
  /** The lines that the option leads to; undefined: they are not known before it was chosen. */
  readonly result?: readonly string[];
}

/** What stands on one side. */
export interface ConflictSide {
  readonly title: string;
  readonly lines: readonly string[];
}

/** One conflict, as a question with its answers. */
export interface ConflictQuestion {
  readonly path: string;
  /** `lines 19 to 24`; empty where the content has no lines. */
  readonly place: string;
  readonly severity: Severity;
  /** `The same lines were changed by you at 10:47.` */
  readonly why: string;
  readonly sides: readonly [ConflictSide, ConflictSide];
  readonly options: readonly ConflictOption[];
}

/** All conflicts of one operation. */
export interface ConflictQuestions {
  /** `Undo "Add retry with exponential backoff…"` */
  readonly title: string;
  readonly conflicts: readonly ConflictQuestion[];
  /** What needs no decision: `merged by lines: src/util/sleep.ts [low], 2 more` */
  readonly decided: readonly string[];
}

/** The option of each conflict, in their order. */
export type ConflictAnswers = readonly string[];
