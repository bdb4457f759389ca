import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inProject, inProtected, type Project } from "../../test/support/project.ts";
import { diagnose, type Check } from "./diagnose.ts";

async function checks({ root, home, system }: Project, directory = root): Promise<Record<string, Check>> {
  const { checks: found } = await diagnose(directory, { home, system });
  return Object.fromEntries(found.map((check) => [check.name, check]));
}

describe("[N1] what the doctor finds", () => {
  test(
    "in a sound workspace: nothing to warn of but the disk it is on",
    inProtected({ x: "0" }, async (project) => {
      const found = await checks(project);
      for (const name of ["settings", "stores", "workspace", "store", "coverage", "late captures", "disk"])
        expect(found[name], name).toMatchObject({ status: "ok" });
      expect(found["store"]?.detail).toBe("1 checkpoint, structure sound");
    }),
  );

  test(
    "where nothing is protected: only what concerns all, and nothing is made",
    inProject({}, async (project) => {
      const found = await checks(project);
      expect(Object.keys(found)).toEqual(["settings", "home", "space", "stores"]);
      expect(found["home"]?.detail).toContain("does not exist yet");
      expect(existsSync(project.home)).toBe(false);
    }),
  );

  test(
    "settings that cannot be read are a problem, and the other checks still run",
    inProject({}, async (project) => {
      mkdirSync(project.home, { mode: 0o700 });
      writeFileSync(join(project.home, "config.json"), "{");
      const found = await checks(project);
      expect(found["settings"]).toMatchObject({ status: "problem" });
      expect(found["settings"]?.detail).toContain("config.json");
      expect(found["stores"]?.status).toBe("ok");
    }),
  );

  test(
    "a home that others may write to is a problem",
    inProtected({ x: "0" }, async (project, workspace) => {
      await project.close(workspace);
      chmodSync(project.home, 0o777);
      expect((await checks(project))["home"]).toMatchObject({ status: "problem" });
      chmodSync(project.home, 0o700);
    }),
  );

  test(
    "a protected directory that is gone is named with the command that brings it back",
    inProject({ x: "0" }, async (project) => {
      const gone = join(project.base, "gone");
      mkdirSync(gone);
      await project.close(await project.open({ at: gone }));
      rmSync(gone, { recursive: true });
      expect((await checks(project))["stores"]).toMatchObject({
        status: "warning",
        hint: expect.stringContaining(`belay -C ${gone} restore @`),
      });
    }),
  );

  test(
    "a store that belongs to no directory is named",
    inProtected({ x: "0" }, async (project) => {
      mkdirSync(join(project.home, "workspaces", "left-over"));
      expect((await checks(project))["stores"]).toMatchObject({
        status: "warning",
        detail: expect.stringContaining("left-over"),
      });
    }),
  );

  test(
    "files that are not captured are a warning",
    inProject({ x: "0" }, async (project) => {
      project.configure({ "limits.fileBytes": "10" });
      await project.close(await project.open());
      project.write("large", "x".repeat(11));
      expect((await checks(project))["coverage"]).toMatchObject({
        status: "warning",
        detail: expect.stringContaining("1 "),
      });
    }),
  );

  test(
    "turns that were not captured are a warning for a week",
    inProtected({ x: "0" }, async (project, workspace) => {
      const { id } = await workspace.threads.open({ agent: "claude", externalId: "s" });
      const at = project.system.now();
      await workspace.threads.noteUncaptured(id, { at, until: at, events: 2, problem: "the disk was full" });
      await project.close(workspace);
      expect((await checks(project))["not captured"]).toMatchObject({
        status: "warning",
        detail: expect.stringContaining("the disk was full"),
      });
      project.clockMs = 8 * 24 * 60 * 60 * 1000;
      expect((await checks(project))["not captured"]).toBeUndefined();
    }),
  );

  test(
    "a store that is missing is a problem of the workspace, not an error",
    inProject({ x: "0" }, async (project) => {
      const workspace = await project.open();
      await project.close(workspace);
      rmSync(workspace.store, { recursive: true });
      expect((await checks(project))["workspace"]).toMatchObject({ status: "problem" });
    }),
  );

  test(
    "a store near its cap is a warning",
    inProject({ x: "0" }, async (project) => {
      const workspace = await project.open();
      const { diskBytes } = await workspace.upkeep.stats();
      await project.close(workspace);
      project.configure({ "disk.capBytes": String(diskBytes) });
      expect((await checks(project))["disk"]).toMatchObject({ status: "warning" });
    }),
  );

  test(
    "what opening noticed is among it, and the caller sees the workspace first",
    inProject({ x: "0" }, async (project) => {
      await project.close(await project.open());
      rmSync(project.root, { recursive: true });
      mkdirSync(project.root);
      const roots: string[] = [];
      const { checks: found } = await diagnose(project.root, {
        home: project.home,
        opened: async ({ root }) => void roots.push(root),
      });
      expect(roots).toEqual([project.root]);
      expect(found.filter(({ detail }) => detail.includes("was replaced"))).toMatchObject([
        { name: "workspace", status: "warning" },
      ]);
    }),
  );
});
