/** What an agent said last in a run, as far as its output is still there. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { NO_FACTS, type AgentBook } from "@belay/agents/orchestration";
import type { Run } from "@belay/engine";

/** Last words are at the end of the output. */
const READ_BYTES = 1024 * 1024;
const LONGEST_SUMMARY = 4000;

/** [R1753] The end of what the agent said; null where it said nothing, or its output is gone. */
export function summaryOf({ agent, command, log }: Run, agents: AgentBook): string | null {
  const output = log === null ? undefined : endOf(log.stdout);
  if (output === undefined) return null;
  const { read } = agents.names.includes(agent) ? agents.find(agent) : agents.command(command);
  const said = output.split("\n").reduce(read, NO_FACTS).answer.trim();
  return said === "" ? null : said.slice(-LONGEST_SUMMARY);
}

function endOf(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    const from = Math.max(0, fstatSync(file).size - READ_BYTES);
    const bytes = Buffer.alloc(READ_BYTES);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, READ_BYTES, from));
  } finally {
    closeSync(file);
  }
}
