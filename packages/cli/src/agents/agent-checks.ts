/** What `doctor` says of agents: whose hooks are in place, and what went wrong in them lately. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { detectAgent, listOverdue, loadAllAgents } from "@belay/agents";
import { placeFor } from "./agent-hooks.ts";

interface AgentCheck {
  readonly name: string;
  readonly status: "ok" | "warning" | "problem";
  readonly detail: string;
  readonly hint?: string;
}

const RECENT_MS = 7 * 24 * 60 * 60 * 1000;

export async function agentChecks(home: string, root: string | null, now: number): Promise<AgentCheck[]> {
  const place = placeFor(home, root);
  const found = (await loadAllAgents()).map((adapter) => ({ adapter, ...detectAgent(adapter, place) }));
  const present = found.filter(({ program, configured }) => program !== null || configured !== null);
  const checks = await Promise.all(
    present.map(async (one) => withObstacles(checkOf(one), (await one.adapter.obstacles?.(place)) ?? [])),
  );
  return [...checks, ...overdueCheck(home), ...troubleCheck(home, now)];
}

/** Hooks that are in place and still do not run. */
function withObstacles(check: AgentCheck, obstacles: readonly string[]): AgentCheck {
  return obstacles.length === 0 || check.status !== "ok"
    ? check
    : {
        ...check,
        status: "warning",
        detail: obstacles.join(" "),
        hint: "Until then it is not captured by itself.",
      };
}

function checkOf({
  title,
  hooks,
  adapter,
}: {
  title: string;
  hooks: string;
  adapter: { id: string };
}): AgentCheck {
  const install = `\`belay init --agent ${adapter.id}\` installs them.`;
  switch (hooks) {
    case "installed":
      return { name: title, status: "ok", detail: "hooks installed" };
    case "outdated":
      return { name: title, status: "warning", detail: "its hooks are of an older Belay", hint: install };
    case "refused":
      return { name: title, status: "warning", detail: "its settings cannot be changed", hint: install };
    default:
      return {
        name: title,
        status: "warning",
        detail: "no hooks: what it does is not captured by itself",
        hint: install,
      };
  }
}

/** Events whose hooks had to leave: not recorded yet, or given up by whoever was at them. */
function overdueCheck(home: string): AgentCheck[] {
  const [oldest, ...others] = listOverdue(home);
  if (oldest === undefined) return [];
  const since = new Date(oldest.deadline).toISOString();
  return [
    {
      name: "events left behind",
      status: "warning",
      detail: `${others.length + 1} not recorded yet, the oldest of ${oldest.agent} in ${oldest.cwd} at ${since}`,
      hint: "They are recorded when their captures end, or made up for with the next event from there.",
    },
  ];
}

/** The log is written by hooks, also when nothing else of Belay works. */
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
      name: "trouble in hooks",
      status: "warning",
      detail,
      hint: `All of it: ${join(home, "agents", "trouble.log")}`,
    },
  ];
}
