/** What is decided about an error: one row of the table. */
import type { ExitCode } from "./exit-code.ts";

/** `belay <words>` for a directory, as the person who reads the hint must type it. */
export type BelayAt = (path: string, ...words: string[]) => string;

/** The contract's decisions about one error. */
export interface ErrorRow<Facts> {
  readonly exit: ExitCode;
  readonly status: number;
  /** What a person at a terminal can do about it. */
  readonly hint: string | ((facts: Facts, belayAt: BelayAt) => string);
  /** What an HTTP client can do about it, where a route helps. */
  readonly apiHint?: string;
  /** The same for a model, where it has a tool for it. */
  readonly modelHint?: string;
  /** The facts that are listed for people, one per line. */
  readonly list?: (facts: Facts) => readonly string[];
}
