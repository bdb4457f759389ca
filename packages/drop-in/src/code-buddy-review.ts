/** Code Buddy's reviewed diffs (`src/review`), over Belay. */
export {
  applyReviewedDiff,
  rollbackAppliedDiff,
  type ApplyReport,
  type DiffConflict,
  type ProposedDiff,
  type ProposedFileChange,
  type ReviewVerdict,
} from "./code-buddy/reviewed-diff.ts";
