/** What upkeep reports, in the contract's shapes. */
import type { Check, Checkpoint, ForgetReport, GcReport, PruneReport, VerifyReport } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { checkpointJson } from "./checkpoint-json.ts";
import { listField } from "./list-field.ts";
import { pathJson } from "./path-json.ts";
import { stepJson } from "./step-json.ts";

/** What a check of the store found. */
export function verifyJson({ problems, ...report }: VerifyReport): Json<typeof shapes.verifyReport> {
  return { ...report, ...listField("problems", problems) };
}

/** What gc freed, as the contract shows it. */
export function gcJson({ stepsDropped, ...report }: GcReport): Json<typeof shapes.gcReport> {
  return { ...report, stepsDropped: stepsDropped.map(stepJson) };
}

/** What was purged, as the contract shows it. */
export function forgetJson(report: ForgetReport): Json<typeof shapes.forgetReport> {
  const { checkpoints, objects, bytes, dryRun, steps, sameContent, stillOpen } = report;
  return {
    ...listField("checkpoints", checkpoints),
    objects,
    bytes,
    dryRun,
    steps: steps.map(stepJson),
    ...listField("sameContent", sameContent.map(pathJson)),
    ...listField("stillOpen", stillOpen.map(pathJson)),
  };
}

/** What was dropped, and which rules kept the rest. */
export function pruneJson(
  { pruned, ...report }: PruneReport,
  workspace: string,
): Json<typeof shapes.pruneReport> {
  return { ...listField("pruned", checkpointsJson(pruned, workspace)), ...report };
}

/** What was brought back. */
export function unpruneJson(
  checkpoints: readonly Checkpoint[],
  workspace: string,
): Json<typeof shapes.unpruned> {
  return listField("restored", checkpointsJson(checkpoints, workspace));
}

/** What was looked at, and whether protection works. */
export function doctorJson(checks: readonly Check[], capture: object): Json<typeof shapes.doctorReport> {
  return { ok: checks.every(({ status }) => status !== "problem"), checks: [...checks], capture };
}

function checkpointsJson(checkpoints: readonly Checkpoint[], workspace: string) {
  return checkpoints.map((checkpoint) => checkpointJson(checkpoint, { workspace }));
}
