/** Whose change is whose, revert of any step, marks of what was rolled back, and steps whose rules differ from the present's. */
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Outcome, Turn } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

const moved = ({ steps }: Outcome) => steps.map(({ prompt, kind }) => prompt ?? kind);

/** The checkpoint that ended the turn with this prompt. */
async function endOf({ workspace }: TempWorkspace, prompt: string): Promise<string> {
  return (await workspace.list()).find(({ description }) => description === `After: ${prompt}`)!.id;
}

describe("turns of two threads at the same time", () => {
  /** A and B both at work; A changes x, B changes y, and nothing tells who changed what. */
  async function overlap(temp: TempWorkspace) {
    const [a, b] = [await temp.openThread("A"), await temp.openThread("B")];
    await temp.workspace.turns.run({ thread: b, prompt: "B's" }, async () => {
      await temp.workspace.turns.run({ thread: a, prompt: "A's" }, async () => {
        temp.write("x", "A\n");
        temp.write("y", "B\n");
      });
    });
    return { a, b };
  }

  test(
    "[I60] a shared change is a conflict: nothing changes",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { a } = await overlap(temp);
      const after = temp.tree();
      const undo = await temp.workspace.undo({ thread: a });
      const reason = "shared with another thread";
      expect(undo).toMatchObject({
        outcome: "conflicts",
        conflicts: [
          { path: "x", reason },
          { path: "y", reason },
        ],
      });
      expect(temp.tree()).toEqual(after);
    }),
  );

  test(
    "[I60] shared changes go when that is asked for, and come back",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const before = temp.tree();
      const { a, b } = await overlap(temp);
      const after = temp.tree();
      expect(await temp.workspace.undo({ thread: a, includeShared: true })).toMatchObject({
        outcome: "applied",
      });
      expect(temp.tree()).toEqual(before);
      expect(moved(await temp.workspace.undo({ thread: b, includeShared: true }))).toEqual(["B's"]);
      expect(temp.tree()).toEqual(before);
      await temp.workspace.redo({ thread: b, includeShared: true });
      expect(temp.tree()).toEqual(after);
    }),
  );

  test(
    "[R16] what another's undo took out whole is no conflict: changed and removed in two captures, and back as it was",
    inWorkspace({ x: "0\n", z: "0\n" }, async (temp) => {
      const before = temp.tree();
      const [a, b] = [await temp.openThread("A"), await temp.openThread("B")];
      await temp.workspace.turns.run({ thread: b, prompt: "B's" }, async () => {
        await temp.workspace.turns.run({ thread: a, prompt: "A's" }, async () => {
          temp.write("x", "1\n");
          await temp.workspace.checkpoint();
          temp.remove("x");
          temp.write("z", "1\n");
        });
      });
      expect(await temp.workspace.undo({ thread: a, includeShared: true })).toMatchObject({
        outcome: "applied",
      });
      expect(temp.tree()).toEqual(before);
      const second = await temp.workspace.undo({ thread: b });
      expect(second).toMatchObject({ outcome: "unchanged", conflicts: [] });
      expect(moved(second)).toEqual(["B's"]);
      expect(temp.tree()).toEqual(before);
    }),
  );

  test(
    "what one of them did alone is its own, before and after the overlap",
    inWorkspace({ x: "0\n", y: "0\n", z: "0\n" }, async (temp) => {
      const [a, b] = [await temp.openThread("A"), await temp.openThread("B")];
      await temp.workspace.turns.run({ thread: a, prompt: "A's" }, async () => {
        temp.write("x", "A\n");
        await temp.workspace.turns.run({ thread: b, prompt: "B's" }, async () => undefined);
        temp.write("z", "A\n");
      });
      expect(await temp.workspace.undo({ thread: a })).toMatchObject({ outcome: "applied", modified: 2 });
      expect([temp.read("x"), temp.read("z")]).toEqual(["0\n", "0\n"]);
    }),
  );

  test(
    "the preview knows of shared changes too",
    inWorkspace({ x: "0\n", y: "0\n" }, async ({ workspace, openThread, write }) => {
      const [a, b] = [await openThread("A"), await openThread("B")];
      await workspace.turns.run({ thread: b }, async () => {
        await workspace.turns.run({ thread: a }, async () => {
          write("x", "who?\n");
          const plan = await workspace.planUndo({ thread: a });
          expect(plan).toMatchObject({
            edits: [],
            conflicts: [{ path: "x", reason: "shared with another thread" }],
          });
        });
      });
    }),
  );
});

describe("an undo while a turn is open", () => {
  test(
    "takes out what the turn did so far; the rest of the turn is a step of its own",
    inWorkspace({ a: "0\n" }, async ({ workspace, write, read, tree }) => {
      const s0 = tree();
      await workspace.turns.run({ prompt: "t1" }, async () => {
        write("a", "1\n");
        write("b", "1\n");
        expect((await workspace.planUndo())?.edits).toHaveLength(2);
        expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
        expect(tree()).toEqual(s0);
        write("c", "1\n");
      });
      expect(read("c")).toBe("1\n");
      await workspace.undo();
      expect(tree()).toEqual(s0);
      await workspace.redo({ count: 2 });
      expect([read("a"), read("b"), read("c")]).toEqual(["1\n", "1\n", "1\n"]);
    }),
  );
});

describe("revert", () => {
  test(
    "takes a step out of the middle; what came later on other lines stays; undo takes the revert back",
    inWorkspace({ x: LINES, y: "0\n" }, async (temp) => {
      const { workspace, turn, write, read, tree } = temp;
      await turn("t1", () => write("y", "1\n"));
      await turn("t2", () => {
        write("x", LINES.replace("two", "2"));
        write("new", "2\n");
      });
      const s3 = await turn("t3", () => write("x", LINES.replace("two", "2").replace("eight", "8")));
      const revert = await workspace.revert(await endOf(temp, "t2"));
      expect(revert).toMatchObject({ outcome: "applied", merged: ["x"], deleted: 1, canUndo: true });
      expect([read("x"), read("y")]).toEqual([LINES.replace("eight", "8"), "1\n"]);
      expect(moved(await workspace.undo())).toEqual(["revert"]);
      expect(tree()).toEqual(s3);
      expect(moved(await workspace.redo())).toEqual(["revert"]);
      expect(read("x")).toBe(LINES.replace("eight", "8"));
    }),
  );

  test(
    "on the same lines as a later step it is a conflict and nothing changes",
    inWorkspace({ x: LINES }, async (temp) => {
      await temp.turn("t1", () => temp.write("x", LINES.replace("two", "2")));
      const s2 = await temp.turn("t2", () => temp.write("x", LINES.replace("two", "II")));
      const revert = await temp.workspace.revert(await endOf(temp, "t1"));
      expect(revert).toMatchObject({ outcome: "conflicts", conflicts: [{ path: "x" }], newCheckpoint: null });
      expect(temp.tree()).toEqual(s2);
      expect(moved(await temp.workspace.undo())).toEqual(["t2"]);
    }),
  );

  test(
    "of chosen paths leaves the step's other paths alone",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      await temp.turn("t1", () => {
        temp.write("x", "1\n");
        temp.write("y", "1\n");
      });
      await temp.workspace.revert(await endOf(temp, "t1"), { paths: ["x"] });
      expect([temp.read("x"), temp.read("y")]).toEqual(["0\n", "1\n"]);
    }),
  );

  test(
    "of a plain checkpoint takes out what changed with it",
    inWorkspace({ x: "0\n" }, async ({ workspace, write, read }) => {
      write("x", "by hand\n");
      const { checkpoint } = await workspace.checkpoint();
      write("y", "later\n");
      expect(await workspace.revert(checkpoint.id)).toMatchObject({ outcome: "applied", modified: 1 });
      expect([read("x"), read("y")]).toEqual(["0\n", "later\n"]);
    }),
  );
});

describe("marks of what was rolled back", () => {
  /** The descriptions of the checkpoints that are marked, oldest first. */
  const marked = async ({ workspace }: TempWorkspace) =>
    (await workspace.list())
      .filter(({ rolledBack }) => rolledBack)
      .map(({ description }) => description)
      .reverse();

  test(
    "[Y18] undo marks the turn, redo unmarks it",
    inWorkspace({ a: "0\n" }, async (temp) => {
      await temp.turn("t1", () => temp.write("a", "1\n"));
      await temp.turn("t2", () => temp.write("a", "2\n"));
      await temp.workspace.undo();
      expect(await marked(temp)).toEqual(["Before: t2", "After: t2"]);
      await temp.workspace.undo();
      expect(await marked(temp)).toEqual(["Before: t1", "After: t1", "Before: t2", "After: t2"]);
      await temp.workspace.redo();
      expect(await marked(temp)).toEqual(["Before: t2", "After: t2"]);
      await temp.workspace.redo();
      expect(await marked(temp)).toEqual([]);
    }),
  );

  test(
    "[Y18] restore marks what came after its target; undoing it gives the marks back, redoing it makes them again",
    inWorkspace({ a: "0\n" }, async (temp) => {
      await temp.turn("t1", () => temp.write("a", "1\n"));
      await temp.turn("t2", () => temp.write("a", "2\n"));
      await temp.workspace.restoreTo(await endOf(temp, "t1"));
      expect(await marked(temp)).toEqual(["Before: t2", "After: t2"]);
      await temp.workspace.undo();
      expect(await marked(temp)).toEqual([]);
      await temp.workspace.redo();
      expect(await marked(temp)).toEqual(["Before: t2", "After: t2"]);
    }),
  );

  test(
    "[Y18] a restore of chosen paths rolls no conversation back",
    inWorkspace({ a: "0\n", b: "0\n" }, async (temp) => {
      await temp.turn("t1", () => temp.write("a", "1\n"));
      await temp.workspace.restoreTo("1", { paths: ["b"] });
      temp.write("b", "by hand\n");
      await temp.workspace.restoreTo("1", { paths: ["b"] });
      expect(await marked(temp)).toEqual([]);
    }),
  );
});

describe("a turn that changes what is ignored", () => {
  test(
    "[A83, I02] adding a line to .gitignore is undone; what it hides is neither deleted nor in the way",
    inWorkspace(
      { ".gitignore": "", "app.log": "mine\n", a: "0\n" },
      async ({ workspace, turn, tree, write }) => {
        const s0 = tree();
        const s1 = await turn("t1", () => {
          write(".gitignore", "*.log\n");
          write("a", "1\n");
        });
        const [newest] = await workspace.list({ limit: 1 });
        expect(newest).toMatchObject({ changes: { added: 0, modified: 2, deleted: 0 } });
        expect((await workspace.show(newest!.id)).files).toHaveLength(2);
        expect((await workspace.diff({ from: "1", detail: "names" })).summary).toMatchObject({
          modified: 2,
          deleted: 0,
        });
        expect(await workspace.undo()).toMatchObject({ outcome: "applied", conflicts: [] });
        expect(tree()).toEqual(s0);
        expect(await workspace.redo()).toMatchObject({ outcome: "applied", conflicts: [] });
        expect(tree()).toEqual(s1);
      },
    ),
  );

  test(
    "[I02] removing a line from .gitignore is undone; what was hidden before stays on disk",
    inWorkspace(
      { ".gitignore": "data/\n", "data/mine": "mine\n" },
      async ({ workspace, turn, tree, write }) => {
        const s0 = tree();
        const s1 = await turn("t1", () => write(".gitignore", ""));
        expect((await workspace.diff({ from: "1", detail: "names" })).summary).toMatchObject({
          added: 0,
          modified: 1,
        });
        expect(await workspace.undo()).toMatchObject({ outcome: "applied", deleted: 0 });
        expect(tree()).toEqual(s0);
        expect(await workspace.redo()).toMatchObject({ outcome: "applied" });
        expect(tree()).toEqual(s1);
      },
    ),
  );

  test(
    "a file that the turn wrote and then ignored comes back by undo as it was",
    inWorkspace({ ".gitignore": "", "app.log": "mine\n" }, async ({ workspace, turn, tree, write }) => {
      const s0 = tree();
      await turn("t1", () => write("app.log", "written\n"));
      await turn("t2", () => write(".gitignore", "*.log\n"));
      expect(await workspace.undo({ count: 2 })).toMatchObject({ outcome: "applied" });
      expect(tree()).toEqual(s0);
    }),
  );

  test(
    "[N0] an ignored file that changed since is not overwritten by undo without having been saved",
    inWorkspace({ ".gitignore": "", "app.log": LINES }, async ({ workspace, turn, read, write }) => {
      await turn("t1", () => write("app.log", LINES.replace("two", "2")));
      write(".gitignore", "*.log\n");
      write("app.log", LINES.replace("two", "2").replace("eight", "only here"));
      const undo = await workspace.undo();
      expect(undo).toMatchObject({ outcome: "applied", merged: ["app.log"] });
      expect(read("app.log")).toBe(LINES.replace("eight", "only here"));
      await workspace.restoreTo(undo.safetyCheckpoint!, { paths: ["app.log"] });
      expect(read("app.log")).toBe(LINES.replace("two", "2").replace("eight", "only here"));
    }),
  );
});

describe("directories", () => {
  test(
    "a directory that the step made stays when another program put something into it",
    inWorkspace({ a: "0\n" }, async ({ workspace, turn, read, write }) => {
      await turn("t1", () => write("made/x", "1\n"));
      write("made/mine", "mine\n");
      const undo = await workspace.undo();
      expect(undo).toMatchObject({ outcome: "applied", deleted: 1, kept: [{ path: "made" }] });
      expect(read("made/mine")).toBe("mine\n");
    }),
  );

  test(
    "undo of two steps keeps the directory that the first brings back with another program's file in it",
    inWorkspace({ a: "0\n" }, async ({ workspace, turn, tree, write, remove }) => {
      await turn("t1", () => write("made/x", "1\n"));
      write("made/mine", "mine\n");
      await workspace.checkpoint();
      await turn("t2", () => remove("made"));
      expect(await workspace.undo({ count: 2 })).toMatchObject({
        outcome: "applied",
        kept: [{ path: "made" }],
      });
      expect([...tree().keys()]).toEqual(["a", "made", "made/mine"]);
    }),
  );

  test(
    "[I13] an empty directory that the step removed comes back, one that it made goes",
    inWorkspace({ a: "0\n" }, async ({ workspace, root, turn, tree }) => {
      mkdirSync(join(root, "empty"), { mode: 0o750 });
      const s0 = tree();
      const s1 = await turn("t1", () => {
        rmSync(join(root, "empty"), { recursive: true });
        mkdirSync(join(root, "other/deep"), { recursive: true });
      });
      await workspace.undo();
      expect(tree()).toEqual(s0);
      await workspace.redo();
      expect(tree()).toEqual(s1);
    }),
  );
});

test(
  "a directory that became a link to itself, or to a place that cannot be written, comes back",
  inWorkspace({ "a/deep/x": "0\n", "b/deep/x": "0\n" }, async ({ workspace, root, tree, turn, remove }) => {
    const s0 = tree();
    await turn("t1", () => {
      for (const [name, target] of [
        ["a", "a"],
        ["b", "/proc"],
      ] as const) {
        remove(name);
        symlinkSync(target, join(root, name));
      }
    });
    expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
    expect(tree()).toEqual(s0);
  }),
);

test(
  "a turn that fails is a step all the same",
  inWorkspace({ a: "0\n" }, async ({ workspace, tree, write }) => {
    const s0 = tree();
    const failing = workspace.turns.run({ prompt: "t1" }, async (_turn: Turn) => {
      write("a", "1\n");
      throw new Error("the tool failed");
    });
    await expect(failing).rejects.toThrow("the tool failed");
    expect(moved(await workspace.undo())).toEqual(["t1"]);
    expect(tree()).toEqual(s0);
  }),
);
