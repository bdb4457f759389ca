/**
 * Ghosts: checkpoints that git sees as commits. In repositories of every kind the commit has what the checkpoint has,
 * and nothing under `.git` changes but objects and `refs/belay`.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Ghost, MissingGhost, Workspace } from "../src/index.ts";
import { fixtureAt, type GitFixture } from "./git-fixture.ts";
import { inProject, type Project } from "./support/project.ts";

/** Everything below a git directory but objects and our refs: kind, mode and content by path. */
function untouched(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (path: string, name: string) => {
    if (/^(objects|refs\/belay)$/.test(name)) return;
    const stat = lstatSync(path);
    const kind = `${stat.mode.toString(8)} ${stat.isDirectory() ? "" : stat.mtimeMs}`;
    if (stat.isDirectory()) {
      found[name] = stat.mode.toString(8);
      for (const entry of readdirSync(path))
        visit(join(path, entry), name === "" ? entry : `${name}/${entry}`);
    } else if (stat.isSymbolicLink()) found[name] = `${kind} -> ${readlinkSync(path)}`;
    else if (name === "packed-refs")
      found[name] = readFileSync(path, "latin1").replaceAll(/^\S+ refs\/belay\/.*\n/gm, "");
    else found[name] = `${kind} ${readFileSync(path, "latin1")}`;
  };
  visit(directory, "");
  return found;
}

/** The files of a commit with their content. */
function filesOf(git: GitFixture, commit: string): Record<string, string> {
  const listed = git
    .git("ls-tree", "-r", "-z", commit)
    .split("\0")
    .filter((line) => line !== "");
  return Object.fromEntries(
    listed.map((line) => {
      const [facts, path] = line.split("\t") as [string, string];
      const [mode, type, object] = facts.split(" ") as [string, string, string];
      return [
        path,
        type === "blob" ? `${mode} ${git.gitBytes("cat-file", "blob", object).toString("latin1")}` : mode,
      ];
    }),
  );
}

function made(result: Ghost | MissingGhost): Ghost {
  if ("missing" in result) throw new Error(`no ghost: ${result.missing}`);
  return result;
}

const hasReftable = gitVersion() >= 245;
if (!hasReftable) console.warn("Ghosts in reftables are not tested: git is older than 2.45.");

function gitVersion(): number {
  const [, major, minor] =
    /(\d+)\.(\d+)/.exec(execFileSync("git", ["--version"], { encoding: "utf8" })) ?? [];
  return Number(major) * 100 + Number(minor);
}

function makeRepository(project: Project, ...init: string[]): GitFixture {
  const git = fixtureAt(project.root);
  git.git("init", "-q", ...init, ".");
  git.write("a.txt", "a\n");
  git.write("src/b.txt", "b\n");
  git.write("src/run.sh", "#!/bin/sh\n");
  chmodSync(join(project.root, "src/run.sh"), 0o755);
  git.write(".gitignore", "*.log\n");
  git.git("add", ".");
  git.git("commit", "-qm", "first");
  return git;
}

/** Work of a turn: an edit, a new file, a deletion, a link, and what must not be shown. */
function work(project: Project): void {
  project.write("a.txt", "changed\n");
  project.write("new file ä.txt", "new\n");
  project.remove("src/b.txt");
  symlinkSync("a.txt", join(project.root, "link"));
  project.write("x.log", "ignored\n");
  project.write(".env.local", "SECRET=1\n");
}

const AFTER_WORK = {
  ".gitignore": "100644 *.log\n",
  "a.txt": "100644 changed\n",
  "new file ä.txt": "100644 new\n",
  link: "120000 a.txt",
  "src/run.sh": "100755 #!/bin/sh\n",
};

/** Who has which rights to objects is left to git. */
const IMPORTED = ["core.sharedRepository", "0600"];

interface Kind {
  prepare(git: GitFixture, project: Project): void;
  /** What the commit has besides; undefined = it is not there. */
  differs?: Record<string, string | undefined>;
  init?: string[];
}

const KINDS: Record<string, Kind> = {
  clean: { prepare: () => undefined },
  "partly staged": {
    prepare: (git) => {
      git.write("staged.txt", "staged\n");
      git.git("add", "staged.txt");
      git.write("staged.txt", "and changed\n");
    },
    differs: { "staged.txt": "100644 and changed\n" },
  },
  "with a detached HEAD": { prepare: (git) => void git.git("checkout", "-q", "--detach") },
  "in the middle of a merge": {
    prepare: (git) => {
      git.git("checkout", "-qb", "other");
      git.write("m.txt", "theirs\n");
      git.git("add", ".");
      git.git("commit", "-qm", "theirs");
      git.git("checkout", "-q", "main");
      git.write("m.txt", "ours\n");
      git.git("add", ".");
      git.git("commit", "-qm", "ours");
      expect(() => git.git("merge", "other")).toThrow();
      git.write("m.txt", "settled\n");
    },
    differs: { "m.txt": "100644 settled\n" },
  },
  "in the middle of a rebase": {
    prepare: (git) => {
      git.git("checkout", "-qb", "other");
      git.write("r.txt", "theirs\n");
      git.git("add", ".");
      git.git("commit", "-qm", "theirs");
      git.git("checkout", "-q", "main");
      git.write("r.txt", "ours\n");
      git.git("add", ".");
      git.git("commit", "-qm", "ours");
      expect(() => git.git("rebase", "other")).toThrow();
      git.write("r.txt", "settled\n");
    },
    differs: { "r.txt": "100644 settled\n" },
  },
  "with packed refs": {
    prepare: (git) => {
      git.git("tag", "v1");
      git.git("pack-refs", "--all");
    },
  },
  "with a submodule": {
    prepare: (git, project) => {
      const inner = fixtureAt(join(project.base, "inner"));
      mkdirSync(inner.path);
      inner.git("init", "-q", ".");
      inner.write("s.txt", "s\n");
      inner.git("add", ".");
      inner.git("commit", "-qm", "inner");
      git.git("submodule", "--quiet", "add", inner.path, "sub");
      git.git("commit", "-qm", "submodule");
      git.write("sub/s.txt", "changed inside\n");
    },
    differs: { sub: "160000", ".gitmodules": expect.any(String) },
  },
  "with a repository without commits inside": {
    prepare: (git, project) => {
      mkdirSync(join(project.root, "nested"));
      fixtureAt(join(project.root, "nested")).git("init", "-q", ".");
      git.write("nested/n.txt", "of another repository\n");
    },
  },
  "with a sparse checkout": {
    prepare: (git) => {
      git.write("far/away.txt", "far\n");
      git.git("add", ".");
      git.git("commit", "-qm", "far");
      git.git("sparse-checkout", "set", "src");
      expect(existsSync(join(git.path, "far"))).toBe(false);
    },
    differs: { "far/away.txt": "100644 far\n" },
  },
  "with SHA-256": { prepare: () => undefined, init: ["--object-format=sha256"] },
  "with assumed files": { prepare: (git) => void git.git("update-index", "--assume-unchanged", "a.txt") },
};

describe("[C29, C30, C31, C32, C33, L49, I15, R420, R354] original 25: a ghost has what the checkpoint has, and touches objects and refs/belay only", () => {
  const kinds = Object.entries(KINDS).flatMap(([label, kind]) => [
    { ...kind, label, isImported: false },
    { ...kind, label: `${label}, imported`, isImported: true },
  ]);
  for (const { label, prepare, differs = {}, init = [], isImported } of kinds) {
    test(
      label,
      inProject({}, async (project) => {
        const git = makeRepository(project, ...init);
        prepare(git, project);
        if (isImported) git.git("config", ...IMPORTED);
        const workspace = await project.open();
        const before = untouched(join(project.root, ".git"));
        const head = git.git("rev-parse", "HEAD");
        work(project);
        const first = made(await workspace.ghost(undefined, { description: "After\nwork" }));
        const wanted = Object.fromEntries(
          Object.entries({ ...AFTER_WORK, ...differs }).filter(([, content]) => content !== undefined),
        );
        expect(filesOf(git, first.commit)).toEqual(wanted);
        expect(git.git("rev-parse", `refs/belay/ghost/${first.id}`)).toBe(first.commit);
        expect(git.git("log", "-1", "--format=%P|%cn|%s", first.commit)).toBe(
          `${head}|Belay|[ghost] After work`,
        );
        // the next one starts from it
        project.write("a.txt", "changed again\n");
        project.remove("link");
        mkdirSync(join(project.root, "link"));
        project.write("link/below.txt", "below\n");
        const second = made(await workspace.ghost());
        expect(filesOf(git, second.commit)).toEqual({
          ...Object.fromEntries(Object.entries(wanted).filter(([path]) => path !== "link")),
          "a.txt": "100644 changed again\n",
          "link/below.txt": "100644 below\n",
        });
        expect(await workspace.ghosts()).toMatchObject([
          { id: second.id },
          { id: first.id, description: "After work" },
        ]);
        expect(untouched(join(project.root, ".git"))).toEqual(before);
        git.git("fsck", "--strict");
      }),
    );
  }

  test.skipIf(!hasReftable)(
    "with a reftable, in which git itself keeps all refs and their logs",
    inProject({}, async (project) => {
      const git = makeRepository(project, "--ref-format=reftable");
      git.git("branch", "other");
      // all that is in the table: every ref of the user's, what HEAD stands on, and every line of every log
      const refs = () => [
        ...git.git("for-each-ref", "--format=%(refname) %(objectname) %(symref)").split("\n").sort(),
        git.git("symbolic-ref", "HEAD"),
        ...git
          .git("reflog", "list")
          .split("\n")
          .map((ref) => git.git("reflog", "show", "--format=%H %gs", ref)),
      ];
      const withoutTable = () =>
        Object.entries(untouched(join(project.root, ".git"))).filter(
          ([name]) => !name.startsWith("reftable/"),
        );
      const [before, table] = [withoutTable(), refs()];
      const workspace = await project.open();
      work(project);
      const ghost = made(await workspace.ghost());
      expect(filesOf(git, ghost.commit)).toEqual(AFTER_WORK);
      project.write("a.txt", "changed again\n");
      const next = made(await workspace.ghost());
      const own = [ghost, next].map(({ id, commit }) => `refs/belay/ghost/${id} ${commit} `).sort();
      expect(refs()).toEqual([...own, ...table]);
      expect(await workspace.ghosts()).toMatchObject([{ id: next.id }, { id: ghost.id }]);
      expect((await workspace.status()).git?.branch).toBe("main");
      for (const { id } of [ghost, next]) await workspace.dropGhost(id);
      expect(refs()).toEqual(table);
      expect(withoutTable()).toEqual(before);
      git.git("fsck", "--strict");
    }),
  );

  test(
    "in a repository without commits",
    inProject({ "a.txt": "a\n" }, async (project) => {
      const git = fixtureAt(project.root);
      git.git("init", "-q", ".");
      const before = untouched(join(project.root, ".git"));
      const workspace = await project.open();
      const { commit } = made(await workspace.ghost());
      expect(filesOf(git, commit)).toEqual({ "a.txt": "100644 a\n" });
      expect(git.git("log", "-1", "--format=%P", commit)).toBe("");
      expect(untouched(join(project.root, ".git"))).toEqual(before);
    }),
  );

  test.each(["written here", "imported"])("of a clean tree is HEAD: %s", (how) =>
    inProject({}, async (project) => {
      const git = makeRepository(project);
      if (how === "imported") git.git("config", ...IMPORTED);
      const workspace = await project.open();
      project.write("x.log", "ignored\n");
      const ghost = made(await workspace.ghost());
      expect(ghost.commit).toBe(git.git("rev-parse", "HEAD"));
      expect(await workspace.ghosts()).toEqual([ghost]);
    })(),
  );

  test(
    "in a linked worktree, whose refs are those of all",
    inProject({}, async (project) => {
      const git = makeRepository(project);
      const other = join(project.base, "other");
      git.git("worktree", "add", "-q", other, "-b", "side");
      const before = untouched(join(project.root, ".git"));
      const workspace = await project.open({ at: other });
      writeFileSync(join(other, "a.txt"), "in the worktree\n");
      const { commit, id } = made(await workspace.ghost());
      expect(filesOf(git, commit)["a.txt"]).toBe("100644 in the worktree\n");
      expect(git.git("for-each-ref", "--format=%(refname)", "refs/belay")).toBe(`refs/belay/ghost/${id}`);
      expect(untouched(join(project.root, ".git"))).toEqual(before);
    }),
  );

  test(
    "of a root below the top level has the rest as HEAD has it",
    inProject({}, async (project) => {
      const git = makeRepository(project);
      const workspace = await project.open({ at: join(project.root, "src") });
      project.write("src/b.txt", "changed\n");
      project.write("src/new.txt", "new\n");
      project.write("a.txt", "changed outside the root\n");
      const { commit } = made(await workspace.ghost());
      expect(filesOf(git, commit)).toMatchObject({
        "a.txt": "100644 a\n",
        "src/b.txt": "100644 changed\n",
        "src/new.txt": "100644 new\n",
      });
    }),
  );

  test.each(["--depth=1", "--filter=blob:none"])("in a clone made with %s", (option) =>
    inProject({}, async (project) => {
      const origin = fixtureAt(join(project.base, "origin"));
      mkdirSync(origin.path);
      origin.git("init", "-q", ".");
      origin.git("config", "uploadpack.allowFilter", "true");
      for (const content of ["1\n", "2\n"]) {
        origin.write("a.txt", content);
        origin.git("add", ".");
        origin.git("commit", "-qm", content.trim());
      }
      execFileSync("git", ["clone", "-q", option, `file://${origin.path}`, project.root], {
        timeout: 60_000,
      });
      const git = fixtureAt(project.root);
      const before = untouched(join(project.root, ".git"));
      const workspace = await project.open();
      project.write("b.txt", "b\n");
      const { commit } = made(await workspace.ghost());
      expect(filesOf(git, commit)).toEqual({ "a.txt": "100644 2\n", "b.txt": "100644 b\n" });
      expect(untouched(join(project.root, ".git"))).toEqual(before);
    })(),
  );

  test.each(["written here", "imported"])(
    "no hook, filter or watcher of the user's runs, no reflog appears, and line endings look as git has them: %s",
    (how) =>
      inProject({}, async (project) => {
        const git = makeRepository(project);
        const mark = join(project.base, "mark");
        const program = join(project.base, "program");
        writeFileSync(program, `#!/bin/sh\necho run >> ${mark}\ncat\n`, { mode: 0o755 });
        git.write(".gitattributes", "*.crlf text eol=crlf\n*.f filter=marked\n");
        git.write("w.crlf", "one\r\ntwo\r\n");
        git.git("add", ".");
        git.git("commit", "-qm", "line endings");
        for (const hook of ["reference-transaction", "post-index-change", "post-commit", "pre-auto-gc"])
          writeFileSync(join(project.root, ".git/hooks", hook), readFileSync(program), { mode: 0o755 });
        git.git("config", "filter.marked.clean", program);
        git.git("config", "core.fsmonitor", program);
        git.git("config", "core.logAllRefUpdates", "always");
        if (how === "imported") git.git("config", ...IMPORTED);
        const before = untouched(join(project.root, ".git"));
        const workspace = await project.open();
        git.write("x.f", "filtered\n");
        const { commit } = made(await workspace.ghost());
        expect(filesOf(git, commit)).toMatchObject({
          "w.crlf": "100644 one\ntwo\n",
          "x.f": "100644 filtered\n",
        });
        await workspace.dropGhost("all");
        expect(existsSync(mark)).toBe(false);
        expect(untouched(join(project.root, ".git"))).toEqual(before);
      })(),
  );
});

describe("ghosts over time", () => {
  test(
    "[C36, C37, C38, R421] are read back from the refs by the next process; the oldest beyond ghost.keep go, those of earlier runs included",
    inProject({}, async (project) => {
      const git = makeRepository(project);
      project.configure({ "ghost.keep": "3" });
      const names = () =>
        git.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/belay").split("\n").toSorted();
      const ids: string[] = [];
      for (let run = 0; run < 3; run += 1) {
        const workspace = await project.open();
        for (let at = 0; at < 2; at += 1) {
          project.write("a.txt", `${run} ${at}\n`);
          ids.push(made(await workspace.ghost()).id);
        }
        expect(names()).toEqual(ids.slice(-3).toSorted());
        await project.close(workspace);
      }
      const workspace = await project.open();
      expect(await workspace.ghosts()).toMatchObject(
        ids
          .slice(-3)
          .toReversed()
          .map((id) => ({ id, checkpoint: id })),
      );
      git.git("gc", "-q", "--prune=now");
      project.write("a.txt", "after gc\n");
      expect(filesOf(git, made(await workspace.ghost()).commit)["a.txt"]).toBe("100644 after gc\n");
      expect(await workspace.dropGhost(ids.at(-1)!)).toBe(1);
      expect(await workspace.dropGhost(ids.at(-1)!)).toBe(0);
      expect(await workspace.dropGhost("all")).toBe(2);
      expect(names()).toEqual([""]);
    }),
  );

  test(
    "a checkpoint of the past, twice: its own content, one ghost",
    inProject({}, async (project) => {
      const git = makeRepository(project);
      const workspace = await project.open();
      project.write("a.txt", "then\n");
      const { id } = await workspace.checkpoint();
      git.git("checkout", "-q", "a.txt");
      project.write("later.txt", "later\n");
      const ghost = made(await workspace.ghost(id));
      expect(filesOf(git, ghost.commit)).toMatchObject({ "a.txt": "100644 then\n" });
      expect(filesOf(git, ghost.commit)).not.toHaveProperty(["later.txt"]);
      expect(await workspace.ghost(id)).toMatchObject({ id, commit: ghost.commit });
      expect(await workspace.ghosts()).toHaveLength(1);
    }),
  );

  test(
    "[C34] restoring one removes what was made since, and can be undone",
    inProject({}, async (project) => {
      makeRepository(project);
      const workspace = await project.open();
      work(project);
      const before = project.tree();
      const ghost = made(await workspace.ghost());
      project.write("made-since.txt", "x\n");
      project.write("a.txt", "y\n");
      expect(await workspace.restoreTo(ghost.id)).toMatchObject({ outcome: "applied" });
      expect(project.tree()).toEqual(before);
      expect(await workspace.resolve(ghost.commit.slice(0, 10))).toMatchObject({ id: ghost.id });
      expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
      expect(project.read("made-since.txt")).toBe("x\n");
    }),
  );

  test(
    "HEAD moved, or what git ignores changed: the next one starts from HEAD",
    inProject({}, async (project) => {
      const git = makeRepository(project);
      const workspace = await project.open();
      work(project);
      made(await workspace.ghost());
      git.git("add", "-A");
      git.git("commit", "-qm", "second");
      project.write("src/c.txt", "c\n");
      const second = made(await workspace.ghost());
      expect(git.git("log", "-1", "--format=%P", second.commit)).toBe(git.git("rev-parse", "HEAD"));
      expect(git.git("diff", "--name-status", "HEAD", second.commit)).toBe("A\tsrc/c.txt");
      project.write("note.tmp", "1\n");
      expect(filesOf(git, made(await workspace.ghost()).commit)).toHaveProperty(["note.tmp"]);
      project.write(".gitignore", "*.log\n*.tmp\n");
      expect(filesOf(git, made(await workspace.ghost()).commit)).not.toHaveProperty(["note.tmp"]);
    }),
  );

  test(
    "[L50, Y86, R421] one before each message with ghost.mode auto, none with off, and a reason with on where none can be",
    inProject({}, async (project) => {
      const git = makeRepository(project);
      const refs = () => git.git("for-each-ref", "--format=%(contents:subject)", "refs/belay");
      const workspace = await project.open();
      const { id: thread } = await workspace.threads.open({ agent: "test", externalId: "1" });
      const ask = async (content: string) => {
        project.write("a.txt", `${content}\n`);
        await workspace.turns.prompt(thread, { content });
      };
      await ask("one");
      expect(refs()).toBe("");
      project.configure({ "ghost.mode": "auto" });
      await ask("two");
      expect(refs()).toBe("[ghost] Before user message: two");
      expect(await workspace.ghosts()).toMatchObject([{ turn: expect.any(String) }]);
      project.configure({ "ghost.mode": "on" });
      const bare = join(project.base, "no-repository");
      mkdirSync(bare);
      const other = await project.open({ at: bare });
      expect((await other.status()).warnings.join("\n")).toContain(
        "no ghost can be made: the directory is not in a git repository",
      );
      expect((await workspace.status()).warnings.join("\n")).not.toContain("ghost");
    }),
  );
});

describe("[C27, C28, C39] no ghost, and why", () => {
  const reasonOf = async (workspace: Workspace) => ((await workspace.ghost()) as MissingGhost).missing;

  test(
    "outside git, in a bare repository, without git, with a foreign owner",
    inProject({ "a.txt": "a\n" }, async (project) => {
      const workspace = await project.open();
      const checkpoints = (await workspace.list()).length;
      expect(await reasonOf(workspace)).toBe("the directory is not in a git repository with a working tree");
      expect(await workspace.ghosts()).toEqual({
        missing: expect.stringContaining("not in a git repository"),
      });
      expect(await workspace.dropGhost("all")).toEqual({ missing: expect.any(String) });
      // nothing is captured for a ghost that cannot be
      expect(await workspace.list()).toHaveLength(checkpoints);
      const git = fixtureAt(project.root);
      git.git("init", "-q", ".");
      git.git("config", "core.bare", "true");
      expect(await reasonOf(workspace)).toMatch(/not in a git repository/);
      git.git("config", "core.bare", "false");
      const without = await project.open({ system: { ...project.system, commandPath: "/nonexistent" } });
      expect(await reasonOf(without)).toBe("git is not installed");
      if (process.getuid?.() !== 0) return;
      chownSync(join(project.root, ".git/objects"), 12_345, 12_345);
      expect(await reasonOf(workspace)).toBe("the repository belongs to another user");
    }),
  );

  test.each(["fast-import", "update-ref", "ls-tree"])(
    "git fails at %s: nothing is left behind but objects",
    (verb) =>
      inProject({}, async (project) => {
        const git = makeRepository(project);
        const tools = join(project.base, "tools");
        mkdirSync(tools);
        const real = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).stdout.trim();
        const script = `#!/bin/sh\nfor word in "$@"; do [ "$word" = ${verb} ] && { echo "broken on purpose" >&2; exit 1; }; done\nexec ${real} "$@"\n`;
        writeFileSync(join(tools, "git"), script, { mode: 0o755 });
        if (verb !== "ls-tree") git.git("config", ...IMPORTED);
        const before = untouched(join(project.root, ".git"));
        const broken = await project.open({ system: { ...project.system, commandPath: tools } });
        work(project);
        expect(await broken.ghost()).toEqual({ missing: "broken on purpose" });
        expect(untouched(join(project.root, ".git"))).toEqual(before);
        expect(git.git("for-each-ref", "refs/belay")).toBe("");
        expect(readdirSync(project.storeDirectory()).filter((name) => name.startsWith("ghost-"))).toEqual([]);
        const workspace = await project.open();
        expect(filesOf(git, made(await workspace.ghost()).commit)).toEqual(AFTER_WORK);
      })(),
  );
});
