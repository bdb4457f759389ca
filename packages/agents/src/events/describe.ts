/** Descriptions of events in the timeline: one line each, bounded, without secrets and control characters. */
import { basename } from "node:path";
import type { AgentRun } from "./agent-event.ts";
import type { ToolUse } from "./agent-event.ts";
import { redact } from "@belay/protocol/redact";

const PROMPT_CHARACTERS = 50;
const SUBJECT_CHARACTERS = 80;

/** Describes the checkpoint before a prompt: "Before user message: <first 50 characters>…" */
export function describePrompt(text: string): string {
  return `Before user message: ${summarisePrompt(text)}`;
}

/** The beginning of a prompt. */
export function summarisePrompt(text: string): string {
  return shorten(text, PROMPT_CHARACTERS);
}

/** Describes the checkpoint before a tool call: "Before Bash: npm test" */
export function describeTool(
  phase: "Before" | "After",
  { tool, subject }: Pick<ToolUse, "tool" | "subject">,
): string {
  const name = shorten(tool, PROMPT_CHARACTERS);
  return subject === "" ? `${phase} ${name}` : `${phase} ${name}: ${summarise(subject)}`;
}

/** What a call is about, for display. */
export function summarise(subject: string): string {
  return shorten(subject, SUBJECT_CHARACTERS);
}

/** Describes the checkpoint before an agent's run: "Before agent reviewer" */
export function describeRun(phase: "Before" | "After", run: AgentRun): string {
  return `${phase} agent ${shorten(run.role, PROMPT_CHARACTERS)}`;
}

/** The title of a thread in which only a subagent works: "Subagent reviewer in agent-7f3a". */
export function describeSubagent(run: AgentRun, directory: string): string {
  return shorten(`Subagent ${run.role} in ${basename(directory)}`, SUBJECT_CHARACTERS);
}

/** Of more than this only the beginning is looked at. */
const LONGEST = 16_384;

/** The first characters as people count them, in one line; secrets are removed before anything is cut. */
export function shorten(text: string, limit: number): string {
  const line = redact(text.slice(0, LONGEST))
    .replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu, " ")
    .replace(/ {2,}/g, " ")
    .trim();
  const characters = Array.from(line.slice(0, limit * 4));
  return characters.length <= limit ? line : `${characters.slice(0, limit).join("")}…`;
}
