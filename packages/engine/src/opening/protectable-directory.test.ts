import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixtureAt } from "../../test/git-fixture.ts";
import { inProject, inProtected, type Project } from "../../test/support/project.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import { openRegistry } from "../store/registry.ts";
import { initWorkspace } from "./init-workspace.ts";
import { existingRoot, isUnprotectedWorktree, refuseNested, refuseUnfit } from "./protectable-directory.ts";
import { removeWorkspace } from "./remove-workspace.ts";

const registryOf = ({ home }: Project) => openRegistry(absolutePath(home), process.getuid?.());
const refused = (reason: string) =>
  expect.objectContaining({ code: "WORKSPACE_REFUSED", facts: expect.objectContaining({ reason }) });

describe("the directory that is to be protected", () => {
  test(
    "is known by its real path",
    inProject({ "a/b/x": "x" }, async ({ base, root }) => {
      symlinkSync(join(root, "a"), join(base, "link"));
      expect(existingRoot(join(base, "link"))).toBe(join(root, "a"));
      expect(existingRoot(join(base, "link", "b"))).toBe(join(root, "a/b"));
      expect(existingRoot(`${root}/a/../a/`)).toBe(join(root, "a"));
    }),
  );

  test(
    "must exist and be a directory",
    inProject({ x: "x" }, async ({ base, root }) => {
      symlinkSync(join(base, "nowhere"), join(base, "dangling"));
      symlinkSync(join(base, "loop"), join(base, "loop"));
      for (const place of ["missing", "missing/deep", "dangling", "loop"])
        expect(() => existingRoot(join(base, place)), place).toThrow(refused("it does not exist"));
      expect(() => existingRoot(join(root, "x"))).toThrow(refused("it is not a directory"));
      symlinkSync(join(root, "x"), join(base, "to-file"));
      expect(() => existingRoot(join(base, "to-file"))).toThrow(refused("it is not a directory"));
    }),
  );

  test(
    "the refusal names what was asked for, and says that nothing was changed",
    inProject({}, async ({ base }) => {
      const place = join(base, "not ü there");
      expect(() => existingRoot(place)).toThrow(`${place} does not exist. Nothing was changed.`);
    }),
  );
});

describe("directories that are no project", () => {
  // the home is not made yet, as with a first command
  const refuse = (project: Project, root: string, homeDirectory = "/home/you") =>
    refuseUnfit(absolutePath(root), absolutePath(project.home), { ...project.system, homeDirectory });

  test(
    "the whole disk, a home directory and every directory around one",
    inProject({}, async (project) => {
      expect(() => refuse(project, "/")).toThrow(refused("it is the whole file system"));
      for (const root of [join(project.base, "me"), project.base])
        expect(() => refuse(project, root, join(project.base, "me"))).toThrow(
          refused("it is a home directory"),
        );
    }),
  );

  test(
    "a directory inside the home directory, or beside it with a longer name, is one",
    inProject({}, async (project) => {
      const me = join(project.base, "me");
      for (const root of [join(me, "project"), `${me}2`, `${me}-x/y`])
        expect(() => refuse(project, root, me), root).not.toThrow();
    }),
  );

  test(
    "a home directory that is a symbolic link counts where it leads to",
    inProject({}, async (project) => {
      mkdirSync(join(project.base, "real"));
      symlinkSync(join(project.base, "real"), join(project.base, "me"));
      expect(() => refuse(project, join(project.base, "real"), join(project.base, "me"))).toThrow(
        refused("it is a home directory"),
      );
    }),
  );

  test(
    "Belay's own store and everything in it",
    inProject({}, async (project) => {
      for (const root of [project.home, join(project.home, "workspaces")])
        expect(() => refuse(project, root)).toThrow(refused("it is Belay's own store"));
      expect(() => refuse(project, `${project.home}-of-mine`)).not.toThrow();
    }),
  );
});

describe("workspaces inside each other", () => {
  test(
    "are refused, however deep, and allowed when they are asked for",
    inProtected({ "a/b/x": "x" }, async (project) => {
      using registry = registryOf(project);
      const reason = `it is inside the workspace ${project.root}`;
      for (const inner of ["a", "a/b"]) {
        const root = absolutePath(join(project.root, inner));
        expect(() => refuseNested(registry, root, {})).toThrow(refused(reason));
        expect(() => refuseNested(registry, root, { nested: true })).not.toThrow();
      }
    }),
  );

  test(
    "a directory around a workspace, or beside it, is not inside it",
    inProtected({ x: "x" }, async (project) => {
      using registry = registryOf(project);
      for (const place of [project.base, `${project.root}2`, "/"])
        expect(() => refuseNested(registry, absolutePath(place), {})).not.toThrow();
    }),
  );

  test(
    "a workspace whose protection was ended does not count",
    inProject({ "a/x": "x" }, async (project) => {
      await project.close(await project.open());
      await removeWorkspace(project.root, { home: project.home, purge: false });
      using registry = registryOf(project);
      expect(() => refuseNested(registry, absolutePath(join(project.root, "a")), {})).not.toThrow();
    }),
  );

  test(
    "one that moves may stay inside the one it was in, and may not move into another",
    inProject({ "a/x": "x", "b/x": "x" }, async (project) => {
      const { home, root, base } = project;
      await project.close(await project.open());
      await project.close(await project.open({ at: join(root, "a"), nested: true }));
      mkdirSync(join(base, "other/into"), { recursive: true });
      await project.close(await project.open({ at: join(base, "other") }));
      using registry = openRegistry(absolutePath(home), process.getuid?.());
      const moving = registry.byPath(absolutePath(join(root, "a")))!;
      expect(() => refuseNested(registry, absolutePath(join(root, "b")), { moving })).not.toThrow();
      expect(() => refuseNested(registry, absolutePath(join(base, "other/into")), { moving })).toThrow(
        refused(`it is inside the workspace ${join(base, "other")}`),
      );
    }),
  );

  test(
    "a linked git worktree inside a workspace needs no asking",
    inProject({ x: "x" }, async (project) => {
      const git = fixtureAt(project.root);
      git.git("init", "-q", ".");
      git.git("add", ".");
      git.git("commit", "-qm", "one");
      git.git("worktree", "add", "-q", "trees/one");
      await project.close(await project.open());
      const inside = join(project.root, "trees/one");
      mkdirSync(join(inside, "deep"));
      expect(isUnprotectedWorktree(absolutePath(inside))).toBe(true);
      expect(isUnprotectedWorktree(absolutePath(join(inside, "deep")))).toBe(false);
      expect(isUnprotectedWorktree(absolutePath(project.root))).toBe(false);
      const { created, workspace } = await initWorkspace(inside, { home: project.home });
      await workspace.close();
      expect(created).toBe(true);
    }),
  );

  test(
    "a file called .git that leads nowhere makes no worktree",
    inProject({ "fake/x": "x" }, async ({ root }) => {
      for (const content of ["", "gitdir: /nowhere\n", "gitdir: ../x\n", "nonsense"]) {
        writeFileSync(join(root, "fake/.git"), content);
        expect(isUnprotectedWorktree(absolutePath(join(root, "fake"))), content).toBe(false);
      }
    }),
  );
});
