/** A small project in a laboratory, with every kind of change between its first checkpoint and the present. */
import { chmodSync, lstatSync, mkdirSync, rmSync, statfsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { openWorkspace, type Workspace } from "../../src/index.ts";
import type { FaultLab } from "./fault-lab.ts";
import { MADE_FORK } from "./fault-operations.ts";
import { putOldStore, type OldFormat } from "./old-store.ts";
import { makeSecondCopy } from "./second-copy.ts";
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
  known.set(await makeSecondCopy(lab, { root: forkOf(lab), name: "fork" }), readTreeMap(root));
  // the last of the changes are in no checkpoint yet
  writeFileSync(join(root, "by hand"), "only here\n");
  lab.keep("turned");
  await undoTurn(lab, known);
  lab.keep("undone");
  lab.putBack("turned");
  disturb(random.below(4));
  lab.keep("start");
  await makeFork(lab);
  lab.keep("forked");
  return known;
}

/** A fork with a file that no checkpoint has. */
async function makeFork({ root, home }: FaultLab): Promise<void> {
  // a small disk has no room for forks: the suite on it has none of their scenes
  const { bsize, blocks } = statfsSync(root);
  if (bsize * blocks < 2 ** 31) return;
  await using workspace = await openWorkspace(root, { home });
  const fork = await workspace.fork(MADE_FORK);
  writeFileSync(join(fork.path, ONLY_IN_FORK), "only here\n");
}

/** The file that only the fork has. */
export const ONLY_IN_FORK = "only in the fork";

/** Where the second working copy of the project is: put back with the home. */
export function forkOf({ home }: { readonly home: string }): string {
  return join(home, "fork");
}

/** Protects the directory and changes it in a turn of a thread. */
async function takeTurn({ root, home }: FaultLab, change: () => void): Promise<Map<string, TreeMap>> {
  await using workspace = await openWorkspace(root, { home });
  const [first] = await workspace.list();
  const before = readTreeMap(root);
  const { id: thread } = await workspace.threads.open({ agent: "torture", externalId: "1" });
  await workspace.createBranch("other", { from: first!.id });
  const work = await workOnBranch(workspace, "work", () => {
    mkdirSync(join(root, "brought/deep"), { recursive: true });
    for (const path of ["brought/deep/x", "brought/y"]) writeFileSync(join(root, path), "by work\n");
  });
  // the turn changes it too
  const clash = await workOnBranch(workspace, "clash", () => {
    rmSync(join(root, "edited"), { recursive: true, force: true });
    writeFileSync(join(root, "edited"), "by clash\n");
  });
  const turn = await workspace.turns.run({ prompt: "everything", thread }, async () => change());
  return new Map([
    [String(first!.id), before],
    ...work,
    ...clash,
    [turn.before.id, before],
    [turn.after.id, readTreeMap(root)],
  ]);
}

/** Another branch with work of its own; the files are back on `main` afterwards. Gives the trees of its checkpoints. */
async function workOnBranch(
  workspace: Workspace,
  name: string,
  work: () => void,
): Promise<[string, TreeMap][]> {
  await workspace.createBranch(name, { from: "1" });
  const known: [string, TreeMap][] = [];
  const switchTo = async (branch: string) => {
    const before = readTreeMap(workspace.root);
    const { safetyCheckpoint, newCheckpoint } = await workspace.restore(await workspace.planSwitch(branch));
    known.push([safetyCheckpoint!, before], [newCheckpoint!, readTreeMap(workspace.root)]);
  };
  await switchTo(name);
  work();
  await switchTo("main");
  return known;
}

async function undoTurn({ root, home }: FaultLab, known: Map<string, TreeMap>): Promise<void> {
  await using workspace = await openWorkspace(root, { home });
  const before = readTreeMap(root);
  const { safetyCheckpoint, newCheckpoint } = await workspace.undo();
  known.set(safetyCheckpoint!, before).set(newCheckpoint!, readTreeMap(root));
}

/** Keeps "start" with a store of an earlier format as "format 1" …; gives the trees of its checkpoints, the first one first. */
export async function keepOldFormat(lab: FaultLab, format: OldFormat): Promise<ReadonlyMap<string, TreeMap>> {
  lab.putBack("start");
  const present = await openWorkspace(lab.root, { home: lab.home });
  await present.close();
  putOldStore(present, format);
  // before format 4 there was one working copy
  rmSync(forkOf(lab), { recursive: true });
  lab.keep(`format ${format}`);
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
