/** What Moldable left on disk: conversations of apps, with snapshots by message and blobs by hash. */
import { chmodSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OldPlace, sha256 } from "./old-place.ts";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let place: OldPlace;
const CONVERSATION = "workspaces/personal/checkpoints/my-todo-app/conv-1";

beforeEach(() => {
  sandbox = new Sandbox({ "src/page.tsx": "three\n", "src/made-later.ts": "later\n", "notes.md": "mine\n" });
  chmodSync(sandbox.path("src"), 0o700);
  place = new OldPlace(join(sandbox.base, ".moldable"));
});
afterEach(() => sandbox[Symbol.dispose]());

/** A snapshot of the app before a message; null: known to be absent. */
function snapshot(messageId: string, at: string, files: Readonly<Record<string, string | null>>): void {
  for (const content of Object.values(files))
    if (content !== null) {
      const hash = sha256(content);
      place.write(`${CONVERSATION}/blobs/${hash.slice(0, 2)}/${hash}`, content);
    }
  place.json(`${CONVERSATION}/snapshots/${messageId}.json`, {
    id: "snap-001",
    messageId,
    conversationId: "conv-1",
    appId: "my-todo-app",
    appDir: sandbox.project,
    createdAt: at,
    files: Object.entries(files).map(([path, content]) =>
      content === null
        ? { path, hash: null, size: 0, mode: 0, exists: false }
        : { path, hash: sha256(content), size: content.length, mode: 33188, exists: true },
    ),
  });
}

function manifest(...messages: string[]): void {
  place.json(`${CONVERSATION}/manifest.json`, {
    conversationId: "conv-1",
    appId: "my-todo-app",
    createdAt: "2026-01-23T10:00:00Z",
    updatedAt: "2026-01-23T12:30:00Z",
    snapshots: messages.map((messageId) => ({
      id: "snap-001",
      messageId,
      createdAt: "",
      fileCount: 1,
      totalBytes: 4,
    })),
  });
}

function writeConversation(): void {
  snapshot("msg-1", "2026-01-23T10:00:00Z", { "src/page.tsx": "one\n" });
  snapshot("msg-2", "2026-01-23T11:00:00Z", {
    "src/page.tsx": "two\n",
    "src/made-later.ts": "later\n",
    "old.ts": null,
  });
  manifest("msg-1", "msg-2");
}

test("[R370] [R372] conversations come with their messages; ids that collided before are told apart; a restore is exact", () => {
  writeConversation();
  const said = place.import(sandbox, ["moldable", place.directory]);
  expect(said).toMatchObject({
    kind: "moldable",
    workspace: expect.stringMatching(/^[k-z]{16}$/),
    threads: 1,
    checkpoints: 2,
    alreadyThere: 0,
    files: 3,
    bytes: 14,
    skipped: [],
  });
  const { threads } = sandbox.json(["threads"]);
  expect(threads).toMatchObject([
    { agent: "moldable", externalId: "personal/my-todo-app/conv-1", messages: 2 },
  ]);
  const { checkpoints } = sandbox.json(["list", "--thread", threads[0].id]);
  expect(
    checkpoints.map((each: { messageId: string; origin: string }) => [each.messageId, each.origin]),
  ).toEqual([
    ["msg-2", "moldable"],
    ["msg-1", "moldable"],
  ]);
  expect(sandbox.json(["list"]).checkpoints).toHaveLength(1);
  sandbox.ok("restore", "conv-1/msg-1", "--yes");
  expect([sandbox.read("src/page.tsx"), sandbox.read("src/made-later.ts"), sandbox.read("notes.md")]).toEqual(
    ["one\n", undefined, "mine\n"],
  );
  sandbox.ok("undo", "--yes");
  expect(sandbox.read("src/made-later.ts")).toBe("later\n");
  sandbox.ok("restore", "msg-2", "--yes");
  expect(sandbox.read("src/page.tsx")).toBe("two\n");
});

test("[R372] twice is once, from any directory above; the kind is found", () => {
  writeConversation();
  place.import(sandbox, [place.path("workspaces/personal/checkpoints")]);
  expect(place.import(sandbox, [place.path(CONVERSATION)])).toMatchObject({
    kind: "moldable",
    checkpoints: 2,
    alreadyThere: 2,
  });
  expect(sandbox.json(["threads"]).threads).toHaveLength(1);
  const text = sandbox.ok("import", place.directory);
  expect(text).toContain("2 checkpoints had been imported before.");
});

test("--dry-run stores nothing and protects nothing", () => {
  writeConversation();
  expect(place.import(sandbox, [place.directory, "--dry-run"])).toMatchObject({
    checkpoints: 2,
    files: 3,
    dryRun: true,
    workspace: null,
  });
  expect(sandbox.error(["list"], 4).code).toBe("WORKSPACE_NOT_FOUND");
  // [N1] what is there already would not come again
  place.import(sandbox, [place.directory]);
  snapshot("msg-9", "2026-01-23T13:00:00Z", { "src/page.tsx": "nine\n" });
  expect(place.import(sandbox, [place.directory, "--dry-run"])).toMatchObject({
    checkpoints: 3,
    alreadyThere: 2,
    files: 1,
  });
  expect(sandbox.ok("import", place.directory, "--dry-run")).toMatch(
    /^Would import 1 checkpoint .*: 1 file, 5 B\.\n2 checkpoints had been imported before\.\n$/,
  );
  expect(place.import(sandbox, [place.directory])).toMatchObject({
    checkpoints: 3,
    alreadyThere: 2,
    files: 1,
  });
});

test("[N1] damage is named and no reason to lose the rest: missing and altered content is a gap, and is never touched", () => {
  writeConversation();
  snapshot("msg-3", "2026-01-23T12:00:00Z", {
    "src/page.tsx": "lost\n",
    "notes.md": "altered\n",
    "../../etc/passwd": "x\n",
    "/etc/passwd": "y\n",
    "link.ts": "linked\n",
    "fine.ts": "fine\n",
  });
  manifest("msg-1", "msg-2", "msg-3", "msg-4", "msg-5");
  const blob = (content: string) => `${CONVERSATION}/blobs/${sha256(content).slice(0, 2)}/${sha256(content)}`;
  rmSync(place.path(blob("lost\n")));
  place.write(blob("altered\n"), "other\n");
  rmSync(place.path(blob("linked\n")));
  symlinkSync("/etc/hostname", place.path(blob("linked\n")));
  place.write(`${CONVERSATION}/snapshots/msg-5.json`, '{"messageId": "msg-5", "fi');
  const { skipped, checkpoints } = place.import(sandbox, [place.directory], 3);
  expect(checkpoints).toBe(3);
  expect(skipped).toEqual([
    { what: "../../etc/passwd", reason: "it leads out of the workspace" },
    { what: "/etc/passwd", reason: "it leads out of the workspace" },
    { what: "snapshots/msg-4.json", reason: "it is missing" },
    { what: "snapshots/msg-5.json", reason: "it is not valid JSON" },
    { what: "msg-3: src/page.tsx", reason: "it is missing" },
    { what: "msg-3: notes.md", reason: "its content is damaged" },
    { what: "msg-3: link.ts", reason: "it is a symbolic link" },
  ]);
  expect(sandbox.json(["show", "msg-3"]).checkpoint.gaps).toHaveLength(3);
  sandbox.ok("restore", "msg-3", "--yes");
  expect([sandbox.read("notes.md"), sandbox.read("src/page.tsx"), sandbox.read("fine.ts")]).toEqual([
    "mine\n",
    "three\n",
    "fine\n",
  ]);
});

test("a manifest that is cut off: the snapshots are read in the order of their times", () => {
  writeConversation();
  place.write(`${CONVERSATION}/manifest.json`, '{"conversationId": "conv-1", "snaps');
  const { skipped } = place.import(sandbox, [place.directory], 3);
  expect(skipped).toEqual([{ what: "manifest.json", reason: "it is not valid JSON" }]);
  const { checkpoints } = sandbox.json(["list", "--thread", sandbox.json(["threads"]).threads[0].id]);
  expect(checkpoints.map((each: { messageId: string }) => each.messageId)).toEqual(["msg-2", "msg-1"]);
});

test("an app whose directory is gone needs --into", () => {
  writeConversation();
  const other = join(sandbox.base, "elsewhere");
  new OldPlace(other).write("src/page.tsx", "now\n");
  rmSync(sandbox.project, { recursive: true });
  const at = { cwd: sandbox.base };
  const gone = JSON.parse(sandbox.belay(["import", place.directory, "--json"], at).stdout);
  expect(gone).toMatchObject({
    checkpoints: 0,
    skipped: [{ reason: expect.stringContaining("name the workspace with --into") }],
  });
  const taken = sandbox.belay(["import", place.directory, "--into", other, "--json"], at);
  expect(JSON.parse(taken.stdout)).toMatchObject({ checkpoints: 2, skipped: [] });
});

test("[R2432] a snapshot that the manifest does not list yet comes after those that it lists", () => {
  writeConversation();
  manifest("msg-1");
  expect(place.import(sandbox, [place.directory])).toMatchObject({ checkpoints: 2, skipped: [] });
  const { checkpoints } = sandbox.json(["list", "--thread", sandbox.json(["threads"]).threads[0].id]);
  expect(checkpoints.map((each: { messageId: string }) => each.messageId)).toEqual(["msg-2", "msg-1"]);
});
