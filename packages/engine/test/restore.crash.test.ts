/**
 * Kills checkpoint, restore, undo, gc, approve, reset and recovery at each call that changes a file, on a small workspace, and opens
 * it again: the tree is as before or as after, every checkpoint is complete, nothing that existed only in the
 * working copy is lost, nothing is left lying about. A second pass makes calls fail instead.
 * An ordinary run takes some of the points, most of them where the tree is touched; BELAY_CRASH=all takes all.
 */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listWorkspaces, openWorkspace, type Workspace } from "../src/index.ts";
import { FaultLab, hasCompiler, type Fault, type Report } from "./support/fault-lab.ts";
import { createSeededRandom } from "./support/seeded-random.ts";
import { findStageLeftovers, readTreeMap, type TreeMap } from "./support/tree-map.ts";
import { readCheckpointMap } from "./support/workspace-model.ts";

const ALL = process.env["BELAY_CRASH"] === "all";
const LIMIT_MS = 3_600_000;
const { ENOSPC, EIO, EACCES } = constants.errno;

describe.skipIf(!hasCompiler)("with a fault at each call that changes a file", () => {
  let lab: FaultLab;
  /** The trees of the checkpoints that the workspace starts with. */
  let known: Map<string, TreeMap>;

  beforeAll(async () => {
    lab = new FaultLab();
    writeFirstTree(lab);
    lab.keep("bare");
    known = await buildWorkspace(lab);
    lab.keep("start");
  }, LIMIT_MS);
  afterAll(() => lab.remove());

  test.each(["create", "restore", "undo", "gc", "approve", "reset"])(
    "[G2, R4, R5, R30] %s: killed at any point, the tree is before or after",
    { timeout: LIMIT_MS },
    async (operation) => {
      const { before, after, calls } = await rehearse(operation, "start");
      await atEach(
        choosePoints(calls, { inTree: 24, elsewhere: 10 }),
        `${operation} killed at`,
        calls,
        async (at, where) => {
          lab.putBack("start");
          await expectKilled(operation, { at, how: "kill" });
          await expectSound({ before, after, where });
        },
      );
    },
  );

  test(
    "[G2, R2] protecting a directory: killed at any point, the next try protects it, once",
    { timeout: LIMIT_MS },
    async () => {
      const { before, calls } = await rehearse("open", "bare");
      await atEach(
        choosePoints(calls, { inTree: 0, elsewhere: 12 }),
        "init killed at",
        calls,
        async (at, where) => {
          lab.putBack("bare");
          await expectKilled("open", { at, how: "kill" });
          const workspace = await openWorkspace(lab.root, { home: lab.home });
          expect(await listWorkspaces({ home: lab.home }), where).toHaveLength(1);
          const checkpoints = await workspace.list();
          expect(
            checkpoints.map(({ kind }) => kind),
            where,
          ).toEqual(["initial"]);
          expect(await readCheckpointMap({ workspace }, checkpoints[0]!.id), where).toEqual(before);
          expect(await workspace.verify({ full: true }), where).toMatchObject({ ok: true, problems: [] });
          await workspace.close();
        },
      );
    },
  );

  test("[G2] a write that is cut off in the middle is no different", { timeout: LIMIT_MS }, async () => {
    const { before, after, calls } = await rehearse("restore", "start");
    const writes = calls.flatMap((call, index) => (/^p?write/.test(call) ? [index + 1] : []));
    await atEach(ALL ? writes : everyNth(writes, 8), "restore torn at", calls, async (at, where) => {
      lab.putBack("start");
      await expectKilled("restore", { at, how: "torn" });
      await expectSound({ before, after, where });
    });
  });

  test(
    "[R9, R10] [G2] recovery itself: killed at any point, the next one finishes",
    { timeout: LIMIT_MS },
    async () => {
      const { before, after, calls } = await rehearse("restore", "start");
      const inTree = calls.flatMap((call, index) => (touchesTree(lab, call) ? [index + 1] : []));
      for (const first of everyNth(inTree, ALL ? 10 : 3)) {
        lab.putBack("start");
        await expectKilled("restore", { at: first, how: "kill" });
        lab.keep("half");
        const recovery = await rehearse("open", "half");
        const points = choosePoints(recovery.calls, { inTree: 6, elsewhere: 2 });
        await atEach(points, `restore killed at ${first}, recovery at`, recovery.calls, async (at, where) => {
          lab.putBack("half");
          await expectKilled("open", { at, how: "kill" });
          await expectSound({ before, after, where });
        });
      }
    },
  );

  test.each(["create", "restore", "undo"])(
    "[G3] %s: with ENOSPC, EIO or EACCES from any call it is done, or refused, and says which",
    { timeout: LIMIT_MS },
    async (operation) => {
      const random = createSeededRandom();
      console.info(`errors in ${operation}: BELAY_SEED=${random.seed}`);
      const { before, after, calls } = await rehearse(operation, "start");
      await atEach(
        choosePoints(calls, { inTree: 8, elsewhere: 4 }),
        `${operation} failed at`,
        calls,
        async (at, point) => {
          lab.putBack("start");
          const fault = { at, how: random.pick([ENOSPC, EIO, EACCES]), lasting: random.pick([true, false]) };
          const report = await lab.run(operation, fault);
          const where = `${point}: ${JSON.stringify(fault)}: ${JSON.stringify(report.said)}`;
          expectHonest(report, { before, after, where });
          await expectSound({ before, after, where });
        },
      );
    },
  );

  /** The trees before and after an undisturbed run, and its calls. */
  async function rehearse(operation: string, kept: string) {
    lab.putBack(kept);
    const before = readTreeMap(lab.root);
    const report = await lab.run(operation);
    expect(report).toMatchObject({ signal: null, said: { done: true } });
    return { before, after: readTreeMap(lab.root), calls: report.calls };
  }

  async function expectKilled(operation: string, fault: Fault): Promise<void> {
    const { signal, said } = await lab.run(operation, fault);
    // after the last word only the closing of the store is left
    if (signal !== "SIGKILL") expect(said).toMatchObject({ done: true });
  }

  /** All of them, or so many of those in the tree and of those in the store. */
  function choosePoints(
    calls: readonly string[],
    { inTree, elsewhere }: { inTree: number; elsewhere: number },
  ): number[] {
    const all = calls.map((_, index) => index + 1);
    if (ALL) return all;
    const [tree, store] = [true, false].map((which) =>
      all.filter((at) => touchesTree(lab, calls[at - 1]!) === which),
    );
    return [...everyNth(tree!, inTree), ...everyNth(store!, elsewhere)];
  }

  /** What is reported must be true at once, before any recovery. */
  function expectHonest({ said }: Report, { before, after, where }: States): void {
    const tree = readTreeMap(lab.root);
    expect(said, where).toBeDefined();
    if (said!.done) return expect(tree, where).toEqual(after);
    expect(said, where).toMatchObject({ name: "EngineError" });
    if (/nothing was changed|files are untouched|everything was put back/i.test(said!.message ?? ""))
      expect(tree, where).toEqual(before);
  }

  interface States {
    readonly before: TreeMap;
    readonly after: TreeMap;
    readonly where: string;
  }

  async function expectSound({ before, after, where }: States): Promise<void> {
    const workspace = await openWorkspace(lab.root, { home: lab.home }).catch((error: unknown) => {
      throw new Error(where, { cause: error });
    });
    try {
      const tree = readTreeMap(lab.root);
      if (!isSame(tree, before)) expect(tree, where).toEqual(after);
      expect(findStageLeftovers(lab.root), where).toEqual([]);
      await expectCheckpoints(workspace, { before, after, where });
      await expectOneSession(workspace, { tree, before, after, where });
      expect(await workspace.verify({ full: true }), where).toMatchObject({ ok: true, problems: [] });
      await workspace.restoreTo("1");
      expect(readTreeMap(lab.root), where).toEqual([...known.values()][0]);
    } finally {
      await workspace.close();
    }
  }

  /** A session ends with what ends it: a reset whose files are back has left the next one open. */
  async function expectOneSession(workspace: Workspace, states: States & { tree: TreeMap }): Promise<void> {
    const [thread] = await workspace.threads();
    const sessions = await workspace.sessions(thread!.id);
    expect(sessions.filter(({ status }) => status === "active").length, states.where).toBe(1);
    if (!states.where.startsWith("reset")) return;
    const isDone = isSame(states.tree, states.after);
    expect(
      sessions.map(({ status }) => status),
      states.where,
    ).toEqual(isDone ? ["abandoned", "active"] : ["active"]);
  }

  /** Every checkpoint is what it says; the state before is among them if it is no longer on disk. */
  async function expectCheckpoints(workspace: Workspace, { before, after, where }: States): Promise<void> {
    const trees: TreeMap[] = [];
    for (const { id, description } of await workspace.list()) {
      const tree = await readCheckpointMap({ workspace }, id);
      trees.push(tree);
      const expected = known.get(id);
      if (expected !== undefined) expect(tree, where).toEqual(expected);
      else if (!description.startsWith("Interrupted: "))
        expect(
          [before, after].some((state) => isSame(state, tree)),
          where,
        ).toBe(true);
    }
    const isLost = !isSame(readTreeMap(lab.root), before) && !trees.some((tree) => isSame(tree, before));
    expect(isLost, where).toBe(false);
  }
});

function writeFirstTree({ root }: FaultLab): void {
  mkdirSync(join(root, "d/deep"), { recursive: true });
  mkdirSync(join(root, "empty"));
  mkdirSync(join(root, "to-file"));
  for (const path of ["same", "edited", "d/gone", "to-directory", "to-file/x", "by-hand", "mode"]) {
    writeFileSync(join(root, path), `${path} 0\n`);
  }
  symlinkSync("same", join(root, "link"));
}

/** Every kind of change between the first checkpoint and the present, the last of them in no checkpoint yet. */
async function buildWorkspace({ root, home }: FaultLab): Promise<Map<string, TreeMap>> {
  const write = (path: string, content: string) => writeFileSync(join(root, path), content);
  const workspace = await openWorkspace(root, { home });
  const known = new Map<string, TreeMap>();
  for (const { id } of await workspace.list()) known.set(id, readTreeMap(root));
  const turn = await workspace.turn({ prompt: "everything" }, async () => {
    write("edited", "edited 1\n");
    write("created", "created 1\n");
    chmodSync(join(root, "mode"), 0o755);
    for (const path of ["d/gone", "to-directory", "to-file", "empty", "link"])
      rmSync(join(root, path), { recursive: true });
    mkdirSync(join(root, "to-directory"));
    write("to-directory/x", "x 1\n");
    write("to-file", "to-file 1\n");
    symlinkSync("edited", join(root, "link"));
    mkdirSync(join(root, "new/deep"), { recursive: true, mode: 0o700 });
    write("new/deep/x", "x 1\n");
  });
  known.set(turn.before.id, [...known.values()][0]!).set(turn.after.id, readTreeMap(root));
  write("by-hand", "only here\n");
  write("d/by-hand", "only here too\n");
  await workspace.close();
  return known;
}

/** Goes on after a failure, so that one run tells of all points that fail. */
async function atEach(
  points: readonly number[],
  title: string,
  calls: readonly string[],
  check: (at: number, where: string) => Promise<void>,
): Promise<void> {
  console.info(`${title} ${points.length} of ${calls.length} points`);
  const failures: unknown[] = [];
  for (const at of points)
    await check(at, `${title} ${at}: ${calls[at - 1]}`).catch((error: unknown) => failures.push(error));
  expect(failures).toEqual([]);
}

function touchesTree({ root }: FaultLab, call: string): boolean {
  return call.slice(call.indexOf(" ") + 1).startsWith(`${root}/`);
}

function isSame(a: TreeMap, b: TreeMap): boolean {
  return a.size === b.size && [...a].every(([path, node]) => b.get(path) === node);
}

/** About `count` of the items, evenly spread, the first and the last included. */
function everyNth<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, (items.length - 1) / Math.max(1, count - 1));
  return items.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}
