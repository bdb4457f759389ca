/** What git ignores: captured within a budget, left out above it, never in the way of an undo. */
import { execFileSync } from "node:child_process";
import { renameSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeSetting } from "../src/index.ts";
import { inWorkspace, startInProcess, type TempWorkspace } from "./support/temp-workspace.ts";

const IGNORE = "data/\n*.key\nlogs/\n.env\n";

async function pathsOf({ workspace }: TempWorkspace): Promise<string[]> {
  const { checkpoint } = await workspace.checkpoint();
  const paths: string[] = [];
  for await (const { path, kind } of workspace.files(checkpoint.id))
    if (kind !== "directory") paths.push(path);
  return paths;
}

const excludedOf = async ({ workspace }: TempWorkspace) =>
  Object.fromEntries((await workspace.show("@")).excluded.map(({ path, rule }) => [path, rule]));

async function limit(temp: TempWorkspace, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [key, value] of Object.entries(settings)) writeSetting(temp.home, key, value);
  await temp.reopen();
}

function fill(temp: TempWorkspace, directory: string, from: number, to: number): void {
  for (let number = from; number < to; number += 1) temp.write(`${directory}/f${number}`, `${number}\n`);
}

/** The snapshot that a process of its own, with a store of its own, takes. */
const freshSnapshot = (temp: TempWorkspace, settings: Readonly<Record<string, string>>, round: number) => {
  const home = `${temp.home}-fresh-${round}`;
  for (const [key, value] of Object.entries(settings)) writeSetting(home, key, value);
  return startInProcess<string>(
    { root: temp.root, home },
    "return (await workspace.checkpoint()).checkpoint.snapshot;",
  );
};

describe("[R132] what git ignores", () => {
  test(
    "is captured, brought back by an undo and a restore, and noise is not",
    inWorkspace(
      { ".gitignore": IGNORE, a: "a", "secret.key": "k1", "data/notes.md": "n1", "data/deep/x": "x" },
      async (temp) => {
        const { workspace, turn, write, read, remove } = temp;
        write("logs/app.log", "noise");
        write("data/app.pid", "1");
        write("data/dist/bundle.js", "built");
        expect(await pathsOf(temp)).toEqual([
          ".gitignore",
          "a",
          "data/deep/x",
          "data/notes.md",
          "secret.key",
        ]);
        expect(await excludedOf(temp)).toMatchObject({
          "data/app.pid": "default: *.pid",
          "data/dist": "default: dist",
          "logs/app.log": "default: *.log",
        });
        await turn("t1", () => {
          write("secret.key", "k2");
          remove("data");
          write("new.key", "new");
        });
        expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
        expect([read("secret.key"), read("data/notes.md")]).toEqual(["k1", "n1"]);
        write("secret.key", "k3");
        write("later.key", "made by hand");
        const outcome = await workspace.restoreTo("1");
        expect(read("secret.key")).toBe("k1");
        // [I01] what came later stays: git would not have touched it
        expect(read("later.key")).toBe("made by hand");
        expect(outcome.kept).toContainEqual({ path: "later.key", reason: "git ignores it" });
      },
    ),
  );

  test(
    "a file over the limit is left out and listed; it is in again when it is small enough",
    inWorkspace(
      { ".gitignore": IGNORE, "big.key": "k", "data/big": "d", "data/small": "s" },
      async (temp) => {
        await limit(temp, { "limits.ignoredFileBytes": "100" });
        temp.write("big.key", "k".repeat(101));
        temp.write("data/big", "d".repeat(101));
        expect(await pathsOf(temp)).toEqual([".gitignore", "data/small"]);
        expect(await excludedOf(temp)).toMatchObject({
          "big.key": ".gitignore:2, larger than 100 bytes",
          "data/big": ".gitignore:1, larger than 100 bytes",
        });
        truncateSync(join(temp.root, "data/big"), 50);
        expect(await pathsOf(temp)).toEqual([".gitignore", "data/big", "data/small"]);
      },
    ),
  );

  test.for([
    ["cold", false],
    ["live", true],
  ] as const)("[R23] [N6] a directory that crosses its budget is left out, not deleted (%s)", ([, isLive]) =>
    inWorkspace(
      { ".gitignore": IGNORE, a: "a", "data/keep": "kept\n", "data/env/.env": "E=1" },
      async (temp) => {
        const { read, write, turn } = temp;
        const settings = { "limits.ignoredFiles": "20" };
        await limit(temp, settings);
        const { workspace } = temp;
        if (isLive) await workspace.watch();
        fill(temp, "data/sub", 0, 19);
        const { checkpoint: full } = await workspace.checkpoint();
        expect(full.files).toBe(22);
        // the turn makes one file too many, changes another and deletes a third
        await turn("t1", () => {
          fill(temp, "data/sub", 19, 25);
          write("data/keep", "changed\n");
          temp.remove("data/sub/f3");
        });
        expect(await excludedOf(temp)).not.toHaveProperty("data/keep");
        expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
        expect([read("data/keep"), read("data/sub/f3")]).toEqual(["kept\n", "3\n"]);
        fill(temp, "data/sub", 0, 30);
        const { checkpoint: over } = await workspace.checkpoint();
        expect(over.changes).toEqual({ added: 0, modified: 0, deleted: 0 });
        expect(await excludedOf(temp)).toMatchObject({ data: ".gitignore:1, more than 20 files" });
        // what was over its budget then did not "not exist"
        write("data/later", "mine\n");
        for (let number = 0; number < 30; number += 1) temp.remove(`data/sub/f${number}`);
        await workspace.restoreTo(over.id);
        expect(read("data/later")).toBe("mine\n");
        // and within the budget it is captured again
        expect(await pathsOf(temp)).toContain("data/later");
        expect((await workspace.checkpoint()).checkpoint.snapshot).toBe(
          await freshSnapshot(temp, settings, 1),
        );
      },
    )(),
  );

  test(
    "[R44] live equals cold, whatever comes and goes in ignored directories",
    inWorkspace({ ".gitignore": IGNORE, a: "a" }, async (temp) => {
      const settings = {
        "limits.ignoredFiles": "12",
        "limits.ignoredBytes": "2000",
        "limits.ignoredFileBytes": "500",
      };
      await limit(temp, settings);
      await temp.workspace.watch();
      const steps: (() => void)[] = [
        () => fill(temp, "data/x", 0, 5),
        () => fill(temp, "data/y", 0, 7),
        () => temp.write("data/y/one-too-many", "!"),
        () => temp.write("data/y/and-another", "!"),
        () => temp.remove("data/y/one-too-many"),
        () => temp.remove("data/y/and-another"),
        () => temp.write("data/y/f0", "z".repeat(501)),
        () => temp.write("data/y/f1", "z".repeat(499)),
        () => ["f2", "f3", "f4", "f5"].forEach((name) => temp.write(`data/y/${name}`, "z".repeat(499))),
        () => temp.write("data/y/f5", "small again"),
        () => renameSync(join(temp.root, "data"), join(temp.root, "plain")),
        () => renameSync(join(temp.root, "plain"), join(temp.root, "data")),
        () => fill(temp, "deep/down/data", 0, 40),
        () => temp.remove("deep/down/data"),
        () => temp.write("deep/down/data/x", "back"),
        () => temp.write("data/.belayignore", "x/\n"),
        () => temp.write("secret.key", "k".repeat(600)),
        () => temp.write("secret.key", "k"),
        () => writeFileSync(join(temp.root, ".gitignore"), "*.key\n"),
        () => writeFileSync(join(temp.root, ".gitignore"), IGNORE),
      ];
      for (const [round, step] of steps.entries()) {
        step();
        const { snapshot } = (await temp.workspace.checkpoint()).checkpoint;
        expect(snapshot, `step ${round}`).toBe(await freshSnapshot(temp, settings, round));
        const { snapshot: again } = (await temp.workspace.checkpoint()).checkpoint;
        expect(again).toBe(snapshot);
      }
      expect(temp.workspace.watching.state).toBe("live");
    }),
  );

  test(
    "what git tracks stays in, whatever the budget",
    inWorkspace(
      { ".gitignore": IGNORE, "data/tracked": "t".repeat(200), "data/other": "o" },
      async (temp) => {
        execFileSync("git", ["init", "-q", "."], { cwd: temp.root });
        execFileSync("git", ["add", "-f", "data/tracked"], { cwd: temp.root });
        await limit(temp, { "limits.ignoredFileBytes": "100" });
        expect(await pathsOf(temp)).toEqual([".gitignore", "data/other", "data/tracked"]);
        expect(await pathsOf(temp)).toEqual([".gitignore", "data/other", "data/tracked"]);
        await limit(temp, { "limits.ignoredFiles": "0" });
        expect(await pathsOf(temp)).toEqual([".gitignore", "data/tracked"]);
      },
    ),
  );

  test(
    "[R133] a conflict in an ignored file is kept and named, and the rest is undone",
    inWorkspace({ ".gitignore": IGNORE, a: "a\n", "my.key": "one\n" }, async (temp) => {
      const { workspace, turn, write, read } = temp;
      await turn("t1", () => {
        write("a", "changed\n");
        write("my.key", "two\n");
      });
      write("my.key", "three\n");
      const outcome = await workspace.undo();
      expect(outcome).toMatchObject({ outcome: "applied", conflicts: [] });
      expect(outcome.kept).toEqual([{ path: "my.key", reason: "git ignores it, and it was changed since" }]);
      expect([read("a"), read("my.key")]).toEqual(["a\n", "three\n"]);
    }),
  );
});
