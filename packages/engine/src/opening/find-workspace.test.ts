import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixtureAt } from "../../test/git-fixture.ts";
import { canMount, inProject, inProtected, unmount, type Project } from "../../test/support/project.ts";
import { execFileSync } from "node:child_process";
import { absolutePath } from "../fs/absolute-path.ts";
import type { EngineError } from "../model/errors.ts";
import { openRegistry } from "../store/registry.ts";
import { attachWorkspace } from "./attach-workspace.ts";
import { findWorkspace, locate } from "./find-workspace.ts";
import { removeWorkspace } from "./remove-workspace.ts";

const registryOf = ({ home }: Project) => openRegistry(absolutePath(home), process.getuid?.());

async function refusal({ home }: Project, directory: string): Promise<EngineError<"WORKSPACE_NOT_FOUND">> {
  try {
    await using workspace = await findWorkspace(directory, { home });
    throw new Error(`${workspace.root} was found`);
  } catch (error) {
    expect(error).toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
    return error as EngineError<"WORKSPACE_NOT_FOUND">;
  }
}

describe("locating a directory in the registry", () => {
  test(
    "by its path, without a notice",
    inProtected({ x: "x" }, async (project, workspace) => {
      using registry = registryOf(project);
      expect(locate(registry, absolutePath(project.root))).toMatchObject({ id: workspace.id, notices: [] });
    }),
  );

  test(
    "an unknown path is not located, a file or a missing one neither",
    inProtected({ x: "x" }, async (project) => {
      using registry = registryOf(project);
      for (const place of ["", "root/x", "root/missing", "nowhere/at/all"])
        expect(locate(registry, absolutePath(join(project.base, place))), place).toBeUndefined();
    }),
  );

  test(
    "[R28] replaced by another directory: located once with a notice, then without",
    inProject({ x: "x" }, async (project) => {
      await project.close(await project.open());
      renameSync(project.root, join(project.base, "aside"));
      mkdirSync(project.root);
      using registry = registryOf(project);
      const path = absolutePath(project.root);
      expect(locate(registry, path)?.notices).toEqual([expect.stringContaining("was replaced")]);
      expect(locate(registry, path)?.notices).toEqual([]);
      // the directory that was moved away is not taken for the workspace any more
      expect(locate(registry, absolutePath(join(project.base, "aside")))).toBeUndefined();
      rmSync(join(project.base, "aside"), { recursive: true });
    }),
  );

  test(
    "[R28] moved: located by identity at the new path, which the registry has from then on",
    inProject({ x: "x" }, async (project) => {
      await project.close(await project.open());
      const moved = join(project.base, "moved");
      renameSync(project.root, moved);
      using registry = registryOf(project);
      expect(locate(registry, absolutePath(moved))).toMatchObject({
        path: moved,
        notices: [`The workspace moved here from ${project.root}.`],
      });
      expect(registry.byPath(absolutePath(moved))).toBeDefined();
      expect(registry.byPath(absolutePath(project.root))).toBeUndefined();
    }),
  );

  test(
    "gone: located by its path with the command that brings it back",
    inProject({ x: "x" }, async (project) => {
      await project.close(await project.open());
      rmSync(project.root, { recursive: true });
      using registry = registryOf(project);
      const located = locate(registry, absolutePath(project.root));
      expect(located?.notices).toEqual([expect.stringContaining(`belay -C ${project.root} restore @`)]);
    }),
  );

  test(
    "gone, and a file in its place: like gone",
    inProject({ x: "x" }, async (project) => {
      await project.close(await project.open());
      rmSync(project.root, { recursive: true });
      writeFileSync(project.root, "mine");
      using registry = registryOf(project);
      expect(locate(registry, absolutePath(project.root))?.notices).toHaveLength(1);
      rmSync(project.root);
    }),
  );

  test(
    "a copy has another identity: not located",
    inProtected({ x: "x" }, async (project) => {
      const copy = join(project.base, "copy");
      cpSync(project.root, copy, { recursive: true });
      using registry = registryOf(project);
      expect(locate(registry, absolutePath(copy))).toBeUndefined();
    }),
  );

  test(
    "ended: not located by path, nor by identity after a move",
    inProject({ x: "x" }, async (project) => {
      await project.close(await project.open());
      await removeWorkspace(project.root, { home: project.home, purge: false });
      using registry = registryOf(project);
      expect(locate(registry, absolutePath(project.root))).toBeUndefined();
      const moved = join(project.base, "moved");
      renameSync(project.root, moved);
      expect(locate(registry, absolutePath(moved))).toBeUndefined();
    }),
  );

  test.skipIf(!canMount)(
    "under a second name (a bind mount) it is the same workspace, which stays at its first",
    inProtected({ x: "x" }, async (project, workspace) => {
      const second = join(project.base, "second");
      mkdirSync(second);
      execFileSync("mount", ["--bind", project.root, second]);
      try {
        using registry = registryOf(project);
        const located = locate(registry, absolutePath(second));
        expect(located).toMatchObject({ id: workspace.id, path: project.root, notices: [] });
        expect(registry.byPath(absolutePath(second))).toBeUndefined();
      } finally {
        unmount(second);
      }
    }),
  );
});

describe("finding the workspace of a directory", () => {
  test(
    "goes up from files, missing directories and through symbolic links",
    inProtected({ "a/b/x": "x" }, async (project, workspace) => {
      symlinkSync(join(project.root, "a"), join(project.base, "link"));
      for (const place of ["root", "root/a/b/x", "root/a/missing/too", "link", "link/b", "link/missing"]) {
        await using found = await findWorkspace(join(project.base, place), { home: project.home });
        expect(found.id, place).toBe(workspace.id);
      }
    }),
  );

  test(
    "a relative directory is taken from the current one",
    inProtected({ x: "x" }, async (project, workspace) => {
      const before = process.cwd();
      process.chdir(project.root);
      try {
        await using found = await findWorkspace(".", { home: project.home });
        expect(found.id).toBe(workspace.id);
      } finally {
        process.chdir(before);
      }
    }),
  );

  test(
    "where nothing is protected: says so, with the workspaces whose directories are gone",
    inProject({ x: "x" }, async (project) => {
      const gone = join(project.base, "gone");
      mkdirSync(gone);
      const lost = await project.open({ at: gone });
      await project.close(lost);
      rmSync(gone, { recursive: true });
      const error = await refusal(project, project.root);
      expect(error.message).toBe(`${project.root} is not in a protected directory. Nothing was changed.`);
      expect(error.facts.candidates).toEqual([{ id: lost.id, path: gone }]);
      const missing = join(project.base, "missing");
      expect((await refusal(project, missing)).message).toBe(
        `${missing} does not exist, and was not protected. Nothing was changed.`,
      );
    }),
  );

  test(
    "of the directories that are gone, those below the place come first",
    inProject({}, async (project) => {
      const places = ["a-far", "z/near"].map((name) => join(project.base, name));
      for (const place of places) {
        mkdirSync(place, { recursive: true });
        await project.close(await project.open({ at: place }));
        rmSync(place, { recursive: true });
      }
      const { facts } = await refusal(project, join(project.base, "z"));
      expect(facts.candidates.map(({ path }) => path)).toEqual([places[1], places[0]]);
    }),
  );

  test(
    "where protection was ended: says where the checkpoints are",
    inProject({ "a/x": "x" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      await removeWorkspace(project.root, { home: project.home, purge: false });
      const error = await refusal(project, join(project.root, "a"));
      expect(error.message).toContain(`Its checkpoints are still in ${workspace.store}`);
      expect(error.facts.ended).toEqual({ id: workspace.id, path: project.root, store: workspace.store });
    }),
  );

  test(
    "where the store was attached elsewhere: says where",
    inProject({ "a/x": "x" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      const elsewhere = join(project.base, "elsewhere");
      mkdirSync(elsewhere);
      await (await attachWorkspace(workspace.id, elsewhere, { home: project.home })).close();
      const error = await refusal(project, join(project.root, "a"));
      expect(error.message).toContain(`its store was attached to ${elsewhere}`);
      expect(error.facts.movedTo).toEqual({ id: workspace.id, path: elsewhere });
    }),
  );

  test(
    "a linked git worktree inside a workspace is none of it until it is protected itself",
    inProject({ x: "x" }, async (project) => {
      const git = fixtureAt(project.root);
      git.git("init", "-q", ".");
      git.git("add", ".");
      git.git("commit", "-qm", "one");
      git.git("worktree", "add", "-q", "trees/one");
      await project.close(await project.open());
      const inside = join(project.root, "trees/one");
      expect((await refusal(project, inside)).message).toContain("in a linked git worktree");
      mkdirSync(join(inside, "deep"));
      expect((await refusal(project, join(inside, "deep"))).message).toContain("in a linked git worktree");
      const own = await project.open({ at: inside });
      await using found = await findWorkspace(join(inside, "deep"), { home: project.home });
      expect(found.id).toBe(own.id);
    }),
  );
});
