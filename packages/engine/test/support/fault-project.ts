/** A small project in a laboratory, with every kind of change between its first checkpoint and the present. */
import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { openWorkspace } from "../../src/index.ts";
import type { FaultLab } from "./fault-lab.ts";
import { putOldStore } from "./old-store.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { makeEdit, treeEdit } from "./tree-edits.ts";
import { readTreeMap, type TreeMap } from "./tree-map.ts";
import { readCheckpointMap } from "./workspace-model.ts";

/**
 * Makes the project and keeps it as "bare" (not protected yet), "turned" (after a turn that changed everything),
 * "undone" (that turn undone) and "start" (with more changes on top of it); gives the trees of its checkpoints.
 */
export async function buildFaultProject(
  lab: FaultLab,
  random: SeededRandom,
): Promise<ReadonlyMap<string, TreeMap>> {
  const { root } = lab;
  const disturb = (times: number) => {
    const edits = fc.sample(treeEdit, { seed: random.below(2 ** 31), numRuns: times });
    for (const edit of edits) makeEdit(root, edit);
  };
  writeFirstTree(root);
  disturb(random.below(10));
  lab.keep("bare");
  const known = await takeTurn(lab, () => {
    changeEverything(root);
    disturb(random.below(10));
  });
  // the last of the changes are in no checkpoint yet
  writeFileSync(join(root, "by hand"), "only here\n");
  lab.keep("turned");
  await undoTurn(lab, known);
  lab.keep("undone");
  lab.putBack("turned");
  disturb(random.below(4));
  lab.keep("start");
  return known;
}

/** Protects the directory and changes it in a turn of a thread. */
async function takeTurn({ root, home }: FaultLab, change: () => void): Promise<Map<string, TreeMap>> {
  await using workspace = await openWorkspace(root, { home });
  const [first] = await workspace.list();
  const before = readTreeMap(root);
  const { id: thread } = await workspace.threads.open({ agent: "torture", externalId: "1" });
  const turn = await workspace.turns.run({ prompt: "everything", thread }, async () => change());
  return new Map([
    [String(first!.id), before],
    [turn.before.id, before],
    [turn.after.id, readTreeMap(root)],
  ]);
}

async function undoTurn({ root, home }: FaultLab, known: Map<string, TreeMap>): Promise<void> {
  await using workspace = await openWorkspace(root, { home });
  const before = readTreeMap(root);
  const { safetyCheckpoint, newCheckpoint } = await workspace.undo();
  known.set(safetyCheckpoint!, before).set(newCheckpoint!, readTreeMap(root));
}

/** Keeps "start" with a store of the first format as "format 1"; gives the trees of its checkpoints, the first one first. */
export async function keepOldFormat(lab: FaultLab): Promise<ReadonlyMap<string, TreeMap>> {
  lab.putBack("start");
  const present = await openWorkspace(lab.root, { home: lab.home });
  await present.close();
  putOldStore(present);
  lab.keep("format 1");
  await using workspace = await openWorkspace(lab.root, { home: lab.home });
  const known = new Map<string, TreeMap>();
  for (const { id } of (await workspace.list()).reverse())
    known.set(id, await readCheckpointMap({ workspace }, id));
  return known;
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
