/** Files outside the workspace that a tool names: captured on request, listed apart, written back after a confirmation. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import {
  createSystem,
  openWorkspace,
  writeSetting,
  type RestoreOptions,
  type TakenCheckpoint,
  type ThreadId,
} from "../src/index.ts";
import { inWorkspace, processScript, type TempWorkspace } from "./support/temp-workspace.ts";

const places: string[] = [];
afterEach(() => places.splice(0).forEach((place) => rmSync(place, { recursive: true })));

/** A place outside the workspace, and the ways to work there; not in memory, where tests are: that is below `/dev`. */
function outsideOf({ home }: TempWorkspace) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "belay-outside-")));
  places.push(base);
  writeSetting(home, "outside.capture", "on");
  return {
    base,
    path: (name: string) => join(base, name),
    write(name: string, content: string) {
      mkdirSync(dirname(join(base, name)), { recursive: true });
      writeFileSync(join(base, name), content);
      return join(base, name);
    },
    read: (name: string) =>
      existsSync(join(base, name)) ? readFileSync(join(base, name), "utf8") : undefined,
  };
}

/** A tool call that names paths and does `work`. */
async function callTool(
  { workspace }: TempWorkspace,
  thread: ThreadId,
  { paths, work }: { paths: readonly string[]; work: () => void },
): Promise<{ before: TakenCheckpoint; after: TakenCheckpoint }> {
  const toolUseId = `call-${Math.random()}`;
  const before = await workspace.turns.beginTool(thread, { tool: "Write", toolUseId, paths });
  work();
  const after = await workspace.turns.endTool(thread, { tool: "Write", toolUseId });
  return { before: before!, after: after! };
}

test(
  "[Y87] [R842] a file outside that a tool names is in the checkpoints around the call, apart from the tree; a restore leaves it unless asked",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const { workspace } = temp;
    const outside = outsideOf(temp);
    const config = outside.write("config.toml", "old\n");
    chmodSync(config, 0o640);
    const made = outside.path("deep/made.txt");
    const thread = await temp.openThread("claude");
    const { before, after } = await callTool(temp, thread, {
      paths: ["a", config, made],
      work() {
        temp.write("a", "2\n");
        writeFileSync(config, "new\n");
        outside.write("deep/made.txt", "made\n");
      },
    });
    expect(before.warnings).toEqual([]);
    expect((await workspace.show(before.id)).outside).toMatchObject([
      { path: config, entry: { size: 4, mode: 0o640 } },
      { path: made, entry: undefined },
    ]);
    expect((await workspace.show(after.id)).outside.map(({ entry }) => entry?.size)).toEqual([4, 5]);
    // not in the tree, and not touched by undo or by a restore that was not asked to
    expect(before.checkpoint.files).toBe(1);
    await workspace.undo();
    expect([temp.read("a"), outside.read("config.toml"), outside.read("deep/made.txt")]).toEqual([
      "1\n",
      "new\n",
      "made\n",
    ]);
    const plan = await workspace.planRestore(before.id);
    expect(plan.outside.map(({ path, type }) => [path, type])).toEqual([
      [config, "restore"],
      [made, "delete"],
    ]);
    expect(await workspace.restore(plan)).toMatchObject({ outcome: "unchanged" });
    expect(outside.read("config.toml")).toBe("new\n");

    const outcome = await workspace.restoreTo(before.id, { outside: true });
    expect(outcome).toMatchObject({
      outcome: "applied",
      outside: { written: [{ path: config }, { path: made }], skipped: [] },
    });
    expect([outside.read("config.toml"), outside.read("deep/made.txt")]).toEqual(["old\n", undefined]);
    expect(statSync(config).mode & 0o777).toBe(0o640);
    // [N4] the safety checkpoint has what was replaced and deleted, and takes it back
    expect(outcome.notices?.join()).toContain(`belay restore ${outcome.safetyCheckpoint!} --outside`);
    await workspace.restoreTo(outcome.safetyCheckpoint!, { outside: true });
    expect([outside.read("config.toml"), outside.read("deep/made.txt")]).toEqual(["new\n", "made\n"]);
    expect(
      readdirSync(outside.base, { recursive: true }).filter((name) => String(name).includes("belay")),
    ).toEqual([]);
  }),
);

test(
  "[R842] off, as it is by default, nothing outside is read, and the tool's path is a warning",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const outside = outsideOf(temp);
    writeSetting(temp.home, "outside.capture", null);
    const path = outside.write("x", "x\n");
    const thread = await temp.openThread("claude");
    const { before } = await callTool(temp, thread, { paths: [path], work: () => undefined });
    expect(before.warnings).toEqual([
      `${path} is outside the workspace: what happens to it is not captured.`,
    ]);
    expect((await temp.workspace.show(before.id)).outside).toEqual([]);
  }),
);

test(
  "[R843] places that are refused: links, other users', the system's, git's, Belay's, other workspaces', too large, too many",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const outside = outsideOf(temp);
    const { workspace } = temp;
    const other = join(dirname(temp.root), "other");
    mkdirSync(other);
    writeFileSync(join(other, "theirs"), "theirs\n");
    await (await openWorkspace(other, { home: temp.home }))[Symbol.asyncDispose]();
    const large = outside.write("large", "");
    truncateSync(large, 10 * 1024 * 1024 + 1);
    outside.write("target", "t\n");
    symlinkSync(outside.path("target"), outside.path("link"));
    symlinkSync(temp.root, outside.path("way-in"));
    mkdirSync(outside.path("directory"));
    const refused = {
      "/proc/self/environ": "it belongs to the system",
      "/dev/null": "it belongs to the system",
      [outside.write("repo/.git/config", "x")]: "it belongs to a git repository",
      [join(temp.home, "config.json")]: "it belongs to Belay",
      [join(other, "theirs")]: `it belongs to the workspace ${other}`,
      [large]: "it is larger than 10 MiB",
      [outside.path("directory")]: "it is not a regular file",
      ...(process.getuid?.() === 0 ? {} : { "/etc/passwd": "it belongs to another user" }),
    };
    const taken = await workspace.checkpoint({
      outside: [...Object.keys(refused), outside.path("way-in/a"), outside.path("link")],
    });
    expect(taken.warnings).toEqual(
      Object.entries(refused).map(
        ([path, reason]) => `${path} is outside the workspace and not captured: ${reason}.`,
      ),
    );
    // a link's own file is taken under its real name, and what leads into the workspace is in the tree
    expect((await workspace.show(taken.id)).outside.map(({ path }) => path)).toEqual([
      outside.path("target"),
    ]);

    const many = Array.from({ length: 101 }, (_, at) => outside.write(`many/${at}`, `${at}`));
    const all = await workspace.checkpoint({ outside: many });
    expect((await workspace.show(all.id)).outside).toHaveLength(100);
    expect(all.warnings).toEqual([
      `${many[100]!} is outside the workspace and not captured: a checkpoint holds at most 100 of them.`,
    ]);
  }),
);

test(
  "[R844] [N0] what changed since it was shown makes the plan stale; what cannot be saved or leads through a link now is kept",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const outside = outsideOf(temp);
    const { workspace } = temp;
    const file = outside.write("dir/x", "old\n");
    const { id } = await workspace.checkpoint({ outside: [file] });
    outside.write("dir/x", "new\n");
    const plan = await workspace.planRestore(id, { outside: true });
    outside.write("dir/x", "newer\n");
    await expect(workspace.restore(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
    expect(outside.read("dir/x")).toBe("newer\n");

    // a swapped directory must not lead the restore elsewhere
    rmSync(outside.path("dir"), { recursive: true });
    outside.write("victim/x", "victim\n");
    symlinkSync(outside.path("victim"), outside.path("dir"));
    const kept = await workspace.restoreTo(id, { outside: true });
    expect(kept.plan.outside).toMatchObject([
      { path: file, type: "kept", reason: "a link is on the way to it" },
    ]);
    expect(outside.read("victim/x")).toBe("victim\n");
    rmSync(outside.path("dir"));

    // hard links are replaced, not written through
    outside.write("dir/x", "new\n");
    linkSync(file, outside.path("second"));
    await workspace.restoreTo(id, { outside: true });
    expect([outside.read("dir/x"), outside.read("second")]).toEqual(["old\n", "new\n"]);
    // what is gone is made again
    rmSync(file);
    const again = await workspace.restoreTo(id, { outside: true });
    expect(again.outside?.written).toMatchObject([{ type: "create" }]);
    expect(outside.read("dir/x")).toBe("old\n");
  }),
);

test(
  "[R845] gc keeps what is outside for as long as its checkpoint",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const outside = outsideOf(temp);
    const { workspace } = temp;
    const file = outside.write("x", "only outside\n");
    const { id } = await workspace.checkpoint({ outside: [file] });
    rmSync(file);
    await workspace.upkeep.gc();
    await temp.reopen();
    await temp.workspace.restoreTo(id, { outside: true });
    expect(outside.read("x")).toBe("only outside\n");
    expect(await temp.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  }),
);

test(
  "[N6] a file that was out of reach when it was recorded absent is older than that checkpoint: it is kept",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const outside = outsideOf(temp);
    const file = outside.write("disk/x", "old\n");
    const made = outside.path("disk/made");
    renameSync(outside.path("disk"), outside.path("unmounted"));
    temp.passHours(1);
    const { id } = await temp.workspace.checkpoint({ outside: [file] });
    renameSync(outside.path("unmounted"), outside.path("disk"));
    const { plan } = await temp.workspace.restoreTo(id, { outside: true });
    expect(plan.outside).toMatchObject([
      { path: file, type: "kept", reason: "it is older than the checkpoint that does not have it" },
    ]);
    expect(outside.read("disk/x")).toBe("old\n");
    temp.passHours(-1);
    const later = await temp.workspace.checkpoint({ outside: [made] });
    writeFileSync(made, "made\n");
    await temp.workspace.restoreTo(later.id, { outside: true });
    expect(outside.read("disk/made")).toBeUndefined();
  }),
);

test(
  "[R1402] what is read after the deadline is recorded only if it has not changed since",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const outside = outsideOf(temp);
    const [known, changed, gone] = [
      outside.write("known", "1"),
      outside.write("changed", "1"),
      outside.path("gone"),
    ];
    const thread = await temp.openThread("claude");
    const begin = (at: number, paths: readonly string[]) => {
      const call = { tool: "Write", toolUseId: `call-${at}`, paths };
      return temp.workspace.turns.beginTool(thread, { ...call, deadline: { at, reason: "late" } });
    };
    temp.passHours(1);
    const before = await begin(Date.now() + 60_000, [known, gone]);
    expect((await temp.workspace.show(before!.id)).outside).toMatchObject([{ path: known }]);
    const late = `is outside the workspace and not captured: it was read late, and may have changed since the agent went on.`;
    expect(before!.warnings).toEqual([`${gone} ${late}`]);
    const after = await begin(Date.now() - 60_000, [changed]);
    expect(after!.warnings).toEqual([`${changed} ${late}`]);
  }),
);

test(
  "[R844] a part of a restore cannot take the files outside along: the library refuses it before it looks",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const outside = outsideOf(temp);
    const file = outside.write("x", "old\n");
    const { id } = await temp.workspace.checkpoint({ outside: [file] });
    outside.write("x", "new\n");
    const parts: RestoreOptions[] = [
      { paths: ["a"] },
      { keepNew: true },
      { exceptThreads: "others" },
      { hunks: [] },
      { scope: "conversation" },
    ];
    for (const part of parts) {
      await expect(temp.workspace.planRestore(id, { ...part, outside: true })).rejects.toThrow(RangeError);
      await expect(temp.workspace.restoreTo(id, { ...part, outside: true })).rejects.toThrow(RangeError);
    }
    expect(outside.read("x")).toBe("new\n");
    await temp.workspace.restoreTo(id, { exceptThreads: [], outside: true });
    expect(outside.read("x")).toBe("old\n");
  }),
);

test(
  "[R1403] forget reaches a file outside by its path and by its content; no restore touches it afterwards",
  inWorkspace({ a: "secret\n" }, async (temp) => {
    const { workspace } = temp;
    const outside = outsideOf(temp);
    const [file, other] = [outside.write("keys/x", "secret\n"), outside.write("other", "other\n")];
    const { id } = await workspace.checkpoint({ outside: [file, other] });
    const again = await workspace.checkpoint({ outside: [file] });
    const held = async (ref: string) => (await workspace.show(ref)).outside.map(({ path }) => path);
    expect(await workspace.upkeep.forget("./a", { dryRun: true })).toMatchObject({ sameContent: [file] });
    expect(await workspace.upkeep.forget(outside.path("keys"), { dryRun: true })).toMatchObject({
      checkpoints: expect.arrayContaining([id, again.id]) as unknown,
      sameContent: ["a"],
    });
    await workspace.upkeep.forget(outside.path("keys"));
    expect([await held(id), await held(again.id)]).toEqual([[other], []]);
    outside.write("keys/x", "mine\n");
    await workspace.restoreTo(id, { outside: true });
    expect([outside.read("keys/x"), temp.read("a")]).toEqual(["mine\n", "secret\n"]);
    await workspace.checkpoint({ outside: [file] });
    await expect(workspace.upkeep.forget(file, { always: true })).rejects.toMatchObject({
      code: "PATH_OUTSIDE",
    });
    outside.write("twin", "secret\n");
    const twin = await workspace.checkpoint({ outside: [outside.path("twin")] });
    await workspace.upkeep.forget("./a", { sameContent: true });
    expect(await held(twin.id)).toEqual([]);
    await expect(workspace.upkeep.forget(outside.path("never-captured"))).rejects.toMatchObject({
      code: "CHECKPOINT_NOT_FOUND",
    });
  }),
);

/** Kills the process when a file outside would get its new content. */
const DIES_IN_THE_MIDDLE = `
  const { syncBuiltinESMExports } = await import("node:module");
  const link = fs.default.linkSync;
  fs.default.linkSync = (from, to) => {
    if (String(from).endsWith(".belay-new")) process.kill(process.pid, "SIGKILL");
    return link(from, to);
  };
  syncBuiltinESMExports();
`;

test(
  "[R1401] [N0] killed while it writes outside: the next command gives the file back its name and says so",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const outside = outsideOf(temp);
    const file = outside.write("x", "old\n");
    const { id } = await temp.workspace.checkpoint({ outside: [file] });
    outside.write("x", "new\n");
    const script = `${DIES_IN_THE_MIDDLE} await workspace.restoreTo(${JSON.stringify(id)}, { outside: true });`;
    const { signal } = spawnSync(process.execPath, processScript(temp, script));
    expect(signal).toBe("SIGKILL");
    expect(readdirSync(outside.base).map((name) => name.replace(/[k-z]{16}/, "id"))).toEqual([
      "x.id.belay-new",
      "x.id.belay-old",
    ]);
    await temp.reopen();
    const [notice] = temp.workspace.notices;
    expect(notice).toMatch(/interrupted while it wrote 1 file outside .* takes them back/);
    expect([readdirSync(outside.base), outside.read("x")]).toEqual([["x"], "new\n"]);
    await temp.workspace.restoreTo(id, { outside: true });
    expect(outside.read("x")).toBe("old\n");
    await temp.reopen();
    expect(temp.workspace.notices).toEqual([]);
  }),
);

test(
  "[R844] [R196] whatever moment a file outside changes at after it was shown, the restore leaves it as it is",
  inWorkspace({ a: "1\n" }, async (temp) => {
    const outside = outsideOf(temp);
    const file = outside.write("x", "old\n");
    const { id } = await temp.workspace.checkpoint({ outside: [file] });
    let calls = 0;
    let changesAt = Infinity;
    const system = createSystem();
    const told = <Result>(result: Result): Result => {
      calls += 1;
      if (calls === changesAt) outside.write("x", "theirs\n");
      return result;
    };
    await temp.workspace.close();
    const watched = {
      ...system,
      now: () => told(system.now()),
      newId: () => told(system.newId()),
      elapsed: () => told(system.elapsed()),
      isAlive: (owner: Parameters<typeof system.isAlive>[0]) => told(system.isAlive(owner)),
    };
    const outcomes: string[] = [];
    {
      await using workspace = await openWorkspace(temp.root, { home: temp.home, system: watched });
      for (let moment = 1; ; moment += 1) {
        outside.write("x", "new\n");
        temp.write("a", `${moment}\n`);
        const plan = await workspace.planRestore(id, { outside: true });
        [calls, changesAt] = [0, moment];
        const done = await workspace.restore(plan).then(
          ({ outside: done }) => (done?.skipped.length === 1 ? "skipped" : "written"),
          (error: { code: string }) => error.code,
        );
        changesAt = Infinity;
        outcomes.push(done);
        if (calls < moment) break;
        expect([moment, done, outside.read("x")]).toEqual([moment, done, "theirs\n"]);
      }
    }
    expect(new Set(outcomes)).toEqual(new Set(["PLAN_STALE", "skipped", "written"]));
    await temp.reopen();
  }),
);
