/** When the resident process takes checkpoints by the clock: a real workspace, and a clock of our own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initWorkspace, writeSetting } from "@belay/engine";
import { expect, onTestFinished, test } from "vitest";
import { TimedCheckpoints } from "../src/resident/timed-checkpoints.ts";

const MINUTE_MS = 60_000;

async function followed() {
  const base = mkdtempSync(join(tmpdir(), "belay-timed-"));
  const [home, root] = [join(base, "home"), join(base, "work")];
  mkdirSync(root);
  writeFileSync(join(root, "a"), "1\n");
  const { workspace } = await initWorkspace(root, { home });
  const at = { now: Date.now() };
  const timed = new TimedCheckpoints({ home, clock: () => at.now });
  onTestFinished(async () => {
    timed[Symbol.dispose]();
    expect((await workspace.upkeep.verify()).problems).toEqual([]);
    await workspace.close();
    rmSync(base, { recursive: true, force: true });
  });
  timed.follow(workspace);
  return {
    workspace,
    home,
    write: (text: string) => writeFileSync(join(root, "a"), text),
    pass: async (minutes: number) => {
      at.now += minutes * MINUTE_MS;
      await timed.tick();
    },
    taken: async () => (await workspace.list({ limit: 100 })).filter(({ kind }) => kind === "timer").length,
  };
}

test("[R2365] off unless it is set; then one where something changed, so many minutes after the newest checkpoint", async () => {
  const { home, write, pass, taken } = await followed();
  write("2\n");
  await pass(60);
  expect(await taken()).toBe(0);
  writeSetting(home, "checkpoints.timerMinutes", "5");
  await pass(1);
  expect(await taken()).toBe(1);
  // nothing changed
  await pass(30);
  expect(await taken()).toBe(1);
  write("3\n");
  await pass(4);
  expect(await taken()).toBe(1);
  await pass(1);
  expect(await taken()).toBe(2);
});

test("[R140] [R2365] checkpoints.timerMinutes: off, on, off and on again while the process runs", async () => {
  const { home, write, pass, taken } = await followed();
  const seen: number[] = [];
  for (const [at, minutes] of ["5", null, "5", null].entries()) {
    writeSetting(home, "checkpoints.timerMinutes", minutes);
    write(`round ${at}\n`);
    await pass(60);
    seen.push(await taken());
  }
  expect(seen).toEqual([1, 1, 2, 2]);
});

test("[R2365] none while an agent works, in a pause, or where automatic checkpoints are off", async () => {
  const { workspace, home, write, pass, taken } = await followed();
  writeSetting(home, "checkpoints.timerMinutes", "5");
  const { id } = await workspace.threads.open({ agent: "codex", externalId: "one", brackets: true });
  await workspace.turns.prompt(id, { content: "work" });
  write("2\n");
  await pass(20);
  expect(await taken()).toBe(0);
  await workspace.turns.end(id);
  writeSetting(home, "checkpoints.automatic", "off");
  write("3\n");
  await pass(20);
  expect(await taken()).toBe(0);
  writeSetting(home, "checkpoints.automatic", null);
  await pass(20);
  expect(await taken()).toBe(1);
});

test("[R2365] a clock that was set back delays none", async () => {
  const { home, write, pass, taken } = await followed();
  writeSetting(home, "checkpoints.timerMinutes", "5");
  await pass(-365 * 24 * 60);
  write("2\n");
  await pass(5);
  expect(await taken()).toBe(1);
});
