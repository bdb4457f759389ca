/** The commands of the model test: each does one thing to the real workspace and compares with the model. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { editLines, goBackByHunks, undoInPart } from "./choice-commands.ts";
import { fetchState, restoreFetched } from "./fetch-commands.ts";
import { importState, restoreImport } from "./import-commands.ts";
import { command, pickPath, pickSnapshot, textOf, type Command } from "./model-command.ts";
import { moveSteps } from "./move-steps.ts";
import type { TempWorkspace } from "./temp-workspace.ts";
import { makeEdit, treeEdit, type TreeEdit } from "./tree-edits.ts";
import {
  deltaOf,
  expectRestoredAround,
  readCheckpointMap,
  restoreExactly,
  watchDestructive,
  type WorkspaceModel,
} from "./workspace-model.ts";

const edit = treeEdit.map((facts) => command("edit", async (_model, { root }) => makeEdit(root, facts)));

const checkpoint = fc.constant(
  command("checkpoint", async (model, temp) => {
    const tree = temp.tree();
    const newest = (await temp.workspace.list({ limit: 1 }))[0]!;
    const { checkpoint: taken, unchanged } = await temp.workspace.checkpoint();
    assert.deepEqual(temp.tree(), tree);
    assert.deepEqual(await readCheckpointMap(temp, taken.id), tree);
    const known = model.snapshots.get(newest.id);
    if (known !== undefined) assert.equal(unchanged, deltaOf(known, tree).size === 0);
    model.snapshots.set(taken.id, tree);
  }),
);

const turn = fc.array(treeEdit, { minLength: 1, maxLength: 6 }).map((edits) =>
  command("turn", async (model, temp) => {
    const before = temp.tree();
    const result = await temp.workspace.turns.run({}, async () =>
      edits.map((each) => makeEdit(temp.root, each)),
    );
    const after = temp.tree();
    assert.equal(result.changed, deltaOf(before, after).size > 0);
    assert.deepEqual(await readCheckpointMap(temp, result.before.id), before);
    assert.deepEqual(await readCheckpointMap(temp, result.after.id), after);
    model.snapshots.set(result.before.id, before).set(result.after.id, after);
    if (result.changed) model.applied.push({ before, after, checkpoint: result.after.id });
    return result.result.join("; ");
  }),
);

interface RestoreFacts {
  readonly choice: number;
  /** A number by which a path of the present or the target is chosen. */
  readonly path: number | undefined;
  readonly keepNew: boolean;
  /** Plans first and carries the plan out, with this edit in between. */
  readonly planned: TreeEdit | "at once" | undefined;
}

const restore = fc
  .record<RestoreFacts>({
    choice: fc.nat(1000),
    path: fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, fc.nat(1000)),
    keepNew: fc.nat(3).map((number) => number === 0),
    planned: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      fc.constant("at once" as const),
      treeEdit,
    ),
  })
  .map((facts) => command("restore", (model, temp) => runRestore(model, temp, facts)));

async function runRestore(
  model: WorkspaceModel,
  temp: TempWorkspace,
  facts: RestoreFacts,
): Promise<string | void> {
  if (model.snapshots.size === 0) return;
  const id = pickSnapshot(model, facts.choice);
  const seen = temp.tree();
  const target = model.snapshots.get(id)!;
  const path =
    facts.path === undefined ? undefined : pickPath([...seen.keys(), ...target.keys()], facts.path);
  const options = { keepNew: facts.keepNew, ...(path === undefined ? {} : { paths: [textOf(path)] }) };
  const expected = restoreExactly(seen, target, { path, keepNew: facts.keepNew });
  const plan = facts.planned === undefined ? undefined : await temp.workspace.planRestore(id, options);
  if (typeof facts.planned === "object") makeEdit(temp.root, facts.planned);
  if (plan !== undefined && deltaOf(seen, temp.tree()).size > 0) {
    const edited = temp.tree();
    await assert.rejects(temp.workspace.restore(plan), { code: "PLAN_STALE" });
    return assert.deepEqual(temp.tree(), edited);
  }
  const { outcome, before, after } = await watchDestructive(temp, model, () =>
    plan === undefined ? temp.workspace.restoreTo(id, options) : temp.workspace.restore(plan),
  );
  if (model.isIgnoring) {
    if (outcome.outcome === "applied")
      model.applied.push({ before, after, checkpoint: outcome.newCheckpoint! });
    if (outcome.outcome !== "conflicts")
      expectRestoredAround(target, { before, after, path, kept: outcome.kept });
    return "with ignored files";
  }
  if (expected === "conflict") return assert.equal(outcome.outcome, "conflicts");
  assert.deepEqual(after, expected);
  assert.equal(outcome.outcome, deltaOf(before, expected).size === 0 ? "unchanged" : "applied");
  if (outcome.outcome === "applied")
    model.applied.push({ before, after, checkpoint: outcome.newCheckpoint! });
  return `${path ?? "all"} of ${[...target.keys()].join(", ")}${facts.keepNew ? " keep-new" : ""}`;
}

const undo = fc.constantFrom(1, 1, 1, 2).map((count) =>
  command("undo", (model, temp) =>
    moveSteps(model, temp, {
      count,
      from: "applied",
      to: "undone",
      work: () => temp.workspace.undo({ count }),
    }),
  ),
);

const redo = fc.constantFrom(1, 1, 1, 2).map((count) =>
  command("redo", (model, temp) =>
    moveSteps(model, temp, {
      count,
      from: "undone",
      to: "applied",
      work: () => temp.workspace.redo({ count }),
    }),
  ),
);

const revert = fc.nat(1000).map((choice) =>
  command("revert", async (model, temp) => {
    if (model.snapshots.size === 0) return;
    const reverted = await watchDestructive(temp, model, () =>
      temp.workspace.revert(pickSnapshot(model, choice)),
    ).catch((error: { code?: string }) => {
      if (error.code !== "CONTENT_PRUNED" || !model.hasPrunedStep) throw error;
    });
    if (reverted === undefined) return "pruned";
    const { outcome, before, after } = reverted;
    if (outcome.outcome === "applied")
      model.applied.push({ before, after, checkpoint: outcome.newCheckpoint! });
    return outcome.outcome;
  }),
);

/** What git ignores from now on: captured all the same, so the model does not change. */
const EXCLUDES = ["", "a\n", "b/\n", "c.txt\na/b\n", "*\n"];

/** Changes what the rules depend on, outside of the tree: `.git/info/exclude` or git's index. */
const ruleChange = fc.constantFrom(...EXCLUDES, "index", "no index");

function changeRules({ root }: TempWorkspace, model: WorkspaceModel, change: string): void {
  const git = (...args: string[]) => spawnSync("git", args, { cwd: root, stdio: "ignore" });
  if (!existsSync(join(root, ".git"))) git("init", "-q", ".");
  model.isIgnoring = true;
  if (change === "index") git("add", "-f", ".");
  else if (change === "no index") git("rm", "-rq", "--cached", ".");
  else writeFileSync(join(root, ".git/info/exclude"), change);
}

const rules = ruleChange.map((change) =>
  command("rules", async (model, temp) => {
    changeRules(temp, model, change);
    return change;
  }),
);

/** [R130] A turn that changes the rules and the files: what it did is known all the same. */
const rulesTurn = fc
  .tuple(ruleChange, fc.array(treeEdit, { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([change, edits, isFirst]) =>
    command("turn with other rules", async (model, temp) => {
      const before = temp.tree();
      const result = await temp.workspace.turns.run({}, async () => {
        if (isFirst) changeRules(temp, model, change);
        const made = edits.map((each) => makeEdit(temp.root, each));
        if (!isFirst) changeRules(temp, model, change);
        return made;
      });
      const after = temp.tree();
      assert.equal(result.changed, deltaOf(before, after).size > 0);
      assert.deepEqual(await readCheckpointMap(temp, result.after.id), after);
      model.snapshots.set(result.before.id, before).set(result.after.id, after);
      if (result.changed) model.applied.push({ before, after, checkpoint: result.after.id });
      return `${change} ${result.result.join("; ")}`;
    }),
  );

const TINY = { name: "tiny", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: null };

const prune = fc.constantFrom("for good", "taken back", "gc only").map((way) =>
  command("prune", async (model, { workspace, passHours }) => {
    if (way !== "gc only") await workspace.upkeep.prune({ policy: TINY });
    if (way === "taken back") await workspace.upkeep.unprune();
    passHours(25);
    await workspace.upkeep.gc();
    model.keepOnly(new Set((await workspace.list()).map(({ id }) => id)));
    for (const id of model.imports.keys())
      if ((await workspace.resolve(id).catch(() => undefined)) === undefined) model.imports.delete(id);
    for (const id of model.fetched.keys())
      if ((await workspace.resolve(id).catch(() => undefined)) === undefined) model.fetched.delete(id);
    return way;
  }),
);

const clock = fc.integer({ min: -50, max: 50 }).map((hours) =>
  command("clock", async (_model, { passHours }) => {
    passHours(hours);
    return `${hours} hours`;
  }),
);

/** Long enough for what is on disk to be at rest: the next capture may trust what this one saw. */
const rest = fc.constant(command("rest", () => sleep(60)));

const reopen = fc.constant(command("reopen", (_model, { reopen: again }) => again()));

const verify = fc.constant(
  command("verify", async (model, { workspace }) => {
    assert.partialDeepStrictEqual(await workspace.upkeep.verify({ full: true }), { ok: true, problems: [] });
    const listed = new Set<string>((await workspace.list()).map(({ id }) => id));
    assert.deepEqual(
      [...model.snapshots.keys()].filter((id) => !listed.has(id)),
      [],
    );
  }),
);

/** Each as often as it is listed. */
export const MODEL_COMMANDS: fc.Arbitrary<Command>[] = [
  ...Array.from({ length: 14 }, () => edit),
  ...Array.from({ length: 4 }, () => checkpoint),
  ...Array.from({ length: 5 }, () => turn),
  ...Array.from({ length: 5 }, () => restore),
  ...Array.from({ length: 4 }, () => undo),
  ...Array.from({ length: 3 }, () => redo),
  ...Array.from({ length: 3 }, () => undoInPart),
  ...Array.from({ length: 5 }, () => editLines),
  ...Array.from({ length: 5 }, () => goBackByHunks),
  ...Array.from({ length: 4 }, () => rest),
  importState,
  importState,
  restoreImport,
  restoreImport,
  fetchState,
  fetchState,
  restoreFetched,
  restoreFetched,
  rules,
  rulesTurn,
  rulesTurn,
  revert,
  clock,
  prune,
  reopen,
  verify,
];
