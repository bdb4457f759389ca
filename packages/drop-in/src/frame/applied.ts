/** An operation that changed nothing, because files changed differently meanwhile, is a failure for a front's caller. */
import { displayPath, EngineError, type Outcome } from "@belay/engine";

/** Throws where conflicts kept an operation from doing anything; the error lists the paths. */
export function assertApplied({ outcome, conflicts }: Outcome): void {
  if (outcome !== "conflicts") return;
  const problems = conflicts.map(({ path, reason }) => ({ path: displayPath(path), reason }));
  const paths = problems.map(({ path }) => path).join(", ");
  throw new EngineError(
    "PREFLIGHT_FAILED",
    `Some files changed differently meanwhile: ${paths}. Nothing was changed.`,
    { problems },
  );
}
