/**
 * Lanes, only where turns overlap in time: a turn takes the lowest lane that is free when it starts and keeps it, so
 * nothing jumps. Lane 1 is the rope; a fourth turn shares the third lane.
 */
import type { HistoryRow } from "../data/history.ts";

/** What the rail of one row shows besides the rope. */
export interface Lane {
  /** 1, 2 or 3 */
  readonly lane: number;
  /** Turns of lanes 2 and 3 that go on while this row happens, and whether each begins here or ends above. */
  readonly passing: readonly {
    readonly lane: number;
    readonly agent: string | null;
    readonly part: "from" | "through";
  }[];
}

const MOST = 3;

/** The lane of every row of the timeline, by its ref. */
export function lanesOf(rows: readonly HistoryRow[], now: number): ReadonlyMap<string, Lane> {
  const lanes = new Map<string, Lane>();
  let open: { lane: number; until: number; agent: string | null }[] = [];
  for (const row of [...rows].reverse()) {
    const at = Date.parse(row.at);
    open = open.filter(({ until }) => until > at);
    const passing = open
      .filter(({ lane }) => lane > 1)
      .map(({ lane, agent }) => ({ lane, agent, part: "through" as const }));
    if (row.kind !== "turn") {
      lanes.set(row.ref, { lane: 1, passing });
      continue;
    }
    const free = [1, 2].find((lane) => open.every((other) => other.lane !== lane)) ?? MOST;
    const until = row.endedAt === null ? now : Date.parse(row.endedAt);
    open.push({ lane: free, until, agent: row.agent });
    const own = free > 1 ? [{ lane: free, agent: row.agent, part: "from" as const }] : [];
    lanes.set(row.ref, { lane: free, passing: [...passing.filter(({ lane }) => lane !== free), ...own] });
  }
  return lanes;
}
