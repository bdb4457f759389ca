/** What the analysis of one path comes to. */
import type {
  ConflictFact,
  ConflictRegion,
  MergeConflictKind,
  MergedPath,
  MergeOption,
  Severity,
} from "../model/merge.ts";

/** A content that is certain. */
export interface Taken {
  readonly taken: true;
  readonly content: Buffer;
  readonly severity: MergedPath["severity"];
  readonly how: MergedPath["how"];
  /** What is in neither the result nor a conflict, as sentences. */
  readonly dropped?: readonly string[];
}

/** What has to be decided. */
export interface Contested {
  readonly taken: false;
  readonly kind: MergeConflictKind;
  readonly severity: Severity;
  /** At least one; the first becomes the sentence that people read. */
  readonly facts: readonly ConflictFact[];
  readonly regions: readonly ConflictRegion[];
  readonly options: readonly MergeOption[];
  readonly proposal: Buffer | null;
}

/** Either file, or both beside each other. */
export const BOTH_FILES: readonly MergeOption[] = ["ours", "theirs", "both"];

/** A conflict of content that is never merged by lines. */
export function contested({
  kind,
  code = kind as ConflictFact["code"],
  fact,
  severity = "high",
  options,
}: {
  kind: MergeConflictKind;
  code?: ConflictFact["code"];
  fact: string;
  severity?: Severity;
  options: readonly MergeOption[];
}): Contested {
  const facts = [{ code, line: null, detail: fact }];
  return { taken: false, kind, severity, facts, regions: [], options, proposal: null };
}
