/** Commands of the model test about checkpoints of another line: they come, stay out of everything, and are restored. */
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { openWorkspace } from "../../src/index.ts";
import { fetchBetween } from "./fetch-between.ts";
import { command } from "./model-command.ts";
import type { TempWorkspace } from "./temp-workspace.ts";
import { makeEdit, treeEdit, type TreeEdit } from "./tree-edits.ts";
import { readTreeMap } from "./tree-map.ts";
import {
  deltaOf,
  expectRestoredAround,
  readCheckpointMap,
  restoreExactly,
  watchDestructive,
} from "./workspace-model.ts";

/** [R700] Nothing but the fetch itself tells of it: not the files, the list, `@`, the steps or what is pending. */
export const fetchState = fc.array(treeEdit, { minLength: 1, maxLength: 6 }).map((edits) =>
  command("fetch", async (model, temp) => {
    const { workspace } = temp;
    const seen = async () => ({
      tree: temp.tree(),
      listed: (await workspace.list()).map(({ id }) => id),
      newest: (await workspace.resolve("@")).id,
      changed: (await workspace.status()).changedFiles,
      steps: (await workspace.planUndo().catch(() => null))?.steps,
    });
    const before = await seen();
    const { id, tree } = await fetchAnother(temp, edits);
    assert.deepEqual(await seen(), before);
    assert.deepEqual(await readCheckpointMap(temp, id), tree);
    model.fetched.set(id, tree);
    return [...tree.keys()].join(", ");
  }),
);

/** A checkpoint of another store, which goes on where it was. */
async function fetchAnother({ workspace, home }: TempWorkspace, edits: readonly TreeEdit[]) {
  const base = dirname(home);
  const root = join(base, "elsewhere");
  mkdirSync(root, { recursive: true });
  await using elsewhere = await openWorkspace(root, { home: join(base, "home-elsewhere") });
  for (const each of edits) makeEdit(root, each);
  const { id } = await elsewhere.checkpoint();
  return { id: fetchBetween(elsewhere, workspace, id).id, tree: readTreeMap(root) };
}

/** [R700] The files become what they were there; that is a step like any restore. */
export const restoreFetched = fc.nat(1000).map((choice) =>
  command("restore what was fetched", async (model, temp) => {
    const id = [...model.fetched.keys()][choice % model.fetched.size];
    if (id === undefined) return;
    const target = model.fetched.get(id)!;
    const expected = restoreExactly(temp.tree(), target, { path: undefined, keepNew: false });
    const { outcome, before, after } = await watchDestructive(temp, model, () =>
      temp.workspace.restoreTo(id),
    );
    if (outcome.outcome === "applied")
      model.applied.push({ before, after, checkpoint: outcome.newCheckpoint! });
    if (outcome.outcome === "conflicts") {
      if (!model.isIgnoring) assert.equal(expected, "conflict");
      return "conflicts";
    }
    if (model.isIgnoring)
      expectRestoredAround(target, { before, after, path: undefined, kept: outcome.kept });
    else {
      assert.deepEqual(after, expected);
      assert.equal(outcome.outcome, deltaOf(before, after).size === 0 ? "unchanged" : "applied");
    }
    return [...target.keys()].join(", ");
  }),
);
