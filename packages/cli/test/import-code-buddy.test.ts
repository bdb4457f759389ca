/** What Code Buddy left: checkpoints of its managers in the user's directory, versions and ghosts in the project. */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { closeDropIn } from "@belay/drop-in";
import { CheckpointVersioning } from "@belay/drop-in/code-buddy";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OldPlace, sha256 } from "./old-place.ts";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let home: OldPlace;
let hash: string;

beforeEach(() => {
  sandbox = new Sandbox({ "src/a.ts": "now\n", "src/new.ts": "made later\n", "b.ts": "b\n" });
  home = new OldPlace(join(sandbox.base, ".codebuddy"));
  hash = sha256(sandbox.project).slice(0, 16);
});
afterEach(() => sandbox[Symbol.dispose]());

const short = (content: string) => sha256(content).slice(0, 16);

function persistent(id: string, at: string, files: readonly Record<string, unknown>[]): void {
  home.json(`history/${hash}/${id}.json`, {
    id,
    timestamp: at,
    description: `Before editing ${id}`,
    workingDirectory: sandbox.project,
    projectHash: hash,
    files,
  });
  home.json(`history/${hash}/index.json`, {
    projectHash: hash,
    projectPath: sandbox.project,
    checkpoints: [id],
    lastUpdated: at,
  });
}

test("[R370] [R372] checkpoints of all managers are one history of the project, and their ids still resolve", () => {
  const place = (path: string) => sandbox.path(path);
  persistent("cp_1_a", "2026-05-01T10:00:00.000Z", [
    { path: place("src/a.ts"), content: "one\n", existed: true, hash: short("one\n") },
    { path: place("src/new.ts"), content: "", existed: false },
  ]);
  home.json(`checkpoints/${hash}/index.json`, {
    workingDirectory: sandbox.project,
    checkpoints: [
      {
        id: "undo-1",
        name: "before it",
        description: "Before it",
        timestamp: "2026-05-01T11:00:00.000Z",
        tags: ["safe"],
        files: [
          { relativePath: "src/a.ts", hash: sha256("two\n"), size: 4, mode: 0o755, exists: true },
          { relativePath: "b.ts", hash: "", size: 0, mode: 0, exists: false, isDeleted: true },
        ],
      },
    ],
    currentIndex: 0,
  });
  home.write(`checkpoints/${hash}/files/undo-1/src/a.ts`, "two\n");
  home.write(
    "timelines/session-1.jsonl",
    `${JSON.stringify({ turn: 1, ts: "2026-05-01T10:00:00Z", role: "user", textPreview: "Edit a", toolCalls: [], filesTouched: [], checkpointId: "cp_1_a" })}\n`,
  );
  const said = home.import(sandbox, [home.directory]);
  expect(said).toMatchObject({ kind: "code-buddy", threads: 2, checkpoints: 2, skipped: [] });
  expect(sandbox.json(["list", "--thread", "project"]).checkpoints).toMatchObject([
    { name: "before it", tags: ["safe"], origin: "code-buddy" },
    { description: "Before editing cp_1_a" },
  ]);
  const [message] = sandbox.json(["thread", "session-1"]).messages;
  expect(message).toMatchObject({
    content: "Edit a",
    checkpoint: sandbox.json(["show", "cp_1_a"]).checkpoint.id,
  });
  sandbox.ok("restore", "cp_1_a", "--yes");
  expect([sandbox.read("src/a.ts"), sandbox.read("src/new.ts"), sandbox.read("b.ts")]).toEqual([
    "one\n",
    undefined,
    "b\n",
  ]);
  sandbox.ok("restore", "undo-1", "--yes");
  expect([sandbox.read("src/a.ts"), sandbox.read("b.ts")]).toEqual(["two\n", undefined]);
  expect(home.import(sandbox, ["code-buddy", home.directory])).toMatchObject({
    checkpoints: 2,
    alreadyThere: 2,
  });
});

test("[R2490] versions come with names and tags, ghosts as commits of the repository", () => {
  const project = new OldPlace(sandbox.project);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], {
      cwd: sandbox.project,
      encoding: "utf8",
    }).trim();
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "[ghost] Turn 1");
  git("update-ref", "refs/codebuddy/ghost/2026-05-01-1", "HEAD");
  const version = (id: string, content: string, facts: Record<string, unknown>) => [
    id,
    {
      id,
      description: `version ${id}`,
      parentId: null,
      branchName: "main",
      createdAt: "2026-05-01T10:00:00.000Z",
      metadata: { tags: [], custom: {} },
      checkpoint: {
        id: "cp_x",
        workingDirectory: sandbox.project,
        files: [{ path: sandbox.path("src/a.ts"), content, existed: true }],
      },
      ...facts,
    },
  ];
  project.json(".codebuddy/versions/versions.json", {
    versions: [
      version("v_aaaaaaaaaaaa", "first\n", { name: "v1.0" }),
      version("v_bbbbbbbbbbbb", "second\n", { parentId: "v_aaaaaaaaaaaa", branchName: "feature" }),
    ],
    branches: [["main", { name: "main", headVersionId: "v_aaaaaaaaaaaa" }]],
    tags: [["release-1.0", "v_aaaaaaaaaaaa"]],
    currentBranch: "main",
  });
  const said = project.import(sandbox, ["."]);
  expect(said).toMatchObject({ kind: "code-buddy", checkpoints: 3, skipped: [] });
  const first = sandbox.json(["show", "release-1.0"]).checkpoint;
  expect(first).toMatchObject({ name: "v1.0", tags: ["release-1.0"], note: "on the branch main" });
  expect(sandbox.json(["show", "v_bbbbbbbbbbbb"]).checkpoint.parents).toEqual([first.id]);
  // Code Buddy's interface over this store knows them as versions
  const before = process.cwd();
  process.chdir(sandbox.project);
  try {
    const versioning = new CheckpointVersioning({}, { home: sandbox.home });
    expect(versioning.getVersionHistory({ branch: "feature" })).toMatchObject([
      { id: "v_bbbbbbbbbbbb", branchName: "feature", parentId: "v_aaaaaaaaaaaa" },
      { id: "v_aaaaaaaaaaaa", name: "v1.0", metadata: { tags: [], custom: {} } },
    ]);
    expect(versioning.getVersionByTag("release-1.0")?.id).toBe("v_aaaaaaaaaaaa");
  } finally {
    closeDropIn();
    process.chdir(before);
  }
  sandbox.ok("restore", "v_bbbbbbbbbbbb", "--yes");
  expect(sandbox.read("src/a.ts")).toBe("second\n");
  sandbox.ok("restore", "2026-05-01-1", "--yes");
  expect(sandbox.read("src/a.ts")).toBe("now\n");
});

test("[N1] binary content that was not kept, altered content and files elsewhere are named", () => {
  persistent("cp_1_a", "2026-05-01T10:00:00.000Z", [
    { path: sandbox.path("src/a.ts"), content: "one\n", existed: true, hash: short("one\n") },
    { path: sandbox.path("logo.png"), content: "\uFFFDPNG", existed: true },
    { path: sandbox.path("bad.ts"), content: "bad\n", existed: true, hash: short("other\n") },
    { path: "/etc/passwd", content: "x\n", existed: true },
  ]);
  home.write(`history/${hash}/cp_2.json`, '{"id": "cp_2');
  home.write("timelines/s.jsonl", '{"turn": 1, "role": "user"}\n{"tu');
  const { skipped } = home.import(sandbox, [home.directory], 3);
  expect(skipped).toEqual([
    { what: "/etc/passwd", reason: "it is elsewhere" },
    { what: "cp_2.json", reason: "it is not valid JSON" },
    { what: "timelines/s.jsonl:2", reason: "it is not valid JSON" },
    { what: "cp_1_a: logo.png", reason: "it was binary, and its bytes were not kept" },
    { what: "cp_1_a: bad.ts", reason: "its content is damaged" },
  ]);
  sandbox.ok("restore", "cp_1_a", "--yes");
  expect(sandbox.read("src/a.ts")).toBe("one\n");
});

test("[R2431] a ghost whose files git lost, or that left files out, deletes none; names are bytes", () => {
  const git = (input: string | undefined, ...args: string[]) =>
    execFileSync("git", args, {
      cwd: sandbox.project,
      encoding: "utf8",
      ...(input === undefined ? {} : { input }),
    }).trim();
  git(undefined, "init", "-q");
  const blob = git("then\n", "hash-object", "-w", "--stdin");
  const odd = Buffer.from([0x6f, 0xff, 0x64]);
  const treeOf = (...names: (string | Buffer)[]) =>
    execFileSync("git", ["mktree", "-z"], {
      cwd: sandbox.project,
      input: Buffer.concat(
        names.flatMap((name) => [Buffer.from(`100644 blob ${blob}\t`), Buffer.from(name), Buffer.from([0])]),
      ),
    })
      .toString()
      .trim();
  const who = "t <t@t> 1767261600 +0000";
  const ghost = (name: string, tree: string, message: string) => {
    const text = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n[ghost] ${name}${message}\n`;
    git(
      undefined,
      "update-ref",
      `refs/codebuddy/ghost/${name}`,
      git(text, "hash-object", "-wt", "commit", "--stdin"),
    );
  };
  sandbox.write("b.txt", "b\n");
  sandbox.write("c.txt", "c\n");
  ghost("1-all", treeOf("b.txt", "c.txt", odd), "");
  ghost("2-left-out", treeOf("c.txt"), "\n\nBelay-Left-Out: 1");
  ghost("3-lost", treeOf("only-there.txt"), "");
  const gone = git(undefined, "rev-parse", "refs/codebuddy/ghost/3-lost^{tree}");
  rmSync(sandbox.path(`.git/objects/${gone.slice(0, 2)}/${gone.slice(2)}`));
  const said = sandbox.json(["import", "code-buddy", "."], 3);
  expect(said).toMatchObject({ checkpoints: 2, skipped: [{ reason: "git does not have its files" }] });
  sandbox.ok("restore", "2-left-out", "--yes");
  expect([sandbox.read("b.txt"), sandbox.read("c.txt")]).toEqual(["b\n", "then\n"]);
  sandbox.ok("restore", "1-all", "--yes");
  expect(readFileSync(Buffer.concat([Buffer.from(`${sandbox.project}/`), odd]), "utf8")).toBe("then\n");
});
