/** What a merge combined by itself, taken up before it comes in and decided otherwise. */
import { expect, test } from "vitest";
import { pathFromText } from "../src/model/byte-path.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const LINES = Array.from({ length: 12 }, (_, at) => `line ${at + 1}\n`).join("");
const edited = (changes: Readonly<Record<number, string>>) =>
  LINES.split("\n")
    .map((line, at) => changes[at + 1] ?? line)
    .join("\n");

const HERE = { a: edited({ 3: "here" }), b: edited({ 11: "here" }) };
const THERE = { a: edited({ 3: "there" }), b: edited({ 2: "there" }) };
const BOTH = edited({ 2: "there", 11: "here" });

/** A merge of "f" that waits: `a` is in conflict, `b` is combined by lines, `m` was moved there and changed here. */
async function waiting(temp: TempWorkspace): Promise<string> {
  const { workspace } = temp;
  await workspace.checkpoint();
  await workspace.createBranch("f");
  await workspace.restore(await workspace.planSwitch("f"));
  temp.write("a", THERE.a);
  temp.write("b", THERE.b);
  temp.remove("m");
  temp.write("moved/m", LINES);
  await workspace.checkpoint();
  await workspace.restore(await workspace.planSwitch("main"));
  temp.write("a", HERE.a);
  temp.write("b", HERE.b);
  temp.write("m", edited({ 5: "here" }));
  const held = await workspace.merge(await workspace.planMerge(["f"]));
  expect(held).toMatchObject({ outcome: "conflicts", merge: { state: "open", merged: [] } });
  expect(held.merge.clean).toEqual([
    { path: "b", severity: "medium", how: "lines", agents: ["you", "f"] },
    { path: "moved/m", severity: "medium", how: "rename", agents: ["you", "f"] },
  ]);
  return held.merge.id;
}

async function rest({ workspace }: TempWorkspace, merge: string): Promise<unknown> {
  await workspace.resolve("a", { take: "theirs" });
  return workspace.merge(await workspace.merges.planRest(merge));
}

const FILES = { a: LINES, b: LINES, m: LINES };
const b = pathFromText("b");

test(
  "[R1930] what is taken up and left as it is comes in as it was combined, and counts as merged",
  inWorkspace(FILES, async (temp) => {
    const id = await waiting(temp);
    const before = temp.tree();
    const { merges } = temp.workspace;
    const taken = await merges.takeUp(id, b);
    expect(taken).toMatchObject({
      path: "b",
      kind: "content",
      severity: "medium",
      state: "resolved",
      resolution: { by: "auto", take: "proposal" },
      options: ["ours", "theirs", "base", "proposal"],
    });
    expect(taken.proposal!.toString()).toBe(BOTH);
    expect((await merges.takeUp(id, b)).id).toBe(taken.id);
    await merges.takeUp(id, pathFromText("moved/m"));
    expect(temp.tree()).toEqual(before);
    expect(await rest(temp, id)).toMatchObject({
      outcome: "applied",
      merge: { resolution: { autoResolved: 2, userResolved: 1 }, clean: [] },
    });
    expect([temp.read("a"), temp.read("b")]).toEqual([THERE.a, BOTH]);
    expect(temp.read("moved/m")).toBe(edited({ 5: "here" }));
    expect(temp.tree().has("m")).toBe(false);
    await temp.workspace.undo();
    expect(temp.tree()).toEqual(before);
  }),
);

test.each([
  ["ours", HERE.b],
  ["theirs", THERE.b],
  ["base", LINES],
] as const)("[R1930] what was combined can be decided otherwise: %s", (take, result) =>
  inWorkspace(FILES, async (temp) => {
    const id = await waiting(temp);
    const { merges } = temp.workspace;
    const { id: conflict } = await merges.takeUp(id, b);
    expect((await temp.workspace.resolve(conflict, { take })).open).toBe(1);
    expect(await rest(temp, id)).toMatchObject({
      outcome: "applied",
      merge: { resolution: { autoResolved: 1, userResolved: 2 } },
    });
    expect(temp.read("b")).toBe(result);
  })(),
);

test(
  "[R1930] a file that was moved can stay where it is; and one that is open again waits to be decided",
  inWorkspace(FILES, async (temp) => {
    const id = await waiting(temp);
    const { merges } = temp.workspace;
    const moved = await merges.takeUp(id, pathFromText("moved/m"));
    expect(moved).toMatchObject({ kind: "rename", otherPath: "m", options: ["ours", "theirs", "proposal"] });
    await temp.workspace.reopen(moved.id);
    await expect(rest(temp, id)).rejects.toMatchObject({ code: "MERGE_OPEN" });
    await temp.workspace.resolve(moved.id, { take: "ours" });
    expect(await rest(temp, id)).toMatchObject({ outcome: "applied" });
    expect(temp.read("m")).toBe(edited({ 5: "here" }));
    expect(temp.tree().has("moved/m")).toBe(false);
  }),
);

test(
  "[R1930] [R96] what is on disk alone is kept when it is taken up; what is combined nowhere is refused",
  inWorkspace(FILES, async (temp) => {
    const id = await waiting(temp);
    const { merges } = temp.workspace;
    for (const path of ["a/b", "c", "moved"])
      await expect(merges.takeUp(id, pathFromText(path))).rejects.toMatchObject({
        code: "CONFLICT_NOT_FOUND",
      });
    const mine = edited({ 8: "not captured", 11: "here" });
    temp.write("b", mine);
    const { id: conflict } = await merges.takeUp(id, b);
    temp.write("b", edited({ 8: "later", 11: "here" }));
    await temp.reopen();
    await temp.workspace.upkeep.gc();
    const again = await temp.workspace.merges.conflict(conflict);
    expect(again.content("ours")!.toString()).toBe(mine);
    await temp.workspace.abandonMerge(id);
    await expect(temp.workspace.merges.takeUp(id, b)).rejects.toMatchObject({ code: "MERGE_NOT_FOUND" });
  }),
);
