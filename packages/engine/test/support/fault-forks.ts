/** What must be true of forks after a fault: each is whole or not there, and nothing that only one has is lost. */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openWorkspace, type Workspace } from "../../src/index.ts";
import { MADE_FORK, PASSES, type Place } from "./fault-operations.ts";
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

/** [R793] Trying a merge once more removes what a killed process left of its scratch copies. */
export async function expectNoScratch({ merges, root }: Workspace): Promise<void> {
  let tried = 0;
  const check: typeof PASSES.check = (directory) => {
    tried += 1;
    return PASSES.check!(directory);
  };
  await merges.plan(["work"], { programs: { check } });
  const place = placeOf(root);
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
  const forks = await workspace.forks.list({ removed: true });
  const made = forks.find(({ name }) => name === MADE_FORK);
  // what is on the disk is known, and what is known is on the disk
  assert.deepEqual(
    names.filter((name) => name !== ".trash"),
    forks
      .filter(({ state, path }) => state === "ready" && dirname(path) === place)
      .map(({ path }) => basename(path)),
  );
  const branches = (await workspace.branches()).map(({ name }) => name);
  if (operation === "fork") {
    assert.equal(branches.includes(MADE_FORK), made !== undefined, "a branch without its fork");
    if (made === undefined) return assert.ok(!done, "the fork is not there");
    assert.deepEqual(readTreeMap(made.path), await readCheckpointMap({ workspace }, made.base!));
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
