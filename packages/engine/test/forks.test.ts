/** Forks: made, worked in, removed and brought back. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { findWorkspace, writeSetting, type Fork } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";
import { readTreeMap } from "./support/tree-map.ts";

const FILES = { "a.txt": "a\n", "src/b.txt": "b\n", "src/deep/c.txt": "c\n", ".env": "SECRET=1\n" };

const make = async (temp: TempWorkspace, name: string): Promise<Fork> => await temp.workspace.fork(name);

/** Everything that the store and the registry say of working copies. */
function rowsOf({ workspace, home }: TempWorkspace) {
  using store = new DatabaseSync(join(workspace.store, "store.db"));
  using registry = new DatabaseSync(join(home, "registry.db"));
  return {
    copies: store
      .prepare("SELECT state FROM working_copy ORDER BY id")
      .all()
      .map(({ state }) => state),
    branches: store
      .prepare("SELECT name FROM branch ORDER BY id")
      .all()
      .map(({ name }) => name),
    forks: registry.prepare("SELECT count(*) AS n FROM fork").get()!["n"],
  };
}

test(
  "[R90] a fork has what the workspace has, uncommitted and ignored files included, on a branch of its own",
  inWorkspace({ ...FILES, ".gitignore": ".env\n" }, async (temp) => {
    temp.write("src/b.txt", "not captured yet\n");
    const { warnings, ...fork } = await temp.workspace.fork("one");
    expect(warnings).toEqual([]);
    expect(readTreeMap(fork.path)).toEqual(temp.tree());
    expect(fork).toMatchObject({
      name: "one",
      branch: "one",
      state: "ready",
      git: "none",
      run: null,
      files: 5,
    });
    expect(fork.port).toBeGreaterThanOrEqual(20_000);
    expect(await temp.workspace.forks()).toEqual([fork]);
    await using opened = await temp.workspace.openFork("one");
    expect(opened.root).toBe(fork.path);
    expect(await opened.resolve("@")).toMatchObject({
      id: fork.base,
      description: "Fork ready",
      branch: "one",
      kind: "fork",
    });
    writeFileSync(join(fork.path, "a.txt"), "in the fork\n");
    const { checkpoint } = await opened.checkpoint({ name: "work" });
    expect(checkpoint).toMatchObject({ changes: { modified: 1, added: 0, deleted: 0 } });
    expect(temp.read("a.txt")).toBe("a\n");
    await using found = await findWorkspace(join(fork.path, "src"), { home: temp.home });
    expect(found.copyId).toBe(fork.id);
    expect(statSync(fork.path).mode & 0o777).toBe(0o700);
  }),
);

test(
  "[R90] a fork of a checkpoint equals that checkpoint; what changed in the original since comes from the store",
  inWorkspace({ ...FILES, "run.sh": "#!/bin/sh\n" }, async (temp) => {
    chmodSync(join(temp.root, "run.sh"), 0o755);
    symlinkSync("a.txt", join(temp.root, "link"));
    mkdirSync(join(temp.root, "shut"));
    temp.write("shut/in.txt", "in\n");
    chmodSync(join(temp.root, "shut"), 0o555);
    const { id } = await temp.workspace.checkpoint();
    const then = temp.tree();
    temp.write("a.txt", "A\n");
    temp.remove("src/deep");
    chmodSync(join(temp.root, "run.sh"), 0o644);
    await temp.workspace.checkpoint();
    const fork = await temp.workspace.fork("then", { from: id });
    expect(readTreeMap(fork.path)).toEqual(then);
    await using opened = await temp.workspace.openFork("then");
    expect(await opened.diff({ from: id, detail: "names" })).toMatchObject({ files: [] });
    // its line goes on from that checkpoint and has nothing that came after it
    expect((await opened.list()).map(({ description }) => description)).toEqual([
      "Fork ready",
      "Manual checkpoint",
      "Initial checkpoint",
    ]);
    chmodSync(join(temp.root, "shut"), 0o755);
    chmodSync(join(fork.path, "shut"), 0o755);
  }),
);

test(
  "[R90] the original may change while a fork is made: every file is that of the checkpoint",
  inWorkspace(
    Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 7}/f${i}.txt`, `${i}\n`])),
    async (temp) => {
      const { id } = await temp.workspace.checkpoint();
      const then = temp.tree();
      let round = 0;
      const busy = setInterval(() => {
        round += 1;
        for (let i = 0; i < 300; i += 3) temp.write(`d${i % 7}/f${i}.txt`, `${"x".repeat(round)}${i}\n`);
        for (let i = 1; i < 300; i += 30) rmSync(join(temp.root, `d${i % 7}/f${i}.txt`), { force: true });
      }, 0);
      const fork = await temp.workspace.fork("then", { from: id });
      clearInterval(busy);
      expect(round).toBeGreaterThan(0);
      expect(readTreeMap(fork.path)).toEqual(then);
    },
  ),
);

test(
  "[R91] [I68] dependencies are copied and never linked: an install in the fork leaves the original's alone",
  inWorkspace({ ...FILES, ".gitignore": "node_modules\n" }, async (temp) => {
    temp.write("node_modules/x/index.js", "x\n");
    temp.write("packages/p/node_modules/y/index.js", "y\n");
    temp.write(".venv/pyvenv.cfg", "home = /usr\n");
    temp.write("node_modules/py/pyvenv.cfg", "");
    temp.write("packages/q/node_modules/pyvenv.cfg", "home = /usr\n");
    const fork = await make(temp, "one");
    expect(fork.dependencies).toMatchObject([
      { path: ".venv", how: "skipped", reason: expect.stringContaining("interpreter") },
      { path: "node_modules", how: expect.stringMatching(/^(copied|cloned)$/), reason: null },
      { path: "packages/p/node_modules" },
      { path: "packages/q/node_modules", how: "skipped", reason: expect.stringContaining("interpreter") },
    ]);
    expect(existsSync(join(fork.path, "packages/q/node_modules"))).toBe(false);
    expect(existsSync(join(fork.path, ".venv"))).toBe(false);
    rmSync(join(fork.path, "node_modules"), { recursive: true });
    expect(temp.read("node_modules/x/index.js")).toBe("x\n");
    writeSetting(temp.home, "forks.copyLimitBytes", "1");
    const second = await temp.workspace.fork("two", { dependencies: "none" });
    expect(second.dependencies).toEqual([]);
    if (fork.method === "clone") return;
    const third = await temp.workspace.fork("three");
    expect(third.dependencies[1]).toMatchObject({ path: "node_modules", how: "skipped" });
    expect(third.warnings[0]).toMatch(/^\.venv is not in the fork: /);
    expect(third.warnings[1]).toMatch(/^node_modules is not in the fork: it is larger/);
  }),
);

test(
  "ignored files that .worktreeinclude names come along; links do not",
  inWorkspace(
    { ...FILES, ".gitignore": "*.log\ncache/\n", ".worktreeinclude": "keep.log\n/cache/wanted/\n" },
    async (temp) => {
      temp.write("keep.log", "keep\n");
      temp.write("other.log", "other\n");
      symlinkSync("/etc/passwd", join(temp.root, "linked.log"));
      const fork = await make(temp, "one");
      expect(readdirSync(fork.path).filter((name) => name.endsWith(".log"))).toEqual(["keep.log"]);
    },
  ),
);

test(
  "[R92] [I62] removing a fork captures everything in it first, ignored results included, and keeps it for a day",
  inWorkspace({ ...FILES, ".gitignore": "*.log\nout/\n" }, async (temp) => {
    const fork = await make(temp, "one");
    writeFileSync(join(fork.path, "never.txt"), "never captured\n");
    writeFileSync(join(fork.path, "result.log"), "ignored result\n");
    mkdirSync(join(fork.path, "out"));
    writeFileSync(join(fork.path, "out/report"), "ignored too\n");
    const tree = readTreeMap(fork.path);
    const removed = await temp.workspace.removeFork("one");
    expect(removed).toMatchObject({
      fork: { state: "removing" },
      branch: { name: "one", workingCopy: null },
    });
    expect(existsSync(fork.path)).toBe(false);
    const held = new Map<string, string>();
    for await (const { path, content } of filesOf(temp, removed.checkpoint!)) held.set(path, content);
    expect([held.get("never.txt"), held.get("result.log"), held.get("out/report")]).toEqual([
      "never captured\n",
      "ignored result\n",
      "ignored too\n",
    ]);
    expect(await temp.workspace.forks()).toEqual([]);
    expect(await temp.workspace.forks({ removed: true })).toHaveLength(1);
    temp.passHours(23);
    await make(temp, "two");
    const back = await temp.workspace.restoreFork("one");
    expect(readTreeMap(back.path)).toEqual(tree);
    expect(back).toMatchObject({ state: "ready", path: fork.path });
    await temp.workspace.removeFork("one");
    temp.passHours(25);
    await make(temp, "three");
    expect(await temp.workspace.forks({ removed: true })).toMatchObject([{ name: "two" }, { name: "three" }]);
    await expect(temp.workspace.restoreFork("one")).rejects.toMatchObject({ code: "FORK_NOT_FOUND" });
    // the branch stays, with everything
    expect(await temp.workspace.resolve("branch/one")).toMatchObject({ snapshot: expect.any(String) });
  }),
);

async function* filesOf({ workspace }: TempWorkspace, ref: string) {
  for await (const { path, content } of workspace.files(ref)) {
    const pieces: Buffer[] = [];
    for (const piece of content()) pieces.push(piece);
    yield { path: path as string, content: Buffer.concat(pieces).toString("utf8") };
  }
}

test(
  "[R92] what a process writes into the trash is captured before it is deleted",
  inWorkspace(FILES, async (temp) => {
    await make(temp, "one");
    const { fork } = await temp.workspace.removeFork("one");
    writeFileSync(join(fork.path, "late.txt"), "written in the trash\n");
    temp.passHours(25);
    await temp.workspace.fork("two");
    expect(existsSync(fork.path)).toBe(false);
    const held = new Map<string, string>();
    for await (const { path, content } of filesOf(temp, "branch/one")) held.set(path, content);
    expect(held.get("late.txt")).toBe("written in the trash\n");
  }),
);

test(
  "[R94] a fork keeps its name when its branch gets another one: no second fork has it, and each is found",
  inWorkspace(FILES, async (temp) => {
    const first = await temp.workspace.fork();
    await temp.workspace.renameBranch("fork-1", "renamed");
    await expect(temp.workspace.fork("fork-1")).rejects.toMatchObject({
      code: "BRANCH_TAKEN",
      facts: { branch: "fork-1", deleted: false },
    });
    expect((await temp.workspace.fork()).name).toBe("fork-2");
    expect(await temp.workspace.findFork("fork-1")).toMatchObject({ id: first.id, branch: "renamed" });
    // in the trash it keeps its name, because it can be brought back
    await temp.workspace.removeFork("fork-1");
    await expect(temp.workspace.fork("fork-1")).rejects.toMatchObject({ code: "BRANCH_TAKEN" });
    await temp.workspace.removeFork("fork-1", { now: true });
    expect(await temp.workspace.fork()).toMatchObject({ name: "fork-1", branch: "fork-1" });
  }),
);

test(
  "[R92] [R94] a branch that went on elsewhere keeps its newest state when the trash is deleted",
  inWorkspace(FILES, async (temp) => {
    const { workspace } = temp;
    const cases = [
      { name: "same", isLate: false, goesOn: true },
      { name: "late", isLate: true, goesOn: true },
      { name: "taken", isLate: true, goesOn: false },
    ];
    for (const { name, isLate, goesOn } of cases) {
      await make(temp, name);
      const { fork } = await workspace.removeFork(name);
      await workspace.restore(await workspace.planSwitch(name));
      if (goesOn) temp.write("a.txt", `${name} went on\n`);
      const { id } = goesOn ? await workspace.checkpoint() : await workspace.resolve(`branch/${name}`);
      if (isLate) writeFileSync(join(fork.path, "late.txt"), "written in the trash\n");
      await workspace.removeFork(name, { now: true });
      expect(existsSync(fork.path)).toBe(false);
      expect(await workspace.resolve(`branch/${name}`)).toMatchObject({ id });
    }
    // what only the trash had is on a branch of its own, which begins with what the removal captured
    const names = (await workspace.branches()).map(({ name }) => name);
    expect(names).toEqual(["main", "same", "late", "late-removed-3", "taken", "taken-removed-4"]);
    const held = new Map<string, string>();
    for await (const { path, content } of filesOf(temp, "branch/late-removed-3")) held.set(path, content);
    expect([held.get("late.txt"), held.get("a.txt")]).toEqual(["written in the trash\n", "same went on\n"]);
    expect(await workspace.resolve("branch/late-removed-3")).toMatchObject({
      changes: { added: 1, modified: 0, deleted: 0 },
    });
  }),
);

test(
  "[R92] a fork that is brought back brings its deleted branch back, however long ago that was deleted",
  inWorkspace(FILES, async (temp) => {
    const { workspace } = temp;
    await make(temp, "one");
    const { checkpoint } = await workspace.removeFork("one");
    await workspace.deleteBranch("one");
    temp.passHours(31 * 24);
    await workspace.upkeep.gc();
    const back = await workspace.restoreFork("one");
    expect(back).toMatchObject({ state: "ready", branch: "one", head: checkpoint });
    expect((await workspace.branches()).find(({ name }) => name === "one")).toMatchObject({
      state: "open",
      head: checkpoint,
      workingCopy: back.path,
    });
    expect(await workspace.resolve("branch/one")).toMatchObject({ id: checkpoint });
  }),
);

test(
  "[R92] a fork whose way out of the trash is cut off is found from its directory, and stays while a process is in it",
  inWorkspace(FILES, async (temp) => {
    const { path } = await make(temp, "one");
    await temp.workspace.removeFork("one");
    mkdirSync(path);
    const cutOff = async () => {
      using store = new DatabaseSync(join(temp.workspace.store, "store.db"));
      store.exec(`CREATE TRIGGER cut BEFORE UPDATE OF state ON working_copy WHEN NEW.state = 'ready'
        BEGIN SELECT RAISE(ABORT, 'cut off'); END`);
      await expect(temp.workspace.restoreFork("one")).rejects.toMatchObject({ cause: new Error("cut off") });
      store.exec("DROP TRIGGER cut");
    };
    await cutOff();
    expect(rowsOf(temp)).toMatchObject({ copies: ["main", "removing"], forks: 1 });
    const child = spawn("sleep", ["60"], { cwd: join(`${path}-2`, "src"), stdio: "ignore" });
    try {
      await new Promise((resolve) => child.once("spawn", resolve));
      temp.passHours(25);
      await make(temp, "two");
      expect(existsSync(`${path}-2/a.txt`)).toBe(true);
      expect(await temp.workspace.restoreFork("one")).toMatchObject({ state: "ready", path: `${path}-2` });
    } finally {
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    }
    // with no process in it, the next command puts it back into the trash
    await temp.workspace.removeFork("one");
    await cutOff();
    await make(temp, "three");
    expect(existsSync(`${path}-2`)).toBe(false);
    expect(await temp.workspace.restoreFork("one")).toMatchObject({ state: "ready", path: `${path}-2` });
    expect(rowsOf(temp)).toMatchObject({ copies: ["main", "ready", "ready", "ready"], forks: 3 });
  }),
);

test(
  "[R92] [I65] a fork is neither removed nor given away while a tool or a process is at work in it",
  inWorkspace(FILES, async (temp) => {
    const fork = await make(temp, "one");
    const child = spawn("sleep", ["60"], { cwd: join(fork.path, "src"), stdio: "ignore" });
    try {
      await new Promise((resolve) => child.once("spawn", resolve));
      await expect(temp.workspace.removeFork("one")).rejects.toMatchObject({
        code: "FORK_BUSY",
        facts: { pids: [child.pid] },
      });
    } finally {
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));
    }
    {
      await using opened = await temp.workspace.openFork("one");
      const { id } = await opened.threads.open({ agent: "codex", externalId: "t" });
      await opened.turns.prompt(id, { content: "go" });
      await opened.turns.beginTool(id, { tool: "Edit", toolUseId: "u-1", nature: "edit" });
      await expect(temp.workspace.removeFork("one")).rejects.toMatchObject({
        code: "FORK_BUSY",
        facts: { tools: ["Edit"] },
      });
      await opened.turns.endTool(id, { toolUseId: "u-1" });
    }
    expect(existsSync(fork.path)).toBe(true);
    await temp.workspace.removeFork("one", { now: true });
    expect(existsSync(fork.path)).toBe(false);
  }),
);

test(
  "[R92] what no checkpoint can hold is named, and removed only when the caller says so",
  inWorkspace(FILES, async (temp) => {
    const fork = await make(temp, "one");
    writeSetting(temp.home, "limits.fileBytes", "1KiB");
    writeFileSync(join(fork.path, "large.bin"), Buffer.alloc(4096, 1));
    await expect(temp.workspace.removeFork("one")).rejects.toMatchObject({
      code: "FORK_UNCAPTURED",
      facts: { paths: [{ path: "large.bin", reason: "too-large" }] },
    });
    expect(existsSync(join(fork.path, "large.bin"))).toBe(true);
    // it is copied into a fork, and named as not protected
    temp.write("large.bin", "y".repeat(4096));
    const second = await temp.workspace.fork("two");
    expect(second.warnings).toEqual([
      "large.bin was copied, but no checkpoint can hold it: it is not protected.",
    ]);
    expect(statSync(join(second.path, "large.bin")).size).toBe(4096);
    await temp.workspace.removeFork("one", { despiteGaps: true });
  }),
);

test(
  "[I63] a fork is never made over something that is there: neither its own directory nor another's",
  inWorkspace(FILES, async (temp) => {
    const first = await make(temp, "one");
    writeFileSync(join(first.path, "work.txt"), "200 lines\n");
    await expect(temp.workspace.fork("one")).rejects.toMatchObject({ code: "BRANCH_TAKEN" });
    mkdirSync(join(dirname(first.path), "two"));
    writeFileSync(join(dirname(first.path), "two/mine"), "mine\n");
    const second = await make(temp, "two");
    expect(second.path).toBe(join(dirname(first.path), "two-2"));
    // brought back beside what is at its place now
    await temp.workspace.removeFork("one");
    mkdirSync(first.path);
    expect((await temp.workspace.restoreFork("one")).path).toBe(`${first.path}-2`);
    expect(readdirSync(`${first.path}-2`)).toContain("work.txt");
  }),
);

test(
  "[I69] a fork of a fork lies beside it, and has no fork inside; none is ever made inside the workspace",
  inWorkspace(FILES, async (temp) => {
    const first = await make(temp, "one");
    {
      await using opened = await temp.workspace.openFork("one");
      writeFileSync(join(first.path, "only.txt"), "only in the first\n");
      const fork = await opened.fork("two");
      expect(dirname(fork.path)).toBe(dirname(first.path));
      expect(readTreeMap(fork.path)).toEqual(readTreeMap(first.path));
      expect((await opened.branches()).find(({ name }) => name === "two")).toMatchObject({ parent: "one" });
    }
    writeSetting(temp.home, "forks.directory", join(temp.root, "forks"));
    await expect(temp.workspace.fork("three")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    writeSetting(temp.home, "forks.directory", temp.home);
    await expect(temp.workspace.fork("three")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    writeSetting(temp.home, "forks.directory", join(temp.root, "../elsewhere"));
    expect((await make(temp, "three")).path).toContain("/elsewhere/root-");
    expect(await temp.workspace.forks()).toHaveLength(3);
  }),
);

test(
  "[I70] limits: too many forks and too many bytes are refused with both numbers; a disk with room is not",
  inWorkspace(FILES, async (temp) => {
    temp.write("data.bin", "x".repeat(100_000));
    await make(temp, "one");
    writeSetting(temp.home, "forks.limit", "1");
    await expect(temp.workspace.fork("two")).rejects.toMatchObject({
      code: "FORK_LIMIT",
      facts: { limit: "forks.limit", needed: 2, available: 1 },
    });
    writeSetting(temp.home, "forks.limit", "16");
    writeSetting(temp.home, "forks.bytes", "1000");
    const error = await temp.workspace.fork("two").catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "FORK_LIMIT", facts: { limit: "forks.bytes", available: 0 } });
    expect((error as { facts: { needed: number } }).facts.needed).toBeGreaterThan(0);
    // nothing is left of what was refused, and 20 times the space is enough
    writeSetting(temp.home, "forks.bytes", "20MB");
    await make(temp, "two");
    expect(rowsOf(temp)).toEqual({
      copies: ["main", "ready", "ready"],
      branches: ["main", "one", "two"],
      forks: 2,
    });
  }),
);

test(
  "[R92] a fork whose directory is gone keeps its branch; the trash is emptied before a fork is refused for room",
  inWorkspace(FILES, async (temp) => {
    temp.write("data.bin", "x".repeat(100_000));
    const fork = await make(temp, "one");
    rmSync(fork.path, { recursive: true });
    expect(await temp.workspace.forks()).toMatchObject([{ name: "one", state: "gone" }]);
    await expect(temp.workspace.openFork("one")).rejects.toMatchObject({ code: "FORK_NOT_FOUND" });
    expect(await temp.workspace.removeFork("one")).toMatchObject({
      branch: { state: "open" },
      until: null,
    });
    const { bytesOnDisk } = await make(temp, "two");
    await temp.workspace.removeFork("two");
    // room for one and a half, whether copies share blocks or not
    writeSetting(temp.home, "forks.bytes", String(Math.ceil(1.5 * bytesOnDisk)));
    await make(temp, "three");
    expect(await temp.workspace.forks({ removed: true })).toMatchObject([{ name: "three" }]);
    expect((await temp.workspace.branches()).map(({ name }) => name)).toEqual([
      "main",
      "one",
      "two",
      "three",
    ]);
  }),
);

test(
  "what is started in a fork is told where it is, and has ports of its own",
  inWorkspace(FILES, async (temp) => {
    writeSetting(
      temp.home,
      "forks.env",
      JSON.stringify({ PORT: "$BELAY_PORT", NAME: "${BELAY_FORK}-$HOME" }),
    );
    const [one, two] = [await make(temp, "one"), await make(temp, "feature/two")];
    expect(two.path).toMatch(/\/feature-two$/);
    expect(await temp.workspace.forkEnvironment("one")).toEqual({
      BELAY_WORKSPACE: temp.workspace.id,
      BELAY_ROOT: temp.root,
      BELAY_FORK: "one",
      BELAY_BRANCH: "one",
      BELAY_PORT: String(one.port),
      PORT: String(one.port),
      NAME: "one-$HOME",
    });
    expect(Math.abs(one.port! - two.port!)).toBeGreaterThanOrEqual(10);
    const seen: string[] = [];
    const third = await temp.workspace.fork("three", {
      setup: async (fork, environment) => {
        seen.push(environment["BELAY_FORK"]!);
        writeFileSync(join(fork.path, "set-up.txt"), "by the set-up\n");
      },
    });
    expect(seen).toEqual(["three"]);
    // the set-up is no work of an agent
    await using opened = await temp.workspace.openFork("three");
    expect(await opened.diff({ from: third.base!, detail: "names" })).toMatchObject({ files: [] });
    await expect(
      temp.workspace.fork("four", { setup: () => Promise.reject(new Error("no set-up")) }),
    ).rejects.toThrow("no set-up");
    expect(rowsOf(temp)).toMatchObject({ branches: ["main", "one", "feature/two", "three"], forks: 3 });
  }),
);
