/** The cap on the store's size: what goes to keep it, and what does not. */
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkspace, writeSetting, type Workspace } from "../src/index.ts";
import { makeDirectory } from "./support/place.ts";
import { inWorkspace } from "./support/temp-workspace.ts";
import { readTreeMap, type TreeMap } from "./support/tree-map.ts";

const CAP_BYTES = 3_100_000;

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
      const { after } = await workspace.turn({}, async () => fill(600_000));
      turns.push({ id: after.id, tree: readTreeMap(root) });
    }
    await body({ root, workspace, turns, fill });
    expect(await workspace.verify({ full: true })).toMatchObject({ ok: true, problems: [] });
  } finally {
    await workspace.close();
    rmSync(base, { recursive: true, force: true });
  }
}

test("[R14] old turns make room for a new checkpoint, the oldest first, and the cap is kept", () =>
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
    expect((await workspace.stats()).diskBytes).toBeLessThanOrEqual(CAP_BYTES);
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

test(
  "gc gives back what lies dead among the living of one pack",
  inWorkspace({}, async ({ workspace, turn, root, passHours }) => {
    for (const name of ["t1", "t2", "t3", "t4"]) {
      await turn(name, () => writeFileSync(join(root, "noise"), randomBytes(600_000)));
    }
    await workspace.gc();
    const before = (await workspace.stats()).storedBytes;
    await workspace.prune({
      policy: { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: 0 },
    });
    passHours(25);
    await workspace.gc();
    expect((await workspace.stats()).storedBytes).toBeLessThan(before - 600_000);
  }),
);
