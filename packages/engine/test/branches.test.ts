/** Branches: made, switched to with safety, undone, deleted and brought back. */
import { expect, test } from "vitest";
import type { Plan, Workspace } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

async function switchTo({ workspace }: TempWorkspace, name: string, options?: { keepFiles?: boolean }) {
  return workspace.restore(await workspace.planSwitch(name, options));
}

async function current(workspace: Workspace): Promise<string> {
  return (await workspace.branches()).find((branch) => branch.current)!.name;
}

const changed = ({ edits }: Plan) => edits.map(({ path }) => String(path));

test(
  "[R103, Y89] example 1: undo and redo cross a switch, files and branch together",
  inWorkspace({ a: "S0\n" }, async (temp) => {
    const { workspace } = temp;
    const state = async () => `${temp.read("a").trim()} on ${await current(temp.workspace)}`;
    await temp.turn("t1", () => temp.write("a", "S1\n"));
    await workspace.createBranch("x");
    expect(await switchTo(temp, "x")).toMatchObject({ outcome: "applied", steps: [{ kind: "switch" }] });
    await temp.turn("t2", () => temp.write("a", "S2\n"));
    const states: string[] = [];
    for (const step of ["undo", "undo", "redo", "redo"] as const) {
      expect(await temp.workspace[step]()).toMatchObject({ outcome: "applied" });
      states.push(await state());
      await temp.reopen();
    }
    expect(states).toEqual(["S1 on x", "S1 on main", "S1 on x", "S2 on x"]);
  }),
);

test(
  "[R103] example 2: a hand edit is on the branch it was made on only, in the capture before leaving",
  inWorkspace({ a: "a0\n", b: "0\n" }, async (temp) => {
    const { workspace } = temp;
    await workspace.createBranch("x");
    temp.write("a", "a1\n");
    await workspace.checkpoint();
    await switchTo(temp, "x");
    await temp.turn("on x", () => temp.write("a", "b1\n"));
    temp.write("b", "by hand\n");
    expect(await switchTo(temp, "main")).toMatchObject({ outcome: "applied" });
    expect([temp.read("a"), temp.read("b")]).toEqual(["a1\n", "0\n"]);
    const [left] = await workspace.list({ branch: "x", limit: 1 });
    expect(left).toMatchObject({ kind: "safety", description: "Before switching to main", branch: "x" });
    await switchTo(temp, "x");
    expect([temp.read("a"), temp.read("b")]).toEqual(["b1\n", "by hand\n"]);
  }),
);

test(
  "[R1551] rows tell the branch they lie on where it is another one, and the branches that began with them",
  inWorkspace({ a: "0\n" }, async (temp) => {
    const { workspace } = temp;
    const rows = async (q = "") =>
      (await temp.workspace.timeline.rows({ q })).rows.map(({ title, branch, begun }) => ({
        title,
        ...(branch && { branch }),
        ...(begun && { begun }),
      }));
    await temp.turn("t1", () => temp.write("a", "1\n"));
    expect(await rows()).toEqual([{ title: "t1" }, { title: "Initial checkpoint" }]);
    const { before } = await workspace.timeline.row("T1");
    await workspace.createBranch("x", { from: before! });
    await workspace.createBranch("y");
    expect(await rows()).toEqual([{ title: "t1", begun: ["x", "y"] }, { title: "Initial checkpoint" }]);
    // a search has no place between its rows
    expect(await rows("t1")).toEqual([{ title: "t1" }]);
    await switchTo(temp, "x");
    await temp.turn("t2", () => temp.write("a", "2\n"));
    const [newest, ...older] = await rows();
    expect(newest).toEqual({ title: "t2" });
    // what lies on main only began after x did: neither t1 nor y is on this line
    expect(older.map(({ title }) => title)).not.toContain("t1");
    expect(older.at(-1)).toEqual({ title: "Initial checkpoint", branch: "main" });
    expect(older.some(({ begun }) => begun !== undefined)).toBe(false);
  }),
);

test(
  "[R103] a branch is made without touching a file; the present is captured unless a checkpoint is named",
  inWorkspace({ a: "0\n" }, async (temp) => {
    const { workspace } = temp;
    temp.write("a", "1\n");
    const before = temp.tree();
    expect(await workspace.createBranch("x", { description: "a try" })).toMatchObject({
      name: "x",
      parent: "main",
      current: false,
      workingCopy: null,
      state: "open",
      description: "a try",
      ahead: 0,
      behind: 0,
      files: 1,
    });
    expect(await workspace.resolve("@")).toMatchObject({ description: "Before branch x", branch: "main" });
    const first = await workspace.createBranch("first", { from: "1" });
    expect(first.base).toBe((await workspace.resolve("1")).id);
    expect(temp.tree()).toEqual(before);
    expect(await current(workspace)).toBe("main");
    await expect(workspace.createBranch("x")).rejects.toMatchObject({ code: "BRANCH_TAKEN" });
    for (const name of ["", "a b", "a..b", "-x", "a/", "x.lock", "a~1", "@", "HEAD", ".x", "a\u0007"])
      await expect(workspace.createBranch(name), name).rejects.toMatchObject({ code: "BRANCH_NAME_INVALID" });
  }),
);

test(
  "[R103] a branch is a reference: it can be compared with, and one file taken from it",
  inWorkspace({ a: "0\n", b: "0\n" }, async (temp) => {
    const { workspace } = temp;
    await workspace.createBranch("x");
    await switchTo(temp, "x");
    await temp.turn("both", () => {
      temp.write("a", "x\n");
      temp.write("b", "x\n");
    });
    await switchTo(temp, "main");
    const { files } = await workspace.diff("branch/main", "branch/x");
    expect(files.map(({ path }) => path)).toEqual(["a", "b"]);
    await workspace.restoreTo("branch/x", { paths: ["a"] });
    expect([temp.read("a"), temp.read("b")]).toEqual(["x\n", "0\n"]);
    expect(await current(workspace)).toBe("main");
    await expect(workspace.resolve("branch/none")).rejects.toMatchObject({ code: "BRANCH_NOT_FOUND" });
    await expect(workspace.checkpoint({ name: "branch/y" })).rejects.toMatchObject({ code: "NAME_INVALID" });
  }),
);

test(
  "[R103] each branch has its own undo list, timeline and newest checkpoint; none reaches what came before it",
  inWorkspace({ a: "0\n" }, async (temp) => {
    const { workspace } = temp;
    await temp.turn("on main", () => temp.write("a", "1\n"));
    await workspace.createBranch("x");
    await switchTo(temp, "x");
    await temp.turn("on x", () => temp.write("a", "2\n"));
    expect((await workspace.timeline.rows()).rows.map(({ title }) => title)).toEqual([
      "on x",
      "Switched to x",
      "on main",
      "Initial checkpoint",
    ]);
    await switchTo(temp, "main");
    expect((await workspace.timeline.rows()).rows.map(({ title }) => title)).not.toContain("on x");
    expect(await workspace.branches()).toMatchObject([
      { name: "main", parent: null, current: true },
      // the switch, the two of the turn, and the one before leaving
      { name: "x", parent: "main", ahead: 4, behind: 2 },
    ]);
    // the newest step of main is the switch back to it
    expect(await workspace.undo()).toMatchObject({ steps: [{ description: "Switched to main" }] });
    expect([await current(workspace), temp.read("a")]).toEqual(["x", "2\n"]);
    await workspace.undo();
    await expect(workspace.undo({ count: 2 })).rejects.toMatchObject({ code: "STEPS_MISSING" });
    await workspace.undo();
    expect([await current(workspace), temp.read("a")]).toEqual(["main", "1\n"]);
    expect(await workspace.undo()).toMatchObject({ steps: [{ prompt: "on main" }] });
    expect(temp.read("a")).toBe("0\n");
  }),
);

test(
  "[R103] a plan of a switch shows what it does, and is refused when the files changed since",
  inWorkspace({ a: "0\n" }, async (temp) => {
    const { workspace } = temp;
    await workspace.createBranch("x");
    temp.write("a", "1\n");
    temp.write("new", "only on main\n");
    const plan = await workspace.planSwitch("x");
    expect([plan.kind, changed(plan), plan.description]).toEqual(["switch", ["a", "new"], "Switched to x"]);
    temp.write("a", "2\n");
    await expect(workspace.restore(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
    expect(await current(workspace)).toBe("main");
    const again = await workspace.planSwitch("x");
    expect(await workspace.restore(again)).toMatchObject({ outcome: "applied", modified: 1, deleted: 1 });
    await switchTo(temp, "main");
    expect([temp.read("a"), temp.read("new")]).toEqual(["2\n", "only on main\n"]);
    expect(await switchTo(temp, "main")).toMatchObject({ outcome: "unchanged", safetyCheckpoint: null });
  }),
);

test(
  "[R103] with keepFiles only the branch changes: the files are its next checkpoint, and undo brings both back",
  inWorkspace({ a: "0\n", gone: "0\n" }, async (temp) => {
    const { workspace } = temp;
    await workspace.createBranch("x");
    temp.write("a", "1\n");
    temp.remove("gone");
    const before = temp.tree();
    expect(await switchTo(temp, "x", { keepFiles: true })).toMatchObject({ outcome: "applied", modified: 0 });
    expect([temp.tree(), await current(workspace)]).toEqual([before, "x"]);
    expect(await workspace.resolve("@")).toMatchObject({
      kind: "switch",
      branch: "x",
      changes: { added: 0, modified: 1, deleted: 1 },
    });
    expect((await workspace.checkpoint()).unchanged).toBe(true);
    await workspace.undo();
    expect([temp.tree(), await current(workspace)]).toEqual([before, "main"]);
  }),
);

test(
  "[R103] a switch is refused while a tool runs here; said yes to, the turn goes on as a step of the other branch",
  inWorkspace({ a: "0\n", b: "0\n" }, async (temp) => {
    const { workspace } = temp;
    await workspace.createBranch("x");
    const thread = await temp.openThread("codex");
    await workspace.turns.prompt(thread, { content: "both" });
    await workspace.turns.beginTool(thread, { tool: "Bash", toolUseId: "u-1", nature: "command" });
    temp.write("a", "1\n");
    await expect(workspace.planSwitch("x")).rejects.toMatchObject({
      code: "RUN_ALIVE",
      facts: { tools: ["Bash"] },
    });
    const plan = await workspace.planSwitch("x", { whileWorking: true });
    expect(await workspace.restore(plan)).toMatchObject({ outcome: "applied" });
    expect(temp.read("a")).toBe("0\n");
    temp.write("b", "1\n");
    await workspace.turns.endTool(thread, { toolUseId: "u-1" });
    await workspace.turns.end(thread);
    expect(await workspace.undo()).toMatchObject({ steps: [{ description: "both (continued)" }] });
    expect(temp.read("b")).toBe("0\n");
    await workspace.undo();
    expect([await current(workspace), temp.read("a")]).toEqual(["main", "1\n"]);
    expect(await workspace.undo()).toMatchObject({ steps: [{ description: "both" }] });
    expect(temp.read("a")).toBe("0\n");
  }),
);

test(
  "[R103] while a turn is open that has changed nothing, undo takes the switch; what it has changed comes first",
  inWorkspace({ a: "0\n" }, async (temp) => {
    const { workspace } = temp;
    await workspace.createBranch("x");
    const thread = await temp.openThread("codex");
    await workspace.turns.prompt(thread, { content: "go" });
    await switchTo(temp, "x");
    expect(await workspace.undo()).toMatchObject({ steps: [{ description: "Switched to x" }] });
    await workspace.redo();
    expect(await current(workspace)).toBe("x");
    temp.write("a", "by the turn\n");
    expect(await workspace.undo()).toMatchObject({ steps: [{ kind: "turn" }] });
    expect([await current(workspace), temp.read("a")]).toEqual(["x", "0\n"]);
  }),
);

test(
  "[R103] one branch, one working copy",
  inWorkspace({ a: "0\n" }, async (temp) => {
    const fork = await temp.fork("fork");
    await expect(temp.workspace.planSwitch("fork")).rejects.toMatchObject({
      code: "BRANCH_IN_USE",
      facts: { branch: "fork", path: fork.root },
    });
    await expect(fork.workspace.planSwitch("main")).rejects.toMatchObject({ code: "BRANCH_IN_USE" });
    await expect(temp.workspace.deleteBranch("fork")).rejects.toMatchObject({ code: "BRANCH_IN_USE" });
    await expect(temp.workspace.planSwitch("none")).rejects.toMatchObject({ code: "BRANCH_NOT_FOUND" });
    expect(await fork.workspace.branches()).toMatchObject([
      { name: "main", current: false, workingCopy: temp.root },
      { name: "fork", current: true, workingCopy: fork.root },
    ]);
  }),
);

test(
  "[R103] a branch is renamed, deleted and brought back; its head is kept for 30 days, through prune and gc",
  inWorkspace({ a: "0\n" }, async (temp) => {
    const { workspace } = temp;
    await workspace.createBranch("x");
    await switchTo(temp, "x");
    temp.write("a", "only on x\n");
    await expect(workspace.deleteBranch("x")).rejects.toMatchObject({ code: "BRANCH_IN_USE" });
    await expect(workspace.deleteBranch("main")).rejects.toMatchObject({ code: "BRANCH_IN_USE" });
    await switchTo(temp, "main");
    expect(await workspace.renameBranch("x", "y")).toMatchObject({ name: "y" });
    await expect(workspace.renameBranch("y", "main")).rejects.toMatchObject({ code: "BRANCH_TAKEN" });
    expect(await workspace.deleteBranch("y")).toMatchObject({ state: "discarded" });
    expect((await workspace.branches()).map(({ name }) => name)).toEqual(["main"]);
    await expect(workspace.planSwitch("y")).rejects.toMatchObject({ code: "BRANCH_NOT_FOUND" });
    await expect(workspace.createBranch("y")).rejects.toMatchObject({ code: "BRANCH_TAKEN" });
    const upkeep = async (days: number) => {
      temp.passHours(24 * days);
      await workspace.upkeep.prune({
        policy: { name: "tiny", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: null },
      });
      temp.passHours(25);
      await workspace.upkeep.gc();
    };
    await upkeep(20);
    expect(await workspace.restoreBranch("y")).toMatchObject({ state: "open" });
    await switchTo(temp, "y");
    expect(temp.read("a")).toBe("only on x\n");
    await switchTo(temp, "main");
    await workspace.deleteBranch("y");
    await upkeep(40);
    await upkeep(1);
    await expect(workspace.restoreBranch("y")).rejects.toMatchObject({ code: "BRANCH_NOT_FOUND" });
    expect(await workspace.createBranch("y")).toMatchObject({ state: "open" });
  }),
);

test(
  "[R103] what becomes of branches is told as events and is in the log",
  inWorkspace({ a: "0\n" }, async (temp) => {
    const { workspace } = temp;
    const told: string[] = [];
    const end = new AbortController();
    const reading = (async () => {
      for await (const event of workspace.events.read({ after: 0, signal: end.signal }))
        if (event.type.startsWith("branch_"))
          told.push(`${event.type} ${"branch" in event ? event.branch : ""}`);
    })();
    await workspace.createBranch("x");
    await switchTo(temp, "x");
    await switchTo(temp, "main");
    await workspace.renameBranch("x", "y");
    await workspace.deleteBranch("y");
    await workspace.restoreBranch("y");
    const deadline = Date.now() + 5000;
    while (told.length < 6 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    end.abort();
    await reading;
    expect(told).toEqual([
      "branch_created x",
      "branch_switched x",
      "branch_switched main",
      "branch_updated y",
      "branch_deleted y",
      "branch_created y",
    ]);
  }),
);
