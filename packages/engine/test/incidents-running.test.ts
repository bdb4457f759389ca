/**
 * What happened to users of products of this kind, second part: speed, disk use, locks, platforms, several at
 * once. Where a title names two incidents, one situation stands for both.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { openWorkspace } from "../src/index.ts";
import { fixtureAt, type GitFixture } from "./git-fixture.ts";
import { inProject, inProtected, runScript, scriptFor, type Project } from "./support/project.ts";
import { readIdentities } from "./support/tree-map.ts";

const KIB = 1024;

function makeRepository(project: Project): GitFixture {
  const git = fixtureAt(project.root);
  git.git("init", "-q", ".");
  git.git("add", ".");
  git.git("commit", "-qm", "first");
  return git;
}

describe("slow", () => {
  test(
    "[I30] an untracked file of 4.8 GB costs nothing",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      project.write("dump.bin", "");
      truncateSync(join(project.root, "dump.bin"), 4_800_000_000);
      const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))![1]);
      const before = bytesRead();
      const { gaps } = await workspace.checkpoint();
      expect(gaps).toMatchObject([{ path: "dump.bin", reason: "too-large", size: 4_800_000_000 }]);
      expect(bytesRead() - before).toBeLessThan(1000 * KIB);
    }),
  );

  test(
    "[I31] [I32] [I34] thousands of untracked files: captured whatever time it takes, and then only listed",
    inProject({}, async (project) => {
      for (let index = 0; index < 4000; index += 1) project.write(`data/${index % 40}/${index}`, `${index}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const workspace = await project.open();
      expect(await workspace.resolve("@")).toMatchObject({ files: 4000, gapsTotal: 0 });
      await workspace.checkpoint();
      const opened = () => Number(/syscr: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))![1]);
      project.write("data/0/0", "changed");
      const before = opened();
      expect((await workspace.checkpoint()).checkpoint.changes).toEqual({
        added: 0,
        modified: 1,
        deleted: 0,
      });
      expect(opened() - before).toBeLessThan(400);
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
    inProtected({ "bundle.js": "x", "long.js": "x" }, async (project, workspace) => {
      for (const version of ["a", "b"]) {
        project.write("bundle.js", `${version}${randomBytes(2000 * KIB).toString("hex")}\n`.repeat(4));
        project.write(
          "long.js",
          Array.from({ length: 8000 }, (_, line) => `${version}${line % 7} = ${line};`).join("\n"),
        );
        await workspace.checkpoint({ name: version });
      }
      const result = runScript<{ rssMiB: number; files: { path: string; tooLarge: boolean }[] }>(
        project,
        `
        const { files } = await workspace.diff({ from: "a", to: "b", detail: "text" });
        return { rssMiB: process.resourceUsage().maxRSS / 1024, files: files.map(({ path, tooLarge }) => ({ path, tooLarge })) };`,
      );
      expect(result.files).toEqual([
        { path: "bundle.js", tooLarge: true },
        { path: "long.js", tooLarge: false },
      ]);
      expect(result.rssMiB).toBeLessThan(500);
    }),
  );
});

describe("disk", () => {
  const storeBytes = (project: Project) =>
    ["store.db", "store.db-wal"].reduce(
      (sum, name) =>
        sum + (statSync(join(project.storeDirectory(), name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );

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
      expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
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
      await workspace.upkeep.forget("noise.bin");
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
      const before = [
        git.git("for-each-ref"),
        git.git("count-objects"),
        git.git("stash", "list"),
        git.git("config", "--local", "--list"),
      ];
      const workspace = await project.open();
      await workspace.turns.run({}, async () => project.write("a.txt", "2\n"));
      await workspace.undo();
      await workspace.upkeep.gc();
      expect(readdirSync(project.root).sort()).toEqual([".git", "a.txt"]);
      expect([
        git.git("for-each-ref"),
        git.git("count-objects"),
        git.git("stash", "list"),
        git.git("config", "--local", "--list"),
      ]).toEqual(before);
      expect(git.git("status", "--porcelain")).toBe("");
      expect(git.git("fsck", "--strict")).toBe("");
    }),
  );

  test(
    "[I52] what a killed process left behind disables nothing",
    inProject({ "a.txt": "1" }, async (project) => {
      const workspace = await project.open();
      const child = spawn(process.execPath, [
        "--input-type=module",
        "-e",
        scriptFor(project, `process.kill(process.pid, "SIGKILL")`),
      ]);
      await once(child, "exit");
      const db = new DatabaseSync(join(project.storeDirectory(), "store.db"));
      for (const kind of ["capture", "restore", "gc"]) {
        db.prepare(
          "INSERT INTO lease (id, kind, pid, started, boot, since, first_pack) VALUES (?, ?, ?, '1', ?, 0, 1)",
        ).run(kind, kind, child.pid!, project.system.owner.boot);
      }
      db.close();
      project.write(".git/index.lock", "");
      project.write("a.txt", "2");
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied" });
      expect((await workspace.checkpoint()).gaps).toEqual([]);
      expect(await workspace.upkeep.gc()).toMatchObject({ dryRun: false });
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
      const { problems } = await again.upkeep.verify();
      expect(problems.flatMap(({ checkpoints }) => checkpoints)).toEqual([checkpoint.id]);
      project.write("a.txt", "changed");
      await again.restoreTo("1");
      expect(project.read("a.txt")).toBe("content");
    }),
  );

  test(
    "[I56] a clean tree with CRLF stays clean, byte for byte",
    inProject(
      { "dos.txt": "one\r\ntwo\r\n", ".gitattributes": "* text=auto eol=crlf\n" },
      async (project) => {
        const git = makeRepository(project);
        expect(git.git("status", "--porcelain")).toBe("");
        const workspace = await project.open();
        await workspace.turns.run({}, async () => project.write("dos.txt", "one\r\n2\r\n"));
        await workspace.undo();
        expect(project.read("dos.txt")).toBe("one\r\ntwo\r\n");
        expect(git.git("status", "--porcelain")).toBe("");
      },
    ),
  );
});

describe("parallel", () => {
  test(
    "[I60] undo in one conversation leaves the others' work alone",
    inProtected(
      { "x.txt": "1", "y.txt": "1", "shared.txt": "one\ntwo\nthree\nfour\nfive\n" },
      async (project, workspace) => {
        const [a, b] = [
          await workspace.threads.open({ agent: "a" }),
          await workspace.threads.open({ agent: "b" }),
        ];
        await workspace.turns.run({ thread: a.id }, async () => {
          project.write("x.txt", "by a");
          project.write("shared.txt", "ONE\ntwo\nthree\nfour\nfive\n");
        });
        await workspace.turns.run({ thread: b.id }, async () => {
          project.write("y.txt", "by b");
          project.write("shared.txt", "ONE\ntwo\nthree\nfour\nFIVE\n");
        });
        await workspace.undo({ thread: a.id });
        expect([project.read("x.txt"), project.read("y.txt"), project.read("shared.txt")]).toEqual([
          "1",
          "by b",
          "one\ntwo\nthree\nfour\nFIVE\n",
        ]);
      },
    ),
  );

  test(
    "[I61] two processes that capture and restore at once lose no checkpoint and tear none",
    inProtected({ "a.txt": "0" }, async (project, workspace) => {
      const script = (name: string) => `for (let i = 0; i < 6; i += 1) {
        fs.writeFileSync(root + "/${name}.txt", "${name} " + i);
        await workspace.checkpoint({ name: "${name} " + i });
        if (i % 3 === 2) await workspace.restoreTo("${name} 0", { paths: ["${name}.txt"] }).catch((error) => { if (error.code !== "RESTORE_RUNNING") throw error; });
      }`;
      const children = ["one", "two"].map((name) =>
        spawn(process.execPath, ["--input-type=module", "-e", scriptFor(project, script(name))], {
          stdio: "inherit",
        }),
      );
      expect(
        (await Promise.all(children.map(async (child) => once(child, "exit")))).map(
          ([code]) => code as number,
        ),
      ).toEqual([0, 0]);
      const names = (await workspace.list()).flatMap(({ name }) => name ?? []);
      expect(names.sort()).toEqual(
        ["one", "two"].flatMap((name) => Array.from({ length: 6 }, (_, index) => `${name} ${index}`)),
      );
      rmSync(join(project.root, "one.txt"));
      await workspace.restoreTo("one 5", { paths: ["one.txt"] });
      expect(project.read("one.txt")).toBe("one 5");
    }),
  );
});

// Not here, because they are not about the engine alone: I28 (tools of MCP servers: the CLI's tests), the figures of
// I31 I32 I34 (`npm run bench`), I57 (Windows).
