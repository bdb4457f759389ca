/** Everything that tells how many files changed tells the same, and what two listings of the tree by hand would tell. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { countChanges, type ChangeCounts } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";
import { makeEdit, treeEdit } from "./support/tree-edits.ts";
import type { TreeMap } from "./support/tree-map.ts";

const RUNS = Number(process.env["BELAY_FUZZ_RUNS"] ?? 40);
const LIMIT_MS = 600_000;

const edits = fc.array(treeEdit, { minLength: 1, maxLength: 10 });

test(
  "[R181] status, checkpoint, list, show, diff, preview and outcome count alike",
  { timeout: LIMIT_MS },
  async () => {
    await fc.assert(
      fc.asyncProperty(edits, edits, async (before, after) => {
        await inWorkspace({}, async (temp) => {
          for (const edit of before) makeEdit(temp.root, edit);
          const { id: old } = await temp.workspace.checkpoint();
          const from = temp.tree();
          for (const edit of after) makeEdit(temp.root, edit);
          await expectAgreement(temp, old, { from, to: temp.tree() });
        })();
      }),
      { numRuns: RUNS },
    );
  },
);

async function expectAgreement(
  { workspace }: TempWorkspace,
  old: string,
  { from, to }: { from: TreeMap; to: TreeMap },
): Promise<void> {
  const counts = countByHand(from, to);
  expect((await workspace.status()).changes).toEqual(counts);
  expect((await workspace.diff({ detail: "names" })).summary).toMatchObject(counts);
  const { checkpoint, id } = await workspace.checkpoint();
  expect(checkpoint.changes).toEqual(counts);
  expect((await workspace.list({ limit: 1 }))[0]!.changes).toEqual(counts);
  expect((await workspace.diff(old, id)).summary).toMatchObject(counts);
  const { files } = await workspace.show(id);
  const moved = files.filter(({ type }) => type === "renamed").length;
  const of = (...types: string[]) => files.filter(({ type }) => types.includes(type)).length;
  expect({
    added: of("added") + moved,
    modified: of("modified", "mode"),
    deleted: of("deleted") + moved,
  }).toEqual(counts);
  const back = countByHand(to, from);
  expect(countChanges((await workspace.planRestore(old)).edits)).toEqual(back);
  const { created, modified, deleted, newCheckpoint } = await workspace.restoreTo(old);
  expect({ added: created, modified, deleted }).toEqual(back);
  if (newCheckpoint !== null) expect((await workspace.resolve(newCheckpoint)).changes).toEqual(back);
}

function countByHand(from: TreeMap, to: TreeMap): ChangeCounts {
  const isFile = (node: string | undefined) => node !== undefined && !node.startsWith("directory");
  const count = { added: 0, modified: 0, deleted: 0 };
  for (const path of new Set([...from.keys(), ...to.keys()])) {
    const [before, after] = [from.get(path), to.get(path)];
    if (isFile(before) && isFile(after)) count.modified += before === after ? 0 : 1;
    else if (isFile(after)) count.added += 1;
    else if (isFile(before)) count.deleted += 1;
  }
  return count;
}
