/** What hooks cost agents that work in forks of one store: how long each waits, and the resident process's own work. */
import {
  AGENTS,
  FILES,
  hookOf,
  makeForks,
  percentile,
  requestOf,
  residentCpu,
  stageWithHooks,
  timeAgents,
  timeStarts,
  type Send,
} from "../agents-e2e/hook-load.ts";
import type { Stage } from "../agents-e2e/stage.ts";
import { median, ms, type Row } from "./measure.ts";

const BUDGET_MS = 120;
/** An event may cost so many times as much with eight forks at work as with one. */
const MOST_FORKS_RATIO = 1.5;
/** Processor time is counted in hundredths of a second: it takes so many calls to count any. */
const LEAST_CPU_CALLS = 5;

/** Eight agents, each in a fork, with so many calls each. */
export async function measureForkHooks(calls: number): Promise<Row[]> {
  using stage = stageWithHooks();
  const [hook, request] = [hookOf(stage), requestOf(stage)];
  const forks = await makeForks(stage, request);
  const starts = await timeStarts(calls);
  const times = await timeAgents({ send: hook, places: forks, calls, name: "hooks" });
  const counted = Math.max(calls, LEAST_CPU_CALLS);
  const one = await cpuOfEvent(stage, request, {
    places: [forks[0]!],
    calls: counted * AGENTS,
    name: "one",
  });
  const all = await cpuOfEvent(stage, request, { places: forks, calls: counted, name: "all" });
  const p95 = percentile(times, 0.95);
  return [
    {
      work: `hook in a fork, ${AGENTS} runs at once, p95 (node -e 0: ${ms(median(starts))})`,
      files: FILES,
      belay: ms(p95),
      git: "",
      ratio: "",
      budget: `≤ ${BUDGET_MS} ms`,
      holds: p95 <= BUDGET_MS,
    },
    {
      work: `an event in a fork, processor time, ${AGENTS} at once (one alone: ${ms(one)})`,
      files: FILES,
      belay: ms(all),
      git: "",
      ratio: (all / one).toFixed(2),
      budget: `≤ ${MOST_FORKS_RATIO} × one alone`,
      holds: all / one <= MOST_FORKS_RATIO,
    },
  ];
}

async function cpuOfEvent(
  stage: Stage,
  send: Send,
  { places, calls, name }: { places: readonly string[]; calls: number; name: string },
): Promise<number> {
  const before = residentCpu(stage);
  await timeAgents({ send, places, calls, name });
  // each call is two events
  return (residentCpu(stage) - before) / (places.length * calls * 2);
}
