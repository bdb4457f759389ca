/**
 * Forks made and removed over and over, worked in meanwhile: each is exact when it is made, its original is never touched,
 * and at the end no directory, port, process or row of one is left but its branch.
 */
import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import type { Fork } from "../../packages/engine/src/index.ts";
import { inWorkspace, type TempWorkspace } from "../../packages/engine/test/support/temp-workspace.ts";
import { makeEdit, treeEdit } from "../../packages/engine/test/support/tree-edits.ts";
import { readTreeMap } from "../../packages/engine/test/support/tree-map.ts";
import { readCheckpointMap } from "../../packages/engine/test/support/workspace-model.ts";
import type { Round, Suite } from "../suite.ts";

const FORKS_A_ROUND = 50;
const MOST_AT_ONCE = 4;

export const forks: Suite = {
  name: "forks",
  unit: "forks made and removed",
  goal: 2_000,
  short: 12,
  round: (round) =>
    inWorkspace({ "a.txt": "a\n", "src/b.txt": "b\n" }, async (temp) => {
      const live: Fork[] = [];
      for (let number = 0; number < FORKS_A_ROUND && !round.isOver; number += 1) {
        disturb(temp.root, round);
        live.push(await make(temp, `f${number}`));
        await workIn(temp, round.random.pick(live), round);
        if (live.length >= MOST_AT_ONCE) await remove(temp, live.shift()!, round);
      }
      for (const fork of live) await remove(temp, fork, round);
      expectNothingLeft(temp);
    })(),
};

function disturb(root: string, { random }: Round): void {
  const edits = fc.sample(treeEdit, { seed: random.below(2 ** 31), numRuns: 1 + random.below(4) });
  for (const edit of edits) makeEdit(root, edit);
}

async function make(temp: TempWorkspace, name: string): Promise<Fork> {
  const before = temp.tree();
  const fork = await temp.workspace.fork(name);
  assert.deepEqual(readTreeMap(fork.path), before);
  assert.deepEqual(temp.tree(), before, "making a fork changed the original");
  return fork;
}

async function workIn(temp: TempWorkspace, fork: Fork, round: Round): Promise<void> {
  const before = temp.tree();
  disturb(fork.path, round);
  // the edits above make something else of any name that is there
  const name = (what: string) => join(fork.path, `${what} ${round.random.below(2 ** 31)}`);
  writeFileSync(name("captured"), "captured\n");
  await using opened = await temp.workspace.openFork(fork.id);
  await opened.checkpoint();
  writeFileSync(name("not captured"), "only here\n");
  assert.deepEqual(temp.tree(), before, "work in a fork changed the original");
}

async function remove(temp: TempWorkspace, fork: Fork, round: Round): Promise<void> {
  const tree = readTreeMap(fork.path);
  if (round.random.below(3) === 0) {
    await temp.workspace.removeFork(fork.name);
    assert.deepEqual(readTreeMap((await temp.workspace.restoreFork(fork.name)).path), tree);
  }
  const { checkpoint } = await temp.workspace.removeFork(fork.name, { now: true });
  assert.deepEqual(await readCheckpointMap({ workspace: temp.workspace }, checkpoint!), tree);
  round.count("removed");
}

/** [R92] The branches stay, and nothing else. */
function expectNothingLeft({ root, home, workspace }: TempWorkspace): void {
  const all = join(dirname(root), ".belay-forks");
  assert.ok(!existsSync(all), `left: ${existsSync(all) ? readdirSync(all).join() : ""}`);
  using store = new DatabaseSync(join(workspace.store, "store.db"));
  using registry = new DatabaseSync(join(home, "registry.db"));
  const rows = store
    .prepare("SELECT count(*) AS n FROM working_copy WHERE state NOT IN ('main', 'gone')")
    .get()!;
  const held = store.prepare("SELECT count(*) AS n FROM working_copy WHERE port IS NOT NULL").get()!;
  assert.deepEqual(
    [rows["n"], held["n"], registry.prepare("SELECT count(*) AS n FROM fork").get()!["n"]],
    [0, 0, 0],
  );
  assert.deepEqual(
    readdirSync(workspace.store).filter((name) => name.startsWith("stat-cache-")),
    [],
  );
}
