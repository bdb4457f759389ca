/** The timeline of a long history: pages, the first answer with its counts, a search. */
import { join } from "node:path";
import { openWorkspace, type TimelineOptions } from "@belay/engine";
import { makeHistory } from "./history.ts";
import { median, ms, type Row } from "./measure.ts";

const MOST_MS = 10;

/** 100 rows of a history of this many checkpoints. It takes a minute for each few thousand to make. */
export async function measureTimeline(place: string, checkpoints: number, rounds: number): Promise<Row[]> {
  const [root, home] = [join(place, "timeline"), join(place, "timeline-home")];
  await makeHistory(root, home, checkpoints);
  await using workspace = await openWorkspace(root, { home });
  const row = async (work: string, options: TimelineOptions, most?: number): Promise<Row> => {
    const times: number[] = [];
    // the first time content is read to count its lines
    for (let round = -1; round < Math.max(rounds, 5); round += 1) {
      const start = performance.now();
      await workspace.timeline.rows(options);
      if (round >= 0) times.push(performance.now() - start);
    }
    const budget = most === undefined ? "" : `≤ ${most} ms`;
    const holds = most === undefined ? undefined : median(times) <= most;
    return { work, files: checkpoints, belay: ms(median(times)), git: "", ratio: "", budget, holds };
  };
  return [
    await row("timeline, first 100 rows and all days", {}, MOST_MS),
    await row("timeline, 100 rows in the middle", { before: Math.floor(checkpoints / 2) }, MOST_MS),
    await row("timeline, a search over everything", { q: "retry file:src/f1*" }),
  ];
}
