/** What must be true after a fault, whatever it was and wherever it struck. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listWorkspaces, openWorkspace, type Workspace } from "../../src/index.ts";
import type { Place, Said } from "./fault-operations.ts";
import { expectForks } from "./fault-forks.ts";
import { forkOf } from "./fault-project.ts";
import { findStageLeftovers, readTreeMap, type TreeMap } from "./tree-map.ts";
import { readCheckpointMap } from "./workspace-model.ts";

export interface States {
  /** As the operation found it; `before` unless it is a recovery. */
  readonly found: TreeMap;
  readonly before: TreeMap;
  readonly after: TreeMap;
  /** How the sessions stand before and after; only for what changes them. */
  readonly sessions?: { readonly before: string; readonly after: string } | undefined;
  /** The operation on forks, where it is one. */
  readonly forking?: string | undefined;
  /** The branch before and after; only for what changes it. */
  readonly branches?: { readonly before: string; readonly after: string } | undefined;
  /** The trees of the checkpoints that the workspace started with. */
  readonly known: ReadonlyMap<string, TreeMap>;
}

/** What is reported must be true at once, before any recovery. */
export function expectHonest(
  said: Said | undefined,
  { root }: Place,
  { found, before, after }: States,
): void {
  const tree = readTreeMap(root);
  assert.ok(said !== undefined, "it must say something");
  if (said.done && found !== before)
    return expectRecovered(String(said.outcome), tree, { found, before, after });
  if (said.done) return assert.deepEqual(tree, after);
  assert.equal(said.name, "EngineError", `an error without a name: ${said.name} ${said.message}`);
  if (/nothing was changed|files are untouched|everything was put back/i.test(said.message))
    assert.deepEqual(tree, found);
}

/** A recovery may also take back what it cannot finish, or find that there is nothing to do or no way to do it. */
function expectRecovered(
  notices: string,
  tree: TreeMap,
  { found, before, after }: Omit<States, "known">,
): void {
  const isFinished = notices.includes("was finished");
  assert.deepEqual(tree, isFinished ? after : notices.includes("was taken back") ? before : found);
}

/**
 * The next command finds or makes one of the two states; all checkpoints are whole; `done`: it was told that all was
 * done; `restore`: the first can be restored.
 */
export async function expectSound(
  { root, home }: Place,
  states: States,
  { done = false, restore }: { readonly done?: boolean; readonly restore: boolean },
): Promise<void> {
  const workspace = await openWorkspace(root, { home });
  try {
    const tree = readTreeMap(root);
    if (!isSame(tree, states.before)) assert.deepEqual(tree, states.after);
    if (states.branches !== undefined) await expectBranch(workspace, states);
    if (states.sessions !== undefined) await expectSessions(workspace, states, done);
    assert.deepEqual(findStageLeftovers(root), []);
    await expectCheckpoints(workspace, states);
    await expectVerified(workspace);
    await expectForkAsItWas(home, states);
    if (states.forking !== undefined) await expectForks(workspace, { operation: states.forking, done });
    if (!restore) return;
    await workspace.restoreTo("1");
    assert.deepEqual(readTreeMap(root), [...states.known.values()][0]);
  } finally {
    await workspace.close();
  }
}

/** [R94] Whatever struck the root, its second working copy has the files it began with, and its branch ends there. */
async function expectForkAsItWas(home: string, { known }: States): Promise<void> {
  const root = forkOf({ home });
  if (!existsSync(root)) return;
  await using fork = await openWorkspace(root, { home });
  const [head] = await fork.list();
  assert.deepEqual(await fork.planUndo(), null);
  assert.deepEqual(readTreeMap(root), known.get(head!.id));
}

/** Files and branch are both as before, or both as after. */
async function expectBranch(workspace: Workspace, { before, after, branches }: States): Promise<void> {
  const current = await readBranch(workspace);
  assert.ok(current === branches!.before || current === branches!.after, current);
  assert.deepEqual(readTreeMap(workspace.root), current === branches!.before ? before : after);
}

/** The branch that the files are on. */
async function readBranch(workspace: Workspace): Promise<string> {
  return (await workspace.branches()).find(({ current }) => current)!.name;
}

/** Files and sessions are both as before, or both as after. */
async function expectSessions(
  workspace: Workspace,
  { before, after, sessions }: States,
  done: boolean,
): Promise<void> {
  const tree = readTreeMap(workspace.root);
  const is = await readSessions(workspace);
  if (!done && is === sessions!.before) return assert.deepEqual(tree, before);
  assert.equal(is, sessions!.after);
  assert.deepEqual(tree, after);
}

/** The sessions of all threads, and what is pending in the open ones. */
export async function readSessions(workspace: Workspace): Promise<string> {
  const lines: string[] = [];
  for (const { id } of await workspace.threads.list()) {
    const { session, changedFiles } = await workspace.approvals.session(id);
    const past = (await workspace.approvals.sessions(id)).map(({ name, status }) => `${name} ${status}`);
    lines.push([...past, session, ...changedFiles.map(({ path, type }) => `${path} ${type}`)].join("\n"));
  }
  return lines.join("\n\n");
}

/** A directory that was about to be protected is protected by the next try, once. */
export async function expectProtected({ root, home }: Place, { before }: States): Promise<void> {
  await expectListed(home);
  const workspace = await openWorkspace(root, { home });
  try {
    assert.equal((await listWorkspaces({ home })).length, 1);
    const checkpoints = await workspace.list();
    assert.deepEqual(
      checkpoints.map(({ kind }) => kind),
      ["initial"],
    );
    assert.deepEqual(await readCheckpointMap({ workspace }, checkpoints[0]!.id), before);
    assert.deepEqual(readTreeMap(root), before);
    await expectVerified(workspace);
  } finally {
    await workspace.close();
  }
}

/** [R170] A list of roots that is there names every directory that is protected. */
export async function expectListed(home: string): Promise<void> {
  const workspaces = await listWorkspaces({ home });
  const list = join(home, "roots");
  const roots = existsSync(list) ? readFileSync(list, "utf8") : undefined;
  for (const { path } of workspaces)
    assert.ok(roots?.includes(` ${path}\0`) !== false, `the list of roots lacks ${path}`);
}

export async function expectVerified(workspace: Workspace): Promise<void> {
  assert.partialDeepStrictEqual(await workspace.upkeep.verify({ full: true }), { ok: true, problems: [] });
}

/** Every checkpoint is what it says; the state before is among them if it is no longer on disk. */
async function expectCheckpoints(workspace: Workspace, { before, after, known }: States): Promise<void> {
  const trees: TreeMap[] = [];
  const branches = await workspace.branches();
  const lists = branches.map(({ name }) => workspace.list({ branch: name }));
  for (const { id, description } of (await Promise.all(lists)).flat()) {
    const tree = await readCheckpointMap({ workspace }, id);
    trees.push(tree);
    const expected = known.get(id);
    if (expected !== undefined) assert.deepEqual(tree, expected);
    else if (!/^(Interrupted: |Before (removing|deleting) fork )/.test(description))
      assert.ok(
        [before, after, ...known.values()].some((state) => isSame(state, tree)),
        `${description} is neither before nor after`,
      );
  }
  const isLost = !isSame(readTreeMap(workspace.root), before) && !trees.some((tree) => isSame(tree, before));
  assert.ok(!isLost, "the state before is on disk no longer and in no checkpoint");
}

function isSame(a: TreeMap, b: TreeMap): boolean {
  return a.size === b.size && [...a].every(([path, node]) => b.get(path) === node);
}
