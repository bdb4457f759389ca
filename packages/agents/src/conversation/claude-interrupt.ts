/** Claude Code sends no event when it is interrupted; it writes a line into its transcript. */
import { isObject, textOf, type Payload } from "../events/payload.ts";
import { readTranscriptEnd } from "./claude-transcript.ts";

const INTERRUPTED = "[Request interrupted by user";
/** The line is among the last ones. */
const END_BYTES = 1 << 20;

/** When the transcript last records an interrupt; null when it does not. */
export function lastClaudeInterrupt(transcript: string): number | null {
  const last = readTranscriptEnd(transcript, END_BYTES).findLast(
    ({ fields }) => fields["type"] === "user" && saysInterrupted(fields),
  );
  const at = Date.parse(textOf(last?.fields ?? {}, "timestamp") ?? "");
  return Number.isNaN(at) ? null : at;
}

function saysInterrupted(fields: Payload): boolean {
  const message = fields["message"];
  const content: unknown = isObject(message) ? message["content"] : undefined;
  const parts: unknown[] = Array.isArray(content) ? content : [content];
  return parts.some((part) => {
    const text = isObject(part) ? part["text"] : part;
    return typeof text === "string" && text.startsWith(INTERRUPTED);
  });
}
