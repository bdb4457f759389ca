/**
 * What leaves the rules while it changes: a path that was captured, and that new rules leave out, is still asked for
 * on disk. Gone or different is a change, whatever the rules say by then.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

type Way = (temp: TempWorkspace) => void;

const git =
  (...args: string[]): Way =>
  ({ root }) =>
    void execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...args], {
      cwd: root,
      stdio: "ignore",
    });
const append =
  (file: string, line: string): Way =>
  ({ root }) =>
    appendFileSync(join(root, file), `${line}\n`);
const remove =
  (path: string): Way =>
  (temp) =>
    temp.remove(path);

/** A repository in which `kept/` is tracked, `dist/` is tracked against the defaults, and `notes.txt` is not tracked. */
const FILES = { "kept/a": "a\n", "kept/deep/b": "b\n", "dist/x": "x\n", "notes.txt": "n\n", other: "o\n" };

function inRepository(body: (temp: TempWorkspace) => Promise<void>): () => Promise<void> {
  return inWorkspace(FILES, async (temp) => {
    git("init", "-q", ".")(temp);
    git("add", "-f", "kept", "dist", "other")(temp);
    git("commit", "-q", "-m", "first")(temp);
    git("branch", "plain")(temp);
    await body(temp);
  });
}

const WAYS: Readonly<Record<string, readonly Way[]>> = {
  "a directory is put into .belayignore and removed": [append(".belayignore", "kept/"), remove("kept")],
  "a directory is put into .gitignore, taken out of the index and removed": [
    append(".gitignore", "kept/"),
    git("rm", "-rq", "--cached", "kept"),
    remove("kept"),
  ],
  "a file is put into .git/info/exclude and removed": [
    append(".git/info/exclude", "notes.txt"),
    remove("notes.txt"),
  ],
  "a tracked file that the rules leave out is removed by git": [git("rm", "-q", "dist/x")],
  "a tracked file that the rules leave out is untracked, then removed": [
    git("rm", "-q", "--cached", "dist/x"),
    remove("dist/x"),
  ],
  "an untracked file is changed and ignored by Belay": [
    (temp) => temp.write("notes.txt", "changed\n"),
    append(".belayignore", "notes.txt"),
  ],
  "a file in a default-excluded directory is untracked and changed": [
    git("rm", "-q", "--cached", "dist/x"),
    (temp) => temp.write("dist/x", "changed\n"),
  ],
  "a directory becomes a linked worktree": [
    remove("kept"),
    git("worktree", "add", "-q", "kept", "plain"),
    remove("kept/kept"),
  ],
};

describe("[R130, I78] what a turn both ignores and changes is undone", () => {
  for (const [name, ways] of Object.entries(WAYS)) {
    test(
      `${name}, in one capture`,
      inRepository(async (temp) => {
        const { workspace, turn, read } = temp;
        await workspace.checkpoint();
        await turn("t1", () => ways.forEach((way) => way(temp)));
        const listed = await workspace.list({ limit: 1 });
        const { deleted, modified } = listed[0]!.changes;
        expect(deleted + modified).toBeGreaterThan(0);
        if (name.includes("worktree")) git("worktree", "remove", "--force", "kept")(temp);
        expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
        for (const [path, content] of Object.entries(FILES)) expect(read(path), path).toBe(content);
      }),
    );

    test(
      `${name}, in one capture each`,
      inRepository(async (temp) => {
        const { workspace, read } = temp;
        await workspace.turns.run({ prompt: "t1" }, async () => {
          for (const way of ways) {
            way(temp);
            await workspace.checkpoint();
          }
        });
        if (name.includes("worktree")) git("worktree", "remove", "--force", "kept")(temp);
        expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
        for (const [path, content] of Object.entries(FILES)) expect(read(path), path).toBe(content);
      }),
    );
  }

  test.each(["a file", "a FIFO"])("a directory gives way to %s and is ignored in one capture", (instead) =>
    inRepository(async (temp) => {
      const { workspace, turn, read, root } = temp;
      await workspace.checkpoint();
      await turn("t1", () => {
        temp.remove("kept");
        if (instead === "a file") temp.write("kept", "a file now\n");
        else execFileSync("mkfifo", [join(root, "kept")]);
        append(".belayignore", "kept")(temp);
      });
      expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
      for (const [path, content] of Object.entries(FILES)) expect(read(path), path).toBe(content);
    })(),
  );

  test(
    "a branch that ignores what another one has is checked out",
    inRepository(async (temp) => {
      const { workspace, turn, read } = temp;
      git("checkout", "-q", "plain")(temp);
      git("rm", "-rq", "dist")(temp);
      git("commit", "-q", "-m", "without")(temp);
      git("checkout", "-q", "-")(temp);
      await workspace.checkpoint();
      await turn("t1", () => git("checkout", "-q", "plain")(temp));
      expect(existsSync(join(temp.root, "dist/x"))).toBe(false);
      expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
      expect(read("dist/x")).toBe("x\n");
    }),
  );

  test(
    "[R23] what is ignored and stays as it was is no change, and is let go after the turn",
    inRepository(async (temp) => {
      const { workspace, turn } = temp;
      await workspace.checkpoint();
      await turn("t1", () => append(".belayignore", "notes.txt")(temp));
      const plan = await workspace.planUndo();
      expect(plan!.edits.map(({ path }) => path)).toEqual([".belayignore"]);
      const { checkpoint } = await workspace.checkpoint();
      const { checkpoint: next } = await workspace.checkpoint();
      const paths: string[] = [];
      for await (const { path } of workspace.files(next.id)) paths.push(path);
      expect(paths).not.toContain("notes.txt");
      expect(checkpoint.changes).toEqual({ added: 0, modified: 0, deleted: 0 });
      expect(next.changes).toEqual({ added: 0, modified: 0, deleted: 0 });
    }),
  );

  test(
    "a preview names it before any capture has",
    inRepository(async (temp) => {
      const { workspace } = temp;
      const { checkpoint } = await workspace.checkpoint();
      append(".belayignore", "kept/")(temp);
      temp.remove("kept");
      const plan = await workspace.planRestore(checkpoint.id);
      expect(plan.edits.map(({ path }) => path)).toEqual(
        expect.arrayContaining([".belayignore", "kept", "kept/a", "kept/deep", "kept/deep/b"]),
      );
      const diff = await workspace.diff(checkpoint.id);
      expect(diff.files.map(({ path }) => path)).toContain("kept/a");
    }),
  );
});
