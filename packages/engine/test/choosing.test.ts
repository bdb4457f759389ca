/** Going back by choice: paths, patterns and hunks, for restore, undo and revert alike. */
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BytePath, Plan } from "../src/index.ts";
import { inWorkspace } from "./support/temp-workspace.ts";

const at = (path: string) => path as BytePath;
const LINES = Array.from({ length: 30 }, (_, number) => `${number}\n`).join("");
const FIRST = LINES.replace("2\n", "two\n");
const LAST = LINES.replace("27\n", "twenty-seven\n");
const BOTH = FIRST.replace("27\n", "twenty-seven\n");

const hunks = (path: string, numbers: readonly number[]) => ({ path: at(path), hunks: numbers });
const touched = ({ edits }: Plan) => edits.map(({ path }) => path);
const stale = expect.objectContaining({ code: "PLAN_STALE" });
const notThere = expect.objectContaining({ code: "PATH_NOT_IN_CHECKPOINT" });

describe("patterns", () => {
  test(
    "[R234] [M27] choose what is on disk and what is not any more; a name comes before a pattern",
    inWorkspace(
      {
        "a.ts": "0",
        "src/b.ts": "0",
        "src/deep/c.ts": "0",
        "src/d.md": "0",
        "app/[id]/p.ts": "0",
        "app/i/p.ts": "0",
      },
      async ({ workspace, write, remove }) => {
        const { id } = await workspace.checkpoint();
        for (const path of ["a.ts", "src/b.ts", "src/d.md", "app/[id]/p.ts", "app/i/p.ts"]) write(path, "1");
        remove("src/deep");
        write("new.ts", "1");
        const chosen = async (...paths: string[]) => touched(await workspace.planRestore(id, { paths }));
        expect(await chosen("*.md")).toEqual(["src/d.md"]);
        expect(await chosen("src/*.ts")).toEqual(["src/b.ts"]);
        expect(await chosen("src/**/*.ts")).toEqual(["src/b.ts", "src/deep", "src/deep/c.ts"]);
        expect(await chosen("d*p")).toEqual(["src/deep", "src/deep/c.ts"]);
        expect(await chosen("?.ts", "src/d.md")).toEqual([
          "a.ts",
          "app/[id]/p.ts",
          "app/i/p.ts",
          "src/b.ts",
          "src/d.md",
          "src/deep",
          "src/deep/c.ts",
        ]);
        expect(await chosen("app/[id]/p.ts")).toEqual(["app/[id]/p.ts"]);
        expect(await chosen("app/[ij]/p.ts")).toEqual(["app/i/p.ts"]);
        await expect(workspace.planRestore(id, { paths: ["*.rs"] })).rejects.toThrow(notThere);
        await expect(workspace.planRestore(id, { paths: ["a.ts", "b.ts"] })).rejects.toThrow(notThere);
      },
    ),
  );

  test(
    "[R234] of a revert and an undo they choose among the step's changes",
    inWorkspace({ "a.ts": "0", "b.md": "0" }, async ({ workspace, turn, write, read }) => {
      await turn("t", () => ["a.ts", "b.md", "src/c.ts"].forEach((path) => write(path, "1")));
      expect(touched(await workspace.planRevert("@", { paths: ["*.ts"] }))).toEqual(["a.ts", "src/c.ts"]);
      expect(touched((await workspace.planUndo({ paths: ["*.md"] }))!)).toEqual(["b.md"]);
      await expect(workspace.undo({ paths: ["*.rs"] })).rejects.toThrow(
        '*.rs matches none of the changes of turn "t". Nothing was changed.',
      );
      await expect(workspace.undo({ paths: ["x"] })).rejects.toThrow(
        'x is not among the changes of turn "t"',
      );
      expect(read("b.md")).toBe("1");
    }),
  );
});

describe("chosen paths", () => {
  test(
    "[R196] below what took the place of their directory are a conflict in the plan; nothing is recorded",
    inWorkspace({ "a/b": "1", "l/m": "1", "to/x": "1" }, async ({ root, workspace, write, remove, tree }) => {
      const { id } = await workspace.checkpoint();
      remove("a");
      write("a", "a file");
      remove("l");
      symlinkSync("to", join(root, "l"));
      const [before, known] = [tree(), (await workspace.list()).length];
      for (const path of ["a/b", "l/m"]) {
        const plan = await workspace.planRestore(id, { paths: [path] });
        expect(plan).toMatchObject({
          edits: [],
          conflicts: [{ path, reason: "changed differently meanwhile" }],
        });
        expect(await workspace.restore(plan)).toMatchObject({
          outcome: "conflicts",
          safetyCheckpoint: null,
        });
      }
      expect([tree(), (await workspace.list()).length]).toEqual([before, known]);
      await workspace.restoreTo(id, { paths: ["a", "l/m", "l"] });
      expect([...tree().keys()]).toEqual(["a", "a/b", "l", "l/m", "to", "to/x"]);
    }),
  );

  test(
    "[R234] that are none at all are refused: they never mean everything",
    inWorkspace({ a: "0" }, async ({ workspace, turn, write, read }) => {
      await turn("t", () => write("a", "1"));
      await expect(workspace.restoreTo("1", { paths: [] })).rejects.toThrow(RangeError);
      await expect(workspace.undo({ paths: [] })).rejects.toThrow(RangeError);
      await expect(workspace.revert("T1", { paths: [] })).rejects.toThrow(RangeError);
      expect(read("a")).toBe("1");
    }),
  );
});

describe("a part of the last step", () => {
  test(
    "[R232] makes a directory that is gone as it was: a private one stays private, and the rest follows",
    inWorkspace({ "d/f": "1", "d/g": "2", "e/h": "3" }, async ({ root, workspace, turn, tree, remove }) => {
      for (const directory of ["d", "e"]) chmodSync(join(root, directory), 0o700);
      await workspace.checkpoint();
      const before = tree();
      await turn("t", () => ["d", "e/h"].forEach(remove));
      remove("e");
      await workspace.undo({ paths: ["d/f", "e/h"] });
      expect([tree().get("d"), tree().get("e")]).toEqual(["directory 700", "directory 700"]);
      expect(await workspace.revert("T1")).toMatchObject({ outcome: "applied", conflicts: [] });
      expect(tree()).toEqual(before);
    }),
  );

  test(
    "[R232] is undone as a step of its own: the turn stays, undo takes the part back, and then the turn",
    inWorkspace({ a: "0", b: "0" }, async ({ workspace, turn, tree, write, read }) => {
      const before = tree();
      const after = await turn("t", () => ["a", "b"].forEach((path) => write(path, "1")));
      const part = await workspace.undo({ paths: ["a"] });
      expect(part).toMatchObject({ outcome: "applied", modified: 1, canUndo: true, canRedo: false });
      expect([read("a"), read("b")]).toEqual(["0", "1"]);
      expect((await workspace.list({ limit: 1 }))[0]!.description).toBe("Undid a of: t");
      await workspace.undo();
      expect(tree()).toEqual(after);
      await workspace.undo();
      expect(tree()).toEqual(before);
    }),
  );

  test(
    "[R232] where everything is chosen, it is an undo like any other, and redo brings it back",
    inWorkspace({ a: "0" }, async ({ workspace, turn, tree, write }) => {
      const before = tree();
      const after = await turn("t", () => ["a", "n/b"].forEach((path) => write(path, "1")));
      expect(await workspace.undo({ paths: ["a", "n"] })).toMatchObject({
        outcome: "applied",
        canRedo: true,
      });
      expect(tree()).toEqual(before);
      await workspace.redo();
      expect(tree()).toEqual(after);
    }),
  );
});

describe("hunks", () => {
  test(
    "[R233] of a restore: the present content with only these changes, undone byte for byte",
    inWorkspace({ f: LINES }, async ({ workspace, tree, write, read }) => {
      const { id } = await workspace.checkpoint();
      write("f", BOTH);
      const start = tree();
      const plan = await workspace.planRestore(id);
      const diff = (await workspace.diffPlanned(plan, { path: at("f") }))!;
      expect(diff.choices).toBe(2);
      expect(
        diff.hunks.map(({ lines }) => lines.filter(({ type }) => type === "+").map(({ text }) => text)),
      ).toEqual([["2"], ["27"]]);
      const outcome = await workspace.restoreTo(id, { hunks: [{ path: at("f"), hunks: [1] }] });
      expect(outcome).toMatchObject({ outcome: "applied", modified: 1 });
      expect(read("f")).toBe(FIRST);
      expect((await workspace.list({ limit: 1 }))[0]!.description).toMatch(/\(in part\)$/);
      await workspace.undo();
      expect(tree()).toEqual(start);
    }),
  );

  test(
    "[R233] of an undo and a revert, over what came later",
    inWorkspace({ f: LINES }, async ({ workspace, turn, write, read }) => {
      await turn("t", () => write("f", BOTH));
      write("f", BOTH.replace("15\n", "by hand\n"));
      const first = { hunks: [hunks("f", [0])] };
      await workspace.undo(first);
      expect(read("f")).toBe(LAST.replace("15\n", "by hand\n"));
      const turnRow = (await workspace.list()).find(({ kind }) => kind === "turn")!;
      await workspace.revert(turnRow.id, first);
      expect(read("f")).toBe(LINES.replace("15\n", "by hand\n"));
    }),
  );

  test(
    "[R42, R233] belong to the plan: it is refused when the file moved on, or has no such hunk",
    inWorkspace({ f: LINES, g: "0" }, async ({ workspace, write, read }) => {
      const { id } = await workspace.checkpoint();
      write("f", BOTH);
      const plan = await workspace.planRestore(id, { hunks: [{ path: at("f"), hunks: [0] }] });
      write("f", BOTH.replace("15\n", "moved\n"));
      await expect(workspace.restore(plan)).rejects.toThrow(stale);
      const two = [{ path: at("f"), hunks: [0, 3] }];
      await expect(workspace.planRestore(id, { hunks: two })).rejects.toThrow("f has no hunk 3");
      const none = [{ path: at("g"), hunks: [0] }];
      await expect(workspace.planRestore(id, { hunks: none })).rejects.toThrow("g has no hunk 0");
      expect(read("f")).toContain("moved");
    }),
  );

  test(
    "[R233] that are no numbers of hunks are refused; those of a file that is named twice are taken together",
    inWorkspace({ a: LINES }, async ({ workspace, write }) => {
      const { id } = await workspace.checkpoint();
      write("a", BOTH);
      for (const number of [-1, 0.5, Number.NaN, 2])
        await expect(workspace.planRestore(id, { hunks: [hunks("a", [number, 0])] })).rejects.toThrow(stale);
      const twice = await workspace.planRestore(id, { hunks: [hunks("a", [0]), hunks("a", [1])] });
      expect(twice.hunks).toBeNull();
    }),
  );

  test(
    "[R233] a file without lines is one hunk, and directories follow what is chosen",
    inWorkspace({ "old/x": "x", "old/y": "y", b: "\0" }, async ({ workspace, write, remove, tree }) => {
      const { id } = await workspace.checkpoint();
      remove("old");
      write("new/n", "n");
      write("b", "\0\0");
      const start = tree();
      const none = [hunks("old/x", []), hunks("old/y", []), hunks("new/n", []), hunks("b", [])];
      expect(await workspace.restoreTo(id, { hunks: none })).toMatchObject({ outcome: "unchanged" });
      expect(tree()).toEqual(start);
      await workspace.restoreTo(id, { hunks: [hunks("old/y", []), hunks("new/n", []), hunks("b", [0])] });
      expect([...tree().keys()]).toEqual(["b", "new", "new/n", "old", "old/x"]);
    }),
  );
});

describe("other threads' work", () => {
  const others = { exceptThreads: "others" } as const;

  test(
    "[R230] stays with the directories it is in, and what it deleted stays deleted",
    inWorkspace({ a: "0", "d/gone": "0", "d/x": "0" }, async (temp) => {
      const { workspace, turn, write, remove, tree, openThread } = temp;
      const [own, other] = [await openThread("claude-code"), await openThread("codex")];
      await turn("own", () => ["a", "new/own", "d/x"].forEach((path) => write(path, "1")), own);
      const { id } = (await workspace.list({ thread: own })).at(-1)!;
      await turn(
        "other",
        () => {
          write("new/other", "1");
          remove("d/gone");
        },
        other,
      );
      const before = tree();
      const plan = await workspace.planRestore(id, others);
      expect(touched(plan)).toEqual(["a", "d/x", "new/own"]);
      expect(plan.leftAlone).toEqual([{ thread: other, paths: ["d/gone", "new/other"] }]);
      expect(plan.kept).toEqual([{ path: "new", reason: "the directory is not empty" }]);
      await workspace.restore(plan);
      expect([...tree().keys()]).toEqual(["a", "d", "d/x", "new", "new/other"]);
      await workspace.undo();
      expect(tree()).toEqual(before);
      expect(touched(await workspace.planRestore(id, { exceptThreads: [own] }))).toEqual([
        "d/gone",
        "new/other",
      ]);
    }),
  );

  test(
    "[R230] that was not recorded yet is known too; a file of both goes back; what a person deleted comes back",
    inWorkspace({ both: "0", lost: "0" }, async ({ workspace, turn, write, remove, openThread }) => {
      const [own, other] = [await openThread("claude-code"), await openThread("codex")];
      await turn("own", () => write("both", "1"), own);
      const { id } = (await workspace.list({ thread: own })).at(-1)!;
      await turn("other", () => ["both", "lost"].forEach((path) => write(path, "2")), other);
      remove("lost");
      await workspace.turns.run({ prompt: "now", thread: other }, async () => {
        write("unrecorded", "3");
        const plan = await workspace.planRestore(id, others);
        expect(touched(plan)).toEqual(["both", "lost"]);
        expect(plan.leftAlone).toEqual([{ thread: other, paths: ["unrecorded"] }]);
      });
    }),
  );
});
