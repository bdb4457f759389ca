/** The git repository of a fork: history can be read and added to, and the original's is only read. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { createSystem, openWorkspace, type System } from "../src/index.ts";
import { absolutePath } from "../src/fs/absolute-path.ts";
import { readStatCache } from "../src/scan/stat-cache.ts";
import { RACY } from "../src/scan/stat-columns.ts";
import { fingerprint, fixtureAt, type GitFixture } from "./git-fixture.ts";

function gitIn(directory: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Agent", "-c", "user.email=agent@example.com"];
  return execFileSync("git", [...identity, ...args], {
    cwd: directory,
    timeout: 30_000,
    stdio: "pipe",
  }).toString();
}

/** A repository in a directory of its own, where everything of the test lies, the user's home included. */
async function inRepository(
  body: (repository: GitFixture, options: { home: string; system: System }) => Promise<void>,
): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "belay-fork-git-")));
  try {
    mkdirSync(join(base, "repository"));
    const repository = fixtureAt(join(base, "repository"));
    repository.git("init", "-q", ".");
    repository.write("a.txt", "a\n");
    repository.git("add", ".");
    repository.git("commit", "-q", "-m", "one");
    await body(repository, {
      home: join(base, "home"),
      system: { ...createSystem(), homeDirectory: join(base, "user") },
    });
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

test("[R93] a fork has a repository of its own: log, diff and commit work, push cannot, and the user's is untouched", async () => {
  await inRepository(async (repository, options) => {
    repository.git("remote", "add", "origin", "https://example.com/never.git");
    repository.write("staged.txt", "staged\n");
    repository.git("add", "staged.txt");
    repository.write("a.txt", "not committed\n");
    mkdirSync(join(repository.path, ".git/hooks"), { recursive: true });
    writeFileSync(join(repository.path, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    await using workspace = await openWorkspace(repository.path, options);
    const git = join(repository.path, ".git");
    const [before, content] = [fingerprint(git), fingerprint(git, { times: false })];
    const fork = await workspace.fork("one");
    expect(fingerprint(git)).toBe(before);
    expect(fork.git).toBe("private");
    expect(gitIn(fork.path, "log", "--format=%s")).toBe("one\n");
    expect(gitIn(fork.path, "status", "--short").split("\n").toSorted()).toEqual([
      "",
      " M a.txt",
      "A  staged.txt",
    ]);
    gitIn(fork.path, "commit", "-q", "-a", "-m", "in the fork");
    expect(gitIn(fork.path, "log", "--format=%s")).toBe("in the fork\none\n");
    gitIn(fork.path, "commit", "-q", "--allow-empty", "-m", "again");
    gitIn(fork.path, "tag", "-a", "-m", "a tag", "v1");
    const head = gitIn(fork.path, "symbolic-ref", "HEAD").trim();
    const [source] = (await workspace.planMerge(["one"])).merge.sources;
    expect(source!.ownCommits).toEqual({ commits: 2, path: fork.path, refs: [head, "refs/tags/v1"] });
    gitIn(fork.path, "tag", "-d", "v1");
    expect(gitIn(fork.path, "remote")).toBe("");
    expect(() => gitIn(fork.path, "push")).toThrow(/No configured push destination/);
    // a commit of what the original has too lets git renew the times of those objects, and nothing else
    expect(fingerprint(git, { times: false })).toBe(content);
    const after = fingerprint(git);
    // commits that only the fork has are named before it is removed
    await expect(workspace.removeFork("one")).rejects.toMatchObject({
      code: "FORK_UNCAPTURED",
      facts: { paths: [{ reason: "a commit that only the fork has" }] },
    });
    await workspace.removeFork("one", { despiteGaps: true, now: true });
    expect(fingerprint(git)).toBe(after);
  });
});

test("[R2400] git knows the files of a fork as it knew those of the original, and reads what it did not know", async () => {
  for (const version of ["2", "4"])
    await inRepository(async (repository, options) => {
      repository.write("sub/b.txt", "b\n");
      repository.write("sub/old.txt", "old\n");
      repository.write("changed.txt", "as committed\n");
      await atRest();
      repository.git("add", ".");
      repository.git("commit", "-q", "-m", "two");
      repository.git("update-index", "--index-version", version);
      await atRest();
      // the same size: only its time and its content tell
      repository.write("changed.txt", "AS committed\n");
      repository.write("sub/old.txt", "new\n");
      await atRest();
      repository.write("young.txt", "young\n");
      await atRest();
      repository.git("update-index", "--add", "sub/old.txt", "young.txt");
      // as if it had been written in the moment in which git looked at it
      const seconds = statSync(join(repository.path, "young.txt")).mtimeMs / 1000 - 0.001;
      utimesSync(join(repository.path, ".git/index"), seconds, seconds);
      await atRest();
      await using workspace = await openWorkspace(repository.path, options);
      const fork = await workspace.fork("one");
      makeOlderThanIndex(fork.path);
      // without a look at any content: what git would have to read is listed
      const unsure = gitIn(fork.path, "diff-files", "--name-only").split("\n").filter(Boolean);
      expect(unsure).toEqual(["changed.txt", "young.txt"]);
      gitIn(fork.path, "fsck", "--strict");
      expect(gitIn(fork.path, "status", "--short")).toBe(" M changed.txt\nM  sub/old.txt\nA  young.txt\n");
      // a checkpoint of earlier has other content than the index: the fork of it is not taken for unchanged
      const { checkpoint } = await workspace.checkpoint();
      repository.write("a.txt", "z\n");
      await atRest();
      repository.git("add", "a.txt");
      await atRest();
      await workspace.checkpoint();
      const earlier = await workspace.fork("earlier", { from: checkpoint.id });
      makeOlderThanIndex(earlier.path);
      expect(gitIn(earlier.path, "diff", "--name-only")).toBe("a.txt\nchanged.txt\n");
      expect(gitIn(earlier.path, "diff", "--", "a.txt")).toContain("-z\n+a\n");
    });
});

/** As in a fork that took longer to make: git reads files that are as young as the index. */
function makeOlderThanIndex(fork: string): void {
  const later = Date.now() / 1000 + 1;
  utimesSync(join(fork, ".git/index"), later, later);
}

/** Longer than the granularity of file times. */
async function atRest(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 50));
}

test("[R90] the first checkpoint of a fork has what a capture that knows nothing would have, and what git says there", async () => {
  await inRepository(async (repository, options) => {
    repository.write(".gitignore", "out/\n");
    repository.write("pkg/.gitignore", "gen.txt\n");
    repository.write("pkg/gen.txt", "ignored\n");
    repository.write("out/small.txt", "ignored\n");
    repository.write("__pycache__/kept.txt", "left out, but tracked\n");
    repository.write("__pycache__/other.txt", "left out\n");
    repository.write("data.sqlite-wal", "written through a memory map\n");
    repository.git("add", "-f", "__pycache__/kept.txt", ".");
    repository.git("commit", "-q", "-m", "two");
    repository.write("staged.txt", "staged\n");
    repository.git("add", "staged.txt");
    await atRest();
    await using workspace = await openWorkspace(repository.path, options);
    const states = new Map<string, unknown>();
    for (const [name, setup] of Object.entries<(fork: string) => void>({
      plain: () => {},
      committed: (fork) => gitIn(fork, "commit", "-q", "-m", "staged"),
      "other-rules": (fork) => {
        writeFileSync(join(fork, "pkg/.gitignore"), "");
        writeFileSync(join(fork, ".belayignore"), "pkg/gen.txt\n");
      },
      untracked: (fork) => gitIn(fork, "rm", "-q", "--cached", "__pycache__/kept.txt"),
    })) {
      const fork = await workspace.fork(name, { setup: async ({ path }) => setup(path) });
      const { checkpoint } = await workspace.show(fork.base!);
      states.set(name, [checkpoint.files, checkpoint.git?.staged]);
      const caches = readdirSync(workspace.store).filter((file) => file.startsWith("stat-cache-"));
      for (const cache of caches.map((file) => absolutePath(join(workspace.store, file)))) {
        const { table } = readStatCache(cache)!;
        // a memory map leaves no trace in its times
        expect(table.flags[table.names.indexOf("data.sqlite-wal")]).toBe(RACY);
        rmSync(cache);
      }
      await using opened = await workspace.openFork(fork.id);
      const again = await opened.checkpoint();
      expect([name, again.checkpoint.snapshot]).toEqual([name, checkpoint.snapshot]);
    }
    expect(Object.fromEntries(states)).toEqual({
      plain: [9, ["staged.txt"]],
      committed: [9, []],
      "other-rules": [9, ["staged.txt"]],
      untracked: [8, ["__pycache__/kept.txt", "staged.txt"]],
    });
  });
});

test("[R92] commits and repositories that only a fork has are named when it is removed, packed ones too", async () => {
  await inRepository(async (repository, options) => {
    repository.write(".gitignore", "out/\n");
    repository.git("add", ".");
    repository.git("commit", "-q", "-m", "two");
    repository.git("branch", "side", "HEAD~");
    repository.git("gc", "-q");
    await using workspace = await openWorkspace(repository.path, options);
    const paths = async (name: string) => {
      const error = await workspace.removeFork(name).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "FORK_UNCAPTURED" });
      return (error as { facts: { paths: { path: string }[] } }).facts.paths
        .map(({ path }) => path)
        .toSorted();
    };
    for (const pack of [
      ["pack-refs", "--all"],
      ["gc", "-q", "--prune=now"],
    ]) {
      const fork = await workspace.fork("packed");
      gitIn(fork.path, "checkout", "-q", "-b", "work");
      gitIn(fork.path, "commit", "-q", "--allow-empty", "-m", pack[0]!);
      gitIn(fork.path, ...pack);
      // neither the branches of the original nor what they lead to
      expect(await paths("packed")).toEqual([".git/refs/heads/work"]);
      const [source] = (await workspace.planMerge(["packed"])).merge.sources;
      expect(source!.ownCommits).toMatchObject({ commits: 1, refs: ["refs/heads/work"] });
      await workspace.removeFork("packed", { despiteGaps: true, now: true });
      await workspace.renameBranch("packed", `packed-${pack[0]}`);
    }
    const fork = await workspace.fork("nested");
    gitIn(fork.path, "init", "-q", "sub");
    gitIn(fork.path, "init", "-q", "out/deep");
    gitIn(fork.path, "init", "-q", "node_modules/made-again");
    writeFileSync(join(fork.path, "sub/kept.txt"), "kept\n");
    expect(await paths("nested")).toEqual(["out/deep/.git", "sub/.git"]);
    await workspace.removeFork("nested", { despiteGaps: true, now: true });
    await workspace.fork("clean");
    expect((await workspace.planMerge(["clean"])).merge.sources[0]!.ownCommits).toBeNull();
    await workspace.removeFork("clean");
  });
});

test("[R93] a linked worktree gives its own HEAD and index; below the top of a repository there is none, and it is said", async () => {
  await inRepository(async (repository, options) => {
    const linked = `${repository.path}-linked`;
    repository.git("worktree", "add", "-q", "-b", "side", linked);
    try {
      await using workspace = await openWorkspace(linked, options);
      const fork = await workspace.fork("one");
      expect(gitIn(fork.path, "rev-parse", "--abbrev-ref", "HEAD")).toBe("side\n");
      expect(gitIn(fork.path, "status", "--short")).toBe("");
      await workspace.removeFork("one", { now: true });
    } finally {
      rmSync(linked, { recursive: true, force: true });
    }
    mkdirSync(join(repository.path, "sub"));
    await using below = await openWorkspace(join(repository.path, "sub"), options);
    const fork = await below.fork("two");
    expect(fork.git).toBe("none");
    expect(fork.warnings).toEqual([
      "The workspace lies below the top of its git repository: the fork has no git repository.",
    ]);
    // and not beside the workspace, where git would take its files for the repository's
    expect(fork.path.startsWith(repository.path)).toBe(false);
    await below.removeFork("two", { now: true });
    const none = await below.fork("three", { git: "none" });
    expect(none.warnings).toEqual([]);
    await below.removeFork("three", { now: true });
  });
});
