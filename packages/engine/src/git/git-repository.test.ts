import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createGitFixture, fixtureAt, type GitFixture } from "../../test/git-fixture.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import { findRepository } from "./git-repository.ts";

const fixtures: GitFixture[] = [];
afterEach(() => {
  for (const fixture of fixtures.splice(0)) fixture.remove();
});

function create(...initArguments: string[]): GitFixture {
  const fixture = createGitFixture(...initArguments);
  fixtures.push(fixture);
  return fixture;
}

function find(...parts: string[]) {
  return findRepository(absolutePath(join(...parts)));
}

test("the top level, and a folder inside", () => {
  const { path, write } = create();
  write("packages/ü/x.ts", "");
  const common = { gitDir: `${path}/.git`, commonDir: `${path}/.git`, topLevel: path, linkedWorktree: false };
  const read = { objectFormat: "sha1", hasRefFiles: true, trustsFileMode: true };
  expect(find(path)).toEqual({ ...common, ...read, prefix: "" });
  expect(find(path, "packages/ü")).toEqual({ ...common, ...read, prefix: "packages/\xc3\xbc" });
});

test("a linked worktree", () => {
  const { path, git, write } = create();
  write("a", "a");
  git("add", "a");
  git("commit", "-qm", "a");
  git("worktree", "add", "-q", ".claude/worktrees/one", "-b", "one");
  expect(find(path, ".claude/worktrees/one")).toMatchObject({
    gitDir: `${path}/.git/worktrees/one`,
    commonDir: `${path}/.git`,
    topLevel: `${path}/.claude/worktrees/one`,
    prefix: "",
    linkedWorktree: true,
  });
});

test("a submodule is a repository of its own", () => {
  const outer = create();
  const inner = create();
  inner.write("a", "a");
  inner.git("add", "a");
  inner.git("commit", "-qm", "a");
  outer.git("submodule", "add", "-q", inner.path, "lib/sub");
  expect(find(outer.path, "lib/sub")).toMatchObject({
    gitDir: `${outer.path}/.git/modules/lib/sub`,
    commonDir: `${outer.path}/.git/modules/lib/sub`,
    topLevel: `${outer.path}/lib/sub`,
    linkedWorktree: false,
  });
});

test("a bare repository has no working tree, its worktrees have", () => {
  const bare = create("--bare");
  expect(find(bare.path)).toBeUndefined();
  expect(find(bare.path, "refs")).toBeUndefined();
  const source = create();
  source.write("a", "a");
  source.git("add", "a");
  source.git("commit", "-qm", "a");
  const project = join(bare.path, "project");
  mkdirSync(project);
  fixtureAt(project).git("clone", "-q", "--bare", source.path, ".bare");
  writeFileSync(join(project, ".git"), "gitdir: ./.bare\n");
  fixtureAt(project).git("worktree", "add", "-q", "main");
  expect(find(project)).toBeUndefined();
  expect(find(project, "main")).toMatchObject({
    linkedWorktree: true,
    commonDir: `${project}/.bare`,
    prefix: "",
  });
});

test("a .git file that leads nowhere is no repository, a .git directory that is none is passed over", () => {
  const { path, write } = create();
  write("broken/.git", "gitdir: /nowhere\n");
  write("broken/deep/x", "");
  write("empty/.git/x", "");
  expect(find(path, "broken")).toBeUndefined();
  expect(find(path, "broken/deep")).toBeUndefined();
  expect(find(path, "empty")).toMatchObject({ topLevel: path, prefix: "empty" });
});

test("core.worktree says where the working tree is", () => {
  const { path, git, write } = create();
  write("elsewhere/x", "");
  git("config", "core.worktree", "../elsewhere");
  expect(find(path, "elsewhere")).toMatchObject({ topLevel: `${path}/elsewhere`, prefix: "" });
  expect(find(path)).toBeUndefined();
});

test("settings are read as git writes and people edit them", () => {
  const { path } = create("--object-format=sha256");
  const config = `[core]\n\trepositoryformatversion = 1 # x\n\tfileMode = "false" ; y\n[remote "core"]\n\tbare = true\n[extensions] objectFormat=sha256\n`;
  writeFileSync(join(path, ".git/config"), config);
  expect(find(path)).toMatchObject({ objectFormat: "sha256", trustsFileMode: false, topLevel: path });
});

test("a .git that is a link to a repository is followed", () => {
  const real = create();
  const { path } = create();
  fixtureAt(path).write("linked/x", "");
  symlinkSync(join(real.path, ".git"), join(path, "linked/.git"));
  expect(find(path, "linked")).toMatchObject({ topLevel: `${path}/linked`, gitDir: `${path}/linked/.git` });
});

test("outside of git there is none", () => {
  expect(findRepository(absolutePath("/"))).toBeUndefined();
  expect(findRepository(absolutePath("/proc"))).toBeUndefined();
});
