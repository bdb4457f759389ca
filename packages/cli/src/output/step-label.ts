/** `turn of claude "fix the parser"`: a step inside a sentence. */
import type { StepSummary } from "@belay/engine";
import { visible } from "./visible.ts";

export function stepLabel(step: StepSummary): string {
  const agent = step.agent === null ? "" : ` of ${visible(step.agent)}`;
  return `${step.kind}${agent} "${visible(step.description)}"`;
}
