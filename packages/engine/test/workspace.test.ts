/** Which store belongs to a directory, whatever happened to the directory; and what a reference means. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  attachWorkspace,
  findWorkspace,
  initWorkspace,
  listWorkspaces,
  openWorkspace,
  removeWorkspace,
} from "../src/index.ts";
import { canMount, inProject, inProtected, scriptFor, type Project } from "./support/project.ts";
import { readTreeMap } from "./support/tree-map.ts";

/** Finds the workspace of a directory, looks at it and closes it. */
async function whoseIs(project: Project, directory: string) {
  await using workspace = await findWorkspace(directory, { home: project.home });
  return {
    id: workspace.id,
    root: workspace.root,
    notices: workspace.notices,
    checkpoints: (await workspace.list()).length,
  };
}

describe("identity of a directory", () => {
  test(
    "protecting twice is opening",
    inProject({ x: "x" }, async (project) => {
      const first = await initWorkspace(project.root, { home: project.home });
      expect(first).toMatchObject({
        created: true,
        initial: { checkpoint: { kind: "initial", seq: 1, files: 1 } },
      });
      await first.workspace.close();
      const second = await initWorkspace(project.root, { home: project.home });
      expect(second).toMatchObject({ created: false, initial: null });
      expect(second.workspace.id).toBe(first.workspace.id);
      await second.workspace.close();
      await project.open();
    }),
  );

  test(
    "the nearest protected directory above is the workspace",
    inProtected({ "a/b/c/x": "x" }, async (project, workspace) => {
      for (const place of ["", "a", "a/b/c", "a/b/c/x", "a/missing/too"]) {
        expect(await whoseIs(project, join(project.root, place))).toMatchObject({
          id: workspace.id,
          root: project.root,
        });
      }
      await expect(findWorkspace(project.base, { home: project.home })).rejects.toMatchObject({
        code: "WORKSPACE_NOT_FOUND",
      });
    }),
  );

  test(
    "[R28] moved: found by its inode, said, and known at the new place from then on",
    inProject({ x: "x" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      const moved = join(project.base, "moved");
      renameSync(project.root, moved);
      const found = await whoseIs(project, moved);
      expect(found).toMatchObject({ id: workspace.id, root: moved, checkpoints: 1 });
      expect(found.notices.join()).toContain(`moved here from ${project.root}`);
      expect(await whoseIs(project, moved)).toMatchObject({ id: workspace.id, notices: [] });
      mkdirSync(project.root);
      await expect(findWorkspace(project.root, { home: project.home })).rejects.toMatchObject({
        code: "WORKSPACE_NOT_FOUND",
      });
    }),
  );

  test(
    "copied: a workspace of its own, and the two do not mix",
    inProject({ x: "original" }, async (project) => {
      const original = await project.open();
      const copy = join(project.base, "copy");
      execFileSync("cp", ["-a", project.root, copy]);
      await expect(findWorkspace(copy, { home: project.home })).rejects.toMatchObject({
        code: "WORKSPACE_NOT_FOUND",
        facts: { candidates: [] },
      });
      const other = await project.open({ at: copy });
      expect(other.id).not.toBe(original.id);
      writeFileSync(join(copy, "x"), "copied");
      await other.checkpoint({ name: "only here" });
      await expect(original.resolve("only here")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
      await other.restoreTo("1");
      expect([project.read("x"), (await original.list()).length]).toEqual(["original", 1]);
    }),
  );

  test(
    "[R28] replaced: the same path attaches, says so, and believes nothing it saw before",
    inProject({ x: "1" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      rmSync(project.root, { recursive: true });
      mkdirSync(project.root);
      project.write("x", "2");
      const again = await project.open();
      expect(again.id).toBe(workspace.id);
      expect(again.notices.join()).toContain("replaced");
      expect((await again.diff({ detail: "names" })).files).toMatchObject([{ path: "x", type: "modified" }]);
      await again.restoreTo("1");
      expect(project.read("x")).toBe("1");
    }),
  );

  test(
    "nested: refused without being asked for; with it, the outer one leaves the inner one out",
    inProject({ x: "1", "inner/y": "1" }, async (project) => {
      const outer = await project.open();
      const inside = join(project.root, "inner");
      await expect(openWorkspace(inside, { home: project.home })).rejects.toMatchObject({
        code: "WORKSPACE_REFUSED",
      });
      expect(readdirSync(join(project.home, "workspaces"))).toHaveLength(1);
      const inner = await project.open({ at: inside, nested: true });
      project.write("inner/y", "2");
      project.write("x", "2");
      const { checkpoint } = await outer.checkpoint();
      expect(checkpoint).toMatchObject({ files: 1, changes: { added: 0, modified: 1, deleted: 0 } });
      expect((await outer.status()).excluded).toContainEqual(
        expect.objectContaining({ path: "inner", rule: "a workspace of its own" }),
      );
      const outcome = await outer.restoreTo("1", { paths: ["x"] });
      expect([outcome.outcome, project.read("inner/y")]).toEqual(["applied", "2"]);
      expect(await whoseIs(project, inside)).toMatchObject({ id: inner.id });
    }),
  );

  test(
    "reached through a symbolic link, it is the same workspace",
    inProtected({ "d/x": "x" }, async (project, workspace) => {
      const link = join(project.base, "link");
      symlinkSync(project.root, link);
      expect(await whoseIs(project, join(link, "d"))).toMatchObject({ id: workspace.id, root: project.root });
      expect((await project.open({ at: link })).id).toBe(workspace.id);
    }),
  );

  test.skipIf(!canMount)(
    "reached through a bind mount, it is the same workspace",
    inProtected({ x: "x" }, async (project, workspace) => {
      const mounted = join(project.base, "mounted");
      mkdirSync(mounted);
      execFileSync("mount", ["--bind", project.root, mounted]);
      try {
        expect(await whoseIs(project, mounted)).toMatchObject({ id: workspace.id, root: project.root });
      } finally {
        execFileSync("umount", [mounted]);
      }
    }),
  );

  test(
    "[I42] whole disks, home directories, Belay's own store, files and nothing at all are refused",
    inProject({ file: "x" }, async (project) => {
      const { home } = project;
      const refused = { code: "WORKSPACE_REFUSED" };
      for (const path of [
        "/",
        homedir(),
        join(homedir(), ".."),
        join(project.root, "file"),
        join(project.root, "missing"),
      ]) {
        await expect(openWorkspace(path, { home })).rejects.toMatchObject(refused);
      }
      mkdirSync(join(home, "workspaces/inside"), { recursive: true });
      chmodSync(home, 0o700);
      await expect(openWorkspace(join(home, "workspaces/inside"), { home })).rejects.toMatchObject(refused);
      const pretended = { ...project.system, homeDirectory: project.root };
      await expect(openWorkspace(project.root, { home, system: pretended })).rejects.toMatchObject({
        ...refused,
        facts: { reason: "it is a home directory" },
      });
      expect(readdirSync(join(home, "workspaces"))).toEqual(["inside"]);
    }),
  );

  test(
    "a home that others can write to is not used",
    inProject({ x: "x" }, async (project) => {
      mkdirSync(project.home, { mode: 0o777 });
      chmodSync(project.home, 0o777);
      await expect(project.open()).rejects.toMatchObject({ code: "STORE_UNSAFE" });
    }),
  );

  test(
    "[R2146] a home that is a symbolic link is used as what it leads to, and refused where others can write to that",
    inProject({ x: "x" }, async (project) => {
      const led = `${project.home}-elsewhere`;
      mkdirSync(led, { mode: 0o700 });
      symlinkSync(led, project.home);
      const workspace = await project.open();
      await workspace.checkpoint({ name: "through the link" });
      expect(readdirSync(join(led, "workspaces"))).toHaveLength(1);
      chmodSync(led, 0o777);
      await expect(project.open()).rejects.toMatchObject({
        code: "STORE_UNSAFE",
        facts: { reason: "other users can write to it" },
      });
    }),
  );

  test(
    "two processes that protect the same directory at once end up with one workspace and lose nothing",
    inProject({ x: "x" }, async (project) => {
      const [one, two] = await Promise.all([project.open(), project.open()]);
      expect(one.id).toBe(two.id);
      await one.checkpoint({ name: "from one" });
      await two.checkpoint({ name: "from two" });
      expect((await two.list()).map(({ name }) => name)).toEqual(["from two", "from one", null]);
      expect(readdirSync(join(project.home, "workspaces"))).toHaveLength(1);
    }),
  );

  test(
    "a store inside the project does not capture itself",
    inProject({ x: "x" }, async (project) => {
      const inside = join(project.root, ".belay");
      await using workspace = await openWorkspace(project.root, { home: inside });
      const { checkpoint } = await workspace.checkpoint();
      expect(checkpoint.files).toBe(1);
      project.write("x", "2");
      await workspace.restoreTo("1");
      expect((await workspace.checkpoint()).checkpoint).toMatchObject({ files: 1, changes: { added: 0 } });
      expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    }),
  );
});

describe("a root that is emptied or gone", () => {
  test(
    "emptied: recorded with a warning, and everything comes back",
    inProtected({ x: "x", "d/y": "y" }, async (project, workspace) => {
      const before = project.tree();
      for (const name of readdirSync(project.root)) project.remove(name);
      const { warnings, checkpoint } = await workspace.checkpoint();
      expect(checkpoint.files).toBe(0);
      expect(warnings.join()).toContain("empty");
      await workspace.restoreTo("1");
      expect(project.tree()).toEqual(before);
    }),
  );

  test(
    "[I25] deleted: nothing is recorded in its place, and a restore brings it back from nothing",
    inProject({ x: "x", "d/y": "y", "d/run.sh": "#!" }, async (project) => {
      chmodSync(join(project.root, "d/run.sh"), 0o755);
      const workspace = await project.open();
      const before = project.tree();
      await project.close(workspace);
      rmSync(project.root, { recursive: true });
      await using found = await findWorkspace(project.root, { home: project.home });
      expect(found.id).toBe(workspace.id);
      expect(found.notices.join()).toContain("no longer exist");
      expect(await found.status()).toMatchObject({ exists: false });
      await expect(found.checkpoint()).rejects.toMatchObject({ code: "WORKSPACE_EMPTIED" });
      await expect(found.diff({ detail: "names" })).rejects.toMatchObject({ code: "WORKSPACE_EMPTIED" });
      expect(await found.list()).toHaveLength(1);
      const plan = await found.planRestore("1");
      expect(plan.edits).toHaveLength(4);
      expect(existsSync(project.root)).toBe(false);
      expect(await found.restore(plan)).toMatchObject({ outcome: "applied", created: 3 });
      expect(project.tree()).toEqual(before);
      expect(await found.upkeep.verify({ full: true })).toMatchObject({ ok: true });
      expect(await whoseIs(project, project.root)).toMatchObject({ id: workspace.id });
    }),
  );

  test(
    "deleted with the directories above it, restored by the same process that was open",
    inProject({}, async (project) => {
      const root = join(project.base, "one/two/root");
      mkdirSync(root, { recursive: true });
      writeFileSync(join(root, "x"), "x");
      const workspace = await project.open({ at: root });
      rmSync(join(project.base, "one"), { recursive: true });
      await expect(workspace.turns.run({}, async () => undefined)).rejects.toMatchObject({
        code: "WORKSPACE_EMPTIED",
      });
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied", created: 1 });
      expect([...readTreeMap(root).keys()]).toEqual(["x"]);
      expect((await workspace.checkpoint()).unchanged).toBe(true);
    }),
  );

  test(
    "a file where the root was is not overwritten",
    inProject({ x: "x" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      rmSync(project.root, { recursive: true });
      writeFileSync(project.root, "a person's file");
      await using found = await findWorkspace(project.root, { home: project.home });
      await expect(found.restoreTo("1")).rejects.toMatchObject({ code: "WORKSPACE_EMPTIED" });
      expect(execFileSync("cat", [project.root]).toString()).toBe("a person's file");
    }),
  );
});

describe("the registry", () => {
  const loseRegistry = (project: Project) => {
    for (const name of readdirSync(project.home))
      if (name.startsWith("registry.db")) rmSync(join(project.home, name));
  };

  test(
    "lost: made again from the stores, when a workspace is looked for, listed or protected again",
    inProject({ x: "x" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      loseRegistry(project);
      expect(await whoseIs(project, project.root)).toMatchObject({ id: workspace.id, notices: [] });
      loseRegistry(project);
      expect(await listWorkspaces({ home: project.home })).toMatchObject([
        { id: workspace.id, exists: true, checkpoints: 1 },
      ]);
      loseRegistry(project);
      expect((await project.open()).id).toBe(workspace.id);
    }),
  );

  test(
    "lost after the project had moved: it is known at the new place",
    inProject({ x: "x" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      const moved = join(project.base, "moved");
      renameSync(project.root, moved);
      await whoseIs(project, moved);
      loseRegistry(project);
      expect(await whoseIs(project, moved)).toMatchObject({ id: workspace.id });
    }),
  );

  test(
    "lost, with one store damaged and one left over: the others are found",
    inProject({ x: "x" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      const workspaces = join(project.home, "workspaces");
      for (const name of ["aaa-damaged", "zzz-empty"]) mkdirSync(join(workspaces, name));
      writeFileSync(join(workspaces, "aaa-damaged/store.db"), "garbage".repeat(1000));
      loseRegistry(project);
      expect(await whoseIs(project, project.root)).toMatchObject({ id: workspace.id });
    }),
  );

  test(
    "attach: a directory that lost its identity gets its history back, unless it has one of its own",
    inProject({ x: "1" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      const elsewhere = join(project.base, "elsewhere");
      cpSync(project.root, elsewhere, { recursive: true });
      rmSync(project.root, { recursive: true });
      await expect(findWorkspace(elsewhere, { home: project.home })).rejects.toMatchObject({
        code: "WORKSPACE_NOT_FOUND",
        facts: { candidates: [{ id: workspace.id, path: project.root }] },
      });
      await expect(attachWorkspace("nope", elsewhere, { home: project.home })).rejects.toMatchObject({
        code: "WORKSPACE_NOT_FOUND",
      });
      await expect(
        attachWorkspace(workspace.id, join(elsewhere, "missing"), { home: project.home }),
      ).rejects.toMatchObject({ code: "WORKSPACE_REFUSED" });
      await using attached = await attachWorkspace(workspace.id.slice(0, 6), elsewhere, {
        home: project.home,
      });
      expect([attached.id, attached.root]).toEqual([workspace.id, elsewhere]);
      expect(await attached.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    }),
  );

  test(
    "[I44] uninstall with purge frees the store, and only this one's",
    inProject({ x: "1" }, async (project) => {
      const other = join(project.base, "other");
      mkdirSync(other);
      await project.close(await project.open());
      await project.close(await project.open({ at: other }));
      expect(await removeWorkspace(project.root, { home: project.home, purge: false })).toMatchObject({
        purged: false,
      });
      expect(await removeWorkspace(project.root, { home: project.home, purge: true })).toMatchObject({
        purged: true,
      });
      expect(await listWorkspaces({ home: project.home })).toMatchObject([{ path: other }]);
      expect(readdirSync(join(project.home, "workspaces"))).toHaveLength(1);
      await expect(findWorkspace(project.root, { home: project.home })).rejects.toMatchObject({
        code: "WORKSPACE_NOT_FOUND",
      });
    }),
  );
});

describe("the store in memory", () => {
  test(
    "does everything and leaves nothing behind",
    inProject({ x: "1" }, async (project) => {
      await using workspace = await openWorkspace(project.root, { home: project.home, store: "memory" });
      await workspace.turns.run({}, async () => project.write("x", "2"));
      await workspace.undo();
      expect(project.read("x")).toBe("1");
      await workspace.redo();
      await workspace.restoreTo("1");
      await workspace.upkeep.gc();
      expect(project.read("x")).toBe("1");
      expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
      expect(existsSync(project.home)).toBe(false);
    }),
  );

  test(
    "[R1405] holds only so much: the oldest checkpoints go, and what is new is captured",
    inProject({ x: "1" }, async (project) => {
      const memoryBytes = 4 * 1024 * 1024;
      const options = { home: project.home, store: "memory", memoryBytes } as const;
      await using workspace = await openWorkspace(project.root, options);
      for (let turn = 0; turn < 12; turn += 1)
        await workspace.turns.run({}, async () => project.write("x", randomBytes(512 * 1024)));
      const { bytes, capBytes } = (await workspace.status()).disk;
      expect([bytes <= capBytes, capBytes]).toEqual([true, memoryBytes]);
      expect((await workspace.list()).length).toBeLessThan(25);
      await workspace.undo();
    }),
  );

  test.each(["memory", undefined] as const)(
    "[R1405] [N0] killed in a restore, it leaves what the next process with the store %s puts back",
    async (store) => {
      await inProject({ x: "1", "dir/y": "1" }, async (project) => {
        const script = `
          import fs from "node:fs";
          import { syncBuiltinESMExports } from "node:module";
          import { openWorkspace } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
          const [root, home] = ${JSON.stringify([project.root, project.home])};
          const workspace = await openWorkspace(root, { home, store: "memory" });
          fs.writeFileSync(root + "/x", "2");
          fs.rmSync(root + "/dir", { recursive: true });
          fs.writeFileSync(root + "/z", "only here");
          const link = fs.linkSync;
          fs.linkSync = (from, to) => {
            if (String(to).endsWith("/x")) process.kill(process.pid, "SIGKILL");
            return link(from, to);
          };
          syncBuiltinESMExports();
          await workspace.restoreTo("1");`;
        const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", script]);
        expect(signal).toBe("SIGKILL");
        expect([existsSync(join(project.root, "x")), existsSync(join(project.root, "z"))]).toEqual([
          false,
          false,
        ]);
        const options = { home: project.home, ...(store && { store }) };
        await using workspace = await openWorkspace(project.root, options);
        expect(workspace.notices.join()).toContain("A restore whose store was in memory was interrupted");
        expect([project.read("x"), project.read("z")]).toEqual(["2", "only here"]);
        expect(readdirSync(project.root).filter((name) => name.startsWith(".belay"))).toEqual([]);
      })();
    },
  );
});

test(
  "[I61] several processes capture at once: every checkpoint is there, complete and in one order",
  inProtected({ x: "x" }, async (project, workspace) => {
    const runs = Array.from({ length: 5 }, (_, index) => {
      const script = `fs.writeFileSync(root + "/from-${index}", "${index}".repeat(5000));
        for (let i = 0; i < 4; i += 1) await workspace.checkpoint({ name: "p${index}-" + i });`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", scriptFor(project, script)], {
        stdio: ["ignore", "ignore", "inherit"],
      });
      return once(child, "exit");
    });
    expect((await Promise.all(runs)).map(([code]) => code as number)).toEqual([0, 0, 0, 0, 0]);
    expect(new Set((await workspace.list()).map(({ name }) => name)).size).toBe(21);
    expect(await workspace.list({ limit: 1 })).toMatchObject([{ seq: 21, files: 6 }]);
  }),
);
