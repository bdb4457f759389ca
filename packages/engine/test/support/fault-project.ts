/** A small project in a laboratory, with every kind of change between its first checkpoint and the present. */
import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { openWorkspace, type Outcome, type Workspace } from "../../src/index.ts";
import type { FaultLab } from "./fault-lab.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { makeEdit, treeEdit } from "./tree-edits.ts";
import { readTreeMap, type TreeMap } from "./tree-map.ts";

/** Makes the project and keeps it as "bare" (not protected yet), "start" and "undone"; gives the trees of its checkpoints. */
export async function buildFaultProject(
  lab: FaultLab,
  random: SeededRandom,
): Promise<ReadonlyMap<string, TreeMap>> {
  const { root, home } = lab;
  const disturb = (times: number) => {
    const edits = fc.sample(treeEdit, { seed: random.below(2 ** 31), numRuns: times });
    for (const edit of edits) makeEdit(root, edit);
  };
  writeFirstTree(root);
  disturb(random.below(10));
  lab.keep("bare");
  const workspace = await openWorkspace(root, { home });
  const [first] = await workspace.list();
  const before = readTreeMap(root);
  const turn = await workspace.turn({ prompt: "everything" }, async () => {
    changeEverything(root);
    disturb(random.below(10));
  });
  const known = new Map([
    [String(first!.id), before],
    [turn.before.id, before],
    [turn.after.id, readTreeMap(root)],
  ]);
  // the last of the changes are in no checkpoint yet
  writeFileSync(join(root, "by hand"), "only here\n");
  disturb(random.below(4));
  await workspace.close();
  lab.keep("start");
  const again = await openWorkspace(root, { home });
  await undoExactly(again, known);
  await again.close();
  lab.keep("undone");
  return known;
}

/** Undoes the turn with nothing in its way, so that there is something to redo. */
async function undoExactly(workspace: Workspace, known: Map<string, TreeMap>): Promise<void> {
  const note = async (work: () => Promise<Outcome>) => {
    const before = readTreeMap(workspace.root);
    const { safetyCheckpoint, newCheckpoint } = await work();
    if (safetyCheckpoint !== null) known.set(safetyCheckpoint, before);
    if (newCheckpoint !== null) known.set(newCheckpoint, readTreeMap(workspace.root));
  };
  await note(() => workspace.restoreTo("3"));
  await note(() => workspace.undo({ count: 2 }));
}

function writeFirstTree(root: string): void {
  for (const path of ["d/deep", "empty", "to-file"]) mkdirSync(join(root, path), { recursive: true });
  for (const path of ["same", "edited", "d/gone", "to-directory", "to-file/x", "mode"])
    writeFileSync(join(root, path), `${path} 0\n`);
  symlinkSync("same", join(root, "link"));
}

function changeEverything(root: string): void {
  const write = (path: string, content: string) => writeFileSync(join(root, path), content);
  for (const path of ["edited", "created", "mode", "to-directory", "to-file", "empty", "link", "new"])
    rmSync(join(root, path), { recursive: true, force: true });
  // by now it may be something else
  if (lstatSync(join(root, "d"), { throwIfNoEntry: false })?.isDirectory() === true)
    rmSync(join(root, "d/gone"), { recursive: true, force: true });
  for (const path of ["new/deep", "to-directory"])
    mkdirSync(join(root, path), { recursive: true, mode: 0o700 });
  for (const path of ["edited", "created", "mode", "to-directory/x", "to-file", "new/deep/x"])
    write(path, `${path} 1\n`);
  chmodSync(join(root, "mode"), 0o755);
  symlinkSync("edited", join(root, "link"));
}
