/**
 * A workspace as a plain model: the tree at each checkpoint and the two lists of steps. The tree itself is read
 * from disk by the test's own walker, so the model cannot share a mistake with the engine.
 */
import assert from "node:assert/strict";
import type { Outcome } from "../../src/index.ts";
import type { TempWorkspace } from "./temp-workspace.ts";
import { describeFile, readIdentities, type TreeMap } from "./tree-map.ts";

export interface ModelStep {
  readonly before: TreeMap;
  readonly after: TreeMap;
  /** The checkpoint that holds its delta: pruned with it. */
  readonly checkpoint: string;
  /** It keeps its place in the list and can no longer be moved. */
  readonly isPruned?: boolean;
}

/** A checkpoint from elsewhere: its tree, and the paths that it knows of. */
export interface ModelImport {
  readonly files: TreeMap;
  readonly covers: ReadonlySet<string>;
}

/** What must be true, kept beside the real workspace. */
export class WorkspaceModel {
  readonly snapshots = new Map<string, TreeMap>();
  readonly imports = new Map<string, ModelImport>();
  /** Checkpoints of another line. */
  readonly fetched = new Map<string, TreeMap>();
  applied: ModelStep[] = [];
  undone: ModelStep[] = [];
  /** Git ignores something, or did: a whole restore does not take such files away. */
  isIgnoring = false;
  /** Of the working copy that this one was forked off: its checkpoints can be named here, with the steps they belong to. */
  readonly #parent: WorkspaceModel | undefined;

  constructor(parent?: WorkspaceModel) {
    this.#parent = parent;
  }

  /** Some step whose checkpoint may be named here can no longer be moved. */
  get hasPrunedStep(): boolean {
    const own = [...this.applied, ...this.undone].some(({ isPruned }) => isPruned);
    return own || this.#parent?.hasPrunedStep === true;
  }

  /** Forgets what pruning took. */
  keepOnly(listed: ReadonlySet<string>): void {
    for (const id of this.snapshots.keys()) if (!listed.has(id)) this.snapshots.delete(id);
    const mark = (step: ModelStep) => (listed.has(step.checkpoint) ? step : { ...step, isPruned: true });
    this.applied = this.applied.map(mark);
    this.undone = this.undone.map(mark);
  }
}

/** The files of a checkpoint in the form of `readTreeMap`. */
export async function readCheckpointMap(
  { workspace }: Pick<TempWorkspace, "workspace">,
  id: string,
): Promise<TreeMap> {
  const map = new Map<string, string>();
  for await (const { path, kind, mode, content } of workspace.files(id)) {
    const bytes = Buffer.concat([...content()]);
    if (kind === "directory") map.set(path, `directory ${mode.toString(8)}`);
    else map.set(path, kind === "file" ? describeFile(mode, bytes) : `symlink ${bytes.toString("latin1")}`);
  }
  return map;
}

/** Does something that may change files and checks what holds for all such things. */
export async function watchDestructive(
  temp: TempWorkspace,
  model: WorkspaceModel,
  work: () => Promise<Outcome>,
): Promise<{ outcome: Outcome; before: TreeMap; after: TreeMap }> {
  const before = temp.tree();
  const identities = readIdentities(temp.root);
  const outcome = await work();
  const after = temp.tree();
  expectUntouched({ before, after }, identities, readIdentities(temp.root));
  if (outcome.outcome === "conflicts" || outcome.outcome === "unchanged") assert.deepEqual(after, before);
  else assert.notEqual(outcome.safetyCheckpoint, null);
  // N0: whatever stood on disk can be brought back
  await expectSnapshot(temp, model, outcome.safetyCheckpoint, before);
  await expectSnapshot(temp, model, outcome.newCheckpoint, after);
  return { outcome, before, after };
}

async function expectSnapshot(
  temp: TempWorkspace,
  model: WorkspaceModel,
  id: string | null,
  tree: TreeMap,
): Promise<void> {
  if (id === null) return;
  assert.deepEqual(await readCheckpointMap(temp, id), tree);
  model.snapshots.set(id, tree);
}

/** What is the same before and after is the same node with the same time; of a directory only the node. */
function expectUntouched(
  { before, after }: { before: TreeMap; after: TreeMap },
  identities: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): void {
  for (const [path, node] of before) {
    if (after.get(path) !== node) continue;
    const [was, is] = [identities.get(path)!, now.get(path)!];
    if (node.startsWith("directory")) assert.equal(inodeOf(is), inodeOf(was), path);
    else assert.equal(is, was, path);
  }
}

function inodeOf(identity: string): string {
  return identity.split(" ")[0]!;
}

export type Delta = ReadonlyMap<
  string,
  { readonly old: string | undefined; readonly new: string | undefined }
>;

export function deltaOf(before: TreeMap, after: TreeMap): Delta {
  const paths = new Set([...before.keys(), ...after.keys()]);
  const changed = [...paths].filter((path) => before.get(path) !== after.get(path));
  return new Map(changed.map((path) => [path, { old: before.get(path), new: after.get(path) }]));
}

/** The tree after moving steps, where nothing stands in their way; undefined where something does. */
export function moveExactly(present: TreeMap, deltas: readonly Delta[]): TreeMap | undefined {
  const tree = new Map(present);
  for (const delta of deltas) {
    for (const [path, change] of delta) {
      if (tree.get(path) !== change.old) return undefined;
      if (change.new === undefined) tree.delete(path);
      else tree.set(path, change.new);
    }
    // what stands in the place of a directory is in the way even if a later step needs that directory no more
    const isBlocked = (path: string) => parentOf(tree, path)?.startsWith("directory") === false;
    if ([...tree.keys()].some(isBlocked)) return undefined;
  }
  const hasParent = (path: string) => !path.includes("/") || parentOf(tree, path) !== undefined;
  return [...tree.keys()].every(hasParent) ? sorted(tree) : undefined;
}

/**
 * The tree after moving a part of a step, where nothing stands in its way: directories that its paths need come as they were.
 */
export function movePart(present: TreeMap, part: Delta, directories: TreeMap): TreeMap | undefined {
  const tree = new Map(present);
  for (const [path, change] of part) {
    if (change.new === undefined) continue;
    for (const above of pathsAbove(path)) {
      const was = directories.get(above);
      if (!tree.has(above) && !part.has(above) && was?.startsWith("directory") === true) tree.set(above, was);
    }
  }
  return moveExactly(tree, [part]);
}

/** The directories above a path, from the top. */
export function pathsAbove(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join("/"));
}

/** The node above a path; undefined when there is none, or none is needed. */
function parentOf(tree: TreeMap, path: string): string | undefined {
  return path.includes("/") ? tree.get(path.slice(0, path.lastIndexOf("/"))) : undefined;
}

/** What holds of one moved step although others changed the tree: its own untouched paths move or are named as kept, other paths stay. */
export function expectMovedAround(
  delta: Delta,
  { before, after, kept }: { before: TreeMap; after: TreeMap; kept: readonly string[] },
): void {
  for (const [path, change] of delta) {
    const isLeaf = [change.old, change.new].every((node) => !node?.startsWith("directory"));
    if (kept.includes(path)) assert.equal(after.get(path), before.get(path), path);
    else if (isLeaf && before.get(path) === change.old) assert.equal(after.get(path), change.new, path);
  }
  const isAbove = (path: string) => [...delta.keys()].some((below) => below.startsWith(`${path}/`));
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    if (delta.has(path) || (before.get(path) === undefined && isAbove(path))) continue;
    assert.equal(after.get(path), before.get(path), path);
  }
}

/** What holds of a restore where git ignores something: the target's files are there, and others are gone or as they were. */
export function expectRestoredAround(
  target: TreeMap,
  {
    before,
    after,
    path,
    kept,
  }: { before: TreeMap; after: TreeMap; path: string | undefined; kept: Outcome["kept"] },
): void {
  const isAt = (place: string, other: string) => other === place || other.startsWith(`${place}/`);
  const isChosen = (other: string) => path === undefined || isAt(path, other);
  const isKept = (other: string) => kept.some((each) => isAt(each.path, other));
  for (const [other, node] of target)
    if (isChosen(other) && !isKept(other) && !node.startsWith("directory"))
      assert.equal(after.get(other), node, other);
  for (const [other, node] of after)
    if (!target.has(other) || !isChosen(other))
      assert.ok(before.get(other) === node || node.startsWith("directory"), other);
}

export interface RestoreChoice {
  /** undefined = everything; as `TreeMap` has it. */
  readonly path: string | undefined;
  readonly keepNew: boolean;
}

/** The tree after a restore, or what stands in its way. */
export function restoreExactly(
  present: TreeMap,
  target: TreeMap,
  { path, keepNew }: RestoreChoice,
): TreeMap | "conflict" {
  const isChosen = (other: string) => path === undefined || other === path || other.startsWith(`${path}/`);
  const tree = new Map([...present].filter(([other]) => !isChosen(other) || (keepNew && !target.has(other))));
  for (const [other, node] of target) {
    const isAbove =
      path?.startsWith(`${other}/`) === true && node.startsWith("directory") && !present.has(other);
    if (isChosen(other) || isAbove) tree.set(other, node);
  }
  const hasParent = (other: string) =>
    !other.includes("/") ||
    tree.get(other.slice(0, other.lastIndexOf("/")))?.startsWith("directory") === true;
  return [...tree.keys()].every(hasParent) ? sorted(tree) : "conflict";
}

function sorted(tree: Map<string, string>): TreeMap {
  return new Map([...tree].sort(([a], [b]) => (a < b ? -1 : 1)));
}
