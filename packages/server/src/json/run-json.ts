/** Runs and loops of fixes in the contract's shape. */
import type { Fix, Run } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";

/** An agent's run as the contract shows it. */
export function runJson(run: Run): Json<typeof shapes.run> {
  const { command: _, limits: __, process: ___, watcher: ____, createdAt: _____, ...told } = run;
  return {
    ...told,
    startedAt: timeOf(run.startedAt),
    endedAt: timeOf(run.endedAt),
    resumable: run.endedAt !== null && run.status !== "lost",
    escaped: [...run.escaped],
  };
}

const OPTIONS = ["a", "r", "v", "m", "c"];

/** One loop of fixes. */
export function fixJson(fix: Fix): Json<typeof shapes.fix> {
  const { id, state, attempts, issues, reason, before, result, createdAt } = fix;
  return {
    id,
    state,
    attempts: attempts.map(({ issuesBefore, issuesAfter, ...attempt }) => ({
      ...attempt,
      issuesBefore: [...issuesBefore],
      issuesAfter: issuesAfter === null ? null : [...issuesAfter],
    })),
    issues: [...issues],
    snapshots: attempts.length,
    options: state === "escalated" ? OPTIONS : [],
    reason,
    before,
    result: result as Json<typeof shapes.fix>["result"],
    createdAt: timeOf(createdAt)!,
    endedAt: timeOf(fix.endedAt),
  };
}

function timeOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
