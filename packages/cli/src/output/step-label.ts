/** A step's name inside a sentence: `turn of claude "fix the parser"`. */
import type { StepSummary } from "@belay/engine";
import { visible } from "./visible.ts";

/** Kind, agent and description of a step. */
export function stepLabel(step: StepSummary): string {
  // a restore in an agent's thread is a person's
  const agent = step.agent === null || step.kind !== "turn" ? "" : ` of ${visible(step.agent)}`;
  return `${step.kind}${agent} "${visible(step.description)}"`;
}
