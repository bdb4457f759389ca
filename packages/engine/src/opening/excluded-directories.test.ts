import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inProject, type Project } from "../../test/support/project.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import type { WorkspaceId } from "../model/ids.ts";
import { openRegistry } from "../store/registry.ts";
import { excludedDirectories } from "./excluded-directories.ts";
import { removeWorkspace } from "./remove-workspace.ts";

const OWN = "a workspace of its own";

function reader({ root, home }: Project, id: string) {
  const userId = process.getuid?.();
  using registry = openRegistry(absolutePath(home), userId);
  return excludedDirectories(
    { id: id as WorkspaceId, root: absolutePath(root) },
    { home: absolutePath(home), userId, registry },
  );
}

describe("what is left out of a workspace", () => {
  test(
    "nothing, where there are no other workspaces inside",
    inProject({}, async (project) => {
      const beside = join(project.base, "root2");
      mkdirSync(beside);
      const { id } = await project.open();
      await project.open({ at: beside });
      expect(reader(project, id)()).toEqual([]);
    }),
  );

  test(
    "workspaces inside, from the moment they are protected to the moment they are not",
    inProject({ "a/x": "x", "b/c/x": "x" }, async (project) => {
      const { id } = await project.open();
      const read = reader(project, id);
      expect(read()).toEqual([]);
      await project.open({ at: join(project.root, "b/c"), nested: true });
      expect(read()).toEqual([{ path: "b/c", reason: OWN }]);
      const inner = await project.open({ at: join(project.root, "a"), nested: true });
      expect(read()).toHaveLength(2);
      await project.close(inner);
      await removeWorkspace(join(project.root, "a"), { home: project.home, purge: false });
      expect(read()).toEqual([{ path: "b/c", reason: OWN }]);
    }),
  );

  test(
    "an inner workspace does not leave out the outer one, nor itself",
    inProject({ "a/x": "x" }, async (project) => {
      await project.open();
      const inner = await project.open({ at: join(project.root, "a"), nested: true });
      expect(reader({ ...project, root: join(project.root, "a") }, inner.id)()).toEqual([]);
    }),
  );

  test(
    "the store, where the home directory of Belay is inside",
    inProject({}, async (project) => {
      const inside = join(project.root, ".stores");
      const workspace = await project.open({ home: inside });
      expect(reader({ ...project, home: inside }, workspace.id)()).toEqual([
        { path: ".stores", reason: "Belay's own store" },
      ]);
    }),
  );

  test(
    "an inner workspace that moved is left out where it is now",
    inProject({ "a/x": "x" }, async (project) => {
      const { id } = await project.open();
      await project.close(await project.open({ at: join(project.root, "a"), nested: true }));
      renameSync(join(project.root, "a"), join(project.root, "b"));
      await project.open({ at: join(project.root, "b"), nested: true });
      expect(reader(project, id)()).toEqual([{ path: "b", reason: OWN }]);
    }),
  );
});
