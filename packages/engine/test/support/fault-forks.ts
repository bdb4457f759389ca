/** What must be true of forks after a fault: each is whole or not there, and nothing that only one has is lost. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { openWorkspace, type Fork, type Workspace } from "../../src/index.ts";
import { MADE_FORK, PASSES, SPARE_FORK, type Place } from "./fault-operations.ts";
import { ONLY_IN_FORK } from "./fault-project.ts";
import { readTreeMap } from "./tree-map.ts";
import { readCheckpointMap } from "./workspace-model.ts";

function placeOf(root: string): string {
  return join(dirname(root), ".belay-forks", basename(root));
}

/** A fork that was put back is another directory: opening it once makes it known again. */
export async function meetFork({ root, home }: Place): Promise<void> {
  const path = join(placeOf(root), MADE_FORK);
  if (existsSync(path)) await (await openWorkspace(path, { home })).close();
}

/** What no checkpoint holds, and what a spare fork does not keep. */
const INSTALLED = "node_modules/installed";

/** Longer than the granularity of file times: what was written a moment ago is not taken over. */
const AT_REST_MS = 30;

/** Puts a fork into the trash. It is made each time: the copy of one is another directory, and nothing takes that over. */
export async function trashFork({ root, home }: Place): Promise<void> {
  await using workspace = await openWorkspace(root, { home });
  const fork = await workspace.fork(SPARE_FORK);
  mkdirSync(join(fork.path, dirname(INSTALLED)), { recursive: true });
  writeFileSync(join(fork.path, INSTALLED), "can be installed again\n");
  await sleep(AT_REST_MS);
  await workspace.removeFork(SPARE_FORK);
}

/** [R793] Trying a merge once more removes what a killed process left of its scratch copies. */
export async function expectNoScratch(workspace: Workspace): Promise<void> {
  let tried = 0;
  const check: typeof PASSES.check = (directory) => {
    tried += 1;
    return PASSES.check!(directory);
  };
  await workspace.planMerge(["work"], { programs: { check } });
  const place = placeOf(workspace.root);
  const left = existsSync(place) ? readdirSync(place).filter((name) => name.startsWith(".scratch-")) : [];
  // a merge that went through before the end has nothing to try
  if (tried > 0) assert.deepEqual(left, []);
}

/** [R90, R92] `done`: it was told that the fork is made, or removed. */
export async function expectForks(
  workspace: Workspace,
  { operation, done }: { readonly operation: string; readonly done: boolean },
): Promise<void> {
  const place = placeOf(workspace.root);
  // an empty file that the next fork begins with removing
  const names = (existsSync(place) ? readdirSync(place) : []).filter((name) => name !== ".belay-probe");
  const forks = await workspace.forks({ removed: true });
  const made = forks.find(({ name }) => name === MADE_FORK);
  // what is on the disk is known, and what is known is on the disk
  assert.deepEqual(
    names.filter((name) => name !== ".trash"),
    forks
      .filter(({ state, path }) => state === "ready" && dirname(path) === place)
      .map(({ path }) => basename(path)),
  );
  const branches = (await workspace.branches()).map(({ name }) => name);
  if (operation !== "unfork") {
    assert.equal(branches.includes(MADE_FORK), made !== undefined, "a branch without its fork");
    assert.ok(made !== undefined || !done, "the fork is not there");
    if (made !== undefined) await expectExact(workspace, made);
    if (operation === "takeover") await expectSpare(workspace);
    return;
  }
  assert.ok(branches.includes(MADE_FORK), "the branch is gone");
  if (done) assert.equal(made, undefined);
  const held =
    made === undefined
      ? await readCheckpointMap({ workspace }, `branch/${MADE_FORK}`)
      : readTreeMap(made.path);
  assert.ok(held.has(ONLY_IN_FORK), "what only the fork had is lost");
}

async function expectExact(workspace: Workspace, { path, base }: Fork): Promise<void> {
  assert.deepEqual(readTreeMap(path), await readCheckpointMap({ workspace }, base!));
}

/** [R1756] The fork in the trash can be brought back whole, is spare with every captured file, or is gone. */
async function expectSpare(workspace: Workspace): Promise<void> {
  const trashed = (await workspace.forks({ removed: true })).find(({ name }) => name === SPARE_FORK);
  if (trashed !== undefined)
    assert.ok(existsSync(join(trashed.path, INSTALLED)), "half a fork can be brought back");
  for (const root of placesOf(workspace, "spare")) {
    const held = readTreeMap(root);
    const captured = await readCheckpointMap({ workspace }, `branch/${SPARE_FORK}`);
    for (const [path, node] of captured) assert.equal(held.get(path), node, `a spare fork lacks ${path}`);
  }
  const fork = await workspace.fork("next");
  await expectExact(workspace, fork);
  assert.deepEqual(placesOf(workspace, "gone"), [], "what is left of a fork was not cleared away");
}

/** Where the working copies of a state are. */
function placesOf({ store }: Workspace, state: "spare" | "gone"): string[] {
  using db = new DatabaseSync(join(store, "store.db"), { readOnly: true });
  const rows = db.prepare("SELECT root FROM working_copy WHERE state = ? AND root IS NOT NULL").all(state);
  return rows.map(({ root }) => Buffer.from(root as Uint8Array).toString("utf8"));
}
