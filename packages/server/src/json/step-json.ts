/** A step that was or can be taken back. */
import type { StepSummary } from "@belay/engine";

export function stepJson({ kind, thread, description, agent, prompt }: StepSummary) {
  return { kind, thread, description, agent, prompt };
}
