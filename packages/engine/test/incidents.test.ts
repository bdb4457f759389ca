/**
 * What happened to users of products of this kind, each reported incident built once more: Belay runs, nothing
 * is lost.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Workspace } from "../src/index.ts";
import { fingerprint, fixtureAt, type GitFixture } from "./git-fixture.ts";
import { canMakeImmutable, inProject, inProtected, type Project } from "./support/project.ts";
import { readIdentities } from "./support/tree-map.ts";

function makeRepository(project: Project): GitFixture {
  const git = fixtureAt(project.root);
  git.git("init", "-q", ".");
  git.git("add", ".");
  git.git("commit", "-qm", "first");
  return git;
}

/** A turn whose work is done by a shell, as agents do it. */
async function shellTurn(project: Project, workspace: Workspace, command: string) {
  return await workspace.turns.run(
    { prompt: command },
    async () => void execFileSync("sh", ["-c", command], { cwd: project.root }),
  );
}

describe("restore destroyed work", () => {
  test(
    "[I01] untracked results that no checkpoint captured survive a restore",
    inProject({ "a.txt": "1", ".gitignore": "results/\n" }, async (project) => {
      makeRepository(project);
      const workspace = await project.open();
      project.write("results/run/model.bin", "months of work");
      project.write("a.txt", "2");
      await workspace.restoreTo("1");
      expect([project.read("a.txt"), project.read("results/run/model.bin")]).toEqual(["1", "months of work"]);
    }),
  );

  test(
    "[I02] a restore that takes back an uncommitted .gitignore keeps what it protected",
    inProject({ "a.txt": "1" }, async (project) => {
      makeRepository(project);
      const workspace = await project.open();
      project.write(".gitignore", "data/\n");
      project.write("data/set.csv", "precious");
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied", deleted: 1 });
      expect(project.read("data/set.csv")).toBe("precious");
      await workspace.undo();
      expect([project.read(".gitignore"), project.read("data/set.csv")]).toEqual(["data/\n", "precious"]);
    }),
  );

  test(
    "[I03] a restore to the first checkpoint deletes only what came after it, and can be taken back",
    inProtected({ "src/a.txt": "1", "src/b.txt": "1", "docs/c.md": "1" }, async (project, workspace) => {
      const first = project.tree();
      for (let index = 0; index < 5; index += 1) {
        await workspace.turns.run({}, async () => project.write(`src/new-${index}.txt`, `${index}`));
      }
      const last = project.tree();
      expect(await workspace.restoreTo("1")).toMatchObject({ created: 0, modified: 0, deleted: 5 });
      expect(project.tree()).toEqual(first);
      await workspace.undo();
      expect(project.tree()).toEqual(last);
    }),
  );

  test(
    "[I04] a capture that fails is an error, and nothing is restored from an older tree instead",
    inProject({ "a.txt": "1" }, async (project) => {
      const workspace = await project.open();
      project.write("a.txt", "14 days of work");
      renameSync(join(project.storeDirectory(), "store.db"), join(project.base, "gone.db"));
      for (const attempt of [
        workspace.checkpoint(),
        workspace.restoreTo("1"),
        workspace.turns.run({}, async () => undefined),
      ]) {
        await expect(attempt).rejects.toMatchObject({ code: "STORE_REPLACED" });
      }
      expect(project.read("a.txt")).toBe("14 days of work");
      project.damaged = true;
    }),
  );

  test(
    "[I05] undo goes to the state before the last step, however old the others are",
    inProtected({ "a.txt": "0" }, async (project, workspace) => {
      for (let week = 6; week > 0; week -= 1) {
        project.clockMs = -week * 7 * 24 * 3_600_000;
        await workspace.turns.run({}, async () => project.write("a.txt", `${week} weeks ago`));
      }
      project.clockMs = 0;
      project.write("by-hand.txt", "since then");
      await workspace.turns.run({}, async () => project.write("a.txt", "today"));
      await workspace.undo();
      expect([project.read("a.txt"), project.read("by-hand.txt")]).toEqual(["1 weeks ago", "since then"]);
    }),
  );

  test(
    "[I06] undo of an edit leaves the file there",
    inProtected({ "a.txt": "1", "b.txt": "1" }, async (project, workspace) => {
      await workspace.turns.run({}, async () => {
        project.write("a.txt", "2");
        project.remove("b.txt");
        project.write("b.txt", "written again");
      });
      expect(await workspace.undo()).toMatchObject({ modified: 2, deleted: 0 });
      expect([project.read("a.txt"), project.read("b.txt")]).toEqual(["1", "1"]);
    }),
  );

  test(
    "[I07] undo of a message without edits changes nothing",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      const [editing, talking] = [
        await workspace.threads.open({ agent: "a" }),
        await workspace.threads.open({ agent: "b" }),
      ];
      await workspace.turns.run({ thread: editing.id }, async () => project.write("a.txt", "2"));
      const talk = await workspace.turns.run(
        { thread: talking.id, prompt: "explain" },
        async () => undefined,
      );
      const before = readIdentities(project.root);
      expect(await workspace.undo({ thread: talking.id })).toMatchObject({ outcome: "unchanged" });
      expect(await workspace.revert(talk.after.id)).toMatchObject({ outcome: "unchanged" });
      expect(readIdentities(project.root)).toEqual(before);
    }),
  );

  test(
    "[I08] looking at old states in every way there is changes no file",
    inProtected({ "a.txt": "1", "d/b.txt": "1" }, async (project, workspace) => {
      const thread = await workspace.threads.open({ agent: "a" });
      await workspace.turns.run({ thread: thread.id, prompt: "old" }, async () =>
        project.write("a.txt", "2"),
      );
      project.write("a.txt", "newer, and in no checkpoint");
      const before = readIdentities(project.root);
      await workspace.threads.open({ agent: "a", externalId: thread.externalId });
      await workspace.list({ thread: thread.id });
      await workspace.show("1");
      await workspace.status();
      await workspace.planRestore("1");
      await workspace.diff({ from: "1", to: "2", detail: "text" });
      for await (const file of workspace.files("1")) for (const _ of file.content());
      await workspace.threads.close(thread.id);
      await workspace.threads.delete(thread.id, { checkpoints: true });
      await project.close(workspace);
      await project.open();
      expect(readIdentities(project.root)).toEqual(before);
    }),
  );

  test(
    "[I09] the index of git stays as it was staged",
    inProject({ "a.txt": "1\n", "b.txt": "1\n" }, async (project) => {
      const git = makeRepository(project);
      project.write("a.txt", "staged\n");
      git.git("add", "a.txt");
      project.write("a.txt", "staged, then changed\n");
      const before = fingerprint(join(project.root, ".git"));
      const workspace = await project.open();
      await workspace.turns.run({}, async () => project.write("b.txt", "2\n"));
      await workspace.undo();
      await workspace.restoreTo("1");
      expect(fingerprint(join(project.root, ".git"))).toBe(before);
      expect(git.git("show", ":a.txt")).toBe("staged");
    }),
  );

  test(
    "[I10] a restore is undone, and the undo is redone, as often as one likes",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      project.write("a.txt", "2");
      await workspace.restoreTo("1");
      for (const expected of ["2", "1", "2", "1"]) {
        await (expected === "2" ? workspace.undo() : workspace.redo());
        expect(project.read("a.txt")).toBe(expected);
      }
    }),
  );

  test(
    "[I11] what the size limit left out is not deleted, and the plan says that it is not restored",
    inProject({ "big.bin": "b".repeat(500), "a.txt": "1" }, async (project) => {
      project.configure({ "limits.fileBytes": "100" });
      const workspace = await project.open();
      project.write("other.bin", "o".repeat(500));
      project.write("a.txt", "2");
      const outcome = await workspace.restoreTo("1");
      expect(outcome.plan.gaps).toMatchObject([{ path: "big.bin", reason: "too-large" }]);
      expect(outcome.kept).toMatchObject([{ path: "other.bin" }]);
      expect([project.read("big.bin").length, project.read("other.bin").length]).toEqual([500, 500]);
    }),
  );

  test(
    "[I12] undo in one folder of a monorepo changes no other folder",
    inProject({ "packages/one/x.txt": "1", "packages/two/y.txt": "1" }, async (project) => {
      makeRepository(project);
      const one = await project.open({ at: join(project.root, "packages/one") });
      await one.turns.run({}, async () => {
        project.write("packages/one/x.txt", "2");
        project.write("packages/two/y.txt", "2");
      });
      await one.undo();
      await one.restoreTo("1");
      expect([project.read("packages/one/x.txt"), project.read("packages/two/y.txt")]).toEqual(["1", "2"]);
    }),
  );

  test(
    "[I13] the last answer is kept, files made by a shell go, empty directories and .git/refs stay",
    inProject({ "a.txt": "1" }, async (project) => {
      const git = makeRepository(project);
      mkdirSync(join(project.root, "empty/deep"), { recursive: true });
      const workspace = await project.open();
      await shellTurn(project, workspace, "echo 2 > a.txt; mkdir -p made/by; echo x > made/by/shell.txt");
      const answer = project.tree();
      await workspace.restoreTo("1");
      expect([existsSync(join(project.root, "made")), existsSync(join(project.root, "empty/deep"))]).toEqual([
        false,
        true,
      ]);
      expect(git.git("rev-parse", "--is-inside-work-tree")).toBe("true");
      expect(existsSync(join(project.root, ".git/refs/tags"))).toBe(true);
      await workspace.undo();
      expect(project.tree()).toEqual(answer);
    }),
  );

  test(
    "[I14] undo of the very last answer deletes what it created",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      await workspace.turns.run({}, async () => project.write("new/deep/file.txt", "made"));
      await workspace.undo();
      expect(readdirSync(project.root)).toEqual(["a.txt"]);
    }),
  );

  test.skipIf(!canMakeImmutable)(
    "[I14] a restore that fails halfway leaves nothing half done",
    inProtected({ "a.txt": "1", "m.txt": "1", "z.txt": "1", "gone.txt": "1" }, async (project, workspace) => {
      for (const name of ["a.txt", "m.txt", "z.txt", "new.txt"]) project.write(name, "2");
      project.remove("gone.txt");
      const before = project.tree();
      // may be appended to, so it looks writable, but neither replaced nor removed
      execFileSync("chattr", ["+a", join(project.root, "m.txt")]);
      await expect(workspace.restoreTo("1")).rejects.toMatchObject({ code: "FILE_SYSTEM" });
      expect(project.tree()).toEqual(before);
      execFileSync("chattr", ["-a", join(project.root, "m.txt")]);
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied" });
    }),
  );

  test(
    "[I15] staging area, missing commits and MERGE_HEAD are as they were; undo takes one turn, also after a restart; nothing is dropped",
    inProject({ "a.txt": "0\n" }, async (project) => {
      const git = fixtureAt(project.root);
      git.git("init", "-q", ".");
      git.git("add", ".");
      const workspace = await project.open();
      for (const text of ["1\n", "2\n", "3\n"])
        await workspace.turns.run({}, async () => project.write("a.txt", text));
      await project.close(workspace);
      const restarted = await project.open();
      await restarted.undo();
      expect(project.read("a.txt")).toBe("2\n");
      const count = (await restarted.list()).length;
      await restarted.restoreTo("1");
      expect((await restarted.list()).length).toBe(count + 2);
      await restarted.restoreTo("@-2");
      expect(() => git.git("rev-parse", "--verify", "HEAD")).toThrow("Command failed");
      expect(git.git("ls-files", "--stage")).toMatch(/^100644 \w+ 0\ta.txt$/);
    }),
  );

  test(
    "[I16] checkpoints of messages are marked by a restore, never removed, and unmarked when it is undone",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      const thread = await workspace.threads.open({ agent: "a" });
      const say = async (messageId: string) =>
        (await workspace.checkpoint({ kind: "message", thread: thread.id, messageId })).checkpoint.id;
      const ids = [await say("m1")];
      project.write("a.txt", "2");
      ids.push(await say("m2"), await say("m3"));
      const marks = async () => Promise.all(ids.map(async (id) => (await workspace.resolve(id)).rolledBack));
      await workspace.restoreTo("m1");
      expect(await marks()).toEqual([false, true, true]);
      await workspace.undo();
      expect(await marks()).toEqual([false, false, false]);
    }),
  );
});

describe("not captured", () => {
  test(
    "[I20] every turn of an agent that only uses the shell is captured",
    inProtected({ "a.txt": "0\n" }, async (project, workspace) => {
      for (let index = 1; index <= 5; index += 1) {
        const turn = await shellTurn(
          project,
          workspace,
          `sed -i s/.*/${index}/ a.txt; echo ${index} > made-${index}.txt`,
        );
        expect(turn.after.changes).toEqual({ added: 1, modified: 1, deleted: 0 });
      }
      await workspace.undo({ count: 3 });
      expect(project.read("a.txt")).toBe("2\n");
    }),
  );

  test(
    "[I21] outside of git everything works the same",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      await workspace.turns.run({}, async () => project.write("a.txt", "2"));
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", modified: 1 });
      expect(project.read("a.txt")).toBe("1");
    }),
  );

  test(
    "[I22] several nested repositories are covered, and a broken one does not void the others",
    inProject(
      { "one/a.txt": "1", "two/b.txt": "1", "broken/c.txt": "1", "broken/.git": "gitdir: nowhere\n" },
      async (project) => {
        for (const name of ["one", "two"]) fixtureAt(join(project.root, name)).git("init", "-q", ".");
        const workspace = await project.open();
        await workspace.turns.run({}, async () =>
          ["one/a.txt", "two/b.txt", "broken/c.txt"].forEach((name) => project.write(name, "2")),
        );
        expect(await workspace.undo()).toMatchObject({ outcome: "applied", modified: 3 });
      },
    ),
  );

  test(
    "[I23] an edit of the same length at the same time is seen",
    inProtected({ "a.py": "return 1\n" }, async (project, workspace) => {
      const path = join(project.root, "a.py");
      const { atime, mtime } = statSync(path);
      for (const text of ["return 2\n", "return 3\n", "return 4\n"]) {
        project.write("a.py", text);
        utimesSync(path, atime, mtime);
        const { checkpoint } = await workspace.checkpoint();
        project.write("a.py", "something else\n");
        await workspace.restoreTo(checkpoint.id);
        expect(project.read("a.py")).toBe(text);
      }
    }),
  );

  test(
    "[I24] a dangling link, a loop and a pipe fail nothing: the rest is captured",
    inProject({ "a.txt": "1" }, async (project) => {
      symlinkSync("nowhere", join(project.root, "dangling"));
      symlinkSync("loop", join(project.root, "loop"));
      spawnSync("mkfifo", [join(project.root, "pipe")]);
      const workspace = await project.open();
      const { checkpoint, gaps } = await workspace.checkpoint({ kind: "message", messageId: "m1" });
      expect([checkpoint.files, gaps]).toMatchObject([3, [{ path: "pipe", reason: "special" }]]);
    }),
  );

  test(
    "[I25] rm -rf of everything, .env.local included: all of it comes back",
    inProtected(
      { "src/a.txt": "1", ".env.local": "TOKEN=1", ".gitignore": ".env*\n" },
      async (project, workspace) => {
        const before = project.tree();
        await shellTurn(project, workspace, "rm -rf ./* ./.[!.]*");
        expect(readdirSync(project.root)).toEqual([]);
        await workspace.undo();
        expect(project.tree()).toEqual(before);
      },
    ),
  );

  test(
    "[I26] the agent's own git reset --hard: uncommitted work comes back",
    inProject({ "a.txt": "committed\n", "b.txt": "committed\n" }, async (project) => {
      makeRepository(project);
      const workspace = await project.open();
      project.write("a.txt", "a day of work\n");
      project.write("untracked.txt", "more of it\n");
      await shellTurn(project, workspace, "git reset -q --hard && git checkout -q -b elsewhere");
      expect(project.read("a.txt")).toBe("committed\n");
      await workspace.undo();
      expect([project.read("a.txt"), project.read("untracked.txt")]).toEqual([
        "a day of work\n",
        "more of it\n",
      ]);
    }),
  );

  test(
    "[I27] git clean -xfd and rm -rf .git: working files come back, and .git is not made up",
    inProject({ "a.txt": "1\n", ".gitignore": "*.log\n.env\n", ".env": "TOKEN=1" }, async (project) => {
      makeRepository(project);
      const workspace = await project.open();
      project.write("untracked/work.txt", "w");
      const turn = await shellTurn(project, workspace, "git clean -qxfd && rm -rf .git");
      expect(existsSync(join(project.root, ".env"))).toBe(false);
      await workspace.restoreTo(turn.before.id);
      expect([
        project.read(".env"),
        project.read("untracked/work.txt"),
        existsSync(join(project.root, ".git")),
      ]).toEqual(["TOKEN=1", "w", false]);
    }),
  );

  test(
    "[I29] binaries, modes, links and empty directories come back as they were",
    inProtected(
      { "binary.bin": Buffer.from([0, 255, 254, 13, 10, 128]), "run.sh": "#!/bin/sh\n" },
      async (project, workspace) => {
        chmodSync(join(project.root, "run.sh"), 0o755);
        mkdirSync(join(project.root, "empty"));
        symlinkSync("run.sh", join(project.root, "link"));
        await workspace.checkpoint({ name: "all" });
        const before = project.tree();
        for (const name of readdirSync(project.root)) project.remove(name);
        await workspace.restoreTo("all");
        expect(project.tree()).toEqual(before);
      },
    ),
  );
});

// The others are in incidents-running.test.ts, and so is the list of those that are not here.
