/**
 * N3: the user's git is never touched. Every command runs in repositories in every state, and everything under
 * `.git` is the same afterwards: each byte, each mode, each time. Working files of nested repositories are
 * ordinary files; a directory that holds a `.git` is never removed.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findWorkspace, type GitState, type Workspace } from "../src/index.ts";
import { fingerprint, fixtureAt, type GitFixture } from "./git-fixture.ts";
import { inProject, type Project } from "./support/project.ts";

/** A repository with one commit in the project's root. */
function makeRepository(project: Project): GitFixture {
  const git = fixtureAt(project.root);
  git.git("init", "-q", ".");
  git.write("a.txt", "a\n");
  git.write("src/b.txt", "b\n");
  git.git("add", ".");
  git.git("commit", "-qm", "first");
  return git;
}

/** Everything a workspace can do to files and to itself. */
async function doEverything(project: Project): Promise<Workspace> {
  const workspace = await project.open();
  const start = (await workspace.checkpoint({ name: "start" })).checkpoint;
  const before = project.tree();
  project.write("a.txt", "changed\n");
  project.write("src/new.txt", "new\n");
  if (existsSync(join(project.root, "src/b.txt"))) project.remove("src/b.txt");
  await workspace.status();
  await workspace.diff({ detail: "text" });
  expect(await workspace.restoreTo(start.id)).toMatchObject({ outcome: "applied" });
  expect(project.tree()).toEqual(before);
  expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
  expect(await workspace.redo()).toMatchObject({ outcome: "applied" });
  const turn = await workspace.turns.run({ prompt: "edit" }, async () => project.write("turn.txt", "turn\n"));
  project.write("later.txt", "later\n");
  expect(await workspace.revert(turn.after.id)).toMatchObject({ outcome: "applied", deleted: 1 });
  await workspace.show("@");
  await workspace.note("@", "note");
  await workspace.restore(await workspace.planRestore(start.id, { paths: ["a.txt", "later.txt"] }));
  await workspace.upkeep.prune({
    policy: { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: 1 },
  });
  await workspace.upkeep.gc();
  await workspace.upkeep.forget("later.txt");
  await workspace.upkeep.stats();
  return workspace;
}

describe("[R18] [I09] [I50] [I51] nothing under .git changes", () => {
  const states: Record<string, (git: GitFixture) => void> = {
    "in a clean repository": () => undefined,
    "[I15] with staged, unstaged and untracked work": (git) => {
      git.write("a.txt", "staged\n");
      git.write("added.txt", "staged new\n");
      git.git("add", ".");
      git.git("rm", "-q", "--cached", "src/b.txt");
      git.write("a.txt", "staged and changed again\n");
      git.write("untracked.txt", "u\n");
    },
    "[I15] in the middle of a merge": (git) => {
      git.git("checkout", "-qb", "other");
      git.write("a.txt", "theirs\n");
      git.git("commit", "-qam", "theirs");
      git.git("checkout", "-q", "main");
      git.write("a.txt", "ours\n");
      git.git("commit", "-qam", "ours");
      expect(() => git.git("merge", "-q", "other")).toThrow("Command failed");
      expect(existsSync(join(git.path, ".git/MERGE_HEAD"))).toBe(true);
    },
    "in the middle of a rebase": (git) => {
      git.git("checkout", "-qb", "other");
      git.write("a.txt", "theirs\n");
      git.git("commit", "-qam", "theirs");
      git.git("checkout", "-q", "main");
      git.write("a.txt", "ours\n");
      git.git("commit", "-qam", "ours");
      expect(() => git.git("rebase", "-q", "other")).toThrow("Command failed");
    },
    "with packed refs and packed objects": (git) => {
      git.git("tag", "v1");
      git.git("branch", "other");
      git.git("pack-refs", "--all");
      git.git("gc", "-q");
    },
    "with a detached HEAD, a stash, hooks and an ignored file": (git) => {
      git.write("a.txt", "stashed\n");
      git.git("stash", "-q");
      git.git("checkout", "-q", "--detach");
      git.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
      git.write(".git/info/exclude", "*.tmp\n");
      git.write("x.tmp", "ignored\n");
    },
    "with a lock left behind": (git) => git.write(".git/index.lock", ""),
    "with an index whose times are not those of the files": (git) => {
      git.write("a.txt", "x\n");
      git.write("a.txt", "a\n");
    },
  };
  for (const [label, prepare] of Object.entries(states)) {
    test(
      label,
      inProject({}, async (project) => {
        prepare(makeRepository(project));
        const before = fingerprint(join(project.root, ".git"));
        await doEverything(project);
        expect(fingerprint(join(project.root, ".git"))).toBe(before);
      }),
    );
  }

  test(
    "[I15] in a repository without commits",
    inProject({ "a.txt": "a\n", "src/b.txt": "b\n" }, async (project) => {
      fixtureAt(project.root).git("init", "-q", ".");
      const before = fingerprint(join(project.root, ".git"));
      const workspace = await doEverything(project);
      expect(fingerprint(join(project.root, ".git"))).toBe(before);
      expect((await workspace.resolve("@")).git).toEqual({
        branch: "main",
        commit: null,
        dirty: false,
        staged: [],
      });
    }),
  );

  test(
    "in a linked worktree that is a workspace of its own, nor in the main one",
    inProject({}, async (project) => {
      const main = join(project.base, "main");
      mkdirSync(main);
      const git = fixtureAt(main);
      git.git("init", "-q", ".");
      git.write("a.txt", "a\n");
      git.write("src/b.txt", "b\n");
      git.git("add", ".");
      git.git("commit", "-qm", "first");
      rmSync(project.root, { recursive: true });
      git.git("worktree", "add", "-q", "-b", "side", project.root);
      const before = [fingerprint(join(main, ".git")), fingerprint(join(project.root, ".git"))];
      const workspace = await doEverything(project);
      expect([fingerprint(join(main, ".git")), fingerprint(join(project.root, ".git"))]).toEqual(before);
      expect((await workspace.resolve("@")).git).toMatchObject({
        branch: "side",
        commit: git.git("rev-parse", "side"),
      });
    }),
  );
});

test(
  "a linked worktree inside is left out of the workspace around it and becomes one of its own",
  inProject({}, async (project) => {
    const git = makeRepository(project);
    const inside = join(project.root, ".claude/worktrees/one");
    git.git("worktree", "add", "-q", "-b", "one", inside);
    const before = fingerprint(join(project.root, ".git"));
    const outer = await project.open();
    const { checkpoint } = await outer.checkpoint();
    expect(checkpoint.files).toBe(2);
    expect((await outer.status()).excluded).toContainEqual(
      expect.objectContaining({ path: ".claude/worktrees/one", rule: "linked git worktree" }),
    );
    await expect(findWorkspace(join(inside, "src"), { home: project.home })).rejects.toMatchObject({
      code: "WORKSPACE_NOT_FOUND",
    });
    const inner = await project.open({ at: inside });
    expect(inner.id).not.toBe(outer.id);
    project.write(".claude/worktrees/one/a.txt", "changed in the worktree\n");
    expect(await outer.restoreTo(checkpoint.id)).toMatchObject({ outcome: "unchanged" });
    expect(await inner.restoreTo("@")).toMatchObject({ outcome: "applied", modified: 1 });
    expect(project.read(".claude/worktrees/one/a.txt")).toBe("a\n");
    expect(fingerprint(join(project.root, ".git"))).toBe(before);
  }),
);

test(
  "files of what used to be a linked worktree are not deleted: the checkpoint had left them out",
  inProject({}, async (project) => {
    const git = makeRepository(project);
    git.git("worktree", "add", "-q", "-b", "one", join(project.root, "one"));
    const workspace = await project.open();
    rmSync(join(project.root, "one/.git"));
    expect((await workspace.checkpoint()).checkpoint.files).toBe(4);
    const outcome = await workspace.restoreTo("1");
    expect(project.read("one/a.txt")).toBe("a\n");
    expect(outcome.kept).toContainEqual({ path: "one/a.txt", reason: "not covered by the target's rules" });
  }),
);

describe("[I22] nested repositories", () => {
  function makeNested(project: Project, at: string): GitFixture {
    mkdirSync(join(project.root, at), { recursive: true });
    const nested = fixtureAt(join(project.root, at));
    nested.git("init", "-q", ".");
    nested.write("inner.txt", "inner\n");
    nested.git("add", ".");
    nested.git("commit", "-qm", "inner");
    return nested;
  }

  test(
    "their files are captured and restored, their .git is not touched",
    inProject({}, async (project) => {
      const git = makeRepository(project);
      makeNested(project, "libs/one");
      makeNested(project, "libs/two").git("commit", "-q", "--allow-empty", "-m", "more");
      const prints = () =>
        [git.path, join(git.path, "libs/one"), join(git.path, "libs/two")].map((path) =>
          fingerprint(join(path, ".git")),
        );
      const before = prints();
      const workspace = await project.open();
      const tree = project.tree();
      project.write("libs/one/inner.txt", "changed\n");
      project.remove("libs/two/inner.txt");
      project.write("libs/two/new.txt", "new\n");
      expect(await workspace.restoreTo("1")).toMatchObject({
        outcome: "applied",
        created: 1,
        modified: 1,
        deleted: 1,
      });
      expect(project.tree()).toEqual(tree);
      await workspace.undo();
      expect(project.read("libs/one/inner.txt")).toBe("changed\n");
      expect(prints()).toEqual(before);
    }),
  );

  test(
    "[A78] [I13] a directory that holds a .git is not removed, and says why",
    inProject({ x: "x" }, async (project) => {
      const workspace = await project.open();
      makeNested(project, "later/deep");
      const before = fingerprint(join(project.root, "later/deep/.git"));
      const outcome = await workspace.restoreTo("1");
      expect(outcome).toMatchObject({ outcome: "applied", deleted: 1 });
      expect(outcome.kept).toContainEqual({ path: "later/deep", reason: "it holds a git repository" });
      expect(existsSync(join(project.root, "later/deep/inner.txt"))).toBe(false);
      expect(fingerprint(join(project.root, "later/deep/.git"))).toBe(before);
    }),
  );

  test(
    "nor is it by an undo, nor replaced by a file",
    inProject({ "was-a-file": "f" }, async (project) => {
      const workspace = await project.open();
      const turn = await workspace.turns.run({ prompt: "clone" }, async () => {
        project.remove("was-a-file");
        makeNested(project, "was-a-file");
        makeNested(project, "cloned");
      });
      const prints = () =>
        ["was-a-file", "cloned"].map((name) => fingerprint(join(project.root, name, ".git")));
      const before = prints();
      const after = project.tree();
      expect(await workspace.undo()).toMatchObject({
        outcome: "conflicts",
        conflicts: [{ path: "was-a-file" }],
      });
      expect(project.tree()).toEqual(after);
      expect(await workspace.restoreTo(turn.before.id)).toMatchObject({
        outcome: "conflicts",
        conflicts: [{ path: "was-a-file", reason: "cannot be saved" }],
      });
      expect(project.tree()).toEqual(after);
      expect(await workspace.undo({ bestEffort: true })).toMatchObject({ outcome: "partial" });
      expect(prints()).toEqual(before);
      expect(existsSync(join(project.root, "cloned/inner.txt"))).toBe(false);
    }),
  );

  test(
    "one repository that is broken does not void the others",
    inProject({}, async (project) => {
      makeRepository(project);
      makeNested(project, "good");
      project.write("broken/.git", "gitdir: /nowhere\n");
      project.write("broken/file.txt", "1\n");
      project.write("empty/.git/HEAD", "garbage");
      project.write("empty/file.txt", "1\n");
      const workspace = await project.open();
      for (const name of ["good/inner.txt", "broken/file.txt", "empty/file.txt"])
        project.write(name, "changed\n");
      expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied", modified: 3 });
      expect(readFileSync(join(project.root, "broken/.git"), "utf8")).toBe("gitdir: /nowhere\n");
    }),
  );

  for (const place of ["sub", "worktrees/sub"]) {
    test(
      `a submodule at ${place} is an ordinary directory`,
      inProject({}, async (project) => {
        const source = join(project.base, "source");
        mkdirSync(source);
        const origin = fixtureAt(source);
        origin.git("init", "-q", ".");
        origin.write("s.txt", "s\n");
        origin.git("add", ".");
        origin.git("commit", "-qm", "s");
        const git = makeRepository(project);
        git.git("submodule", "--quiet", "add", source, place);
        const before = [
          fingerprint(join(project.root, ".git")),
          fingerprint(join(project.root, place, ".git")),
        ];
        const workspace = await project.open();
        project.write(`${place}/s.txt`, "changed\n");
        expect(await workspace.restoreTo("1")).toMatchObject({ outcome: "applied", modified: 1 });
        expect(project.read(`${place}/s.txt`)).toBe("s\n");
        expect([
          fingerprint(join(project.root, ".git")),
          fingerprint(join(project.root, place, ".git")),
        ]).toEqual(before);
      }),
    );
  }
});

describe("[Y02] [Y16] the recorded state of git", () => {
  const stateOf = async (workspace: Workspace): Promise<GitState | null> =>
    (await workspace.checkpoint()).checkpoint.git;

  test(
    "follows branch, commit, staged and unstaged changes",
    inProject({}, async (project) => {
      const git = makeRepository(project);
      const workspace = await project.open();
      const first = git.git("rev-parse", "HEAD");
      expect(await stateOf(workspace)).toEqual({ branch: "main", commit: first, dirty: false, staged: [] });
      git.write("a.txt", "changed\n");
      expect(await stateOf(workspace)).toEqual({ branch: "main", commit: first, dirty: true, staged: [] });
      git.git("add", "a.txt");
      git.write("ünïcode.txt", "x\n");
      git.git("add", "ünïcode.txt");
      expect(await stateOf(workspace)).toEqual({
        branch: "main",
        commit: first,
        dirty: true,
        staged: ["a.txt", "ünïcode.txt"],
      });
      git.git("commit", "-qm", "second");
      git.git("checkout", "-q", "--detach");
      expect(await stateOf(workspace)).toEqual({
        branch: null,
        commit: git.git("rev-parse", "HEAD"),
        dirty: false,
        staged: [],
      });
    }),
  );

  test(
    "is null outside of git, and that of the repository around when the workspace is a folder of one",
    inProject({ "packages/one/x.txt": "x\n", "packages/two/y.txt": "y\n" }, async (project) => {
      const one = await project.open({ at: join(project.root, "packages/one") });
      expect(await stateOf(one)).toBeNull();
      const git = makeRepository(project);
      git.git("add", ".");
      expect(await stateOf(one)).toMatchObject({ branch: "main", commit: git.git("rev-parse", "HEAD") });
    }),
  );

  test(
    "[Y85] warns before a restore that crosses commits or leaves something staged",
    inProject({}, async (project) => {
      const git = makeRepository(project);
      const workspace = await project.open();
      git.write("a.txt", "2\n");
      git.git("commit", "-qam", "second");
      git.write("src/b.txt", "staged\n");
      git.git("add", ".");
      const { warnings } = await workspace.planRestore("1");
      expect(warnings.join("\n")).toMatch(/git was at main .* then and is at main .* now/);
      expect(warnings.join("\n")).toContain("staged in git (1 file)");
    }),
  );
});
