/** Going back by choice, on whole trees: any hunks, then the rest, are what going back at once would have been. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChosenHunks, Plan } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";
import { makeEdit, treeEdit } from "./support/tree-edits.ts";
import type { TreeMap } from "./support/tree-map.ts";

const RUNS = Number(process.env["BELAY_FUZZ_RUNS"] ?? 25);
const LIMIT_MS = 600_000;

const edits = fc.array(treeEdit, { minLength: 1, maxLength: 10 });
const picks = fc.infiniteStream(fc.boolean());
const path = fc.constantFrom("long.txt", "d/long.txt");
/** Lines of long files that a later edit replaces, so that files have several hunks. */
const places = fc.array(fc.tuple(path, fc.nat(99)), { maxLength: 8 });

const LONG = Array.from({ length: 100 }, (_, at) => `line ${at}\n`).join("");

test(
  "[R233] [Y69] all hunks are the whole plan, none leaves every file, some and then the rest are the whole; undo brings back every byte",
  { timeout: LIMIT_MS },
  async () => {
    await fc.assert(
      fc.asyncProperty(edits, edits, places, picks, async (before, after, changed, chosen) => {
        await inWorkspace({ "long.txt": LONG, "d/long.txt": LONG }, async (temp) => {
          for (const edit of before) makeEdit(temp.root, edit);
          const { id: target } = await temp.workspace.checkpoint();
          const wanted = temp.tree();
          for (const edit of after) makeEdit(temp.root, edit);
          replaceLines(temp, changed);
          const start = temp.tree();
          const whole = await temp.workspace.planRestore(target);
          const choices = await choicesOf(temp, whole);
          await expectAll(temp, { target, whole, choices });
          await expectNone(temp, { target, choices, start });
          const some = choices.map(({ path, hunks }) => ({
            path,
            hunks: hunks.filter(() => chosen.next().value),
          }));
          await temp.workspace.restoreTo(target, { hunks: some });
          await temp.workspace.restoreTo(target);
          expect(temp.tree()).toEqual(wanted);
          for (let left = 4; left > 0 && (await temp.workspace.status()).canUndo !== null; left -= 1)
            await temp.workspace.undo();
          expect(temp.tree()).toEqual(start);
        })();
      }),
      { numRuns: RUNS },
    );
  },
);

function replaceLines(
  { write, read, tree }: TempWorkspace,
  changed: readonly (readonly [string, number])[],
): void {
  for (const [name, at] of changed) {
    if (tree().get(name)?.startsWith("file") !== true || !read(name).includes(`line ${at}\n`)) continue;
    write(name, read(name).replace(`line ${at}\n`, `changed ${at}\n`));
  }
}

/** Every hunk of every file. */
async function choicesOf({ workspace }: TempWorkspace, plan: Plan): Promise<ChosenHunks[]> {
  const { files } = await workspace.planDetails(plan);
  return Promise.all(
    files.map(async ({ path: name }) => {
      const { choices } = (await workspace.diffPlanned(plan, { path: name }))!;
      return { path: name, hunks: Array.from({ length: choices }, (_, at) => at) };
    }),
  );
}

async function expectAll(
  { workspace }: TempWorkspace,
  { target, whole, choices }: { target: string; whole: Plan; choices: ChosenHunks[] },
): Promise<void> {
  const all = await workspace.planRestore(target, { hunks: choices });
  expect({ edits: all.edits, hunks: all.hunks }).toEqual({ edits: whole.edits, hunks: null });
}

async function expectNone(
  { workspace, tree }: TempWorkspace,
  { target, choices, start }: { target: string; choices: ChosenHunks[]; start: TreeMap },
): Promise<void> {
  const none = choices.map(({ path: name }) => ({ path: name, hunks: [] }));
  const outcome = await workspace.restoreTo(target, { hunks: none });
  expect(filesOf(tree())).toEqual(filesOf(start));
  if (outcome.outcome === "applied") await workspace.undo();
  expect(tree()).toEqual(start);
}

function filesOf(tree: TreeMap): TreeMap {
  return new Map([...tree].filter(([, node]) => !node.startsWith("directory")));
}
