/** What a ghost's commit lacks although the checkpoint has it, and what that means when only the commit is left. */
import { chmodSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Checkpoint, Ghost, MissingGhost, Workspace } from "../src/index.ts";
import { fixtureAt, type GitFixture } from "./git-fixture.ts";
import { inProject, type Project } from "./support/project.ts";

function made<Result extends object>(result: Result | MissingGhost): Result {
  if ("missing" in result) throw new Error(`no ghost: ${result.missing}`);
  return result;
}

function makeRepository(project: Project): GitFixture {
  const git = fixtureAt(project.root);
  git.git("init", "-q", ".");
  git.write("a.txt", "a\n");
  git.write(".gitignore", "local.cfg\n");
  git.git("add", ".");
  git.git("commit", "-qm", "first");
  return git;
}

const filesOf = (git: GitFixture, { commit }: Ghost) =>
  git.git("ls-tree", "-r", "--name-only", commit).split("\n");

async function capturedIn(workspace: Workspace, id: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path, kind } of workspace.files(id)) if (kind !== "directory") paths.push(String(path));
  return paths;
}

test(
  "[C29] [L49] what git ignores is in the checkpoint and not in the commit, and is counted; a tracked file is in both whatever it is called",
  inProject({}, async (project) => {
    const git = makeRepository(project);
    git.write(".env.example", "KEY=\n");
    git.git("add", "-f", ".env.example");
    git.git("commit", "-qm", "an example");
    const workspace = await project.open();
    project.write("local.cfg", "mine\n");
    project.write("sub/.env", "SECRET=1\n");
    project.write(".env.example", "KEY=1\n");
    project.write("new.txt", "new\n");
    const ghost = made(await workspace.ghost());
    expect(await capturedIn(workspace, ghost.id)).toEqual(
      expect.arrayContaining(["local.cfg", "sub/.env", ".env.example", "new.txt"]),
    );
    expect(filesOf(git, ghost)).toEqual([".env.example", ".gitignore", "a.txt", "new.txt"]);
    expect(git.git("show", `${ghost.commit}:.env.example`)).toBe("KEY=1");
    expect(ghost.leftOut).toBe(2);
    expect(git.git("log", "-1", "--format=%B", ghost.commit)).toContain("Belay-Left-Out: 2");
    // the next one starts from it, and leaves out the same
    project.write("local.cfg", "changed\n");
    project.write("a.txt", "changed\n");
    const next = made(await workspace.ghost());
    expect([filesOf(git, next), next.leftOut]).toEqual([filesOf(git, ghost), 2]);
  }),
);

/** Drops the checkpoint of a ghost and takes it over from the commit. */
async function imported(workspace: Workspace, { id }: Ghost): Promise<Checkpoint> {
  await workspace.upkeep.deleteCheckpoint(id);
  const checkpoint = made(await workspace.importGhost(id));
  expect(checkpoint).toMatchObject({ origin: "ghost", kind: "turn" });
  expect(String(checkpoint.id)).not.toBe(id);
  return checkpoint;
}

test(
  "[R2603] [C34] from the commit come files, modes and links; what the commit was made without stays as it is on disk",
  inProject({}, async (project) => {
    makeRepository(project);
    const workspace = await project.open();
    project.write("local.cfg", "then\n");
    project.write("run.sh", "#!/bin/sh\n");
    chmodSync(join(project.root, "run.sh"), 0o755);
    symlinkSync("a.txt", join(project.root, "link"));
    const ghost = made(await workspace.ghost());
    project.write("later.txt", "later\n");
    project.write("local.cfg", "now\n");
    for (const path of ["run.sh", "link"]) project.remove(path);
    project.write("a.txt", "changed\n");
    await workspace.checkpoint();
    const { id } = await imported(workspace, ghost);
    expect(await workspace.restoreTo(id)).toMatchObject({ outcome: "applied" });
    expect([project.read("a.txt"), project.read("local.cfg"), project.read("later.txt")]).toEqual([
      "a\n",
      "now\n",
      "later\n",
    ]);
    expect(statSync(join(project.root, "run.sh")).mode & 0o777).toBe(0o755);
    expect(readlinkSync(join(project.root, "link"))).toBe("a.txt");
    // a second time it is the same one
    expect(made(await workspace.importGhost(ghost.id)).id).toBe(id);
    expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
    expect(project.read("a.txt")).toBe("changed\n");
  }),
);

test(
  "[R2603] [N6] a file that another ghost has is known to be absent; of one whose files were left out that is not known",
  inProject({}, async (project) => {
    makeRepository(project);
    const workspace = await project.open();
    project.write("a.txt", "first\n");
    const first = made(await workspace.ghost());
    project.write("second.txt", "second\n");
    const second = made(await workspace.ghost());
    project.write("by-hand.txt", "in no ghost\n");
    const { id } = await imported(workspace, first);
    await workspace.restoreTo(id);
    expect([project.read("by-hand.txt"), project.tree().has("second.txt")]).toEqual(["in no ghost\n", false]);
    await workspace.undo();
    // its checkpoint is there: no import
    expect(made(await workspace.importGhost(second.id)).id).toBe(second.id);
    expect(await workspace.importGhost("nothing")).toEqual({
      missing: "the repository has no ghost nothing of this workspace",
    });
  }),
);
