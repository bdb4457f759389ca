/** Undo of what became a gap: a file that outgrew the limit, gave way to a FIFO or can no longer be read. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeSetting } from "../src/index.ts";
import { inWorkspace, processScript, type TempWorkspace } from "./support/temp-workspace.ts";

const BIG = "y".repeat(5000);

function small(
  files: Readonly<Record<string, string>>,
  body: (temp: TempWorkspace) => Promise<void>,
): () => Promise<void> {
  return inWorkspace(files, async (temp) => {
    writeSetting(temp.home, "limits.fileBytes", "1000");
    await temp.reopen();
    await body(temp);
  });
}

const makeFifo = (temp: TempWorkspace, path: string) => execFileSync("mkfifo", [join(temp.root, path)]);

/** What stands at a path, one capture after the other; undefined: nothing. */
const IN_BETWEEN: Readonly<Record<string, readonly (readonly [string, string | undefined])[]>> = {
  "too large, then small again": [
    ["a", BIG],
    ["a", "new\n"],
  ],
  "a FIFO, then a file": [
    ["a", "FIFO"],
    ["a", "new\n"],
  ],
  "removed, then a FIFO": [
    ["a", undefined],
    ["a", "FIFO"],
  ],
  "a directory becomes a file that is too large": [["d", BIG]],
  "a directory is too large a file, then a FIFO": [
    ["d", BIG],
    ["d", "FIFO"],
  ],
};

describe("[R131] a path that became a gap is undone", () => {
  test(
    "a file grown over the limit goes back, and what it had grown to is saved",
    small({ a: "old\n" }, async ({ workspace, turn, write, read }) => {
      await turn("t1", () => write("a", BIG));
      const plan = await workspace.planUndo();
      expect(plan).toMatchObject({ edits: [{ path: "a" }], conflicts: [], gaps: [] });
      const outcome = await workspace.undo();
      expect(outcome).toMatchObject({ outcome: "applied", modified: 1 });
      expect(read("a")).toBe("old\n");
      await workspace.restoreTo(outcome.safetyCheckpoint!);
      expect(read("a")).toBe(BIG);
    }),
  );

  test(
    "[R1890] that it is saved first is no change by hand: nothing is said to stay but what was changed by hand",
    small({ a: "old\n", b: "old\n" }, async ({ workspace, turn, write }) => {
      await turn("t1", () => write("a", BIG));
      expect(await workspace.planUndo()).toMatchObject({ edits: [{ path: "a" }], meanwhile: [] });
      write("b", "by hand\n");
      expect(await workspace.planUndo()).toMatchObject({ edits: [{ path: "a" }], meanwhile: ["b"] });
    }),
  );

  test(
    "[R1890] nor is it where the limit was raised meanwhile, and a checkpoint has it by now",
    small({ a: "old\n", b: BIG, c: BIG }, async (temp) => {
      await temp.turn("t1", () => temp.write("a", BIG));
      writeSetting(temp.home, "limits.fileBytes", null);
      temp.write("c", `${BIG}more`);
      await temp.workspace.checkpoint();
      expect(await temp.workspace.planUndo()).toMatchObject({ edits: [{ path: "a" }], meanwhile: ["c"] });
    }),
  );

  test(
    "a file made over the limit is removed, and is saved",
    small({ other: "o\n" }, async ({ workspace, turn, write, tree, read }) => {
      await turn("t1", () => write("big", BIG));
      const outcome = await workspace.undo();
      expect(outcome).toMatchObject({ outcome: "applied", deleted: 1 });
      expect([...tree().keys()]).toEqual(["other"]);
      await workspace.restoreTo(outcome.safetyCheckpoint!);
      expect(read("big")).toBe(BIG);
    }),
  );

  test(
    "one that grew on after the turn is a conflict: the later content is not the turn's",
    small({ a: "old\n" }, async ({ workspace, turn, write, read }) => {
      await turn("t1", () => write("a", BIG));
      write("a", `${BIG}more`);
      expect(await workspace.undo()).toMatchObject({ outcome: "conflicts", conflicts: [{ path: "a" }] });
      expect(read("a")).toBe(`${BIG}more`);
    }),
  );

  test(
    "a turn that is still open, undone before any capture saw the growth",
    small({ a: "old\n" }, async ({ workspace, write, read, openThread }) => {
      const thread = await openThread("agent");
      await workspace.turns.prompt(thread, { content: "grow" });
      write("a", BIG);
      expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
      expect(read("a")).toBe("old\n");
    }),
  );

  test(
    "a file and a directory that gave way to FIFOs",
    small({ a: "old\n", "d/x": "x\n", "d/e/y": "y\n" }, async (temp) => {
      const { workspace, turn, remove, tree } = temp;
      const before = tree();
      await turn("t1", () => {
        for (const path of ["a", "d"]) {
          remove(path);
          makeFifo(temp, path);
        }
      });
      expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
      expect(tree()).toEqual(before);
      // what cannot be made again leaves everything as it is
      const redo = await workspace.planRedo();
      expect(redo).toMatchObject({ edits: [] });
      expect(redo!.gaps.map(({ path }) => path)).toEqual(["a", "d"]);
    }),
  );

  for (const [name, states] of Object.entries(IN_BETWEEN))
    test(
      `in a turn of several captures: ${name}`,
      small({ a: "old\n", "d/x": "x\n" }, async (temp) => {
        const { workspace, root, tree } = temp;
        const before = tree();
        await workspace.turns.run({}, async () => {
          for (const [path, content] of states) {
            rmSync(join(root, path), { recursive: true, force: true });
            if (content === "FIFO") makeFifo(temp, path);
            else if (content !== undefined) temp.write(path, content);
            await workspace.checkpoint();
          }
        });
        expect(await workspace.undo()).toMatchObject({ outcome: "applied", conflicts: [] });
        expect(tree()).toEqual(before);
      }),
    );

  test(
    "a restore puts a file in the place of a FIFO too",
    small({ a: "old\n" }, async (temp) => {
      const { workspace, remove, read } = temp;
      const { checkpoint } = await workspace.checkpoint();
      remove("a");
      makeFifo(temp, "a");
      expect(await workspace.restoreTo(checkpoint.id)).toMatchObject({ outcome: "applied" });
      expect(read("a")).toBe("old\n");
    }),
  );

  test.each([
    ["a conflict", "", { outcome: "conflicts", conflicts: [{ path: "key" }], kept: [] }, "1\n"],
    [
      "kept and named where git ignores it",
      "key\n",
      {
        outcome: "applied",
        conflicts: [],
        kept: [{ path: "key", reason: "git ignores it, and it was changed since" }],
      },
      "0\n",
    ],
  ])(
    "[R133] a FIFO that came after the turn had removed a file is not the turn's: %s",
    (_what, ignored, expected, a) =>
      inWorkspace({ a: "0\n", key: "k\n", ".gitignore": ignored }, async (temp) => {
        execFileSync("git", ["init", "-q", temp.root]);
        await temp.turn("t", () => {
          temp.remove("key");
          temp.write("a", "1\n");
        });
        makeFifo(temp, "key");
        expect(await temp.workspace.undo()).toMatchObject(expected);
        expect(lstatSync(join(temp.root, "key")).isFIFO()).toBe(true);
        expect(temp.read("a")).toBe(a);
      })(),
  );

  test(
    "a FIFO that only the turn made stays: a program may be waiting at it",
    small({ other: "o\n" }, async (temp) => {
      const { workspace, turn, write } = temp;
      await turn("t1", () => {
        makeFifo(temp, "pipe");
        write("other", "changed\n");
      });
      const outcome = await workspace.undo();
      expect(outcome).toMatchObject({ outcome: "applied", plan: { gaps: [{ path: "pipe" }] } });
      expect(lstatSync(join(temp.root, "pipe")).isFIFO()).toBe(true);
    }),
  );

  test.runIf(process.getuid?.() === 0)(
    "what cannot be read cannot be saved: a conflict, kept and named",
    small({}, async (temp) => {
      const home = join(temp.root, "..", "home-of-another-user");
      const root = join(temp.root, "..", "of-another-user");
      for (const directory of [home, root]) {
        mkdirSync(directory);
        chownSync(directory, 65534, 65534);
      }
      chmodSync(join(temp.root, ".."), 0o755);
      writeFileSync(join(root, "a"), "old\n");
      chownSync(join(root, "a"), 65534, 65534);
      const script = `
        await workspace.turns.run({ prompt: "t1" }, async () => fs.chmodSync(root + "/a", 0));
        const { outcome, conflicts } = await workspace.undo();
        return { outcome, conflicts };`;
      const output = execFileSync(process.execPath, processScript({ root, home }, script), {
        uid: 65534,
        gid: 65534,
        env: { ...process.env, HOME: home },
      });
      expect(JSON.parse(output.toString("utf8"))).toMatchObject({
        outcome: "conflicts",
        conflicts: [{ path: "a", reason: "cannot be saved" }],
      });
      expect(lstatSync(join(root, "a")).mode & 0o777).toBe(0);
    }),
  );
});
