/** The timeline of a long history: pages, the first answer with its counts, a search. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createSystem,
  openWorkspace,
  type ThreadId,
  type TimelineOptions,
  type Workspace,
} from "@belay/engine";
import { median, ms, type Row } from "./measure.ts";

/** A prompt, a tool call with its two captures, and the stop. */
const CHECKPOINTS_PER_TURN = 4;
const HOUR_MS = 3_600_000;
const MOST_MS = 10;

/** 100 rows of a history of this many checkpoints. It takes a minute for each few thousand to make. */
export async function measureTimeline(place: string, checkpoints: number, rounds: number): Promise<Row[]> {
  const root = join(place, "timeline");
  mkdirSync(root, { recursive: true });
  const system = createSystem();
  let now = system.now() - checkpoints * HOUR_MS;
  await using workspace = await openWorkspace(root, {
    home: join(place, "timeline-home"),
    system: { ...system, now: () => now },
  });
  const { id } = await workspace.threads.open({ agent: "bench", externalId: "bench", brackets: true });
  for (let turn = 0; turn * CHECKPOINTS_PER_TURN < checkpoints; turn += 1) {
    now += HOUR_MS;
    await playTurn(workspace, { root, thread: id, turn });
  }
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

async function playTurn(
  workspace: Workspace,
  { root, thread, turn }: { root: string; thread: ThreadId; turn: number },
): Promise<void> {
  const path = join(root, "src", `f${turn % 20}.ts`);
  mkdirSync(join(root, "src"), { recursive: true });
  if (turn % 5 === 0) writeFileSync(join(root, "notes.md"), `by hand ${turn}\n`);
  await workspace.turns.prompt(thread, { content: `Prompt ${turn}: make the retry budget configurable` });
  const toolUseId = `tool-${turn}`;
  await workspace.turns.beginTool(thread, { tool: "Edit", toolUseId, nature: "edit" });
  appendFileSync(path, `export const value${turn} = ${turn};\n`);
  await workspace.turns.endTool(thread, { toolUseId });
  await workspace.turns.end(thread);
}
