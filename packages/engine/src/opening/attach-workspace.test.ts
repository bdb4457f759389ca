import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inProject, type Project } from "../../test/support/project.ts";
import { attachWorkspace, planAttach } from "./attach-workspace.ts";
import { findWorkspace } from "./find-workspace.ts";
import { listWorkspaces } from "./list-workspaces.ts";

/** A project that is protected and closed again, and a second directory with these files. */
async function withDirectory(project: Project, files: Readonly<Record<string, string>>) {
  const workspace = await project.open();
  await project.close(workspace);
  const directory = join(project.base, "other");
  mkdirSync(directory);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  return { id: workspace.id, directory, options: { home: project.home } };
}

const paths = async ({ home }: Project) => (await listWorkspaces({ home })).map(({ path }) => path);

describe("what attaching would do", () => {
  test.each([
    ["an empty directory", {}, true],
    ["the same files", { a: "1", b: "1" }, true],
    ["half of the files", { a: "other content", x: "1" }, true],
    ["other files", { x: "1", y: "1", z: "1" }, false],
  ] as const)("%s: alike %s", async (_name, files, isAlike) => {
    await inProject({ a: "0", b: "0" }, async (project) => {
      const { id, directory, options } = await withDirectory(project, files);
      expect(await planAttach(id, directory, options)).toMatchObject({ isAlike, workspace: { id } });
      // a plan only looks
      expect(await paths(project)).toEqual([project.root]);
    })();
  });

  test(
    "its own directory is alike, whatever is in it now",
    inProject({ a: "0" }, async (project) => {
      const { id, options } = await withDirectory(project, {});
      project.remove("a");
      project.write("new", "1");
      expect(await planAttach(id, project.root, options)).toMatchObject({ isAlike: true });
    }),
  );
});

describe("attaching", () => {
  test(
    "moves the workspace: the new directory has its history, the old one is not protected",
    inProject({ a: "0" }, async (project) => {
      const { id, directory, options } = await withDirectory(project, { a: "1" });
      await using attached = await attachWorkspace(id, directory, options);
      expect([attached.id, attached.root, (await attached.list()).length]).toEqual([id, directory, 1]);
      expect((await attached.status()).changes).toMatchObject({ modified: 1 });
      await expect(findWorkspace(project.root, options)).rejects.toMatchObject({
        code: "WORKSPACE_NOT_FOUND",
        facts: { movedTo: { id, path: directory } },
      });
    }),
  );

  test(
    "to its own directory changes nothing",
    inProject({ a: "0" }, async (project) => {
      const { id, options } = await withDirectory(project, {});
      await using attached = await attachWorkspace(id, project.root, options);
      expect([attached.id, attached.notices]).toEqual([id, []]);
      expect(await paths(project)).toEqual([project.root]);
    }),
  );

  test(
    "back and forth: the place it comes back to is protected again",
    inProject({ a: "0" }, async (project) => {
      const { id, directory, options } = await withDirectory(project, {});
      await (await attachWorkspace(id, directory, options)).close();
      await (await attachWorkspace(id, project.root, options)).close();
      await using found = await findWorkspace(project.root, options);
      expect(found.id).toBe(id);
      await expect(findWorkspace(directory, options)).rejects.toMatchObject({
        facts: { movedTo: { id, path: project.root } },
      });
    }),
  );

  test(
    "a directory that was deleted leaves no trace of where it was",
    inProject({ a: "0" }, async (project) => {
      const { id, directory, options } = await withDirectory(project, {});
      rmSync(project.root, { recursive: true });
      await (await attachWorkspace(id, directory, options)).close();
      const lost = await findWorkspace(project.root, options).catch((error: unknown) => error);
      expect(lost).toMatchObject({ code: "WORKSPACE_NOT_FOUND", facts: { candidates: [] } });
      expect(lost).not.toHaveProperty("facts.movedTo");
    }),
  );

  test(
    "through a symbolic link attaches where it leads to",
    inProject({ a: "0" }, async (project) => {
      const { id, directory, options } = await withDirectory(project, {});
      symlinkSync(directory, join(project.base, "link"));
      await using attached = await attachWorkspace(id, join(project.base, "link"), options);
      expect(attached.root).toBe(directory);
    }),
  );
});

describe("which workspace", () => {
  test(
    "is named by its id or four letters of it; less, or nothing, names none",
    inProject({ a: "0" }, async (project) => {
      const { id, directory, options } = await withDirectory(project, {});
      for (const name of [id, id.slice(0, 4)])
        expect((await planAttach(name, directory, options)).workspace.id).toBe(id);
      for (const name of ["", id.slice(0, 3), `${id}x`, "*", "%", "nope"])
        await expect(planAttach(name, directory, options), name).rejects.toMatchObject({
          code: "WORKSPACE_NOT_FOUND",
          facts: { path: name, candidates: [{ id, path: project.root }] },
        });
    }),
  );

  test(
    "is asked for when several ids begin alike; the whole id of one is always enough",
    inProject({ a: "0" }, async (project) => {
      const { id, directory, options } = await withDirectory(project, {});
      const twin = `${id.slice(0, 8)}${"z".repeat(id.length - 8)}`;
      mkdirSync(join(project.base, "twin"));
      const system = { ...project.system, newId: twin === id ? project.system.newId : () => twin };
      const second = await project.open({ at: join(project.base, "twin"), system });
      await project.close(second);
      const error = await planAttach(id.slice(0, 8), directory, options).catch((refused: unknown) => refused);
      expect(error).toMatchObject({ code: "WORKSPACE_NOT_FOUND" });
      expect((error as Error).message).toContain("More than one workspace begins with");
      expect((await planAttach(id, directory, options)).workspace.id).toBe(id);
    }),
  );
});

describe("refused, and nothing is moved:", () => {
  test(
    "a directory that is a workspace already, a file, nothing, a home directory",
    inProject({ a: "0" }, async (project) => {
      const { id, directory, options } = await withDirectory(project, {});
      const taken = join(project.base, "taken");
      mkdirSync(taken);
      await project.close(await project.open({ at: taken }));
      writeFileSync(join(project.base, "file"), "");
      const system = { ...project.system, homeDirectory: directory };
      const before = await paths(project);
      for (const [place, more] of [
        [taken, {}],
        [join(project.base, "file"), {}],
        [join(project.base, "missing"), {}],
        [directory, { system }],
        [project.base, { system }],
        ["/", {}],
      ] as const)
        for (const attempt of [planAttach, attachWorkspace])
          await expect(attempt(id, place, { ...options, ...more }), place).rejects.toMatchObject({
            code: "WORKSPACE_REFUSED",
          });
      expect(await paths(project)).toEqual(before);
    }),
  );

  test(
    "a directory inside another workspace",
    inProject({ a: "0" }, async (project) => {
      const { id, directory, options } = await withDirectory(project, {});
      await project.close(await project.open({ at: directory }));
      mkdirSync(join(directory, "inner"));
      await expect(attachWorkspace(id, join(directory, "inner"), options)).rejects.toMatchObject({
        code: "WORKSPACE_REFUSED",
        facts: { reason: `it is inside the workspace ${directory}` },
      });
    }),
  );

  test(
    "when the store cannot be opened",
    inProject({ a: "0" }, async (project) => {
      const { id, directory, options } = await withDirectory(project, { x: "1" });
      renameSync(project.storeDirectory(), join(project.base, "aside"));
      await expect(attachWorkspace(id, directory, options)).rejects.toMatchObject({ code: "STORE_MISSING" });
      expect(await paths(project)).toEqual([project.root]);
    }),
  );
});
