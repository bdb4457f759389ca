/** A front's own limits stop at checkpoints that something stands on, and a question protects no directory. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { VersioningTracker } from "../src/agentsmithy.ts";
import { SnapshotManager } from "../src/mimir.ts";
import {
  cleanup_checkpoints,
  configureMoldable,
  create_checkpoint,
  list_checkpoints,
} from "../src/moldable.ts";
import { CheckpointManager, CheckpointStorage, RollbackEngine } from "../src/supervisor.ts";
import { configureDropIn, type DropInOptions } from "../src/index.ts";
import { makePlace, type Place } from "./support/place.ts";

const HOUR = 3_600_000;

/** Makes a version of a checkpoint, as Code Buddy's front or a branch that begins there does. */
function standOn({ look }: Place, id: string): void {
  look((workspace) =>
    workspace.versions.create({
      checkpoint: workspace.resolve(id.replace(/^snap-/, "")).id,
      description: "v",
      metadata: {},
    }),
  );
}

test("[R2600] [M29] [M75] Mimir keeps an old snapshot that a version stands on, drops the others, and says so", async () => {
  const place = makePlace({ a: "0\n" });
  const { root, options, lines, write } = place;
  let now = Date.now();
  const own = { ...options, directory: root, clock: () => now, config: { snapshots: { retention: {} } } };
  const manager = new SnapshotManager(own);
  const first = await manager.createSnapshot("c", "manual", "first");
  standOn(place, first.id);
  for (let at = 1; at < 8; at += 1) {
    write("a", `${at}\n`);
    await manager.createSnapshot("c", "manual", `s${at}`);
  }
  now += 48 * HOUR;
  // eight of them, five stay whatever their age, of three one is kept
  const listed = await new SnapshotManager(own).listSnapshots("c");
  expect(listed.map(({ description }) => description)).toEqual(["s7", "s6", "s5", "s4", "s3", "first"]);
  expect(lines).toContainEqual(
    expect.objectContaining({ event: "checkpoint_kept", reason: expect.stringContaining("it is a version") }),
  );
  expect(await manager.prune("c", { keepForHours: 24, keepMinimum: 0 })).toBe(5);
});

test("[R2600] what Mimir prunes by itself and cannot is told, and ends nothing", async () => {
  const place = makePlace({ a: "0\n" });
  const { root, options, lines } = place;
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const manager = new SnapshotManager({ ...options, directory: root });
  await manager.createSnapshot("c", "manual", "first");
  const broken = new SnapshotManager({
    ...options,
    directory: root,
    clock: () => {
      throw new Error("no clock");
    },
  });
  expect(await broken.listSnapshots("c")).toHaveLength(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
  expect(lines).toContainEqual(expect.objectContaining({ event: "prune", reason: "no clock" }));
});

test("[R2600] [L34] [L22] Moldable's limit of 50 and its clean-up pass over a checkpoint that a version stands on", async () => {
  const place = makePlace({ a: "0\n" });
  const { root, options, write, lines } = place;
  configureDropIn(options);
  configureMoldable({});
  onTestFinished(() => configureDropIn({}));
  const first = await create_checkpoint("app", root, "c", "m0");
  standOn(place, first.id);
  for (let at = 1; at <= 51; at += 1) {
    write("a", `${at}\n`);
    expect(await create_checkpoint("app", root, "c", `m${at}`)).toMatchObject({ messageId: `m${at}` });
  }
  const names = async () => (await list_checkpoints("app", "c")).map(({ messageId }) => messageId);
  // of the two that are too many one goes
  expect((await names()).slice(0, 2)).toEqual(["m0", "m2"]);
  expect(await cleanup_checkpoints("app", "c", 1)).toMatchObject({ snapshotsDeleted: 49 });
  expect(await names()).toEqual(["m0", "m51"]);
  expect(lines).toContainEqual(
    expect.objectContaining({ event: "checkpoint_kept", checkpoint: first.id.slice(5) }),
  );
});

test("[R2600] [Y45] the supervisor's pruning passes over a checkpoint that a version stands on", async () => {
  const place = makePlace({ a: "0\n" });
  const { root, options, write } = place;
  let now = Date.now();
  const manager = new CheckpointManager({ ...options, projectDir: root, clock: () => now });
  const take = async (text: string) => {
    write("a", text);
    now += 1000;
    const about = { toolName: "Bash", affectedPaths: [], description: text };
    return (await manager.createAutoCheckpoint({ id: "s" }, about))!.id;
  };
  const [first] = [await take("1"), await take("2"), await take("3")];
  standOn(place, first);
  now += HOUR;
  expect(await manager.prune(0, 0)).toBe(2);
  expect((await manager.listCheckpoints("s")).map(({ id }) => id)).toEqual([first]);
});

const UNKNOWN = "kkkkllll";

/** Questions and requests about a checkpoint that there is not: each with its answer. */
const QUESTIONS: readonly (readonly [string, (root: string, options: DropInOptions) => unknown, unknown])[] =
  [
    [
      "get",
      (projectDir, o) => new CheckpointManager({ projectDir, ...o }).getCheckpoint("s", UNKNOWN),
      "error",
    ],
    [
      "delete",
      (projectDir, o) => new CheckpointManager({ projectDir, ...o }).deleteCheckpoint("s", UNKNOWN),
      "error",
    ],
    [
      "annotate",
      (projectDir, o) => new CheckpointManager({ projectDir, ...o }).updateAnnotation("s", UNKNOWN, {}),
      "error",
    ],
    ["diff", (projectDir, o) => new CheckpointManager({ projectDir, ...o }).diff("s", UNKNOWN), "error"],
    ["prune", (projectDir, o) => new CheckpointManager({ projectDir, ...o }).prune(1, 1), 0],
    [
      "load",
      (projectDir, o) => new CheckpointStorage("s", { projectDir, ...o }).loadCheckpoint(UNKNOWN),
      "error",
    ],
    [
      "drop old",
      (projectDir, o) => new CheckpointStorage("s", { projectDir, ...o }).pruneOldCheckpoints(1, 1),
      undefined,
    ],
    [
      "plan",
      (projectDir, o) =>
        new RollbackEngine({ projectDir, ...o }).createRollbackPlan({ id: "s" }, { id: UNKNOWN } as never),
      "error",
    ],
    ["restore", async (root, o) => new VersioningTracker(root, "d", o).restore_checkpoint(UNKNOWN), "error"],
    [
      "compare",
      async (root, o) => new VersioningTracker(root, "d", o).get_tree_diff("main", UNKNOWN),
      "error",
    ],
    ["staged", async (root, o) => new VersioningTracker(root, "d", o).get_staged_files(), []],
    ["usage", async (root, o) => (await new SnapshotManager({ directory: root, ...o }).usage()).bytes, 0],
  ];

test.for(QUESTIONS)("[R2600] [R352] a question protects nothing: %s", async ([, ask, answer]) => {
  const { root, options, lines, exists } = makePlace({ a: "0\n" });
  if (answer === "error")
    await expect(ask(root, options)).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
  else expect(await ask(root, options)).toEqual(answer);
  expect(lines).toEqual([]);
  expect(exists(join("..", "home"))).toBe(false);
});
