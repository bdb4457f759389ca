/** What the torture suites found, each in its smallest form. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { openWorkspace, type Checkpoint } from "../src/index.ts";
import { FaultLab, hasCompiler } from "./support/fault-lab.ts";
import { FORGERIES, forgeStore } from "./support/forged-store.ts";
import { inProject, inProtected } from "./support/project.ts";
import { inWorkspace } from "./support/temp-workspace.ts";
import { readTreeMap } from "./support/tree-map.ts";

describe("undo", () => {
  test(
    "[R16, R24] what a person put into a directory that was to become a file again is a conflict before anything is touched",
    inWorkspace({ a: "a file\n" }, async ({ workspace, turn, root, write, remove, tree }) => {
      await turn("t1", () => {
        remove("a");
        mkdirSync(join(root, "a"));
        mkdirSync(join(root, "empty"));
      });
      write("a/by-hand", "only here\n");
      const before = tree();
      const { ino } = lstatSync(join(root, "empty"));
      expect(await workspace.undo()).toMatchObject({ outcome: "conflicts", conflicts: [{ path: "a" }] });
      expect(tree()).toEqual(before);
      expect(lstatSync(join(root, "empty")).ino).toBe(ino);
    }),
  );

  test(
    "[R16] two steps at once leave no directory that only the first of them needed",
    inWorkspace({ "a/old": "0\n" }, async ({ workspace, turn, write, remove, tree }) => {
      await turn("t1", () => write("a/new", "1\n"));
      await workspace.restoreTo("1", { paths: ["a"] });
      remove("a");
      const before = tree();
      await workspace.undo({ count: 2 });
      expect(tree()).toEqual(before);
    }),
  );

  test(
    "[R16] a link cannot come where an earlier step of the same undo puts a directory with something in it",
    inWorkspace({ "x/inner/kept": "0\n" }, async ({ workspace, turn, root, write, remove, tree }) => {
      await turn("t1", () => {
        remove("x");
        symlinkSync("elsewhere", join(root, "x"));
      });
      await workspace.restoreTo("1");
      write("x/inner/by-hand", "only here\n");
      await turn("t2", () => remove("x"));
      const before = tree();
      expect(await workspace.undo({ count: 2 })).toMatchObject({ outcome: "conflicts" });
      expect(tree()).toEqual(before);
    }),
  );

  test(
    "[R17] two steps are put back in the order of the list, although they were captured in the other one",
    inWorkspace({ x: "first\n" }, async ({ workspace, turn, root, write, remove, read }) => {
      await turn("goes", () => remove("x"));
      await workspace.undo();
      const { checkpoint } = await workspace.checkpoint();
      write("x", "by hand\n");
      await workspace.checkpoint();
      await workspace.restoreTo(checkpoint.id);
      await workspace.undo();
      expect(read("x")).toBe("by hand\n");
      expect(await workspace.redo({ count: 2 })).toMatchObject({
        outcome: "applied",
        steps: [{ kind: "restore" }, { kind: "turn" }],
      });
      expect(existsSync(join(root, "x"))).toBe(false);
      expect(await workspace.undo({ count: 2 })).toMatchObject({ outcome: "applied" });
      expect(read("x")).toBe("by hand\n");
    }),
  );

  test(
    "[R16] a directory that one step needs and another of the same redo makes is made as that one wants it",
    inWorkspace({}, async ({ workspace, turn, root, write, read, remove }) => {
      await turn("t1", () => {
        mkdirSync(join(root, "a"));
        chmodSync(join(root, "a"), 0o711);
      });
      write("a/by-hand", "1\n");
      const { checkpoint } = await workspace.checkpoint();
      expect(await workspace.undo()).toMatchObject({ outcome: "unchanged", steps: [{ prompt: "t1" }] });
      remove("a/by-hand");
      await workspace.restoreTo(checkpoint.id, { paths: ["a/by-hand"] });
      await workspace.undo();
      remove("a");
      expect(await workspace.redo({ count: 2 })).toMatchObject({ outcome: "applied" });
      expect(read("a/by-hand")).toBe("1\n");
      expect(statSync(join(root, "a")).mode & 0o777).toBe(0o711);
    }),
  );
});

describe.skipIf(!hasCompiler)("faults", () => {
  async function inLab(body: (lab: FaultLab) => Promise<void>): Promise<void> {
    const lab = new FaultLab();
    try {
      for (const name of ["a", "b", "c"]) writeFileSync(join(lab.root, name), "0\n");
      lab.keep("bare");
      await (await openWorkspace(lab.root, { home: lab.home })).close();
      for (const name of ["a", "b", "c"]) writeFileSync(join(lab.root, name), "1\n");
      lab.keep("start");
      await body(lab);
    } finally {
      lab.remove();
    }
  }

  /** Kills a restore when it is about to put the second file in its place. */
  async function interrupt(lab: FaultLab): Promise<void> {
    const { calls } = await lab.run("restore");
    lab.putBack("start");
    const at = calls.indexOf(`link ${lab.root}/b`) + 1;
    expect(await lab.run("restore", { at, how: "kill" })).toMatchObject({ signal: "SIGKILL" });
    lab.keep("half");
  }

  test("[N1, R10] a recovery that is refused a call says so, and the next one finishes", () =>
    inLab(async (lab) => {
      await interrupt(lab);
      const { calls } = await lab.run("open");
      for (const [index, call] of calls.entries()) {
        if (!call.startsWith("link ")) continue;
        lab.putBack("half");
        const { said } = await lab.run("open", { at: index + 1, how: 28 });
        if (said?.done !== true) expect(said).toMatchObject({ name: "EngineError" });
        await (await openWorkspace(lab.root, { home: lab.home })).close();
        expect(new Set(readTreeMap(lab.root).values()).size).toBe(1);
      }
    }));

  test("[N1] an interrupted restore is named when the store cannot be written", () =>
    inLab(async (lab) => {
      await interrupt(lab);
      const { said } = await lab.run("open", { at: 1, how: 30, lasting: true });
      expect(said).toMatchObject({
        done: true,
        outcome: expect.stringContaining("left as it is") as unknown,
      });
    }));

  test("[N1] a store that cannot be made says why, even if what there is of it cannot be removed", () =>
    inLab(async (lab) => {
      lab.putBack("bare");
      const { calls } = await lab.run("open");
      const at = calls.findIndex((call) => /^rename .*store\.db$/.test(call)) + 1;
      expect(at).toBeGreaterThan(0);
      lab.putBack("bare");
      const { said } = await lab.run("open", { at, how: 5, lasting: true });
      expect(said).toMatchObject({ name: "EngineError", code: "FILE_SYSTEM" });
    }));
});

describe("a store that was tampered with", () => {
  const forgery = (name: string) => FORGERIES.find((each) => each.name === name)!;

  test.each(['change: file at "../outside/new"', "tree: a file that runs as its owner"])(
    "[R27] %s: refused",
    (name) =>
      inProject({ same: "1\n" }, async (project) => {
        project.damaged = true;
        await forgeStore(project, forgery(name));
        const workspace = await project.open();
        const attempt = name.startsWith("change") ? workspace.undo() : workspace.restoreTo("3");
        await expect(attempt).rejects.toMatchObject({ code: "OBJECT_CORRUPT" });
        expect(project.read("same")).toBe("2\n");
      })(),
  );

  test("[R27] a journal that names a path outside: refused", () =>
    inProject({ same: "1\n" }, async (project) => {
      await forgeStore(project, forgery('journal: "../outside/new"'));
      await expect(project.open()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    })());

  test(
    "[R26] a journal that cannot be read is damage",
    inProtected({ a: "1" }, async (project, workspace) => {
      const db = new DatabaseSync(join(project.storeDirectory(), "store.db"));
      db.exec(
        "INSERT INTO journal (id, kind, safety, plan, finish, started_at) VALUES ('x', 'restore', 1, 'x', 'x', 0)",
      );
      await expect(project.open()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
      db.exec("DELETE FROM journal");
      db.close();
      expect(await workspace.list()).toHaveLength(1);
    }),
  );

  test(
    "[R26] rows of one table in the place of another's are damage that hides no checkpoint",
    inProtected({ a: "1" }, async (project, workspace) => {
      project.damaged = true;
      using db = new DatabaseSync(join(project.storeDirectory(), "store.db"));
      db.exec("INSERT INTO doubt (checkpoint, path, reason) VALUES (1, 'text', x'616263')");
      const [{ id }] = (await workspace.list()) as [Checkpoint];
      expect(await workspace.show(id)).toMatchObject({ checkpoint: { id } });
      expect(await workspace.upkeep.verify()).toMatchObject({
        ok: false,
        problems: [{ kind: "row-invalid", checkpoints: [id] }],
      });
    }),
  );

  test.skipIf(!existsSync("/proc/self/fd")).each([
    ["registry.db", "DROP TABLE workspace"],
    ["store.db", "DROP TABLE meta"],
  ])("%s: one that cannot be used is not left open", (name, damage) =>
    inProject({ a: "1" }, async (project) => {
      await project.close(await project.open());
      const path = join(name === "store.db" ? project.storeDirectory() : project.home, name);
      const db = new DatabaseSync(path);
      db.exec(damage);
      db.close();
      await expect(project.open()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
      expect(readdirSync("/proc/self/fd").map(targetOf)).not.toContain(path);
    })(),
  );

  /** Where a descriptor leads to; the one that listed them is closed by now. */
  function targetOf(descriptor: string): string {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return "";
    }
  }
});

test(
  "a directory that a restore creates again hands down its group as those around it do",
  inProtected({ "shared/inner/file": "1" }, async (project, workspace) => {
    for (const path of ["shared", "shared/inner"]) chmodSync(join(project.root, path), 0o2775);
    await workspace.checkpoint({ name: "shared" });
    rmSync(join(project.root, "shared/inner"), { recursive: true });
    await workspace.restoreTo("shared");
    expect(statSync(join(project.root, "shared/inner")).mode & 0o7777).toBe(0o2775);
  }),
);
