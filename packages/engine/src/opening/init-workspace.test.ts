import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inProject, type Project } from "../../test/support/project.ts";
import { initWorkspace, openWorkspace, previewInit } from "./init-workspace.ts";
import { findWorkspace } from "./find-workspace.ts";
import { listWorkspaces, protectedRoots } from "./list-workspaces.ts";
import { removableWorkspace, removeWorkspace } from "./remove-workspace.ts";

const storesOf = ({ home }: Project) =>
  existsSync(join(home, "workspaces")) ? readdirSync(join(home, "workspaces")) : [];

describe("protecting a directory", () => {
  test(
    "the store is named after the directory, in letters that every file system takes",
    inProject({}, async (project) => {
      for (const [name, beginning] of [
        ["plain", "plain-"],
        ["with space & ü", "with_space____"],
        ["x".repeat(60), `${"x".repeat(40)}-`],
        [".hidden", ".hidden-"],
        ["new\nline", "new_line-"],
      ] as const) {
        const root = join(project.base, name);
        mkdirSync(root);
        const workspace = await project.open({ at: root });
        expect(workspace.root).toBe(root);
        expect(storesOf(project).filter((store) => store.startsWith(beginning))).toHaveLength(1);
      }
    }),
  );

  test(
    "what the caller prepares comes after every refusal and before the first checkpoint",
    inProject({}, async (project) => {
      const { home, root } = project;
      let prepared = 0;
      const prepare = () => {
        prepared += 1;
        writeFileSync(join(root, "prepared"), "x");
      };
      await expect(initWorkspace("/", { home, prepare })).rejects.toMatchObject({
        code: "WORKSPACE_REFUSED",
      });
      await expect(initWorkspace(join(root, "none"), { home, prepare })).rejects.toMatchObject({
        code: "WORKSPACE_REFUSED",
      });
      expect(prepared).toBe(0);
      const { workspace, initial } = await initWorkspace(root, { home, prepare });
      await using opened = workspace;
      expect([prepared, initial?.checkpoint.files]).toEqual([1, 1]);
      await (await initWorkspace(opened.root, { home, prepare })).workspace.close();
      expect(prepared).toBe(1);
    }),
  );

  test(
    "[N1] when preparing fails, no workspace is registered",
    inProject({ x: "x" }, async (project) => {
      const { home, root } = project;
      const prepare = () => {
        throw new Error("no");
      };
      await expect(initWorkspace(root, { home, prepare })).rejects.toThrow("no");
      expect(protectedRoots({ home })).toEqual([]);
      await using workspace = await openWorkspace(root, { home });
      expect((await workspace.list()).length).toBe(1);
    }),
  );

  test(
    "[N1] when the first capture fails, nothing is left of it and the next attempt works",
    inProject({ x: "x" }, async (project) => {
      const { home, root } = project;
      const failing = {
        ...project.system,
        elapsed: () => {
          throw new Error("interrupted");
        },
      };
      await expect(initWorkspace(root, { home, system: failing })).rejects.toThrow("interrupted");
      expect(storesOf(project)).toEqual([]);
      expect(protectedRoots({ home })).toEqual([]);
      await project.open();
    }),
  );

  test(
    "a home that cannot be made is an error that names it",
    inProject({ x: "x" }, async (project) => {
      const home = join(project.base, "file");
      writeFileSync(home, "mine");
      await expect(initWorkspace(project.root, { home })).rejects.toThrow(home);
    }),
  );
});

describe("what protecting would do", () => {
  test(
    "is told where nothing was ever protected, and nothing is made",
    inProject({ x: "x" }, async ({ root, home }) => {
      expect(previewInit(root, { home })).toEqual({ path: root, created: true });
      expect(existsSync(home)).toBe(false);
    }),
  );

  test(
    "says whether the directory is protected already, also after a move",
    inProject({ x: "x" }, async (project) => {
      const { home, root, base } = project;
      await project.close(await project.open());
      expect(previewInit(root, { home })).toEqual({ path: root, created: false });
      const moved = join(base, "moved");
      renameSync(root, moved);
      expect(previewInit(moved, { home })).toEqual({ path: moved, created: false });
      await removeWorkspace(moved, { home, purge: false });
      expect(previewInit(moved, { home })).toEqual({ path: moved, created: true });
    }),
  );

  test(
    "refuses what protecting refuses",
    inProject({ "a/x": "x" }, async (project) => {
      const { home, root, base } = project;
      const refused = expect.objectContaining({ code: "WORKSPACE_REFUSED" });
      for (const place of ["/", join(root, "a/x"), join(base, "missing")])
        expect(() => previewInit(place, { home }), place).toThrow(refused);
      await project.close(await project.open());
      expect(() => previewInit(join(root, "a"), { home })).toThrow(refused);
      expect(previewInit(join(root, "a"), { home, nested: true })).toMatchObject({ created: true });
    }),
  );
});

describe("protecting again", () => {
  test(
    "gives the store back with a checkpoint of the present state, and says so",
    inProject({ x: "1" }, async (project) => {
      const { home, root } = project;
      const first = await project.open();
      await project.close(first);
      await removeWorkspace(root, { home, purge: false });
      project.write("x", "2");
      const { workspace, initial, created } = await initWorkspace(root, { home });
      await using again = workspace;
      expect([again.id, created]).toEqual([first.id, true]);
      expect(again.notices).toEqual([expect.stringContaining("was protected before")]);
      expect(initial?.checkpoint).toMatchObject({ kind: "initial", changes: { modified: 1 } });
      expect(await again.list()).toHaveLength(2);
    }),
  );

  test(
    "also when the directory was moved since",
    inProject({ x: "1" }, async (project) => {
      const first = await project.open();
      await project.close(first);
      await removeWorkspace(project.root, { home: project.home, purge: false });
      const moved = join(project.base, "moved");
      renameSync(project.root, moved);
      const again = await project.open({ at: moved });
      expect([again.id, again.root]).toEqual([first.id, moved]);
    }),
  );

  test(
    "starts again when the store is gone",
    inProject({ x: "1" }, async (project) => {
      const first = await project.open();
      await project.close(first);
      await removeWorkspace(project.root, { home: project.home, purge: false });
      rmSync(first.store, { recursive: true });
      const again = await project.open();
      expect(again.id).not.toBe(first.id);
      expect(await again.list()).toHaveLength(1);
    }),
  );
});

describe("a store that is not what it was", () => {
  test(
    "missing, or put in the place of another: refused, and nothing is made in its place",
    inProject({ x: "1" }, async (project) => {
      const { home, root, base } = project;
      const other = join(base, "other");
      mkdirSync(other);
      const [one, two] = [await project.open(), await project.open({ at: other })];
      await project.close(one);
      await project.close(two);
      renameSync(one.store, join(base, "aside"));
      await expect(findWorkspace(root, { home })).rejects.toMatchObject({ code: "STORE_MISSING" });
      expect(existsSync(one.store)).toBe(false);
      renameSync(two.store, one.store);
      await expect(openWorkspace(root, { home })).rejects.toMatchObject({
        code: "STORE_REPLACED",
        facts: { store: one.store },
      });
    }),
  );

  test(
    "a lost one is listed without a count, and can be removed",
    inProject({ x: "1" }, async (project) => {
      const { home, root } = project;
      const workspace = await project.open();
      await project.close(workspace);
      rmSync(workspace.store, { recursive: true });
      expect(await listWorkspaces({ home })).toMatchObject([
        { id: workspace.id, checkpoints: null, bytes: 0 },
      ]);
      expect(await removableWorkspace(root, { home })).toMatchObject({ id: workspace.id });
      expect(await removeWorkspace(root, { home, purge: true })).toMatchObject({ purged: true });
      expect(await listWorkspaces({ home })).toEqual([]);
    }),
  );
});

describe("removing", () => {
  test(
    "works from any directory inside, once; the second time it is about what is left of it",
    inProject({ "a/x": "1" }, async (project) => {
      const { home, root } = project;
      const workspace = await project.open();
      await project.close(workspace);
      const inside = join(root, "a");
      expect(await removeWorkspace(inside, { home, purge: false })).toMatchObject({
        id: workspace.id,
        path: root,
        purged: false,
      });
      expect(existsSync(workspace.store)).toBe(true);
      expect(await listWorkspaces({ home })).toMatchObject([{ endedAt: expect.any(Number), checkpoints: 1 }]);
      expect(protectedRoots({ home })).toEqual([]);
      await removeWorkspace(inside, { home, purge: true });
      expect(existsSync(workspace.store)).toBe(false);
      await expect(removeWorkspace(inside, { home, purge: true })).rejects.toMatchObject({
        code: "WORKSPACE_NOT_FOUND",
      });
    }),
  );

  test(
    "where nothing is protected is refused",
    inProject({}, async ({ home, root }) => {
      await expect(removableWorkspace(root, { home })).rejects.toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
    }),
  );
});
