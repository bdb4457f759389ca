/**
 * Conflicts as a person decides them: who changed what, the versions, the options, what an option comes to. Undo, redo,
 * "only this" and reset ask this way, and so does a merge of parallel agents; nothing of it touches a file.
 */
import type { DiffHunk } from "../diff/patch.ts";

/** How hard a conflict is. High: the same lines. Critical: it cannot be merged, or would not parse. */
export type Severity = "low" | "medium" | "high" | "critical";

/** A way to decide: an option by its name, another text, or an option for each region, counted from 1. */
export type Choice =
  | { readonly take: string }
  | { readonly text: string }
  | { readonly regions: Readonly<Record<string, string>> };

/** A conflict in the list. */
export interface ConflictEntry {
  readonly id: string;
  readonly path: string;
  readonly severity: Severity;
  /** What the two sides did: "the same lines changed". */
  readonly reason: string;
  /** What was decided, in words; undefined while it is open. */
  readonly decided: string | undefined;
  /** Whose decision it is. An agent's was checked; what was merged by lines needs none, and can be had otherwise. */
  readonly group: "yours" | "agent" | "lines";
}

/** Lines of a version, with where they begin. */
export interface Excerpt {
  /** Counted from 1; null where the content has no lines. */
  readonly line: number | null;
  readonly lines: readonly string[];
  /** Which of the lines are in conflict, counted from 0; left out: all of them. */
  readonly marked?: readonly [start: number, end: number];
  /** Further lines that are not shown. */
  readonly more: number;
  /** What stands for content without lines. */
  readonly instead?: string;
}

/** A version of the file. */
export interface Side {
  readonly id: "base" | "ours" | "theirs";
  readonly title: string;
  readonly who: string;
  /** One excerpt for each place. */
  readonly excerpts: readonly Excerpt[];
}

/** One option for a whole file. */
export interface Option {
  readonly id: string;
  readonly words: string;
  readonly about: string;
}

/** Everything about one conflict. */
export interface ConflictQuestion {
  readonly id: string;
  readonly path: string;
  /** "lines 19 to 24"; empty where the content has no lines. */
  readonly place: string;
  /** "You changed these lines at 10:47, after the turn that is to be undone." */
  readonly why: string;
  readonly sides: readonly Side[];
  readonly options: readonly Option[];
  /** What a single place can become; none where the file is decided as a whole. */
  readonly regionOptions: readonly Option[];
  /** The text that "Write it yourself" begins with; undefined where there is no text to write. */
  readonly draft: string | undefined;
  /** What is said of writing it; by default, that the result is edited. */
  readonly draftAbout?: string;
  /** What was chosen before, to go on with. */
  readonly chosen: Choice | undefined;
}

/** What a choice comes to. */
export interface Tried {
  readonly choice: Choice;
  /** The change of what is on disk; empty where it stays as it is. */
  readonly hunks: readonly DiffHunk[];
  /** In place of lines: "The file is deleted." */
  readonly instead: string | undefined;
  /** False: regions are left to decide. */
  readonly isWhole: boolean;
  readonly problems: readonly string[];
  /** Null where nothing is known of the language, or nothing looked. */
  readonly parses: boolean | null;
  /** What the file would hold; undefined where it is not text. */
  readonly text: string | undefined;
}
