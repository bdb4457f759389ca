/**
 * [R2433] Ghosts beside the user's own clean-up (`git gc --prune=now`): no ref leads nowhere, because then every later
 * clean-up of theirs would fail.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Ghost, MissingGhost } from "../src/index.ts";
import { fixtureAt, type GitFixture } from "./git-fixture.ts";
import { inProject, type Project } from "./support/project.ts";

function made(result: Ghost | MissingGhost): Ghost {
  if ("missing" in result) throw new Error(`no ghost: ${result.missing}`);
  return result;
}

function makeRepository(project: Project): GitFixture {
  const git = fixtureAt(project.root);
  git.git("init", "-q", ".");
  git.write("a.txt", "a\n");
  git.write("src/b.txt", "b\n");
  git.git("add", ".");
  git.git("commit", "-qm", "first");
  return git;
}

function takeAway(git: GitFixture, object: string): void {
  rmSync(join(git.path, ".git/objects", object.slice(0, 2), object.slice(2)));
}

const refsOf = (git: GitFixture) => git.git("for-each-ref", "--format=%(refname)", "refs/belay");

test.each(["gc.pid", "objects/maintenance.lock"])(
  "[R2433] [C31] while git holds %s none is made, unless the lock was left behind",
  (lock) =>
    inProject({}, async (project) => {
      const git = makeRepository(project);
      const workspace = await project.open();
      project.write("a.txt", "changed\n");
      const place = join(project.root, ".git", lock);
      writeFileSync(place, "4711 host\n");
      expect(await workspace.ghost()).toEqual({ missing: "git is cleaning up the repository (gc)" });
      expect(refsOf(git)).toBe("");
      const yesterday = new Date(Date.now() - 24 * 3_600_000);
      utimesSync(place, yesterday, yesterday);
      made(await workspace.ghost());
    })(),
);

test.each(["its commit", "a tree of it", "a file of it"])(
  "[R2433] where a clean-up took %s away, the next ghost takes the ref away and starts from HEAD",
  (what) =>
    inProject({}, async (project) => {
      const git = makeRepository(project);
      const workspace = await project.open();
      project.write("src/b.txt", "changed\n");
      const lost = made(await workspace.ghost());
      const object = { "its commit": "", "a tree of it": ":src", "a file of it": ":src/b.txt" }[what]!;
      takeAway(git, object === "" ? lost.commit : git.git("rev-parse", `${lost.commit}${object}`));
      expect(() => git.git("gc", "-q", "--prune=now")).toThrow();
      // another directory: what is lost lies in one that the next ghost does not touch
      project.write("a.txt", "changed too\n");
      const next = made(await workspace.ghost());
      expect(refsOf(git)).toBe(`refs/belay/ghost/${next.id}`);
      expect(git.git("show", `${next.commit}:src/b.txt`)).toBe("changed");
      git.git("gc", "-q", "--prune=now");
      git.git("fsck", "--strict");
    })(),
);

test(
  "[R2433] [C38] a ref that leads nowhere goes, and the others are listed",
  inProject({}, async (project) => {
    const git = makeRepository(project);
    const workspace = await project.open();
    project.write("a.txt", "one\n");
    const [kept] = [made(await workspace.ghost())];
    project.write("a.txt", "two\n");
    const lost = made(await workspace.ghost());
    takeAway(git, lost.commit);
    expect(await workspace.ghosts()).toMatchObject([{ id: kept.id }]);
    expect(refsOf(git)).toBe(`refs/belay/ghost/${kept.id}`);
  }),
);

test(
  "[R2433] what is taken away while the ghost is made is made once more, and given up when it goes again",
  inProject({}, async (project) => {
    const git = makeRepository(project);
    // written by git, whose work can be followed by that of another program
    git.git("config", "core.sharedRepository", "0600");
    const tools = join(project.base, "tools");
    const times = join(project.base, "times");
    mkdirSync(tools);
    const real = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).stdout.trim();
    // the last two arguments are the commit and "", which says that the ref is new
    const prune = `for word in "$@"; do commit=$last; last=$word; done; rm .git/objects/$(echo $commit | cut -c1-2)/$(echo $commit | cut -c3-)`;
    const script = `#!/bin/sh
PATH=/usr/bin:/bin
case "$*" in
  *update-ref*stdin*) ;;
  *update-ref*) ${real} "$@" || exit; if [ -s ${times} ]; then sed -i 1d ${times}; ${prune}; fi; exit;;
esac
exec ${real} "$@"
`;
    writeFileSync(join(tools, "git"), script, { mode: 0o755 });
    const workspace = await project.open({ system: { ...project.system, commandPath: tools } });
    for (const [rounds, isMade] of [
      [1, true],
      [2, false],
    ] as const) {
      writeFileSync(times, "x\n".repeat(rounds));
      project.write("a.txt", `round ${rounds}\n`);
      const ghost = await workspace.ghost();
      expect("missing" in ghost).toBe(!isMade);
      expect(refsOf(git).split("\n")).toHaveLength(1);
      git.git("fsck", "--strict");
    }
  }),
);

test(
  "[R2435] a half-written pack of an import that failed goes; what was there, or is being written, stays",
  inProject({}, async (project) => {
    const git = makeRepository(project);
    git.git("config", "core.sharedRepository", "0600");
    const tools = join(project.base, "tools");
    mkdirSync(tools);
    const real = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).stdout.trim();
    const packs = join(project.root, ".git/objects/pack");
    const hold = join(project.base, "hold");
    writeFileSync(hold, "");
    const other = `(exec 3> ${packs}/tmp_pack_other; while [ -e ${hold} ]; do sleep 0.05; done) > /dev/null 2>&1 < /dev/null &`;
    const wait = `while [ ! -e ${packs}/tmp_pack_other ]; do sleep 0.01; done`;
    const full = `PATH=/usr/bin:/bin; echo PACK > ${packs}/tmp_pack_failed; ${other} ${wait}; echo "Out of diskspace" >&2; exit 128`;
    const script = `#!/bin/sh\ncase "$*" in *fast-import*) ${full};; esac\nexec ${real} "$@"\n`;
    writeFileSync(join(tools, "git"), script, { mode: 0o755 });
    const workspace = await project.open({ system: { ...project.system, commandPath: tools } });
    writeFileSync(join(packs, "tmp_pack_before"), "PACK");
    project.write("a.txt", "changed\n");
    try {
      expect(await workspace.ghost()).toEqual({ missing: "Out of diskspace" });
      expect(readdirSync(packs).sort()).toEqual(["tmp_pack_before", "tmp_pack_other"]);
    } finally {
      rmSync(hold);
    }
  }),
);
