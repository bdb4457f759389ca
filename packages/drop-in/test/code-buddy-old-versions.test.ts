/** Versions that Code Buddy itself kept in its file: they are taken over, and the file is not lost. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  CheckpointVersioning,
  PersistentCheckpointManager,
  type VersioningConfig,
} from "../src/code-buddy.ts";
import { makePlace } from "./support/place.ts";

const FILE = ".codebuddy/versions/versions.json";
const [V1, V2, V3] = ["v_aaaaaaaaaaaa", "v_bbbbbbbbbbbb", "v_cccccccccccc"];

/** A project in which Code Buddy itself worked, as its document describes the file. */
function worked(config: VersioningConfig = {}) {
  const place = makePlace({ "src/a.ts": "now\n", "b.ts": "mine\n" });
  place.enter();
  const version = (id: string, second: number, facts: Record<string, unknown>, content: string) => [
    id,
    {
      id,
      description: `version ${id}`,
      parentId: null,
      branchName: "main",
      createdAt: `2026-05-01T10:00:0${second}.000Z`,
      metadata: { author: "ann", tags: ["stable"], custom: { ticket: 7 } },
      checkpoint: {
        id: `cp_${id}`,
        timestamp: "2026-05-01T10:00:00.000Z",
        description: "cp",
        workingDirectory: place.root,
        files: [
          { path: join(place.root, "src/a.ts"), content, existed: true },
          { path: join(place.root, "logo.png"), content: "\uFFFDPNG", existed: true },
          { path: join(place.root, "later.ts"), content: "", existed: false },
          { path: "/etc/passwd", content: "no\n", existed: true },
          { path: `${place.root}/../escape`, content: "no\n", existed: true },
        ],
      },
      ...facts,
    },
  ];
  const state = {
    versions: [
      version(V1, 1, { name: "v1.0" }, "first\n"),
      version(V2, 2, { parentId: V1 }, "second\n"),
      version(V3, 3, { parentId: V1, branchName: "feature/new-ui" }, "on the feature\n"),
    ],
    branches: [
      ["main", { name: "main", headVersionId: V2 }],
      ["feature/new-ui", { name: "feature/new-ui", headVersionId: V3 }],
    ],
    tags: [["release-1.0", V1]],
    currentBranch: "feature/new-ui",
  };
  place.write(FILE, JSON.stringify(state));
  const versioning = new CheckpointVersioning(config, place.options);
  return { ...place, state, versioning };
}

const ids = (versions: readonly { id: string }[]) => versions.map(({ id }) => id);

test("[R2490] [C47] [C50] load takes over the versions of Code Buddy's own file, with their ids, branches, tags and parents", async () => {
  const { versioning, root, write, read, exists, state, lines, look } = worked();
  await versioning.load();
  expect(versioning.getVersion(V1)).toMatchObject({
    name: "v1.0",
    description: `version ${V1}`,
    parentId: null,
    branchName: "main",
    metadata: { author: "ann", tags: ["stable"], custom: { ticket: 7 } },
    createdAt: new Date("2026-05-01T10:00:01.000Z"),
  });
  expect(versioning.getVersion(V1)!.checkpoint.files.map(({ path, existed }) => [path, existed])).toEqual([
    [join(root, "src/a.ts"), true],
    [join(root, "logo.png"), false],
    [join(root, "later.ts"), false],
  ]);
  expect([versioning.getCurrentBranch(), versioning.getVersionByTag("release-1.0")?.id]).toEqual([
    "feature/new-ui",
    V1,
  ]);
  expect(ids(versioning.getVersionHistory())).toEqual([V3, V1]);
  expect(ids(versioning.getVersionHistory({ branch: "main" }))).toEqual([V2, V1]);
  expect(versioning.findCommonAncestor(V2, V3)?.id).toBe(V1);
  expect(versioning.diff(V1, V2)).toMatchObject({
    modified: [join(root, "src/a.ts")],
    added: [],
    deleted: [],
  });
  const told = (event: string) => lines.filter((line) => line.event === event).length;
  expect([told("version_file_lost"), told("version_file_left_out")]).toEqual([3, 6]);

  write("later.ts", "made later\n");
  write("logo.png", "a picture");
  expect(await versioning.checkout(V1)).toMatchObject({ success: true, errors: [] });
  expect([read("src/a.ts"), exists("later.ts"), read("logo.png"), read("b.ts")]).toEqual([
    "first\n",
    false,
    "a picture",
    "mine\n",
  ]);
  look((workspace) => workspace.undo());
  expect(read("src/a.ts")).toBe("now\n");
  // reading it wrote nothing there, and reading it again brings nothing
  expect(JSON.parse(readFileSync(join(root, FILE), "utf8"))).toEqual(state);
  await versioning.load();
  expect(versioning.getStats()).toMatchObject({ totalVersions: 3, totalBranches: 2, totalTags: 1 });
});

test("[R2490] [C47] the first version made here follows them, and their file is set aside, not lost", async () => {
  const { versioning, root, options, state, read } = worked();
  const checkpoints = new PersistentCheckpointManager({ maxCheckpoints: 1 }, options);
  // without a load: it is written before anything has read it
  const made = versioning.createVersion(checkpoints.createCheckpoint("here"));
  expect(JSON.parse(read(`${FILE}.original`))).toEqual(state);
  expect(made).toMatchObject({ branchName: "main" });
  expect(ids(versioning.getVersionHistory())).toEqual([made.id, V2, V1]);
  expect(versioning.getCurrentVersion()).toMatchObject({ id: made.id, parentId: V2 });
  versioning.switchBranch("feature/new-ui");
  const next = versioning.createVersion(checkpoints.createCheckpoint("there"));
  expect(ids(versioning.getVersionHistory())).toEqual([next.id, V3, V1]);
  expect(() => versioning.createBranch("x", V1)).toThrow("it was imported from code-buddy");
  // the limits of another manager, and of branches, take none of them
  checkpoints.clearCheckpoints();
  expect(versioning.prune(1)).toBe(0);
  expect(versioning.getStats()).toMatchObject({
    totalVersions: 5,
    versionsPerBranch: { main: 3, "feature/new-ui": 2 },
  });
  const written = JSON.parse(read(FILE));
  expect(written.versions.map(([id]: [string]) => id)).toEqual([V1, V2, V3, made.id, next.id]);
  expect(readdirSync(join(root, ".codebuddy/versions")).toSorted()).toEqual([
    "versions.json",
    "versions.json.original",
  ]);
});

test("[R2490] a file that cannot be read is set aside as it is, and hostile ones bring nothing that leads elsewhere", async () => {
  const { versioning, root, options, write, read } = worked();
  const errors: unknown[] = [];
  versioning.on("load-error", (error) => errors.push(error));
  write(FILE, "{ half");
  await versioning.load();
  expect(errors).toHaveLength(1);
  const checkpoints = new PersistentCheckpointManager({}, options);
  versioning.createVersion(checkpoints.createCheckpoint("here"));
  expect(read(`${FILE}.original`)).toBe("{ half");
  // parents in a circle, wrong types, ids twice
  const version = (id: unknown, parentId: unknown) => [
    id,
    { id, parentId, branchName: 7, metadata: [], tags: "x", createdAt: {}, checkpoint: { files: "none" } },
  ];
  write(
    FILE,
    JSON.stringify({
      versions: [
        version("v_1111", "v_2222"),
        version("v_2222", "v_1111"),
        3,
        version(4, 5),
        version("v_1111", null),
      ],
      tags: {},
      currentBranch: [],
    }),
  );
  await versioning.load();
  expect(errors).toHaveLength(1);
  expect(versioning.findCommonAncestor("v_1111", "v_2222")?.id).toBe("v_1111");
  expect(versioning.getVersion("v_1111")).toMatchObject({
    parentId: null,
    branchName: "main",
    metadata: { tags: [] },
  });
  expect([existsSync(join(root, "../escape")), statSync(root).isDirectory()]).toEqual([false, true]);
});
