/** The cap on the store's size: what goes to keep it, and what does not. */
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkspace, writeSetting, type Workspace } from "../src/index.ts";
import { makeDirectory } from "./support/place.ts";
import { inWorkspace } from "./support/temp-workspace.ts";
import { readTreeMap, type TreeMap } from "./support/tree-map.ts";

const CAP_BYTES = 3_200_000;

interface Capped {
  readonly root: string;
  readonly workspace: Workspace;
  /** The checkpoints after four turns of 600,000 new bytes each, and their trees. */
  readonly turns: readonly { id: string; tree: TreeMap }[];
  readonly fill: (bytes: number) => void;
}

async function inCapped(body: (capped: Capped) => Promise<void>): Promise<void> {
  const base = makeDirectory("belay-cap-");
  const [root, home] = [join(base, "root"), join(base, "home")];
  mkdirSync(root);
  writeSetting(home, "disk.capBytes", String(CAP_BYTES));
  const fill = (bytes: number) => writeFileSync(join(root, "noise"), randomBytes(bytes));
  const workspace = await openWorkspace(root, { home });
  try {
    const turns: { id: string; tree: TreeMap }[] = [];
    for (let n = 0; n < 4; n += 1) {
      const { after } = await workspace.turns.run({}, async () => fill(600_000));
      turns.push({ id: after.id, tree: readTreeMap(root) });
    }
    await body({ root, workspace, turns, fill });
    expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true, problems: [] });
  } finally {
    await workspace.close();
    rmSync(base, { recursive: true, force: true });
  }
}

test("[R14, Y70, Y81] old turns make room for a new checkpoint, the oldest first, and the cap is kept", () =>
  inCapped(async ({ workspace, turns, fill }) => {
    fill(900_000);
    const { checkpoint } = await workspace.checkpoint();
    const listed = new Set<string>((await workspace.list()).map(({ id }) => id));
    expect(listed.has(checkpoint.id)).toBe(true);
    expect(turns.map(({ id }) => listed.has(id))).toEqual([
      false,
      expect.any(Boolean),
      expect.any(Boolean),
      true,
    ]);
    expect((await workspace.upkeep.stats()).diskBytes).toBeLessThanOrEqual(CAP_BYTES);
  }));

test("[R14, N4] a restore at the cap does not cost the checkpoint it goes back to", () =>
  inCapped(async ({ root, workspace, turns, fill }) => {
    fill(900_000);
    const edited = readTreeMap(root);
    const { safetyCheckpoint, outcome } = await workspace.restoreTo(turns[0]!.id);
    expect(outcome).toBe("applied");
    expect(readTreeMap(root)).toEqual(turns[0]!.tree);
    await workspace.restoreTo(safetyCheckpoint!);
    expect(readTreeMap(root)).toEqual(edited);
  }));

test("[R14] what is larger than the cap is refused, and no checkpoint is given up for it", () =>
  inCapped(async ({ root, workspace, fill }) => {
    const before = (await workspace.list()).map(({ id }) => id);
    fill(CAP_BYTES + 1);
    const edited = readTreeMap(root);
    await expect(workspace.checkpoint()).rejects.toMatchObject({ code: "STORE_FULL" });
    await expect(workspace.restoreTo("1")).rejects.toMatchObject({ code: "STORE_FULL" });
    expect((await workspace.list()).map(({ id }) => id)).toEqual(before);
    expect(readTreeMap(root)).toEqual(edited);
  }));

/** A turn of tool calls, each with so many new bytes, driven as hooks do; `end` is its stop. */
async function driveTurn(workspace: Workspace, prompt: string, calls: readonly (() => void)[]) {
  const thread = (await workspace.threads.open({ agent: "agent", externalId: "one" })).id;
  await workspace.turns.prompt(thread, { content: prompt });
  for (const [index, call] of calls.entries()) {
    const toolUseId = `${prompt}-${index}`;
    await workspace.turns.beginTool(thread, { tool: "Bash", toolUseId });
    call();
    await workspace.turns.endTool(thread, { toolUseId });
  }
  return { end: () => workspace.turns.end(thread) };
}

test("[R160] the cap reached during a turn: it and the one before it can still be undone", () =>
  inCapped(async ({ root, workspace, turns }) => {
    const part = (name: string) => () => writeFileSync(join(root, name), randomBytes(250_000));
    const complete = await driveTurn(workspace, "complete", [part("c1"), part("c2")]);
    await complete.end();
    const before = readTreeMap(root);
    const events = workspace.events.read({ after: 0 });
    const { end } = await driveTurn(workspace, "open", ["o1", "o2", "o3", "o4"].map(part));
    const listed = new Set<string>((await workspace.list()).map(({ id }) => id));
    expect(turns.map(({ id }) => listed.has(id))).toContain(false);
    expect((await workspace.upkeep.stats()).diskBytes).toBeLessThanOrEqual(CAP_BYTES);
    const dropped: string[] = [];
    for await (const event of events) {
      if (event.type === "steps_dropped") dropped.push(...event.steps);
      if (event.type === "checkpoint_created" && event.checkpoint?.toolUseId === "open-3") break;
    }
    expect(dropped.length).toBeGreaterThan(0);
    expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "open" }] });
    expect(readTreeMap(root)).toEqual(before);
    expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "complete" }] });
    expect(readTreeMap(root)).toEqual(turns.at(-1)!.tree);
    await end();
  }));

test("[R160] a turn that does not fit is refused; what it needs is not taken from itself or the one before", () =>
  inCapped(async ({ root, workspace }) => {
    const part = (name: string) => () => writeFileSync(join(root, name), randomBytes(700_000));
    const before = readTreeMap(root);
    await expect(driveTurn(workspace, "too much", ["a", "b", "c", "d"].map(part))).rejects.toMatchObject({
      code: "STORE_FULL",
    });
    rmSync(join(root, "d"), { force: true });
    rmSync(join(root, "c"), { force: true });
    expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "too much" }] });
    expect(readTreeMap(root)).toEqual(before);
  }));

test("[R160] what left the undo list is said by what dropped it, by status and by list", () =>
  inCapped(async ({ workspace, turns, fill }) => {
    fill(900_000);
    const { warnings } = await workspace.checkpoint();
    expect(warnings).toEqual([expect.stringMatching(/steps? can no longer be undone/)]);
    const { undoDropped } = await workspace.status();
    expect(undoDropped).toBeGreaterThan(0);
    const listed = await workspace.list();
    expect(listed.filter((each) => each.undoDropped === true).length).toBeLessThanOrEqual(2 * undoDropped);
    expect(listed.find(({ id }) => id === turns.at(-1)!.id)!.undoDropped).toBe(false);
  }));

test(
  "[R161] undo says that the newest change can no longer be undone, instead of taking another",
  inWorkspace({ a: "0" }, async ({ workspace, turn, write, tree, passHours }) => {
    await turn("older", () => write("a", "1"));
    await turn("newest", () => write("b", "2"));
    const after = tree();
    const [newest] = await workspace.list();
    await workspace.checkpoint();
    const report = await workspace.upkeep.forget(newest!.id);
    expect(report.steps).toMatchObject([{ prompt: "newest" }]);
    for (const attempt of [workspace.undo(), workspace.planUndo(), workspace.undo({ count: 2 })])
      await expect(attempt).rejects.toMatchObject({
        code: "CONTENT_PRUNED",
        facts: { description: "newest", checkpoint: expect.any(String) as unknown },
      });
    expect(tree()).toEqual(after);
    expect((await workspace.status()).canUndo).toBeNull();
    passHours(1);
    await turn("newer", () => write("c", "3"));
    expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "newer" }] });
    expect(tree()).toEqual(after);
    await expect(workspace.undo()).rejects.toMatchObject({ code: "CONTENT_PRUNED" });
    expect(await workspace.redo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "newer" }] });
  }),
);

test(
  "gc gives back what lies dead among the living of one pack",
  inWorkspace({}, async ({ workspace, turn, root, passHours }) => {
    for (const name of ["t1", "t2", "t3", "t4"]) {
      await turn(name, () => writeFileSync(join(root, "noise"), randomBytes(600_000)));
    }
    await workspace.upkeep.gc();
    const before = (await workspace.upkeep.stats()).storedBytes;
    await workspace.upkeep.prune({
      policy: { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: 0 },
    });
    passHours(25);
    await workspace.upkeep.gc();
    expect((await workspace.upkeep.stats()).storedBytes).toBeLessThan(before - 600_000);
  }),
);
