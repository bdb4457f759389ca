/**
 * What `doctor` reports about automatic captures: whether there are any, of which agents, and recent
 * failures.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listOverdue } from "@belay/agents";
import { listUncaptured } from "@belay/agents/uncaptured";
import { relativeTime } from "@belay/tui/text";
import type { AgentCapture, CaptureState } from "./capture-state.ts";

interface AgentCheck {
  readonly name: string;
  readonly status: "ok" | "warning" | "problem";
  readonly detail: string;
  readonly hint?: string;
}

const RECENT_MS = 7 * 24 * 60 * 60 * 1000;

/** What `doctor` says about agents. */
export function agentChecks(home: string, capture: CaptureState, now: number): AgentCheck[] {
  return [
    ...captureChecks(capture),
    ...capture.agents.map((agent) => checkOf(agent, capture.on)),
    ...overdueCheck(home),
    ...uncapturedCheck(home),
    ...troubleCheck(home, now),
  ];
}

function captureChecks({ on, obstacles, agents }: CaptureState): AgentCheck[] {
  if (!on) return obstacles.map(({ detail, hint }) => ({ name: "capture", status: "problem", detail, hint }));
  const captured = agents.filter((agent) => agent.captured).map(({ title }) => title);
  const detail =
    captured.length === 0
      ? "no agent is used here; `belay run -- <command>` and `belay checkpoint` capture changes"
      : `work of ${captured.join(", ")} is captured automatically`;
  return [{ name: "capture", status: "ok", detail }];
}

function checkOf(agent: AgentCapture, on: boolean): AgentCheck {
  const { title: name, problem, hint } = agent;
  const events = lastEventText(agent);
  if (problem !== null)
    return { name, status: "warning", detail: `${problem} (${events})`, hint: hint ?? "" };
  return { name, status: "ok", detail: `hooks installed${on ? "" : ", but nothing is captured"}; ${events}` };
}

/** When an agent was last heard of: "last event 3 min ago" */
export function lastEventText({ lastEvent }: Pick<AgentCapture, "lastEvent">): string {
  return lastEvent === null ? "no event yet" : `last event ${relativeTime(lastEvent)}`;
}

/** Overdue events: not recorded yet, or given up by the process that carried them out. */
function overdueCheck(home: string): AgentCheck[] {
  const [oldest, ...others] = listOverdue(home);
  if (oldest === undefined) return [];
  const since = new Date(oldest.deadline).toISOString();
  return [
    {
      name: "overdue events",
      status: "warning",
      detail: `${others.length + 1} not recorded yet, the oldest from ${oldest.agent} in ${oldest.cwd} at ${since}`,
      hint: "They are recorded when their captures end, or with the next event from that directory.",
    },
  ];
}

/** Turns that could not be captured and cannot be recorded yet. */
function uncapturedCheck(home: string): AgentCheck[] {
  const waiting = listUncaptured(home);
  const last = waiting.at(-1);
  if (last === undefined) return [];
  const since = new Date(last.at).toISOString();
  return [
    {
      name: "not captured",
      status: "warning",
      detail: `${waiting.length === 1 ? "1 turn is" : `${waiting.length} turns are`} not in any timeline yet, the last from ${last.agent} in ${last.cwd} at ${since}: ${last.problem}`,
      hint: "They are recorded as not captured as soon as the store can be written.",
    },
  ];
}

/** Hooks write this log even when nothing else of Belay works. */
function troubleCheck(home: string, now: number): AgentCheck[] {
  let lines: string[];
  try {
    lines = readFileSync(join(home, "agents", "trouble.log"), "utf8")
      .trim()
      .split("\n");
  } catch {
    return [];
  }
  const recent = lines.flatMap((line) => {
    try {
      const trouble = JSON.parse(line) as { at: string; agent: string; event: string; problem: string };
      return now - Date.parse(trouble.at) < RECENT_MS ? [trouble] : [];
    } catch {
      return [];
    }
  });
  const last = recent.at(-1);
  if (last === undefined) return [];
  const detail = `${recent.length} in the last week; the last one at ${last.at}, ${last.agent} ${last.event}: ${last.problem}`;
  return [
    {
      name: "hook errors",
      status: "warning",
      detail,
      hint: `Full log: ${join(home, "agents", "trouble.log")}`,
    },
  ];
}
