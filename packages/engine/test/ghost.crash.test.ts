/** A process that dies in the middle of making a ghost: the repository and the store are sound, and the next one works. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fixtureAt } from "./git-fixture.ts";
import { inProject } from "./support/project.ts";

const CHILD = new URL("./support/ghost-child.ts", import.meta.url).pathname;
const HOURS_AGO = new Date(Date.now() - 3 * 3600_000);

const MOMENTS = ["ls-tree", "cat-file", "fast-import", "update-ref"].flatMap((verb) => [
  { verb, when: "before" },
  { verb, when: "after" },
]);

test.each(MOMENTS)("[C31, R420] killed $when git's $verb", ({ verb, when }) =>
  inProject({ "a.txt": "a\n" }, async (project) => {
    const git = fixtureAt(project.root);
    git.git("init", "-q", ".");
    git.git("add", ".");
    git.git("commit", "-qm", "first");
    // trees in packs are asked for; rights to objects are left to git
    git.git("gc", "-q");
    if (["fast-import", "update-ref"].includes(verb)) git.git("config", "core.sharedRepository", "0600");
    await project.close(await project.open());
    project.write("a.txt", "changed\n");
    const tools = join(project.base, "tools");
    mkdirSync(tools);
    const real = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).stdout.trim();
    const kill = when === "before" ? "kill -9 $PPID; exit 1" : `${real} "$@"; kill -9 $PPID; exit 1`;
    const script = `#!/bin/sh\nfor word in "$@"; do [ "$word" = ${verb} ] && { ${kill}; }; done\nexec ${real} "$@"\n`;
    writeFileSync(join(tools, "git"), script, { mode: 0o755 });
    const before = { head: git.git("rev-parse", "HEAD"), staged: git.git("diff", "--cached") };
    const args = [CHILD, project.root, project.home, tools];
    expect(spawnSync(process.execPath, args, { timeout: 40_000 }).signal).toBe("SIGKILL");

    git.git("fsck", "--strict");
    expect({ head: git.git("rev-parse", "HEAD"), staged: git.git("diff", "--cached") }).toEqual(before);
    const left = () =>
      readdirSync(project.storeDirectory()).filter((name) => name.startsWith("ghost-stream-"));
    for (const name of left()) utimesSync(join(project.storeDirectory(), name), HOURS_AGO, HOURS_AGO);
    const workspace = await project.open();
    project.write("a.txt", "changed again\n");
    const ghost = await workspace.ghost();
    expect(ghost).toHaveProperty("commit");
    expect(git.git("show", `refs/belay/ghost/${(ghost as { id: string }).id}:a.txt`)).toBe("changed again");
    expect(await workspace.ghosts()).toHaveLength(verb === "update-ref" && when === "after" ? 2 : 1);
    expect(left()).toEqual([]);
  })(),
);
