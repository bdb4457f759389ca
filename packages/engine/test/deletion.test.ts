/**
 * N6: "absent from the checkpoint" is not "did not exist". A path is deleted only if the target's rules would
 * have captured it, no gap of the target is at or above it, and its exact content is in the safety checkpoint.
 * Everything else is kept, with the reason.
 */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixtureAt } from "./git-fixture.ts";
import {
  canMakeImmutable,
  canMount,
  inProject,
  inProtected,
  mountSmall,
  setImmutable,
  unmount,
} from "./support/project.ts";

const keptPaths = ({ kept }: { kept: readonly { path: string }[] }) => kept.map(({ path }) => path);

describe("ignored files", () => {
  test(
    "[R13] [I01] [I03] survive a restore, whatever made them and when",
    inProject(
      { ".belayignore": "results/\n*.log\n", "a.txt": "1", "results/old.bin": "old" },
      async (project) => {
        const workspace = await project.open();
        project.write("a.txt", "2");
        project.write("results/new.bin", "new");
        project.write("deep/down/run.log", "log");
        project.write("node_modules/dep/index.js", "dep");
        project.write("dist/bundle.js", "bundle");
        const outcome = await workspace.restoreTo("1");
        expect(outcome).toMatchObject({ outcome: "applied", modified: 1, deleted: 0 });
        expect(project.read("a.txt")).toBe("1");
        for (const name of [
          "results/old.bin",
          "results/new.bin",
          "deep/down/run.log",
          "node_modules/dep/index.js",
          "dist/bundle.js",
        ]) {
          expect(existsSync(join(project.root, name))).toBe(true);
        }
        expect(outcome.kept).toContainEqual({ path: "deep/down", reason: "the directory is not empty" });
      },
    ),
  );

  test(
    "[R23] [A83] a path that becomes ignored is neither deleted nor reported as deleted",
    inProtected({ "secret.txt": "s", "logs/a.log": "a", "b.txt": "b" }, async (project, workspace) => {
      project.write(".gitignore", "secret.txt\nlogs/\n");
      const { changedFiles } = await workspace.status();
      expect(changedFiles.map(({ path, type }) => `${type} ${path}`)).toEqual(["added .gitignore"]);
      const { files } = await workspace.diff({ detail: "names" });
      expect(files.map(({ path, type }) => `${type} ${path}`)).toEqual(["added .gitignore"]);
      const { checkpoint } = await workspace.checkpoint({ name: "ignoring" });
      expect(checkpoint.changes).toEqual({ added: 1, modified: 0, deleted: 0 });
      expect((await workspace.show("ignoring")).files.map(({ path }) => path)).toEqual([".gitignore"]);
      expect((await workspace.diff({ from: "1", to: "ignoring", detail: "names" })).summary).toMatchObject({
        added: 1,
        deleted: 0,
      });
      await workspace.restoreTo("1");
      expect(existsSync(join(project.root, ".gitignore"))).toBe(false);
      await workspace.restoreTo("ignoring");
      expect([project.read("secret.txt"), project.read("logs/a.log")]).toEqual(["s", "a"]);
    }),
  );

  test(
    "[A83] an undo of the turn that made it ignored leaves it alone, too",
    inProtected({ "secret.txt": "s", "b.txt": "b" }, async (project, workspace) => {
      await workspace.turns.run({ prompt: "ignore it" }, async () =>
        project.write(".gitignore", "secret.txt\n"),
      );
      project.write("secret.txt", "changed while ignored");
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", deleted: 1, conflicts: [] });
      expect(project.read("secret.txt")).toBe("changed while ignored");
      expect(await workspace.redo()).toMatchObject({ outcome: "applied", conflicts: [] });
      expect(project.read("secret.txt")).toBe("changed while ignored");
    }),
  );

  test(
    "a path that was ignored and is so no longer is not deleted by a restore to before",
    inProtected(
      { ".belayignore": "data/\n", "data/big.csv": "precious", "data/sub/x": "x" },
      async (project, workspace) => {
        project.remove(".belayignore");
        await workspace.checkpoint();
        const outcome = await workspace.restoreTo("1");
        expect(project.read("data/big.csv")).toBe("precious");
        expect(project.read(".belayignore")).toBe("data/\n");
        expect(outcome.kept).toContainEqual({
          path: "data/big.csv",
          reason: "not covered by the target's rules",
        });
      },
    ),
  );

  test(
    "nor by an undo of the turn that took the rule away: the turn did not create it",
    inProtected(
      { ".gitignore": "data/\nempty/\n", "data/big.csv": "precious" },
      async (project, workspace) => {
        mkdirSync(join(project.root, "empty"));
        const turn = await workspace.turns.run({ prompt: "tidy up" }, async () =>
          project.write(".gitignore", "# nothing\n"),
        );
        expect(turn.after.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
        expect(await workspace.undo()).toMatchObject({ outcome: "applied", modified: 1, deleted: 0 });
        expect(project.read("data/big.csv")).toBe("precious");
        expect(existsSync(join(project.root, "empty"))).toBe(true);
        expect(await workspace.revert(turn.after.id)).toMatchObject({ deleted: 0 });
        expect(project.read("data/big.csv")).toBe("precious");
      },
    ),
  );

  test(
    "[I02] an uncommitted .gitignore that the restore takes away has no say, nor loses what it protected",
    inProject({ "a.txt": "1" }, async (project) => {
      const git = fixtureAt(project.root);
      git.git("init", "-q", ".");
      git.git("add", ".");
      git.git("commit", "-qm", "first");
      const workspace = await project.open();
      project.write(".gitignore", "results/\n");
      project.write("results/run1.csv", "a week of computing");
      project.write("a.txt", "2");
      await workspace.checkpoint();
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied", modified: 1, deleted: 1 });
      expect(existsSync(join(project.root, ".gitignore"))).toBe(false);
      expect(project.read("results/run1.csv")).toBe("a week of computing");
      await workspace.undo();
      expect(project.read(".gitignore")).toBe("results/\n");
    }),
  );

  test(
    "[R22] what is in git's index is captured whatever the ignore files say, and nothing else beside it",
    inProject(
      {
        ".gitignore": "node_modules/\n",
        "node_modules/kept.js": "kept",
        "node_modules/other.js": "other",
      },
      async (project) => {
        const git = fixtureAt(project.root);
        git.git("init", "-q", ".");
        git.git("add", "-f", "node_modules/kept.js", ".gitignore");
        const workspace = await project.open();
        project.remove("node_modules");
        project.write("node_modules/later.js", "later");
        expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied", created: 1, deleted: 0 });
        expect(readdirSync(join(project.root, "node_modules")).sort()).toEqual(["kept.js", "later.js"]);
      },
    ),
  );

  test(
    "[I25] .env files are captured although they are ignored",
    inProject({ ".gitignore": ".env*\n", ".env.local": "TOKEN=1" }, async (project) => {
      const workspace = await project.open();
      project.remove(".env.local");
      await workspace.restoreTo("1");
      expect(project.read(".env.local")).toBe("TOKEN=1");
    }),
  );
});

describe("named paths", () => {
  test(
    "[A76] a named path is captured although ignored; recorded absent, it is removed again",
    inProtected({ "a.txt": "a", "dist/mine.js": "built by hand" }, async (project, workspace) => {
      const turn = await workspace.turns.run({ prompt: "build" }, async (turn) => {
        await turn.name(["dist/out.js", "build/deep/out.js"]);
        project.write("dist/out.js", "made by the tool");
        project.write("build/deep/out.js", "made by the tool");
      });
      expect(turn.after.changes.added).toBe(2);
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", deleted: 2 });
      expect(existsSync(join(project.root, "dist/out.js"))).toBe(false);
      expect(project.read("dist/mine.js")).toBe("built by hand");
      await workspace.redo();
      expect(project.read("dist/out.js")).toBe("made by the tool");
      expect(await workspace.restoreTo(turn.before.id)).toMatchObject({ outcome: "applied", deleted: 2 });
      expect(existsSync(join(project.root, "dist/out.js"))).toBe(false);
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "unchanged" });
    }),
  );

  test(
    "a named path that was there when it was named is not known to have been absent",
    inProtected({ "a.txt": "a", "dist/out.js": "there before" }, async (project, workspace) => {
      const turn = await workspace.turns.run({ prompt: "build" }, async (turn) => {
        await turn.name(["dist/out.js"]);
        project.write("dist/out.js", "rebuilt");
      });
      const outcome = await workspace.restoreTo("1");
      expect(project.read("dist/out.js")).toBe("rebuilt");
      expect(outcome.kept).toContainEqual({
        path: "dist/out.js",
        reason: "not covered by the target's rules",
      });
      expect(await workspace.undo()).toBeDefined();
      expect(existsSync(join(project.root, "dist/out.js"))).toBe(true);
      expect(turn.changed).toBe(true);
    }),
  );

  test(
    "a path inside .git stays out even when a tool names it",
    inProtected({ "a.txt": "a", ".git/config": "[core]\n" }, async (project, workspace) => {
      const turn = await workspace.turns.run({}, async (turn) => {
        await turn.name([".git/config", ".git/hooks/post-checkout"]);
        project.write(".git/hooks/post-checkout", "#!/bin/sh\n");
        project.write(".git/config", "[core]\nchanged\n");
      });
      expect(turn.changed).toBe(false);
      await workspace.restoreTo("1");
      expect(project.read(".git/config")).toBe("[core]\nchanged\n");
    }),
  );
});

describe("gaps", () => {
  test(
    "[R12, R13] [I11] neither a file the target could not capture nor anything in a directory it could not read is deleted",
    inProject({ "small.txt": "1", "big.bin": "b".repeat(200) }, async (project) => {
      project.configure({ "limits.fileBytes": "100" });
      const workspace = await project.open();
      project.write("big.bin", "now small");
      project.write("small.txt", "2");
      const outcome = await workspace.restoreTo("1");
      expect(outcome.kept).toEqual([{ path: "big.bin", reason: "the target has a gap here" }]);
      expect([project.read("big.bin"), project.read("small.txt")]).toEqual(["now small", "1"]);
    }),
  );

  test(
    "a gap that became a directory keeps what is in it",
    inProject({ it: "b".repeat(200), x: "1" }, async (project) => {
      project.configure({ "limits.fileBytes": "100" });
      const workspace = await project.open();
      project.remove("it");
      project.write("it/inside.txt", "inside");
      project.write("x", "2");
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied", modified: 1, deleted: 0 });
      expect(project.read("it/inside.txt")).toBe("inside");
    }),
  );

  test(
    "what the present capture had no room for is not deleted, and what would be overwritten is read all the same",
    inProject({ "a.bin": "a" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      project.configure({ "limits.checkpointBytes": "100" });
      const limited = await project.open();
      project.write("a.bin", "a".repeat(150));
      project.write("new.bin", "n".repeat(120));
      const outcome = await limited.restoreTo("1");
      expect(outcome).toMatchObject({ outcome: "applied", modified: 1, deleted: 0 });
      expect(outcome.kept).toEqual([{ path: "new.bin", reason: "not saved by the safety checkpoint" }]);
      await limited.undo();
      expect(project.read("a.bin")).toBe("a".repeat(150));
    }),
  );
});

describe("choices", () => {
  test(
    "keep-new brings back what is missing and deletes nothing",
    inProtected({ "a.txt": "1", "b.txt": "1", "d/c.txt": "1" }, async (project, workspace) => {
      project.write("a.txt", "2");
      project.remove("b.txt");
      project.write("new.txt", "new");
      project.write("newer/deep.txt", "new");
      const outcome = await workspace.restoreTo("1", { keepNew: true });
      expect(outcome).toMatchObject({ outcome: "applied", created: 1, modified: 1, deleted: 0 });
      expect(outcome.kept).toContainEqual({ path: "new.txt", reason: "keep-new" });
      expect(outcome.kept).toContainEqual({ path: "newer/deep.txt", reason: "keep-new" });
      expect([project.read("a.txt"), project.read("b.txt"), project.read("newer/deep.txt")]).toEqual([
        "1",
        "1",
        "new",
      ]);
    }),
  );

  test(
    "chosen paths: a file, a directory, one that is gone, one that is new; the rest is not looked at",
    inProtected(
      { "a.txt": "1", "d/x": "1", "d/y": "1", "e/f/g": "1", "z.txt": "1" },
      async (project, workspace) => {
        for (const name of ["a.txt", "d/x", "z.txt"]) project.write(name, "2");
        project.write("d/new", "new");
        project.write("new", "new");
        project.remove("e");
        expect(await workspace.restoreTo("1", { paths: ["d", "e/f/g"] })).toMatchObject({
          outcome: "applied",
          created: 1,
          modified: 1,
          deleted: 1,
        });
        expect([
          project.read("a.txt"),
          project.read("z.txt"),
          project.read("d/x"),
          project.read("e/f/g"),
        ]).toEqual(["2", "2", "1", "1"]);
        expect(existsSync(join(project.root, "d/new"))).toBe(false);
        expect(await workspace.restoreTo("1", { paths: ["./new", "a.txt"] })).toMatchObject({
          outcome: "applied",
          modified: 1,
          deleted: 1,
        });
        await workspace.undo();
        expect([project.read("a.txt"), project.read("new")]).toEqual(["2", "new"]);
      },
    ),
  );

  test(
    "a chosen path that is nowhere, or outside, is refused and nothing happens",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      project.write("a.txt", "2");
      await expect(workspace.restoreTo("1", { paths: ["a.txt", "typo.txt"] })).rejects.toMatchObject({
        code: "PATH_NOT_IN_CHECKPOINT",
      });
      for (const path of ["../x", "/etc/passwd", "a/../../x", "a\0b"]) {
        await expect(workspace.restoreTo("1", { paths: [path] })).rejects.toMatchObject({
          code: "PATH_OUTSIDE",
        });
      }
      await expect(workspace.restoreTo("1", { paths: [".git/config"] })).rejects.toMatchObject({
        code: "PATH_NOT_IN_CHECKPOINT",
      });
      expect(project.read("a.txt")).toBe("2");
    }),
  );

  test(
    "a chosen path below something that is a file now is a conflict, and the file stays",
    inProtected({ "d/x/y": "1" }, async (project, workspace) => {
      project.remove("d");
      project.write("d", "a file now");
      expect(await workspace.restoreTo("1", { paths: ["d/x/y"] })).toMatchObject({ outcome: "conflicts" });
      expect(project.read("d")).toBe("a file now");
    }),
  );
});

describe("directories", () => {
  test(
    "[A78] one with excluded content stays, one that is empty only now goes, one of the user's own stays",
    inProtected({ "a.txt": "1", "mine/.keep": "" }, async (project, workspace) => {
      mkdirSync(join(project.root, "own-empty"));
      const { checkpoint } = await workspace.checkpoint();
      project.write("made/by/agent.txt", "x");
      project.write("mixed/agent.txt", "x");
      project.write("mixed/dist/bundle.js", "x");
      const outcome = await workspace.restoreTo(checkpoint.id);
      expect(readdirSync(project.root).sort()).toEqual(["a.txt", "mine", "mixed", "own-empty"]);
      expect(readdirSync(join(project.root, "mixed"))).toEqual(["dist"]);
      expect(outcome.kept).toEqual([{ path: "mixed", reason: "the directory is not empty" }]);
    }),
  );

  test(
    "a directory that should be a file again but holds something excluded is a conflict, and nothing changes",
    inProtected({ it: "file", x: "1" }, async (project, workspace) => {
      project.remove("it");
      project.write("it/node_modules/dep.js", "dep");
      project.write("x", "2");
      const before = project.tree();
      expect(await workspace.restoreTo("1")).toMatchObject({
        outcome: "conflicts",
        conflicts: [{ path: "it", reason: "cannot be saved" }],
      });
      expect(project.tree()).toEqual(before);
      expect(await workspace.restoreTo("1", { bestEffort: true })).toMatchObject({
        outcome: "partial",
        modified: 1,
      });
      expect([project.read("x"), project.read("it/node_modules/dep.js")]).toEqual(["1", "dep"]);
    }),
  );

  test.skipIf(!canMount)(
    "what lies on another file system is left out, and left alone once it is part of the tree",
    inProject({ "a.txt": "1" }, async (project) => {
      const place = join(project.root, "mounted");
      mkdirSync(place);
      expect(mountSmall(place, "1m")).toBe(true);
      try {
        project.write("mounted/on-tmpfs", "x");
        const workspace = await project.open();
        expect((await workspace.status()).excluded).toContainEqual(
          expect.objectContaining({ path: "mounted", rule: "mount point" }),
        );
        expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "unchanged" });
        unmount(place);
        project.write("mounted/below", "was below the mount all the time");
        const outcome = await workspace.restoreTo("1");
        expect(project.read("mounted/below")).toBe("was below the mount all the time");
        expect(keptPaths(outcome)).toContain("mounted/below");
      } finally {
        execFileSync("sh", ["-c", `umount ${JSON.stringify(place)} 2>/dev/null || true`]);
      }
    }),
  );

  test(
    "a directory that was replaced by a link to elsewhere: the link goes, what it leads to stays",
    inProtected({ "d/x": "1" }, async (project, workspace) => {
      const elsewhere = join(project.base, "elsewhere");
      renameSync(join(project.root, "d"), elsewhere);
      symlinkSync(elsewhere, join(project.root, "d"));
      appendFileSync(join(elsewhere, "x"), "2");
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied" });
      expect(project.read("d/x")).toBe("1");
      expect(readdirSync(elsewhere)).toEqual(["x"]);
    }),
  );
});

describe.skipIf(!canMakeImmutable)("what cannot be written", () => {
  test(
    "strict: found before anything is touched, and everything stays",
    inProtected({ "a.txt": "1", "fixed.txt": "1", "locked/in.txt": "1" }, async (project, workspace) => {
      for (const name of ["a.txt", "fixed.txt", "locked/in.txt"]) project.write(name, "2");
      const before = project.tree();
      setImmutable(join(project.root, "fixed.txt"), true);
      setImmutable(join(project.root, "locked"), true);
      const problems = [
        { path: "locked", reason: "it is immutable" },
        { path: "fixed.txt", reason: "it is immutable" },
      ];
      await expect(workspace.restoreTo("1")).rejects.toMatchObject({
        code: "PREFLIGHT_FAILED",
        facts: { problems },
      });
      expect(project.tree()).toEqual(before);
      setImmutable(join(project.root, "fixed.txt"), false);
      setImmutable(join(project.root, "locked"), false);
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied", modified: 3 });
    }),
  );

  test(
    "[R6] [A59] best effort: everything else is restored and what was skipped is listed",
    inProtected(
      { "a.txt": "1", "fixed.txt": "1", "locked/in.txt": "1", "gone.txt": "1" },
      async (project, workspace) => {
        for (const name of ["a.txt", "fixed.txt", "locked/in.txt"]) project.write(name, "2");
        project.write("locked/new/deep.txt", "new");
        project.write("undeletable.txt", "new");
        unlinkSync(join(project.root, "gone.txt"));
        const stubborn = ["fixed.txt", "locked", "undeletable.txt"].map((name) => join(project.root, name));
        for (const path of stubborn) setImmutable(path, true);
        const outcome = await workspace.restoreTo("1", { bestEffort: true });
        for (const path of stubborn) setImmutable(path, false);
        expect(outcome).toMatchObject({ outcome: "partial", created: 1, modified: 1 });
        expect(outcome.skipped.map(({ path }) => path).sort()).toEqual([
          "fixed.txt",
          "locked/in.txt",
          "locked/new",
          "undeletable.txt",
        ]);
        expect(outcome.skipped).toContainEqual({ path: "fixed.txt", reason: "it is immutable" });
        expect([project.read("a.txt"), project.read("fixed.txt"), project.read("gone.txt")]).toEqual([
          "1",
          "2",
          "1",
        ]);
        // the new checkpoint says what is there, not what was wanted
        expect((await workspace.checkpoint()).unchanged).toBe(true);
        await workspace.undo();
        expect([project.read("a.txt"), existsSync(join(project.root, "gone.txt"))]).toEqual(["2", false]);
      },
    ),
  );
});

test(
  "[I06] what was only edited is never deleted by an undo",
  inProtected({ "a.txt": "1\n", "b.txt": "1\n" }, async (project, workspace) => {
    await workspace.turns.run({}, async () => project.write("a.txt", "2\n"));
    rmSync(join(project.root, "b.txt"));
    project.write("b.txt", "by hand\n");
    expect(await workspace.undo()).toMatchObject({ outcome: "applied", modified: 1, deleted: 0 });
    expect([project.read("a.txt"), project.read("b.txt")]).toEqual(["1\n", "by hand\n"]);
  }),
);
