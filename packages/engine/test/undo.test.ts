/**
 * Undo and redo: the worked examples of the design, in its words. S0, S1 … are the states of the tree, t1, t2 …
 * the turns between them; an undo's `steps` tell what was last in `applied`.
 * Example 8 (`reset`) is not here: resets come with approvals.
 */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EngineError, type Outcome } from "../src/index.ts";
import { inWorkspace, processScript, runInProcess, type TempWorkspace } from "./support/temp-workspace.ts";

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
const FIRST = LINES.replace("one", "ONE");
const LAST = LINES.replace("nine", "NINE");
const BOTH = FIRST.replace("nine", "NINE");

/** The prompts of the steps that an undo or redo moved. */
const moved = ({ steps }: Outcome) => steps.map(({ prompt, kind }) => prompt ?? kind);

describe("the worked examples", () => {
  test(
    "[R17] [E1, C35] t1 t2 undo redo: S1, then S2",
    inWorkspace({ "a.txt": "0\n", "d/b.txt": "0\n" }, async ({ workspace, turn, tree, write, remove }) => {
      const s1 = await turn("t1", () => write("a.txt", "1\n"));
      const s2 = await turn("t2", () => {
        write("new/c.txt", "2\n");
        remove("d");
      });
      const undo = await workspace.undo();
      expect(undo).toMatchObject({ outcome: "applied", canUndo: true, canRedo: true });
      expect(moved(undo)).toEqual(["t2"]);
      expect(tree()).toEqual(s1);
      expect(await workspace.redo()).toMatchObject({ outcome: "applied", canUndo: true, canRedo: false });
      expect(tree()).toEqual(s2);
    }),
  );

  test(
    "[E2] t1 t2 undo t3 redo: t2 comes back over t3; the next undo takes t2, then t3",
    inWorkspace({ x: LINES, y: "0\n" }, async ({ workspace, turn, tree, write, read }) => {
      const s1 = await turn("t1", () => write("y", "1\n"));
      await turn("t2", () => write("x", FIRST));
      await workspace.undo();
      const s3 = await turn("t3", () => write("x", LAST));
      const redo = await workspace.redo();
      expect(redo).toMatchObject({ outcome: "applied", merged: ["x"], canRedo: false });
      expect(moved(redo)).toEqual(["t2"]);
      expect(read("x")).toBe(BOTH);
      expect(moved(await workspace.undo())).toEqual(["t2"]);
      expect(tree()).toEqual(s3);
      expect(moved(await workspace.undo())).toEqual(["t3"]);
      expect(tree()).toEqual(s1);
    }),
  );

  test(
    "[R16] [E2] an overlap of t2 and t3 is a conflict and changes nothing",
    inWorkspace({ x: LINES }, async ({ workspace, turn, tree, write }) => {
      await turn("t2", () => write("x", LINES.replace("two", "2")));
      await workspace.undo();
      const s3 = await turn("t3", () => write("x", LINES.replace("two", "II")));
      const redo = await workspace.redo();
      expect(redo).toMatchObject({ outcome: "conflicts", conflicts: [{ path: "x" }], canRedo: true });
      expect(tree()).toEqual(s3);
      expect(moved(await workspace.undo())).toEqual(["t3"]);
      expect(moved(await workspace.undo({}))).toEqual([]);
    }),
  );

  test(
    "[R1] [E3, I10] t1 t2 restore(S0) t3, undo × 3: S0; S2, the restore undone; S1",
    inWorkspace({ a: "0\n", b: "0\n" }, async ({ workspace, turn, tree, write, remove }) => {
      const s0 = tree();
      const s1 = await turn("t1", () => write("a", "1\n"));
      const s2 = await turn("t2", () => {
        write("c", "2\n");
        remove("b");
      });
      await workspace.restoreTo("1");
      expect(tree()).toEqual(s0);
      await turn("t3", () => write("d", "3\n"));
      expect(moved(await workspace.undo())).toEqual(["t3"]);
      expect(tree()).toEqual(s0);
      expect(moved(await workspace.undo())).toEqual(["restore"]);
      expect(tree()).toEqual(s2);
      expect(moved(await workspace.undo())).toEqual(["t2"]);
      expect(tree()).toEqual(s1);
    }),
  );

  test(
    "[E4] t1 t2 t3, undo 2: S1; redo S2; redo S3",
    inWorkspace({ a: "0\n" }, async ({ workspace, turn, tree, write }) => {
      const s1 = await turn("t1", () => write("a", "1\n"));
      const s2 = await turn("t2", () => write("a", "2\n"));
      const s3 = await turn("t3", () => write("a", "3\n"));
      expect(moved(await workspace.undo({ count: 2 }))).toEqual(["t3", "t2"]);
      expect(tree()).toEqual(s1);
      expect(moved(await workspace.redo())).toEqual(["t2"]);
      expect(tree()).toEqual(s2);
      expect(moved(await workspace.redo())).toEqual(["t3"]);
      expect(tree()).toEqual(s3);
      await workspace.undo({ count: 3 });
      expect(moved(await workspace.redo({ count: 3 }))).toEqual(["t1", "t2", "t3"]);
      expect(tree()).toEqual(s3);
    }),
  );

  test(
    "[E5] t1, a hand edit of README, undo: t1 is out, README stays and is named",
    inWorkspace({ README: "0\n", a: "0\n" }, async ({ workspace, turn, write, read }) => {
      await turn("t1", () => write("a", "1\n"));
      write("README", "by hand\n");
      expect((await workspace.planUndo())?.meanwhile).toEqual(["README"]);
      const undo = await workspace.undo();
      expect(undo).toMatchObject({ outcome: "applied", plan: { meanwhile: ["README"] } });
      expect([read("a"), read("README")]).toEqual(["0\n", "by hand\n"]);
    }),
  );

  test(
    "[E5] a hand edit on t1's lines is a conflict; restoring t1's before is exact",
    inWorkspace({ x: LINES }, async ({ workspace, turn, tree, write }) => {
      const s0 = tree();
      await turn("t1", () => write("x", LINES.replace("two", "2")));
      write("x", LINES.replace("two", "by hand"));
      const edited = tree();
      expect(await workspace.undo()).toMatchObject({ outcome: "conflicts", conflicts: [{ path: "x" }] });
      expect(tree()).toEqual(edited);
      const before = (await workspace.list()).find(
        ({ kind, phase }) => kind === "turn" && phase === "before",
      )!;
      expect(await workspace.restoreTo(before.id)).toMatchObject({ outcome: "applied" });
      expect(tree()).toEqual(s0);
    }),
  );

  test(
    "[E6, I60] A changes x, B changes y, undo of thread A: x is back, y untouched",
    inWorkspace({ x: "0\n", y: "0\n" }, async ({ workspace, turn, openThread, write, read }) => {
      const [a, b] = [await openThread("A"), await openThread("B")];
      await turn("A's", () => write("x", "A\n"), a);
      await turn("B's", () => write("y", "B\n"), b);
      expect(await workspace.undo({ thread: a })).toMatchObject({
        outcome: "applied",
        plan: { meanwhile: [] },
      });
      expect([read("x"), read("y")]).toEqual(["0\n", "B\n"]);
      expect(moved(await workspace.undo())).toEqual(["B's"]);
    }),
  );

  test(
    "[E6, I60] both changed x on different lines: undo of thread A is merged",
    inWorkspace({ x: LINES }, async ({ workspace, turn, openThread, write, read }) => {
      const [a, b] = [await openThread("A"), await openThread("B")];
      await turn("A's", () => write("x", FIRST), a);
      await turn("B's", () => write("x", BOTH), b);
      expect(await workspace.undo({ thread: a })).toMatchObject({ outcome: "applied", merged: ["x"] });
      expect(read("x")).toBe(LAST);
      expect(await workspace.redo({ thread: a })).toMatchObject({ outcome: "applied", merged: ["x"] });
      expect(read("x")).toBe(BOTH);
    }),
  );

  test(
    "[E6, I60] both changed the same lines: a conflict that names B",
    inWorkspace({ x: LINES }, async ({ workspace, turn, openThread, tree, write }) => {
      const [a, b] = [await openThread("A"), await openThread("B")];
      await turn("A's", () => write("x", LINES.replace("two", "A")), a);
      const s2 = await turn("B's", () => write("x", LINES.replace("two", "B")), b);
      expect(await workspace.undo({ thread: a })).toMatchObject({
        outcome: "conflicts",
        conflicts: [{ path: "x", thread: b }],
      });
      expect(tree()).toEqual(s2);
    }),
  );

  test(
    "[E7, I15] the shell creates z and is killed: undo in a new process takes z out, redo brings it back",
    inWorkspace({ a: "0\n" }, async (temp) => {
      const s0 = temp.tree();
      await killInTurn(temp, `fs.mkdirSync(root + "/sub"); fs.writeFileSync(root + "/sub/z", "z\\n");`);
      const s1 = temp.tree();
      const undone = runInProcess<Outcome>(temp, `return workspace.undo();`);
      expect(undone).toMatchObject({ outcome: "applied", deleted: 1 });
      expect(temp.tree()).toEqual(s0);
      expect(runInProcess(temp, `return workspace.redo();`)).toMatchObject({
        outcome: "applied",
        created: 1,
      });
      expect(temp.tree()).toEqual(s1);
    }),
  );

  test(
    "[E9, A76] a tool writes dist/x, which is left out by default, undo: removed, redo: back",
    inWorkspace({ a: "0\n" }, async ({ workspace, tree, write }) => {
      const s0 = tree();
      await workspace.turns.run({}, async (turn) => {
        await turn.name(["dist/x"]);
        write("dist/x", "x\n");
      });
      const s1 = tree();
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", deleted: 1 });
      expect(tree()).toEqual(s0);
      await workspace.redo();
      expect(tree()).toEqual(s1);
    }),
  );

  test(
    "[E9, A76] the same with a path that .gitignore leaves out; its neighbours stay",
    inWorkspace({ ".gitignore": "out/\n", "out/mine": "mine\n" }, async ({ workspace, tree, write }) => {
      const s0 = tree();
      await workspace.turns.run({}, async (turn) => {
        await turn.name(["out/x"]);
        write("out/x", "x\n");
      });
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", deleted: 1 });
      expect(tree()).toEqual(s0);
    }),
  );

  test(
    "[E9] an empty directory that was there before the tool wrote into it stays",
    inWorkspace({ a: "0\n" }, async ({ workspace, root, tree, write }) => {
      mkdirSync(join(root, "dist"));
      const s0 = tree();
      await workspace.turns.run({}, async (turn) => {
        await turn.name(["dist/x"]);
        write("dist/x", "x\n");
      });
      await workspace.undo();
      expect(tree()).toEqual(s0);
    }),
  );
});

describe("how far undo and redo go", () => {
  test(
    "[R16] what a turn made and removed again is no change of its: a file written there later stays",
    inWorkspace({ kept: "0\n" }, async ({ workspace, write, read, remove }) => {
      await workspace.turns.run({ prompt: "t1" }, async () => {
        write("scratch", "made\n");
        await workspace.checkpoint();
        remove("scratch");
        write("kept", "1\n");
        await workspace.checkpoint();
        write("kept", "2\n");
      });
      write("scratch", "mine\n");
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", conflicts: [] });
      expect([read("scratch"), read("kept")]).toEqual(["mine\n", "0\n"]);
      expect(await workspace.redo()).toMatchObject({ outcome: "applied" });
      expect([read("scratch"), read("kept")]).toEqual(["mine\n", "2\n"]);
    }),
  );

  test(
    "undo n is all or nothing: a conflict in one step keeps the others too",
    inWorkspace({ x: LINES, y: "0\n" }, async ({ workspace, turn, tree, write }) => {
      await turn("t1", () => write("x", LINES.replace("two", "2")));
      await turn("t2", () => write("y", "2\n"));
      write("x", LINES.replace("two", "by hand"));
      const edited = tree();
      expect(await workspace.undo({ count: 2 })).toMatchObject({ outcome: "conflicts", newCheckpoint: null });
      expect(tree()).toEqual(edited);
      expect(moved(await workspace.undo())).toEqual(["t2"]);
    }),
  );

  test(
    "best effort skips the conflict, reports it and does the rest",
    inWorkspace({ x: LINES, y: "0\n" }, async ({ workspace, turn, write, read }) => {
      await turn("t1", () => {
        write("x", LINES.replace("two", "2"));
        write("y", "1\n");
      });
      write("x", LINES.replace("two", "by hand"));
      const undo = await workspace.undo({ bestEffort: true });
      expect(undo).toMatchObject({ outcome: "partial", conflicts: [{ path: "x" }] });
      expect([read("x"), read("y")]).toEqual([LINES.replace("two", "by hand"), "0\n"]);
    }),
  );

  test(
    "[R16] what is refused leaves nothing behind: no checkpoint, no step that moved, no turn that ended",
    inWorkspace({ a: "0\n", b: "0\n" }, async ({ workspace, turn, write, openThread }) => {
      await turn("t1", () => write("a", "1\n"));
      const thread = await openThread("open");
      await workspace.turns.prompt(thread, { content: "still at it" });
      write("a", "by hand\n");
      const before = (await workspace.list()).length;
      await expect(workspace.undo({ count: 3 })).rejects.toMatchObject({ code: "STEPS_MISSING" });
      await expect(workspace.redo({ count: 1 })).resolves.toMatchObject({ outcome: "unchanged" });
      const { checkpoint } = (await workspace.show("@")) as { checkpoint: { id: string } };
      const refused = await workspace.revert((await workspace.list({ kind: "turn" }))[0]!.id);
      expect(refused).toMatchObject({ outcome: "conflicts", safetyCheckpoint: null, newCheckpoint: null });
      expect((await workspace.list()).length).toBe(before);
      expect((await workspace.resolve("@")).id).toBe(checkpoint.id);
      expect((await workspace.turns.end(thread))?.checkpoint.description).toBe("After: still at it");
    }),
  );

  test(
    "fewer than n steps are refused and nothing moves",
    inWorkspace({ a: "0\n" }, async ({ workspace, turn, tree, write }) => {
      const s1 = await turn("t1", () => write("a", "1\n"));
      const refused = workspace.undo({ count: 2 });
      await expect(refused).rejects.toThrow(EngineError);
      await expect(refused).rejects.toMatchObject({
        code: "STEPS_MISSING",
        facts: { wanted: 2, available: 1 },
      });
      expect(tree()).toEqual(s1);
      await workspace.undo();
      await expect(workspace.redo({ count: 2 })).rejects.toMatchObject({ code: "STEPS_MISSING" });
    }),
  );

  test(
    "[I07] nothing to undo or redo is no error, a turn that changed nothing is no step",
    inWorkspace({ a: "0\n" }, async ({ workspace, turn, tree, write }) => {
      const s0 = tree();
      expect(await workspace.undo()).toMatchObject({ outcome: "unchanged", safetyCheckpoint: null });
      expect(await workspace.redo()).toMatchObject({ outcome: "unchanged", safetyCheckpoint: null });
      expect(await workspace.planUndo()).toBeNull();
      await turn("looked around", () => undefined);
      write("a", "by hand\n");
      await workspace.checkpoint();
      expect(await workspace.undo()).toMatchObject({ outcome: "unchanged", canUndo: false });
      write("a", "0\n");
      expect(tree()).toEqual(s0);
    }),
  );

  test(
    "a step whose edits were taken back by hand still moves, and comes back by redo",
    inWorkspace({ a: "0\n" }, async ({ workspace, turn, tree, write }) => {
      const s0 = tree();
      const s1 = await turn("t1", () => write("a", "1\n"));
      write("a", "0\n");
      const undo = await workspace.undo();
      expect(moved(undo)).toEqual(["t1"]);
      expect(undo).toMatchObject({ outcome: "unchanged", canUndo: false, canRedo: true });
      expect(tree()).toEqual(s0);
      await workspace.redo();
      expect(tree()).toEqual(s1);
    }),
  );

  test(
    "[I15] redo survives: what one process undid another one redoes",
    inWorkspace({ a: "0\n" }, async (temp) => {
      const s1 = await temp.turn("t1", () => temp.write("a", "1\n"));
      const s2 = await temp.turn("t2", () => temp.write("a", "2\n"));
      await temp.workspace.undo();
      await temp.reopen();
      await temp.workspace.undo();
      expect(runInProcess(temp, `return workspace.redo();`)).toMatchObject({ outcome: "applied" });
      expect(temp.tree()).toEqual(s1);
      await temp.reopen();
      await temp.workspace.redo();
      expect(temp.tree()).toEqual(s2);
    }),
  );

  test(
    "[I15] a process killed between turns loses nothing: exactly its last turn is undone",
    inWorkspace({ a: "0\n" }, async (temp) => {
      const work = `
        await workspace.turns.run({ prompt: "t1" }, async () => fs.writeFileSync(root + "/a", "1\\n"));
        await workspace.turns.run({ prompt: "t2" }, async () => fs.writeFileSync(root + "/a", "2\\n"));
        process.kill(process.pid, "SIGKILL");`;
      expect(await signalOf(temp, work)).toBe("SIGKILL");
      await temp.reopen();
      expect(moved(await temp.workspace.undo())).toEqual(["t2"]);
      expect(temp.read("a")).toBe("1\n");
    }),
  );
});

/** Runs a turn in another process that is killed before the turn ends. */
async function killInTurn(temp: TempWorkspace, work: string): Promise<void> {
  const script = `await workspace.turns.run({ prompt: "killed" }, async () => { ${work} process.kill(process.pid, "SIGKILL"); });`;
  expect(await signalOf(temp, script)).toBe("SIGKILL");
}

async function signalOf(temp: TempWorkspace, script: string): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, processScript(temp, script), { stdio: "inherit" });
  return new Promise((resolve) => child.on("exit", (_code, signal) => resolve(signal)));
}
