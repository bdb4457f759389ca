/** Commands of the model test that go back by choice: a path of the last step, or some hunks of a plan. */
import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import type { ChosenHunks, Outcome, Plan, PlannedDiff, Workspace } from "../../src/index.ts";
import { command, pickPath, pickSnapshot, textOf } from "./model-command.ts";
import { deltaInDirection, moveSteps } from "./move-steps.ts";
import { createSeededRandom } from "./seeded-random.ts";
import type { TempWorkspace } from "./temp-workspace.ts";
import { describeFile, type TreeMap } from "./tree-map.ts";
import {
  deltaOf,
  expectMovedAround,
  movePart,
  pathsAbove,
  watchDestructive,
  type WorkspaceModel,
} from "./workspace-model.ts";

/** Files in which several places can be changed, so that going back has several hunks. */
export const LONG_FILES = { "long.txt": linesOf(), "d/long.txt": linesOf() };

function linesOf(): string {
  return Array.from({ length: 40 }, (_, at) => `${at}\n`).join("");
}

/** Other words in some lines of a long file, and sometimes another mode. */
export const editLines = fc
  .tuple(fc.nat(1000), fc.array(fc.tuple(fc.nat(39), fc.nat(9)), { minLength: 1, maxLength: 4 }))
  .map(([choice, changes]) =>
    command("edit lines", async (_model, { root, tree }) => {
      const files = [...tree()].filter(([, node]) => node.startsWith("file")).map(([path]) => path);
      const long = files
        .map((path) => Buffer.from(`${root}/${path}`, "latin1"))
        .filter((path) => readFileSync(path, "latin1").split("\n").length >= 40);
      const path = long[choice % long.length];
      if (path === undefined) return;
      const lines = readFileSync(path, "latin1").split("\n");
      for (const [at, word] of changes) lines[at] = `${at} word ${word}`;
      writeFileSync(path, lines.join("\n"), "latin1");
      if (choice % 3 === 0) chmodSync(path, choice % 2 === 0 ? 0o755 : 0o600);
      return changes.map(([at]) => at).join();
    }),
  );

/** [R232] A path of the last step, or a directory above one, is undone: the rest of the step stays. */
export const undoInPart = fc
  .nat(1000)
  .map((choice) => command("undo in part", (model, temp) => runUndoInPart(model, temp, choice)));

async function runUndoInPart(
  model: WorkspaceModel,
  temp: TempWorkspace,
  choice: number,
): Promise<string | void> {
  const step = model.applied.at(-1);
  if (step === undefined || step.isPruned === true) return;
  const delta = deltaInDirection(step, "undone");
  const path = pickPath(
    [...new Set([...delta.keys()].flatMap((each) => [each, ...pathsAbove(each)]))],
    choice,
  );
  if (path === undefined) return;
  const part = new Map([...delta].filter(([other]) => other === path || other.startsWith(`${path}/`)));
  const work = () => temp.workspace.undo({ paths: [textOf(path)] });
  if (part.size === delta.size)
    return moveSteps(model, temp, { count: 1, from: "applied", to: "undone", work });
  const { outcome, before, after } = await watchDestructive(temp, model, work);
  const expected = movePart(before, part, step.before);
  if (expected !== undefined) {
    assert.deepEqual(after, expected);
    assert.equal(outcome.outcome, deltaOf(before, after).size === 0 ? "unchanged" : "applied");
  } else if (outcome.outcome === "applied") {
    expectMovedAround(part, { before, after, kept: outcome.kept.map((each) => each.path) });
  }
  noteStep(model, outcome, { before, after });
  return `${path}: ${outcome.outcome}`;
}

/** [R233] Some hunks of each file of a plan, none of others: what was shown as lines is what is done, and nothing else. */
export const goBackByHunks = fc
  .tuple(fc.constantFrom("restore", "undo", "revert"), fc.nat(1000), fc.nat(2 ** 30))
  .map(([way, choice, seed]) =>
    command(`${way} by hunks`, (model, temp) => runByHunks(model, temp, { way, choice, seed })),
  );

interface HunkFacts {
  readonly way: "restore" | "undo" | "revert";
  readonly choice: number;
  readonly seed: number;
}

async function runByHunks(
  model: WorkspaceModel,
  temp: TempWorkspace,
  { way, choice, seed }: HunkFacts,
): Promise<string | void> {
  if (model.snapshots.size === 0) return;
  const ways = waysOf(temp.workspace, pickSnapshot(model, choice))[way];
  const plan = await ways.plan().catch(ignorePruned);
  if (plan === null || plan.conflicts.length > 0) return;
  const files = await chooseHunks(temp, plan, seed);
  if (files.length === 0) return;
  const { outcome, before, after } = await watchDestructive(temp, model, () =>
    ways.work(files.map(({ path, chosen }) => ({ path, hunks: chosen }))),
  );
  assert.notEqual(outcome.outcome, "conflicts");
  expectChosen(files, before, after);
  const isWhole = files.every(({ chosen, diff }) => chosen.length === diff.choices);
  if (way === "undo" && isWhole && outcome.outcome === "applied") model.undone.push(model.applied.pop()!);
  else noteStep(model, outcome, { before, after });
  return `${files.map(({ path, chosen, diff }) => `${path} ${chosen.length} of ${diff.choices}`).join(", ")}: ${outcome.outcome}`;
}

function waysOf(workspace: Workspace, id: string) {
  return {
    restore: {
      plan: () => workspace.planRestore(id),
      work: (hunks: ChosenHunks[]) => workspace.restoreTo(id, { hunks }),
    },
    undo: { plan: () => workspace.planUndo(), work: (hunks: ChosenHunks[]) => workspace.undo({ hunks }) },
    revert: {
      plan: () => workspace.planRevert(id),
      work: (hunks: ChosenHunks[]) => workspace.revert(id, { hunks }),
    },
  } as const;
}

function ignorePruned(error: Error & { code?: string }): null {
  if (error.code !== "CONTENT_PRUNED") throw error;
  return null;
}

interface ChosenFile extends ChosenHunks {
  readonly chosen: readonly number[];
  readonly diff: PlannedDiff;
  /** The file as it is on disk, where hunks of it were chosen. */
  readonly content: Buffer | undefined;
}

/** Of each file all hunks, none, or some. */
async function chooseHunks(temp: TempWorkspace, plan: Plan, seed: number): Promise<ChosenFile[]> {
  const random = createSeededRandom(seed);
  const leaves = plan.edits.filter(({ from, to }) =>
    [from, to].some((entry) => entry !== undefined && entry.kind !== "directory"),
  );
  const files: ChosenFile[] = [];
  for (const { path, from } of leaves) {
    const diff = (await temp.workspace.diffPlanned(plan, { path }))!;
    assert.ok(
      diff.choices === 1 || diff.choices === diff.hunks.length,
      "what is shown is what can be chosen",
    );
    const all = Array.from({ length: diff.choices }, (_, number) => number);
    const share = random.pick([0, 1, 0.5, 0.5]);
    const chosen = all.filter(() => random.below(1000) < share * 1000);
    const content =
      from?.kind === "file" ? readFileSync(Buffer.from(`${temp.root}/${path}`, "latin1")) : undefined;
    files.push({ path, hunks: chosen, chosen, diff, content });
  }
  return files;
}

function expectChosen(files: readonly ChosenFile[], before: TreeMap, after: TreeMap): void {
  const planned = new Set<string>(files.map(({ path }) => path));
  const dropped = files.filter(({ chosen }) => chosen.length === 0).map(({ path }) => path);
  for (const { path, chosen, diff, content } of files) {
    // what stays may be in the way of what is above or below it
    const isHeld = dropped.some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
    if (chosen.length === 0) assert.equal(after.get(path), before.get(path), path);
    else if (chosen.length < diff.choices)
      assert.equal(
        after.get(path),
        describeFile(modeOf(before.get(path)!), withHunks(content!, diff, chosen)),
      );
    else if (!isHeld && diff.after !== null && diff.after.kind === "file" && diff.after.mode !== null)
      assert.equal(modeOf(after.get(path)!), diff.after.mode, path);
    else if (!isHeld && diff.after === null)
      assert.ok(!after.has(path) || after.get(path)!.startsWith("directory"), path);
  }
  for (const [path, node] of [...before, ...after])
    if (!planned.has(path) && !node.startsWith("directory"))
      assert.equal(after.get(path), before.get(path), path);
}

function modeOf(node: string): number {
  return Number.parseInt(node.split(" ")[1]!, 8);
}

/** A content after some hunks of its diff, as a person would make them by hand. */
function withHunks(content: Buffer, { hunks }: PlannedDiff, chosen: readonly number[]): Buffer {
  const lines = content.toString("latin1").split(/(?<=\n)/);
  for (const number of chosen.toSorted((a, b) => b - a)) {
    const { oldStart, oldLines, lines: shown } = hunks[number]!;
    const wanted = shown
      .filter(({ type }) => type !== "-")
      .map(({ text, noNewline }) => Buffer.from(noNewline === true ? text : `${text}\n`).toString("latin1"));
    lines.splice(oldLines === 0 ? oldStart : oldStart - 1, oldLines, ...wanted);
  }
  return Buffer.from(lines.join(""), "latin1");
}

/** What was done in part is a step of its own. */
function noteStep(model: WorkspaceModel, outcome: Outcome, step: { before: TreeMap; after: TreeMap }): void {
  if (outcome.outcome === "applied") model.applied.push({ ...step, checkpoint: outcome.newCheckpoint! });
}
