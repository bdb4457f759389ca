/** A step that was or can be taken back. */
import type { StepSummary } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { isoTime } from "./thread-json.ts";

/** A step as the contract shows it. */
export function stepJson({
  kind,
  thread,
  description,
  agent,
  prompt,
  at,
}: StepSummary): Json<typeof shapes.step> {
  return { kind, thread, description, agent, prompt, at: isoTime(at) };
}
