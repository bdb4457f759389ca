/** Carrying out merges: one step, one undo, each source revertible by itself, conflicts as data. */
import { expect, test } from "vitest";
import type { MergeOutcome } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const LINES = Array.from({ length: 12 }, (_, at) => `line ${at + 1}\n`).join("");

function edited(text: string, changes: Readonly<Record<number, string>>): string {
  const lines = text.split("\n");
  for (const [number, line] of Object.entries(changes)) lines[Number(number) - 1] = line;
  return lines.join("\n");
}

async function switchTo({ workspace }: TempWorkspace, name: string): Promise<void> {
  expect(await workspace.restore(await workspace.planSwitch(name))).toMatchObject({ outcome: "applied" });
}

/** Work on a branch of its own; the files are on main again afterwards. */
async function workOn(temp: TempWorkspace, name: string, work: () => void): Promise<void> {
  const known = await temp.workspace.branches();
  if (!known.some((branch) => branch.name === name)) await temp.workspace.createBranch(name, { from: base });
  await switchTo(temp, name);
  await temp.turn(`work on ${name}`, work);
  await switchTo(temp, "main");
}

let base = "";

async function begin(temp: TempWorkspace): Promise<void> {
  base = (await temp.workspace.checkpoint({ name: "the beginning" })).id;
}

async function merge(temp: TempWorkspace, ...names: string[]): Promise<MergeOutcome> {
  return temp.workspace.merge(await temp.workspace.planMerge(names));
}

const stateOf = async ({ workspace }: TempWorkspace, name: string) =>
  (await workspace.branches()).find((branch) => branch.name === name)!.state;

test(
  "[R95] [I73] example 3: a branch comes into a dirty tree, and one undo takes out what it brought and nothing else",
  inWorkspace({ a: LINES, c: "c\n" }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => {
      temp.write("a", edited(LINES, { 2: "by f" }));
      temp.write("b", "new\n");
    });
    temp.write("c", "by hand\n");
    temp.write("a", edited(LINES, { 11: "by hand" }));
    const dirty = temp.tree();
    const outcome = await merge(temp, "f");
    expect(outcome).toMatchObject({
      outcome: "applied",
      created: 1,
      modified: 1,
      steps: [{ kind: "merge", description: "Merged f" }],
      merge: {
        state: "applied",
        into: "main",
        sources: [{ name: "f", outcome: "merged" }],
        merged: [{ path: "a", severity: "medium", how: "lines", agents: ["you", "f"] }],
        conflicts: [],
        resolution: { autoResolved: 1, mergerResolved: 0, userResolved: 0, success: true },
      },
    });
    expect(temp.read("a")).toBe(edited(LINES, { 2: "by f", 11: "by hand" }));
    expect([temp.read("b"), temp.read("c")]).toEqual(["new\n", "by hand\n"]);
    const [newest] = await temp.workspace.list({ limit: 1 });
    const head = outcome.merge.sources[0]!.head;
    expect(newest).toMatchObject({ kind: "merge", description: "Merged f" });
    expect(newest!.parents[1]).toBe(head);
    expect((await temp.workspace.show(newest!.id)).files.map(({ attribution }) => attribution)).toEqual([
      "merge",
      "merge",
    ]);
    expect(await stateOf(temp, "f")).toBe("merged");
    expect(await temp.workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ kind: "merge" }] });
    expect(temp.tree()).toEqual(dirty);
    expect(await stateOf(temp, "f")).toBe("open");
    expect(await temp.workspace.redo()).toMatchObject({ outcome: "applied" });
    expect([temp.read("b"), await stateOf(temp, "f")]).toEqual(["new\n", "merged"]);
  }),
);

test(
  "[R95] example 4: of three sources the one that overlaps is held back whole, and comes in as a second step when it is decided",
  inWorkspace({ a: LINES, r2: "0\n" }, async (temp) => {
    await begin(temp);
    await workOn(temp, "r1", () => temp.write("a", edited(LINES, { 3: "by r1" })));
    await workOn(temp, "r2", () => {
      temp.write("a", edited(LINES, { 3: "by r2" }));
      temp.write("r2", "by r2\n");
    });
    await workOn(temp, "r3", () => temp.write("a", edited(LINES, { 9: "by r3" })));
    const { workspace } = temp;
    const outcome = await merge(temp, "r1", "r2", "r3");
    expect(outcome).toMatchObject({ outcome: "partial", merge: { state: "open" } });
    expect(outcome.merge.sources.map((source) => source.outcome)).toEqual(["merged", "held", "merged"]);
    expect([temp.read("a"), temp.read("r2")]).toEqual([edited(LINES, { 3: "by r1", 9: "by r3" }), "0\n"]);
    expect((await workspace.list({ kind: "merge" })).map(({ description }) => description)).toEqual([
      "Merged r3",
      "Merged r1",
    ]);
    const [conflict] = await workspace.conflicts();
    expect(conflict).toMatchObject({
      path: "a",
      source: "r2",
      agents: ["r1", "r2"],
      severity: "high",
      kind: "content",
      reason: "both sides changed line 3",
      options: ["ours", "theirs", "both", "base"],
      state: "open",
    });
    await expect(workspace.merges.planRest(outcome.merge.id)).rejects.toMatchObject({ code: "MERGE_OPEN" });
    await expect(workspace.planMerge(["r2"])).rejects.toMatchObject({ code: "MERGE_OPEN" });
    await temp.reopen();
    const { merges } = temp.workspace;
    expect(await temp.workspace.resolve(conflict!.id, { take: "both" })).toMatchObject({
      open: 0,
      warnings: [],
    });
    expect(await temp.workspace.merge(await merges.planRest(outcome.merge.id))).toMatchObject({
      outcome: "applied",
      merge: { state: "applied", resolution: { userResolved: 1, success: true } },
    });
    expect([temp.read("a"), temp.read("r2")]).toEqual([
      edited(LINES, { 3: "by r1\nby r2", 9: "by r3" }),
      "by r2\n",
    ]);
    const steps = [];
    for (let left = 2; left > 0; left -= 1) steps.push(...(await temp.workspace.undo()).steps);
    expect(steps.map(({ description }) => description)).toEqual(["Merged r2", "Merged r1, r3"]);
    expect([temp.read("a"), temp.read("r2")]).toEqual([LINES, "0\n"]);
  }),
);

test(
  "[R95] example 5: each source is taken out by itself; where another's decision stands on it, nothing changes",
  inWorkspace({ a: LINES, b: "0\n" }, async (temp) => {
    await begin(temp);
    await workOn(temp, "r1", () => {
      temp.write("a", edited(LINES, { 3: "by r1" }));
      temp.write("b", "by r1\n");
    });
    await workOn(temp, "r2", () => temp.write("a", edited(LINES, { 3: "by r2" })));
    await workOn(temp, "r3", () => temp.write("a", edited(LINES, { 9: "by r3" })));
    const { workspace } = temp;
    const { merges } = workspace;
    const outcome = await merge(temp, "r1", "r2", "r3");
    const [conflict] = await workspace.conflicts();
    await workspace.resolve(conflict!.id, { take: "both" });
    await workspace.merge(await merges.planRest(outcome.merge.id));
    const merged = temp.tree();
    expect(await workspace.revert("r1")).toMatchObject({ outcome: "conflicts" });
    expect(temp.tree()).toEqual(merged);
    expect(await workspace.revert("r2")).toMatchObject({ outcome: "applied" });
    expect(temp.read("a")).toBe(edited(LINES, { 3: "by r1", 9: "by r3" }));
    expect(await workspace.revert("r1")).toMatchObject({ outcome: "applied" });
    expect([temp.read("a"), temp.read("b")]).toEqual([edited(LINES, { 9: "by r3" }), "0\n"]);
    expect([await stateOf(temp, "r1"), await stateOf(temp, "r3")]).toEqual(["open", "merged"]);
    // what was taken out can be merged again
    expect(await merge(temp, "r1")).toMatchObject({ outcome: "applied", modified: 2 });
    expect(temp.read("b")).toBe("by r1\n");
  }),
);

test(
  "[R95] examples 6 and 7: a second merge brings only what is new, and after an undo the same as the first",
  inWorkspace({ a: LINES }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => temp.write("a", edited(LINES, { 2: "first" })));
    await merge(temp, "f");
    temp.write("a", edited(LINES, { 2: "first, changed by hand" }));
    await workOn(temp, "f", () => temp.write("a", edited(LINES, { 2: "first", 9: "second" })));
    expect(await merge(temp, "f")).toMatchObject({ outcome: "applied" });
    expect(temp.read("a")).toBe(edited(LINES, { 2: "first, changed by hand", 9: "second" }));
    expect(await merge(temp, "f")).toMatchObject({
      outcome: "unchanged",
      merge: { sources: [{ outcome: "unchanged" }] },
    });
    const merged = temp.tree();
    await temp.workspace.undo();
    expect(await merge(temp, "f")).toMatchObject({ outcome: "applied" });
    expect(temp.tree()).toEqual(merged);
  }),
);

test(
  "[R95] a restore over a merge takes it out: the branch can be merged again",
  inWorkspace({ a: LINES }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => temp.write("b", "by f\n"));
    await merge(temp, "f");
    await temp.workspace.restoreTo(base);
    expect(await merge(temp, "f")).toMatchObject({ outcome: "applied", created: 1 });
    expect(temp.read("b")).toBe("by f\n");
  }),
);

test(
  "[R791] a restore to another line takes a merge out, whatever the numbers say, unless that line has it",
  inWorkspace({ a: LINES, c: "c\n" }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => temp.write("b", "by f\n"));
    await temp.workspace.createBranch("without", { from: base });
    await merge(temp, "f");
    await temp.workspace.createBranch("with");
    for (const name of ["without", "with"]) await workOn(temp, name, () => temp.write("c", `${name}\n`));
    // its number is above that of the merge, and it has the merge
    await temp.workspace.restoreTo("branch/with");
    expect(await merge(temp, "f")).toMatchObject({ outcome: "unchanged" });
    // one file of a line without it, which the merge had not brought
    await temp.workspace.restoreTo("branch/without", { paths: ["c"] });
    expect(await merge(temp, "f")).toMatchObject({ outcome: "unchanged" });
    // its number is above that of the merge, and it has not
    await temp.workspace.restoreTo("branch/without");
    expect(() => temp.read("b")).toThrow("ENOENT");
    expect(await merge(temp, "f")).toMatchObject({ outcome: "applied", created: 1 });
    expect(temp.read("b")).toBe("by f\n");
  }),
);

test(
  "[R792] conflicts are listed by path, whatever merges they belong to",
  inWorkspace({ a: LINES, b: LINES, c: LINES, d: LINES, e: LINES }, async (temp) => {
    await begin(temp);
    const paths = ["d", "b", "e", "a", "c"];
    for (const path of paths)
      await workOn(temp, `f-${path}`, () => temp.write(path, edited(LINES, { 5: "by f" })));
    await temp.turn("on main", () => {
      for (const path of paths) temp.write(path, edited(LINES, { 5: "by main" }));
    });
    const { conflicts } = (await merge(temp, "f-e", "f-b", "f-d")).merge;
    expect(conflicts.map(({ path }) => path)).toEqual(["b", "d", "e"]);
    for (const path of ["c", "a"]) await merge(temp, `f-${path}`);
    expect((await temp.workspace.conflicts()).map(({ path }) => path)).toEqual(["a", "b", "c", "d", "e"]);
  }),
);

test(
  "[I72] [R96] after each was merged into the other, a path on which the two bases differ has none",
  inWorkspace({ a: LINES, b: LINES }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => temp.write("a", edited(LINES, { 2: "by f" })));
    await temp.turn("on main", () => temp.write("b", edited(LINES, { 2: "by main" })));
    await temp.workspace.createBranch("f-before", { from: "branch/f" });
    await temp.workspace.createBranch("main-before");
    // each side takes what the other had before it took anything itself
    await merge(temp, "f-before");
    await switchTo(temp, "f");
    await merge(temp, "main-before");
    await temp.turn("more on f", () => temp.write("a", edited(LINES, { 2: "by f", 9: "more" })));
    await switchTo(temp, "main");
    const outcome = await merge(temp, "f");
    expect(outcome).toMatchObject({ outcome: "conflicts" });
    // b is the same on both sides; a is not, and neither base says who changed it
    expect(outcome.merge.conflicts).toMatchObject([
      { path: "a", reasons: [{ code: "no-base" }], options: ["ours", "theirs"] },
    ]);
    await temp.workspace.resolve("a", { take: "theirs" });
    const { merges } = temp.workspace;
    expect(await temp.workspace.merge(await merges.planRest(outcome.merge.id))).toMatchObject({
      outcome: "applied",
    });
    expect(temp.read("a")).toBe(edited(LINES, { 2: "by f", 9: "more" }));
    expect(temp.read("b")).toBe(edited(LINES, { 2: "by main" }));
  }),
);

test(
  "[R96] `none` changes nothing while there are conflicts, `partial` takes the clean paths of a source that is held back",
  inWorkspace({ a: LINES, b: "0\n", c: "0\n" }, async (temp) => {
    await begin(temp);
    await workOn(temp, "r1", () => temp.write("c", "by r1\n"));
    await workOn(temp, "r2", () => {
      temp.write("a", edited(LINES, { 3: "by r2" }));
      temp.write("b", "by r2\n");
    });
    temp.write("a", edited(LINES, { 3: "by hand" }));
    const before = temp.tree();
    const { merges } = temp.workspace;
    const none = await temp.workspace.merge(
      await temp.workspace.planMerge(["r1", "r2"], { onConflict: "none" }),
    );
    expect(none).toMatchObject({ outcome: "conflicts", merge: { state: "open" } });
    expect(temp.tree()).toEqual(before);
    await temp.workspace.abandonMerge(none.merge.id);
    expect(await temp.workspace.conflicts()).toEqual([]);
    const partial = await temp.workspace.merge(
      await temp.workspace.planMerge(["r1", "r2"], { onConflict: "partial" }),
    );
    expect(partial).toMatchObject({ outcome: "partial", merge: { state: "open" } });
    expect([temp.read("a"), temp.read("b"), temp.read("c")]).toEqual([
      edited(LINES, { 3: "by hand" }),
      "by r2\n",
      "by r1\n",
    ]);
    const [conflict] = await temp.workspace.conflicts();
    await temp.workspace.resolve(conflict!.id, { take: "theirs" });
    expect(await temp.workspace.merge(await merges.planRest(partial.merge.id))).toMatchObject({
      outcome: "applied",
    });
    expect(temp.read("a")).toBe(edited(LINES, { 3: "by r2" }));
  }),
);

test(
  "[I64] [R96] what a conflict and its decision need outlives gc and the branch's further work",
  inWorkspace({ a: LINES }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => temp.write("a", edited(LINES, { 3: "by f" })));
    temp.write("a", edited(LINES, { 3: "by hand" }));
    const outcome = await merge(temp, "f");
    expect(outcome.outcome).toBe("conflicts");
    temp.write("a", edited(LINES, { 3: "by hand, again" }));
    await temp.workspace.checkpoint();
    await temp.workspace.upkeep.gc();
    await temp.reopen();
    const { merges } = temp.workspace;
    const [conflict] = await temp.workspace.conflicts();
    expect(conflict!.content("ours")!.toString()).toBe(edited(LINES, { 3: "by hand" }));
    expect(conflict!.content("theirs")!.toString()).toBe(edited(LINES, { 3: "by f" }));
    await temp.workspace.resolve(conflict!.id, { content: Buffer.from(edited(LINES, { 3: "of both" })) });
    await temp.workspace.upkeep.gc();
    // ours went on at the very line: the decision does not fit any more
    const rest = await temp.workspace.merge(await merges.planRest(outcome.merge.id));
    expect(rest).toMatchObject({ outcome: "conflicts" });
    const [again] = await temp.workspace.conflicts();
    expect(again).toMatchObject({ id: conflict!.id, state: "open", resolution: null });
    expect(again!.content("ours")!.toString()).toBe(edited(LINES, { 3: "by hand, again" }));
    await temp.workspace.resolve(again!.id, { take: "theirs" });
    temp.write("a", edited(LINES, { 3: "by hand, again", 11: "beside it" }));
    expect(await temp.workspace.merge(await merges.planRest(outcome.merge.id))).toMatchObject({
      outcome: "applied",
    });
    expect(temp.read("a")).toBe(edited(LINES, { 3: "by f", 11: "beside it" }));
  }),
);

test(
  "[R96] regions are decided one by one, a decision can be taken back, and what is no answer is refused",
  inWorkspace({ a: LINES }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => temp.write("a", edited(LINES, { 3: "f3", 9: "f9" })));
    temp.write("a", edited(LINES, { 3: "m3", 9: "m9" }));
    const { merge: made } = await merge(temp, "f");
    const { merges } = temp.workspace;
    expect(await temp.workspace.resolve("a", { take: "theirs", region: 1 })).toMatchObject({
      conflict: { state: "open", chosen: { 1: "theirs" } },
      open: 1,
    });
    await expect(temp.workspace.resolve("a", { take: "ours", region: 3 })).rejects.toMatchObject({
      code: "ANSWER_REFUSED",
    });
    await expect(temp.workspace.resolve("a", { take: "delete" })).rejects.toMatchObject({
      code: "ANSWER_REFUSED",
    });
    await expect(temp.workspace.resolve("nowhere", { take: "ours" })).rejects.toMatchObject({
      code: "CONFLICT_NOT_FOUND",
    });
    expect(await temp.workspace.resolve("a", { take: "ours", region: 2 })).toMatchObject({
      conflict: { state: "resolved", resolution: { by: "user", take: "regions" } },
      open: 0,
    });
    expect(await temp.workspace.reopen("a")).toMatchObject({ state: "open", resolution: null, chosen: {} });
    const text = await merges.marked("a");
    expect(text.toString()).toContain("<<<<<<< main\nm3\n||||||| base\nline 3\n=======\nf3\n>>>>>>> f\n");
    expect((await temp.workspace.resolve("a", { content: text })).warnings).toMatchObject([
      { check: "marks" },
      { check: "marks" },
      { check: "marks" },
      { check: "marks" },
      { check: "marks" },
      { check: "marks" },
      { check: "marks" },
      { check: "marks" },
    ]);
    await temp.workspace.resolve("a", { content: Buffer.from(edited(LINES, { 3: "f3", 9: "m9" })) });
    await temp.workspace.merge(await merges.planRest(made.id));
    expect(temp.read("a")).toBe(edited(LINES, { 3: "f3", 9: "m9" }));
    await expect(temp.workspace.resolve("a", { take: "ours" })).rejects.toMatchObject({
      code: "CONFLICT_NOT_FOUND",
    });
  }),
);

test(
  "[R96] each kind of conflict is decided as its options say",
  inWorkspace({ gone: "1\n", kept: "1\n", bin: "\0\x01", moved: LINES, place: "1\n" }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => {
      temp.remove("gone");
      temp.remove("kept");
      temp.write("bin", "\0\x02");
      temp.remove("moved");
      temp.write("theirs/moved", LINES);
      temp.remove("place");
      temp.write("place/inside", "dir\n");
    });
    temp.write("gone", "2\n");
    temp.write("kept", "2\n");
    temp.write("bin", "\0\x03");
    temp.remove("moved");
    temp.write("ours-moved", LINES);
    temp.write("place", "2\n");
    const { merge: made } = await merge(temp, "f");
    const { merges } = temp.workspace;
    const takes = {
      gone: "delete",
      kept: "keep",
      bin: "both",
      "ours-moved": "theirs",
      place: "theirs",
    } as const;
    const found = (await temp.workspace.conflicts()).map(({ path, kind }) => [String(path), kind]);
    expect(Object.fromEntries(found)).toEqual({
      gone: "delete-modify",
      kept: "delete-modify",
      bin: "binary",
      "ours-moved": "rename",
      place: "type",
    });
    for (const [path, take] of Object.entries(takes)) await temp.workspace.resolve(path, { take });
    const plan = await merges.planRest(made.id);
    expect(await temp.workspace.merge(plan)).toMatchObject({ outcome: "applied" });
    expect([...temp.tree().keys()].sort()).toEqual([
      "bin",
      "bin.theirs",
      "kept",
      "place",
      "place/inside",
      "theirs",
      "theirs/moved",
    ]);
    expect((await temp.workspace.undo()).outcome).toBe("applied");
    expect(temp.read("ours-moved")).toBe(LINES);
  }),
);

test(
  "[R95] files that changed since the merge was planned are not overwritten: the plan is refused, and a new one has them",
  inWorkspace({ a: LINES, b: "1\n" }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => {
      temp.write("a", edited(LINES, { 2: "by f" }));
      temp.write("b", "by f\n");
    });
    const plan = await temp.workspace.planMerge(["f"]);
    temp.write("a", edited(LINES, { 11: "meanwhile" }));
    await expect(temp.workspace.merge(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
    expect([temp.read("a"), temp.read("b")]).toEqual([edited(LINES, { 11: "meanwhile" }), "1\n"]);
    expect(await merge(temp, "f")).toMatchObject({ outcome: "applied" });
    expect(temp.read("a")).toBe(edited(LINES, { 2: "by f", 11: "meanwhile" }));
  }),
);

test(
  "[R96] where both versions are kept, the other side's gets a name that no side, and no other decision, has",
  inWorkspace({ "a.png": "\0\x01", "b.png": "\0\x01", "b.theirs.png": "ours" }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => {
      temp.write("a.png", "\0\x02");
      temp.write("a.theirs.png", "of f");
      temp.write("b.png", "\0\x02");
    });
    await workOn(temp, "g", () => temp.write("a.png", "\0\x03"));
    for (const path of ["a.png", "b.png"]) temp.write(path, "\0\x04");
    const { merge: made } = await merge(temp, "f", "g");
    for (const { id } of await temp.workspace.conflicts()) await temp.workspace.resolve(id, { take: "both" });
    const plan = await temp.workspace.merges.planRest(made.id);
    expect(await temp.workspace.merge(plan)).toMatchObject({ outcome: "applied" });
    const files = [...temp.tree().keys()].sort().map((path) => [path, temp.read(path)]);
    expect(Object.fromEntries(files)).toEqual({
      "a.png": "\0\x04",
      "a.theirs.png": "of f",
      "a.theirs-2.png": "\0\x02",
      "a.theirs-3.png": "\0\x03",
      "b.png": "\0\x04",
      "b.theirs.png": "ours",
      "b.theirs-2.png": "\0\x02",
    });
  }),
);

test(
  "[R95] [R96] what a merge brings belongs to the threads whose work it is, also when it is undone",
  inWorkspace({ a: LINES, b: "0\n" }, async (temp) => {
    await begin(temp);
    const [one, two] = [await temp.openThread("one"), await temp.openThread("two")];
    const { workspace } = temp;
    await workspace.createBranch("f", { from: base });
    await switchTo(temp, "f");
    await temp.turn("work", () => temp.write("b", "by one\n"), one);
    await switchTo(temp, "main");
    await temp.turn("work here", () => temp.write("a", edited(LINES, { 2: "by two" })), two);
    await merge(temp, "f");
    const pending = async (thread: typeof one) =>
      (await workspace.approvals.session(thread)).changedFiles.map(({ path }) => String(path));
    expect([await pending(one), await pending(two)]).toEqual([["b"], ["a"]]);
    await workspace.undo();
    expect([await pending(one), await pending(two)]).toEqual([[], ["a"]]);
  }),
);

test(
  "[R96] merges are listed also when a branch is gone for good; what it brought stays",
  inWorkspace({ a: LINES }, async (temp) => {
    await begin(temp);
    await workOn(temp, "f", () => temp.write("b", "by f\n"));
    await merge(temp, "f");
    await temp.workspace.deleteBranch("f");
    temp.passHours(40 * 24);
    await temp.workspace.upkeep.prune({
      policy: { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: 0 },
    });
    temp.passHours(25);
    await temp.workspace.upkeep.gc();
    expect(await temp.workspace.merges.list()).toMatchObject([
      { state: "applied", sources: [{ name: "f" }] },
    ]);
    expect(temp.read("b")).toBe("by f\n");
  }),
);

test(
  "[R95] a plan of a merge holds for its branch: with the same files on another one it is refused",
  inWorkspace({ a: LINES }, async (temp) => {
    const { workspace } = temp;
    await begin(temp);
    await workOn(temp, "f", () => temp.write("a", edited(LINES, { 2: "by f" })));
    const plan = await workspace.planMerge(["f"]);
    await workspace.createBranch("x");
    await switchTo(temp, "x");
    await expect(workspace.merge(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
    expect([temp.read("a"), await workspace.merges.list()]).toEqual([LINES, []]);
    await switchTo(temp, "main");
    expect(await merge(temp, "f")).toMatchObject({ outcome: "applied", merge: { into: "main" } });
  }),
);

test(
  "[R96] a plan of a merge that was given up, opened a second time or reopened is refused",
  inWorkspace({ a: LINES }, async (temp) => {
    const { merges } = temp.workspace;
    const stale = { code: "PLAN_STALE" };
    await begin(temp);
    await workOn(temp, "f", () => temp.write("a", edited(LINES, { 2: "by f" })));
    temp.write("a", edited(LINES, { 2: "by hand" }));
    const [first, second] = [await temp.workspace.planMerge(["f"]), await temp.workspace.planMerge(["f"])];
    expect(await temp.workspace.merge(first)).toMatchObject({ outcome: "conflicts" });
    await expect(temp.workspace.merge(second)).rejects.toMatchObject(stale);
    expect(await merges.list()).toHaveLength(1);
    await temp.workspace.resolve("a", { take: "theirs" });
    const rest = await merges.planRest(first.merge.id);
    await temp.workspace.reopen("a");
    await expect(temp.workspace.merge(rest)).rejects.toMatchObject(stale);
    await temp.workspace.resolve("a", { take: "theirs" });
    const again = await merges.planRest(first.merge.id);
    await temp.workspace.abandonMerge(first.merge.id);
    await expect(temp.workspace.merge(again)).rejects.toMatchObject(stale);
    expect(temp.read("a")).toBe(edited(LINES, { 2: "by hand" }));
    expect(await merges.show(first.merge.id)).toMatchObject({ state: "abandoned" });
  }),
);

test(
  "[R96] a path means a conflict of the branch here, of several none, and a few letters are no id",
  inWorkspace({ a: LINES }, async (temp) => {
    const { workspace } = temp;
    const { merges } = workspace;
    await begin(temp);
    for (const name of ["f", "g", "x"])
      await workOn(temp, name, () => temp.write("a", edited(LINES, { 2: `by ${name}` })));
    temp.write("a", edited(LINES, { 2: "by hand" }));
    await merge(temp, "f");
    await switchTo(temp, "x");
    const elsewhere = { code: "CONFLICT_NOT_FOUND", message: expect.stringContaining('a merge into "main"') };
    await expect(workspace.resolve("a", { take: "ours" })).rejects.toMatchObject(elsewhere);
    await merge(temp, "main");
    expect(await merges.conflict("a")).toMatchObject({ source: "main" });
    await switchTo(temp, "main");
    expect(await merges.conflict("a")).toMatchObject({ source: "f" });
    await merge(temp, "g");
    const conflicts = await workspace.conflicts();
    const idOf = (name: string) => conflicts.find(({ source }) => source === name)!.id;
    const refused = await workspace.resolve("a", { take: "ours" }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "CONFLICT_AMBIGUOUS", facts: { conflict: "a" } });
    for (const name of ["f", "g"]) expect((refused as Error).message).toContain(`${idOf(name)} (${name})`);
    for (const ref of ["", idOf("f").slice(0, 1), idOf("f").slice(0, 3)])
      await expect(merges.conflict(ref)).rejects.toMatchObject({ code: "CONFLICT_NOT_FOUND" });
    expect(await merges.conflict(idOf("f").slice(0, 12))).toMatchObject({ source: "f" });
    expect((await workspace.conflicts()).every(({ state }) => state === "open")).toBe(true);
  }),
);
