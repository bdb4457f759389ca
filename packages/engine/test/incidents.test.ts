/**
 * What happened to users of products of this kind, each reported incident built once more: Belay runs, nothing
 * is lost. The numbers are those of docs/incidents.md.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, unlinkSync, utimesSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { openWorkspace, type Workspace } from "../src/index.ts";
import { fingerprint, fixtureAt, type GitFixture } from "./git-fixture.ts";
import { canMakeImmutable, inProject, inProtected, runScript, scriptFor, type Project } from "./support/project.ts";
import { readIdentities } from "./support/tree-map.ts";

const KIB = 1024;

function makeRepository(project: Project): GitFixture {
  const git = fixtureAt(project.root);
  git.git("init", "-q", ".");
  git.git("add", ".");
  git.git("commit", "-qm", "first");
  return git;
}

/** A turn whose work is done by a shell, as agents do it. */
async function shellTurn(project: Project, workspace: Workspace, command: string) {
  return await workspace.turn({ prompt: command }, async () => void execFileSync("sh", ["-c", command], { cwd: project.root }));
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
      await workspace.checkpoint();
      expect(await workspace.restoreTo("1", { bestEffort: true })).toMatchObject({ outcome: "applied", deleted: 1 });
      await workspace.undo();
      expect(project.read("data/set.csv")).toBe("precious");
    }),
  );

  test(
    "[I03] a restore to the first checkpoint deletes only what came after it, and can be taken back",
    inProtected({ "src/a.txt": "1", "src/b.txt": "1", "docs/c.md": "1" }, async (project, workspace) => {
      const first = project.tree();
      for (let index = 0; index < 5; index += 1) {
        await workspace.turn({}, async () => project.write(`src/new-${index}.txt`, `${index}`));
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
      for (const attempt of [workspace.checkpoint(), workspace.restoreTo("1"), workspace.turn({}, async () => undefined)]) {
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
        await workspace.turn({}, async () => project.write("a.txt", `${week} weeks ago`));
      }
      project.clockMs = 0;
      project.write("by-hand.txt", "since then");
      await workspace.turn({}, async () => project.write("a.txt", "today"));
      await workspace.undo();
      expect([project.read("a.txt"), project.read("by-hand.txt")]).toEqual(["1 weeks ago", "since then"]);
    }),
  );

  test(
    "[I06] undo of an edit leaves the file there",
    inProtected({ "a.txt": "1", "b.txt": "1" }, async (project, workspace) => {
      await workspace.turn({}, async () => {
        project.write("a.txt", "2");
        project.remove("b.txt");
        project.write("b.txt", "written anew");
      });
      expect(await workspace.undo()).toMatchObject({ modified: 2, deleted: 0 });
      expect([project.read("a.txt"), project.read("b.txt")]).toEqual(["1", "1"]);
    }),
  );

  test(
    "[I07] undo of a message without edits changes nothing",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      const [editing, talking] = [await workspace.openThread({ agent: "a" }), await workspace.openThread({ agent: "b" })];
      await workspace.turn({ thread: editing.id }, async () => project.write("a.txt", "2"));
      const talk = await workspace.turn({ thread: talking.id, prompt: "explain" }, async () => undefined);
      const before = readIdentities(project.root);
      expect(await workspace.undo({ thread: talking.id })).toMatchObject({ outcome: "unchanged" });
      expect(await workspace.revert(talk.after.id)).toMatchObject({ outcome: "unchanged" });
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
      await workspace.turn({}, async () => project.write("b.txt", "2\n"));
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
      await one.turn({}, async () => {
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
      expect([existsSync(join(project.root, "made")), existsSync(join(project.root, "empty/deep"))]).toEqual([false, true]);
      expect(git.git("rev-parse", "--is-inside-work-tree")).toBe("true");
      expect(existsSync(join(project.root, ".git/refs/tags"))).toBe(true);
      await workspace.undo();
      expect(project.tree()).toEqual(answer);
    }),
  );

  test(
    "[I14] undo of the very last answer deletes what it created",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      await workspace.turn({}, async () => project.write("new/deep/file.txt", "made"));
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
      for (const text of ["1\n", "2\n", "3\n"]) await workspace.turn({}, async () => project.write("a.txt", text));
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
      const thread = await workspace.openThread({ agent: "a" });
      const say = async (messageId: string) => (await workspace.checkpoint({ kind: "message", thread: thread.id, messageId })).checkpoint.id;
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
        const turn = await shellTurn(project, workspace, `sed -i s/.*/${index}/ a.txt; echo ${index} > made-${index}.txt`);
        expect(turn.after.changes).toEqual({ added: 1, modified: 1, deleted: 0 });
      }
      await workspace.undo({ count: 3 });
      expect(project.read("a.txt")).toBe("2\n");
    }),
  );

  test(
    "[I21] outside of git everything works the same",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      await workspace.turn({}, async () => project.write("a.txt", "2"));
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", modified: 1 });
      expect(project.read("a.txt")).toBe("1");
    }),
  );

  test(
    "[I22] several nested repositories are covered, and a broken one does not void the others",
    inProject({ "one/a.txt": "1", "two/b.txt": "1", "broken/c.txt": "1", "broken/.git": "gitdir: nowhere\n" }, async (project) => {
      for (const name of ["one", "two"]) fixtureAt(join(project.root, name)).git("init", "-q", ".");
      const workspace = await project.open();
      await workspace.turn({}, async () => ["one/a.txt", "two/b.txt", "broken/c.txt"].forEach((name) => project.write(name, "2")));
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", modified: 3 });
    }),
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
    inProtected({ "src/a.txt": "1", ".env.local": "TOKEN=1", ".gitignore": ".env*\n" }, async (project, workspace) => {
      const before = project.tree();
      await shellTurn(project, workspace, "rm -rf ./* ./.[!.]*");
      expect(readdirSync(project.root)).toEqual([]);
      await workspace.undo();
      expect(project.tree()).toEqual(before);
    }),
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
      expect([project.read("a.txt"), project.read("untracked.txt")]).toEqual(["a day of work\n", "more of it\n"]);
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
      expect([project.read(".env"), project.read("untracked/work.txt"), existsSync(join(project.root, ".git"))]).toEqual(["TOKEN=1", "w", false]);
    }),
  );

  test(
    "[I29] binaries, modes, links and empty directories come back as they were",
    inProtected({ "binary.bin": Buffer.from([0, 255, 254, 13, 10, 128]), "run.sh": "#!/bin/sh\n" }, async (project, workspace) => {
      chmodSync(join(project.root, "run.sh"), 0o755);
      mkdirSync(join(project.root, "empty"));
      symlinkSync("run.sh", join(project.root, "link"));
      await workspace.checkpoint({ name: "all" });
      const before = project.tree();
      for (const name of readdirSync(project.root)) project.remove(name);
      await workspace.restoreTo("all");
      expect(project.tree()).toEqual(before);
    }),
  );
});

describe("slow", () => {
  test(
    "[I30] an untracked file of 4.8 GB costs nothing",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      project.write("dump.bin", "");
      truncateSync(join(project.root, "dump.bin"), 4_800_000_000);
      const { durationMs, gaps } = await workspace.checkpoint();
      expect(gaps).toMatchObject([{ path: "dump.bin", reason: "too-large", size: 4_800_000_000 }]);
      expect(durationMs).toBeLessThan(2000);
    }),
  );

  test(
    "[I33] what did not change is not read again",
    inProject({}, async (project) => {
      for (let index = 0; index < 30; index += 1) project.write(`f${index}.bin`, randomBytes(300 * KIB));
      await new Promise((resolve) => setTimeout(resolve, 100));
      const workspace = await project.open();
      await workspace.checkpoint();
      const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))![1]);
      project.write("f0.bin", "changed");
      const before = bytesRead();
      expect((await workspace.checkpoint()).checkpoint.changes.modified).toBe(1);
      expect(bytesRead() - before).toBeLessThan(1000 * KIB);
    }),
  );

  test(
    "[I35] a diff of generated files takes no gigabytes: large ones are named, long lines are no trap",
    { timeout: 60_000 },
    inProtected({ "bundle.js": "x", "long.js": "x" }, async (project, workspace) => {
      for (const version of ["a", "b"]) {
        project.write("bundle.js", `${version}${randomBytes(2000 * KIB).toString("hex")}\n`.repeat(4));
        project.write("long.js", Array.from({ length: 8000 }, (_, line) => `${version}${line % 7} = ${line};`).join("\n"));
        await workspace.checkpoint({ name: version });
      }
      const result = runScript<{ rssMiB: number; files: { path: string; tooLarge: boolean }[] }>(project, `
        const { files } = await workspace.diff({ from: "a", to: "b", detail: "text" });
        return { rssMiB: process.resourceUsage().maxRSS / 1024, files: files.map(({ path, tooLarge }) => ({ path, tooLarge })) };`);
      expect(result.files).toEqual([{ path: "bundle.js", tooLarge: true }, { path: "long.js", tooLarge: false }]);
      expect(result.rssMiB).toBeLessThan(500);
    }),
  );
});

describe("disk", () => {
  const storeBytes = (project: Project) =>
    ["store.db", "store.db-wal"].reduce((sum, name) => sum + (statSync(join(project.storeDirectory(), name), { throwIfNoEntry: false })?.size ?? 0), 0);

  test(
    "[I40] hundreds of captures stay below the cap, and what nothing needs is freed",
    inProject({ "a.bin": "1" }, async (project) => {
      project.configure({ "disk.capBytes": "4MB" });
      const workspace = await project.open();
      for (let index = 0; index < 60; index += 1) {
        project.write("a.bin", randomBytes(200 * KIB));
        await workspace.checkpoint({ kind: "tool" });
      }
      expect(storeBytes(project)).toBeLessThan(4_000_000);
    }),
  );

  test(
    "[I41] a store inside the project does not grow by capturing itself",
    inProject({ "a.txt": "1" }, async (project) => {
      await using workspace = await openWorkspace(project.root, { home: join(project.root, "state") });
      for (let index = 0; index < 5; index += 1) expect((await workspace.checkpoint()).unchanged).toBe(true);
      expect((await workspace.resolve("@")).files).toBe(1);
      expect(await workspace.verify({ full: true })).toMatchObject({ ok: true });
    }),
  );

  test(
    "[I42] a home directory is refused",
    inProject({}, async (project) => {
      await expect(project.open({ at: homedir() })).rejects.toMatchObject({ code: "WORKSPACE_REFUSED" });
    }),
  );

  test(
    "[I43] [I44] what is dropped is given back to the file system, in place",
    inProtected({ "keep.txt": "k" }, async (project, workspace) => {
      for (let index = 0; index < 6; index += 1) {
        project.write("noise.bin", randomBytes(300 * KIB));
        await workspace.checkpoint({ kind: "tool" });
      }
      project.remove("noise.bin");
      await workspace.checkpoint();
      const inode = statSync(join(project.storeDirectory(), "store.db")).ino;
      const before = storeBytes(project);
      await workspace.forget("noise.bin");
      expect(storeBytes(project)).toBeLessThan(before * 0.2);
      expect(statSync(join(project.storeDirectory(), "store.db")).ino).toBe(inode);
    }),
  );
});

describe("pollution, locks, platform", () => {
  test(
    "[I50] [I51] nothing of ours is left in the project, and git finds nothing of ours",
    inProject({ "a.txt": "1\n" }, async (project) => {
      const git = makeRepository(project);
      const before = [git.git("for-each-ref"), git.git("count-objects"), git.git("stash", "list"), git.git("config", "--local", "--list")];
      const workspace = await project.open();
      await workspace.turn({}, async () => project.write("a.txt", "2\n"));
      await workspace.undo();
      await workspace.gc();
      expect(readdirSync(project.root).sort()).toEqual([".git", "a.txt"]);
      expect([git.git("for-each-ref"), git.git("count-objects"), git.git("stash", "list"), git.git("config", "--local", "--list")]).toEqual(before);
      expect(git.git("status", "--porcelain")).toBe("");
      expect(git.git("fsck", "--strict")).toBe("");
    }),
  );

  test(
    "[I52] what a killed process left behind disables nothing",
    inProject({ "a.txt": "1" }, async (project) => {
      const workspace = await project.open();
      const child = spawn(process.execPath, ["--input-type=module", "-e", scriptFor(project, `process.kill(process.pid, "SIGKILL")`)]);
      await once(child, "exit");
      const db = new DatabaseSync(join(project.storeDirectory(), "store.db"));
      for (const kind of ["capture", "restore", "gc"]) {
        db.prepare("INSERT INTO lease (id, kind, pid, started, boot, since, first_pack) VALUES (?, ?, ?, '1', ?, 0, 1)").run(kind, kind, child.pid!, project.system.owner.boot);
      }
      db.close();
      project.write(".git/index.lock", "");
      project.write("a.txt", "2");
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied" });
      expect((await workspace.checkpoint()).gaps).toEqual([]);
      expect(await workspace.gc()).toMatchObject({ dryRun: false });
    }),
  );

  test(
    "[I53] a directory replaced by a link, and back, breaks no capture",
    inProtected({ "d/x.txt": "1" }, async (project, workspace) => {
      renameSync(join(project.root, "d"), join(project.base, "elsewhere"));
      symlinkSync(join(project.base, "elsewhere"), join(project.root, "d"));
      await workspace.checkpoint({ name: "linked" });
      unlinkSync(join(project.root, "d"));
      await workspace.restoreTo("1");
      expect(project.read("d/x.txt")).toBe("1");
      await workspace.restoreTo("linked");
      expect(lstatSync(join(project.root, "d")).isSymbolicLink()).toBe(true);
    }),
  );

  test(
    "[I54] files that a restore does not change keep their times",
    inProtected({ "a.txt": "1", "b.txt": "1", "d/c.txt": "1" }, async (project, workspace) => {
      const before = readIdentities(project.root);
      project.write("a.txt", "2");
      await workspace.restoreTo("1");
      const after = readIdentities(project.root);
      for (const path of ["b.txt", "d/c.txt"]) expect(after.get(path)).toBe(before.get(path));
    }),
  );

  test(
    "[I55] an object that is empty after a power cut is found out, and only what needs it is affected",
    inProject({ "a.txt": "content" }, async (project) => {
      project.damaged = true;
      const workspace = await project.open();
      project.write("b.txt", "newer");
      const { checkpoint } = await workspace.checkpoint();
      await workspace.close();
      const db = new DatabaseSync(join(project.storeDirectory(), "store.db"));
      db.exec("UPDATE pack SET data = x'' WHERE id = (SELECT max(id) FROM pack)");
      db.close();
      const again = await project.open();
      const { problems } = await again.verify();
      expect(problems.flatMap(({ checkpoints }) => checkpoints)).toEqual([checkpoint.id]);
      project.write("a.txt", "changed");
      await again.restoreTo("1");
      expect(project.read("a.txt")).toBe("content");
    }),
  );

  test(
    "[I56] a clean tree with CRLF stays clean, byte for byte",
    inProject({ "dos.txt": "one\r\ntwo\r\n", ".gitattributes": "* text=auto eol=crlf\n" }, async (project) => {
      const git = makeRepository(project);
      expect(git.git("status", "--porcelain")).toBe("");
      const workspace = await project.open();
      await workspace.turn({}, async () => project.write("dos.txt", "one\r\n2\r\n"));
      await workspace.undo();
      expect(project.read("dos.txt")).toBe("one\r\ntwo\r\n");
      expect(git.git("status", "--porcelain")).toBe("");
    }),
  );
});

describe("parallel", () => {
  test(
    "[I60] undo in one conversation leaves the others' work alone",
    inProtected({ "x.txt": "1", "y.txt": "1", "shared.txt": "one\ntwo\nthree\nfour\nfive\n" }, async (project, workspace) => {
      const [a, b] = [await workspace.openThread({ agent: "a" }), await workspace.openThread({ agent: "b" })];
      await workspace.turn({ thread: a.id }, async () => {
        project.write("x.txt", "by a");
        project.write("shared.txt", "ONE\ntwo\nthree\nfour\nfive\n");
      });
      await workspace.turn({ thread: b.id }, async () => {
        project.write("y.txt", "by b");
        project.write("shared.txt", "ONE\ntwo\nthree\nfour\nFIVE\n");
      });
      await workspace.undo({ thread: a.id });
      expect([project.read("x.txt"), project.read("y.txt"), project.read("shared.txt")]).toEqual(["1", "by b", "one\ntwo\nthree\nfour\nFIVE\n"]);
    }),
  );

  test(
    "[I61] two processes that capture and restore at once lose no checkpoint and tear none",
    { timeout: 60_000 },
    inProtected({ "a.txt": "0" }, async (project, workspace) => {
      const script = (name: string) => `for (let i = 0; i < 6; i += 1) {
        fs.writeFileSync(root + "/${name}.txt", "${name} " + i);
        await workspace.checkpoint({ name: "${name} " + i });
        if (i % 3 === 2) await workspace.restoreTo("${name} 0", { paths: ["${name}.txt"] }).catch((error) => { if (error.code !== "RESTORE_RUNNING") throw error; });
      }`;
      const children = ["one", "two"].map((name) => spawn(process.execPath, ["--input-type=module", "-e", scriptFor(project, script(name))], { stdio: "inherit" }));
      expect((await Promise.all(children.map(async (child) => once(child, "exit")))).map(([code]) => code as number)).toEqual([0, 0]);
      const names = (await workspace.list()).flatMap(({ name }) => name ?? []);
      expect(names.sort()).toEqual(["one", "two"].flatMap((name) => Array.from({ length: 6 }, (_, index) => `${name} ${index}`)));
      rmSync(join(project.root, "one.txt"));
      await workspace.restoreTo("one 5", { paths: ["one.txt"] });
      expect(project.read("one.txt")).toBe("one 5");
    }),
  );
});

// Not here, because they are not about the engine alone: I08 (who may start a restore: the server and the page),
// I28 (MCP tools: the agents), I31 I32 I34 (figures: `npm run bench`), I57 (Windows).
