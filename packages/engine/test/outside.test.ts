/** Files outside the workspace that a tool names: captured on request, listed apart, written back after a confirmation. */
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openWorkspace, writeSetting, type TakenCheckpoint, type ThreadId } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

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
      [outside.path("directory")]: "it is no regular file",
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
