import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  createGitFixture,
  fingerprint,
  fixtureAt,
  repositoryOf,
  type GitFixture,
} from "../../test/git-fixture.ts";
import { displayPath, pathFromText, type BytePath } from "../model/byte-path.ts";
import type { GitState } from "../model/checkpoint.ts";
import { createGitMemory, gitKey, readGitState, type GitStateOptions } from "./git-state.ts";

const fixtures: GitFixture[] = [];
afterEach(() => {
  for (const fixture of fixtures.splice(0)) fixture.remove();
});

function createEmpty(...initArguments: string[]): GitFixture {
  const fixture = createGitFixture(...initArguments);
  fixtures.push(fixture);
  return fixture;
}

/** Three files and a link in one commit, older than the index, so that their stat is proof. */
function createCommitted(...initArguments: string[]): GitFixture {
  const fixture = createEmpty(...initArguments);
  for (const name of ["a.ts", "b.ts", "sub/c.ts"]) fixture.write(name, `content of ${name}`);
  symlinkSync("a.ts", join(fixture.path, "link"));
  for (const name of ["a.ts", "b.ts", "sub/c.ts"]) setTime(fixture, name, 1000);
  fixture.git("add", "-A");
  fixture.git("commit", "-qm", "first");
  return fixture;
}

function setTime({ path }: GitFixture, name: string, seconds: number): void {
  utimesSync(join(path, name), seconds, seconds);
}

/** Reads the state both ways a caller can know stats, and proves that nothing under `.git` was touched. */
function read(path: string, options: GitStateOptions = {}): GitState | null {
  const repository = repositoryOf(path);
  const before = fingerprint(repository.commonDir);
  const looked = readGitState(repository, () => undefined, options);
  const scanned = readGitState(repository, (name) => scannedStat(path, name), options);
  expect(scanned).toEqual(looked);
  expect(fingerprint(repository.commonDir)).toBe(before);
  return looked;
}

function scannedStat(path: string, name: BytePath) {
  const stat = lstatSync(join(path, displayPath(name)), { bigint: true, throwIfNoEntry: false });
  if (!stat?.isFile()) return undefined;
  return { size: Number(stat.size), mtimeNs: stat.mtimeNs, mode: Number(stat.mode) & 0o777 };
}

/** What `git status` says, asked last because it refreshes the index. */
function isDirtyForGit({ git }: GitFixture): boolean {
  return git("status", "--porcelain", "-uno") !== "";
}

describe("branch and commit", () => {
  test("no commits yet: everything in the index is staged", () => {
    const fixture = createEmpty();
    expect(read(fixture.path)).toEqual({ branch: "main", commit: null, dirty: false, staged: [] });
    fixture.write("a", "a");
    fixture.write("b", "b");
    fixture.git("add", "a");
    fixture.git("add", "-N", "b");
    expect(read(fixture.path)).toEqual({ branch: "main", commit: null, dirty: true, staged: ["a"] });
  });

  test("a branch with a commit, loose and packed", () => {
    const fixture = createCommitted();
    fixture.git("checkout", "-qb", "topic/ü");
    const clean = { branch: "topic/ü", commit: fixture.git("rev-parse", "HEAD"), dirty: false, staged: [] };
    expect(read(fixture.path)).toEqual(clean);
    fixture.git("pack-refs", "--all");
    expect(existsSync(join(fixture.path, ".git/refs/heads/main"))).toBe(false);
    expect(read(fixture.path)).toEqual(clean);
  });

  test("a detached HEAD has no branch", () => {
    const fixture = createCommitted();
    fixture.git("checkout", "-q", "--detach");
    expect(read(fixture.path)).toMatchObject({ branch: null, commit: fixture.git("rev-parse", "HEAD") });
  });

  test("a branch that stands for another one", () => {
    const fixture = createCommitted();
    fixture.git("symbolic-ref", "refs/heads/alias", "refs/heads/main");
    fixture.git("symbolic-ref", "HEAD", "refs/heads/alias");
    expect(read(fixture.path)).toMatchObject({ branch: "alias", commit: fixture.git("rev-parse", "HEAD") });
  });

  test("a SHA-256 repository", () => {
    const fixture = createCommitted("--object-format=sha256");
    setTime(fixture, "a.ts", 2000);
    expect(read(fixture.path)).toEqual({
      branch: "main",
      commit: fixture.git("rev-parse", "HEAD"),
      dirty: false,
      staged: [],
    });
  });

  test("a linked worktree has its own branch and index", () => {
    const fixture = createCommitted();
    fixture.git("worktree", "add", "-q", "-b", "one", "trees/one");
    const linked = fixtureAt(join(fixture.path, "trees/one"));
    linked.write("b.ts", "new");
    linked.git("add", "b.ts");
    expect(read(linked.path)).toMatchObject({ branch: "one", dirty: true, staged: ["b.ts"] });
    expect(read(fixture.path)).toMatchObject({ branch: "main", dirty: false, staged: [] });
  });

  test.each(["nonsense", "ref: ../../../etc/passwd", "ref: refs/heads/../../../x", ""])(
    "HEAD %j is no state",
    (head) => {
      const fixture = createCommitted();
      writeFileSync(join(fixture.path, ".git/HEAD"), head);
      expect(readGitState(repositoryOf(fixture.path), () => undefined)).toBeNull();
    },
  );

  test("refs in a reftable are asked of git, and unknown to a git that cannot read them", () => {
    const fixture = createCommitted();
    fixture.git("config", "core.repositoryformatversion", "1");
    fixture.git("config", "extensions.refstorage", "reftable");
    expect(readGitState(repositoryOf(fixture.path), () => undefined)).toBeNull();
  });
});

describe("dirty", () => {
  const changes: [string, (fixture: GitFixture) => void, boolean][] = [
    ["nothing", () => undefined, false],
    ["another length", ({ write }) => write("a.ts", "x"), true],
    ["[I23] the same length", ({ write }) => write("a.ts", "CONTENT of a.ts"), true],
    ["the same content written again", ({ write }) => write("a.ts", "content of a.ts"), false],
    ["a touched file", (fixture) => setTime(fixture, "a.ts", 5000), false],
    ["a deleted file", ({ path }) => unlinkSync(join(path, "a.ts")), true],
    ["a deleted folder", ({ path }) => rmSync(join(path, "sub"), { recursive: true }), true],
    ["an executable bit", ({ path }) => chmodSync(join(path, "a.ts"), 0o755), true],
    [
      "a link elsewhere",
      ({ path }) => (unlinkSync(join(path, "link")), symlinkSync("b.ts", join(path, "link"))),
      true,
    ],
    [
      "a link of the same target",
      ({ path }) => (unlinkSync(join(path, "link")), symlinkSync("a.ts", join(path, "link"))),
      false,
    ],
    ["a file for a link", ({ path, write }) => (unlinkSync(join(path, "link")), write("link", "a.ts")), true],
    [
      "a folder for a file",
      ({ path }) => (unlinkSync(join(path, "a.ts")), mkdirSync(join(path, "a.ts"))),
      true,
    ],
    ["an untracked file", ({ write }) => write("new.ts", ""), false],
    ["an intended file", ({ write, git }) => (write("new.ts", "x"), git("add", "-N", "new.ts")), true],
    [
      "a file that git is to assume unchanged",
      ({ write, git }) => (git("update-index", "--assume-unchanged", "a.ts"), write("a.ts", "x")),
      false,
    ],
    [
      "modes that do not count",
      ({ path, git }) => (git("config", "core.fileMode", "false"), chmodSync(join(path, "a.ts"), 0o755)),
      false,
    ],
  ];
  test.each(changes)("%s", (_, change, dirty) => {
    const fixture = createCommitted();
    change(fixture);
    expect(read(fixture.path)).toMatchObject({ dirty, staged: [] });
    expect(isDirtyForGit(fixture)).toBe(dirty);
  });

  test("[I23] a change right after the commit, in the same tick of the clock", () => {
    for (let times = 0; times < 20; times += 1) {
      const fixture = createEmpty();
      fixture.write("a", "one");
      fixture.git("add", "a");
      fixture.write("a", "two");
      fixture.git("commit", "-qm", "first");
      expect(read(fixture.path)).toMatchObject({ dirty: true, staged: [] });
    }
  });

  test("a tracked path that no file system can hold", () => {
    const fixture = createCommitted();
    const object = fixture.git("rev-parse", "HEAD:a.ts");
    fixture.git("update-index", "--add", "--cacheinfo", `100644,${object},${"x".repeat(300)}`);
    fixture.git("commit", "-qm", "second");
    expect(readGitState(repositoryOf(fixture.path), () => undefined)).toMatchObject({
      dirty: true,
      staged: [],
    });
  });

  test("a submodule at another commit, but not one that is not checked out", () => {
    const inner = createCommitted();
    const fixture = createCommitted();
    fixture.git("submodule", "add", "-q", inner.path, "lib");
    fixture.git("commit", "-qm", "with a submodule");
    expect(read(fixture.path)).toMatchObject({ dirty: false });
    const lib = fixtureAt(join(fixture.path, "lib"));
    lib.git("commit", "-q", "--allow-empty", "-m", "further");
    expect(read(fixture.path)).toMatchObject({ dirty: true, staged: [] });
    expect(read(lib.path)).toMatchObject({ branch: "main", dirty: false });
    fixture.git("submodule", "deinit", "-q", "-f", "lib");
    expect(read(fixture.path)).toMatchObject({ dirty: false });
  });

  test("a folder of a repository answers for itself", () => {
    const fixture = createCommitted();
    fixture.write("a.ts", "changed");
    fixture.git("add", "a.ts");
    fixture.write("b.ts", "changed");
    expect(read(join(fixture.path, "sub"))).toMatchObject({ dirty: false, staged: [] });
    fixture.write("sub/c.ts", "changed");
    expect(read(join(fixture.path, "sub"))).toMatchObject({ dirty: true, staged: [] });
    fixture.git("add", "sub/c.ts");
    expect(read(join(fixture.path, "sub"))).toMatchObject({ dirty: true, staged: ["c.ts"] });
  });
});

describe("staged", () => {
  test("added, changed, renamed, deleted, and names that are not ordinary", () => {
    const fixture = createCommitted();
    fixture.write("b.ts", "changed");
    fixture.write("ü \n\t", "new");
    fixture.git("mv", "a.ts", "z.ts");
    fixture.git("rm", "-q", "--cached", "sub/c.ts");
    fixture.git("add", "b.ts", "ü \n\t");
    expect(read(fixture.path)).toMatchObject({
      dirty: true,
      staged: ["a.ts", "b.ts", "sub/c.ts", "z.ts", "ü \n\t"],
    });
  });

  test("in mid-merge the conflict is dirty and staged", () => {
    const fixture = createCommitted();
    fixture.git("checkout", "-qb", "other");
    fixture.write("a.ts", "theirs");
    fixture.git("commit", "-qam", "theirs");
    fixture.git("checkout", "-q", "main");
    fixture.write("a.ts", "ours");
    fixture.git("commit", "-qam", "ours");
    expect(() => fixture.git("merge", "other")).toThrow("merge other");
    expect(read(fixture.path)).toMatchObject({ branch: "main", dirty: true, staged: ["a.ts"] });
  });

  test("[N3] a sparse index gets no objects written", () => {
    const fixture = createCommitted();
    fixture.git("sparse-checkout", "init", "--cone", "--sparse-index");
    fixture.write("a.ts", "changed");
    fixture.git("add", "a.ts");
    expect(read(fixture.path)).toMatchObject({ dirty: true, staged: ["a.ts"] });
  });

  test("is not asked again while commit and index stay as they were", () => {
    const fixture = createCommitted();
    fixture.write("a.ts", "changed");
    fixture.git("add", "a.ts");
    const repository = repositoryOf(fixture.path);
    const state = read(fixture.path)!;
    const previous = { key: gitKey(repository), state: { ...state, staged: ["remembered"] } };
    expect(read(fixture.path, { previous, commandPath: "/nowhere" })).toMatchObject({
      staged: ["remembered"],
    });
    fixture.git("commit", "-qm", "second");
    expect(gitKey(repository)).not.toBe(previous.key);
    expect(read(fixture.path, { previous })).toMatchObject({ staged: [] });
  });
});

describe("a memory", () => {
  test("looks only at what changed, and again at everything when the index did", () => {
    const fixture = createCommitted();
    const memory = createGitMemory();
    const repository = repositoryOf(fixture.path);
    const asked: string[] = [];
    const readChanged = (...changed: string[]) => {
      asked.length = 0;
      const statOf = (path: BytePath) => (asked.push(path), undefined);
      return readGitState(repository, statOf, { memory, changed: changed.map(pathFromText) });
    };
    expect(readChanged()).toMatchObject({ dirty: false });
    expect(asked).toHaveLength(4);
    fixture.write("a.ts", "CONTENT of a.ts");
    fixture.write("sub/c.ts", "x");
    expect(readChanged("a.ts", "sub", "untracked")).toMatchObject({ dirty: true });
    expect(asked).toEqual(["a.ts", "sub/c.ts"]);
    fixture.write("a.ts", "content of a.ts");
    expect(readChanged("a.ts")).toMatchObject({ dirty: true });
    fixture.write("sub/c.ts", "content of sub/c.ts");
    expect(readChanged("sub/c.ts")).toMatchObject({ dirty: false });
    expect(readChanged()).toMatchObject({ dirty: false });
    expect(asked).toEqual([]);
    fixture.git("add", "-A");
    readChanged();
    expect(asked).toHaveLength(4);
  });
});

describe("git is not led astray", () => {
  test("without git the state is unknown", () => {
    const fixture = createCommitted();
    expect(read(fixture.path, { commandPath: "/nowhere" })).toBeNull();
  });

  test("no program of the project is taken for git, and no hook is run", () => {
    const fixture = createCommitted();
    const trap = `#!/bin/sh\ntouch ${fixture.path}/sprung\n`;
    for (const name of ["git", "bin/git", "hook"]) {
      fixture.write(name, trap);
      chmodSync(join(fixture.path, name), 0o755);
    }
    for (const key of ["core.fsmonitor", "diff.external", "core.pager", "core.sshCommand"]) {
      fixture.git("config", key, join(fixture.path, "hook"));
    }
    fixture.write("a.ts", "changed");
    fixture.git("-c", "core.fsmonitor=false", "add", "a.ts");
    const commandPath = [".", "", "bin", join(fixture.path, "bin"), fixture.path, "/usr/bin"].join(":");
    expect(read(fixture.path, { commandPath })).toMatchObject({ staged: ["a.ts"] });
    expect(existsSync(join(fixture.path, "sprung"))).toBe(false);
  });
});
