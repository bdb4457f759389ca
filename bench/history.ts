/** A long history, made by the engine as an agent at work makes it. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSystem, openWorkspace, type ThreadId, type Workspace } from "@belay/engine";

/** A prompt, a tool call with its two captures, and the stop. */
const CHECKPOINTS_PER_TURN = 4;
const HOUR_MS = 3_600_000;

/** Makes a directory's history of this many checkpoints, a turn an hour. A thousand take two seconds of the processor. */
export async function makeHistory(root: string, home: string, checkpoints: number): Promise<void> {
  mkdirSync(join(root, "src"), { recursive: true });
  const system = createSystem();
  const turns = Math.ceil(checkpoints / CHECKPOINTS_PER_TURN);
  let now = system.now() - turns * HOUR_MS;
  await using workspace = await openWorkspace(root, { home, system: { ...system, now: () => now } });
  const { id } = await workspace.threads.open({ agent: "bench", externalId: "bench", brackets: true });
  for (let turn = 0; turn < turns; turn += 1) {
    now += HOUR_MS;
    await playTurn(workspace, { root, thread: id, turn });
  }
}

async function playTurn(
  workspace: Workspace,
  { root, thread, turn }: { root: string; thread: ThreadId; turn: number },
): Promise<void> {
  const path = join(root, "src", `f${turn % 20}.ts`);
  if (turn % 5 === 0) writeFileSync(join(root, "notes.md"), `by hand ${turn}\n`);
  await workspace.turns.prompt(thread, { content: `Prompt ${turn}: make the retry budget configurable` });
  const toolUseId = `tool-${turn}`;
  await workspace.turns.beginTool(thread, { tool: "Edit", toolUseId, nature: "edit" });
  appendFileSync(path, `export const value${turn} = ${turn};\n`);
  await workspace.turns.endTool(thread, { toolUseId });
  await workspace.turns.end(thread);
}
