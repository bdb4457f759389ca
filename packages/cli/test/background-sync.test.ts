/** When the resident process synchronises: a real workspace, a clock of our own, and a command that only notes its words. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initWorkspace, writeSetting, type Workspace } from "@belay/engine";
import { expect, onTestFinished, test } from "vitest";
import { BackgroundSync } from "../src/resident/background-sync.ts";

/** A workspace with a remote, and what was started. */
async function followed(segment = 1) {
  const base = mkdtempSync(join(tmpdir(), "belay-background-"));
  const [home, root] = [join(base, "home"), join(base, "work")];
  const { mkdirSync } = await import("node:fs");
  mkdirSync(root);
  writeFileSync(join(root, "a"), "1\n");
  const { workspace } = await initWorkspace(root, { home });
  const started: string[] = [];
  const at = { now: Date.now(), isOnline: true };
  const sync = new BackgroundSync({
    home,
    clock: () => at.now,
    run: async (_directory, words) => {
      started.push(words.slice(0, 3).join(" "));
      if (!at.isOnline) throw new Error("REMOTE_UNREACHABLE");
      settle(workspace);
      return {};
    },
  });
  onTestFinished(async () => {
    sync[Symbol.dispose]();
    await workspace.close();
    rmSync(base, { recursive: true, force: true });
  });
  addRemote(workspace, segment);
  sync.follow(workspace);
  /** Lets time pass, second by second, and everything that was started end. */
  const pass = async (seconds: number): Promise<string[]> => {
    for (let left = seconds; left > 0; left--) {
      at.now += 1000;
      sync.tick();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    return started.splice(0);
  };
  return { workspace, home, at, pass, sync, started };
}

function addRemote({ exchange }: Workspace, segment: number): void {
  exchange.addRemote({
    name: "team",
    url: "s3://bucket/team",
    space: "space",
    fingerprint: "fingerprint",
    member: "member",
    line: "0".repeat(32),
    began: null,
    abilities: "{}",
    segment,
    segmentHash: null,
    createdAt: 0,
    pushedAt: null,
    pulledAt: null,
    problem: null,
  });
  if (segment > 0) exchange.notePulled("team", []);
}

/** As a push that ended well does. */
function settle({ exchange }: Workspace): void {
  exchange.settle("team", { segment: 1, hash: "hash", until: exchange.outboxEnd("team"), at: 0 });
  exchange.notePulled("team", []);
}

test("[R706] a checkpoint is sent after the interval, other lines are looked at now and then", async () => {
  const { workspace, home, pass } = await followed();
  expect(await pass(59)).toEqual([]);
  expect(await pass(3)).toEqual(["sync --remote team"]);
  expect(await pass(300)).toEqual([]);
  await workspace.checkpoint();
  writeSetting(home, "sync.intervalSeconds", "5");
  expect(await pass(4)).toEqual([]);
  expect(await pass(3)).toEqual(["sync --remote team"]);
  writeSetting(home, "sync.pullMinutes", "1");
  expect(await pass(65)).toEqual(["pull --remote team"]);
});

test("[R706] the end of a turn is sent after two seconds", async () => {
  const { workspace, at, sync, started, pass } = await followed();
  await pass(62);
  await workspace.turns.run({ prompt: "work" }, async () => {
    writeFileSync(join(workspace.root, "a"), "2\n");
  });
  // the event is read by itself
  await expect
    .poll(() => {
      at.now += 100;
      sync.tick();
      return started.length;
    })
    .toBe(1);
  expect(at.now).toBeGreaterThan(0);
  expect(started).toEqual(["sync --remote team"]);
});

test("[R706] [T13] while the remote cannot be used the pauses grow, up to ten minutes; then it goes on", async () => {
  const { at, pass } = await followed();
  at.isOnline = false;
  const tries: number[] = [];
  for (let second = 0; second < 3000; second++) if ((await pass(1)).length > 0) tries.push(second);
  const pauses = tries.slice(1).map((second, n) => second - tries[n]!);
  expect(pauses[0]).toBeGreaterThanOrEqual(5);
  for (const [n, pause] of pauses.entries()) {
    if (n > 0) expect(pause).toBeGreaterThanOrEqual(Math.min(pauses[n - 1]!, 600));
    expect(pause).toBeLessThanOrEqual(665);
  }
  expect(tries.length).toBeLessThan(15);
  at.isOnline = true;
  expect((await pass(700)).length).toBeGreaterThan(0);
  expect(await pass(100)).toEqual([]);
});

test("[R706] nothing is started before the first push, or while it is switched off", async () => {
  const { pass } = await followed(0);
  expect(await pass(200)).toEqual([]);
  const other = await followed();
  writeSetting(other.home, "sync.automatic", "off");
  expect(await other.pass(200)).toEqual([]);
  writeSetting(other.home, "sync.automatic", "on");
  expect(await other.pass(70)).toEqual(["sync --remote team"]);
});

test("[R2268] once a week a sample of what is stored is proved, also when the process began again meanwhile", async () => {
  const { at, pass, home, workspace } = await followed();
  const later = async (days: number) => {
    at.now += days * 86_400_000;
    // the look at other lines comes first
    return (await pass(3)).filter((words) => words.startsWith("remote"));
  };
  await pass(1);
  expect(await later(6)).toEqual([]);
  expect(await later(1.5)).toEqual(["remote verify team"]);
  expect(await later(1)).toEqual([]);
  const { space, line } = workspace.exchange.remotes()[0]!;
  expect(statSync(join(home, "spaces", space, `sampled-${line}`)).mtimeMs).toBeGreaterThan(
    at.now - 2 * 86_400_000,
  );
  expect(await later(7)).toEqual(["remote verify team"]);
});
