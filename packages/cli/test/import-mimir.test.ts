/** What Mimir left in a project: conversations with messages, and snapshots as copies of files. */
import { rmSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OldPlace, sha256 } from "./old-place.ts";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let place: OldPlace;
const CONVERSATION = ".mimir/context/conversations/conv-1";

beforeEach(() => {
  sandbox = new Sandbox({ "src/auth.ts": "now\n", "src/later.ts": "later\n", "notes.md": "mine\n" });
  place = new OldPlace(sandbox.path("."));
  place.json(`${CONVERSATION}/metadata.json`, {
    id: "conv-1",
    title: "Login",
    createdAt: "2025-12-27T09:00:00Z",
  });
  place.write(
    `${CONVERSATION}/messages.jsonl`,
    `${JSON.stringify({ id: "msg-1", role: "user", content: "Add login", timestamp: "2025-12-27T09:00:00Z" })}\n${JSON.stringify({ id: "msg-2", role: "assistant", content: "Done", timestamp: "2025-12-27T09:01:00Z" })}\n`,
  );
});
afterEach(() => sandbox[Symbol.dispose]());

function snapshot(id: string, facts: Record<string, unknown>, files: Readonly<Record<string, string>>): void {
  const listed = Object.entries(files).map(([path, content]) => ({ path, hash: sha256(content) }));
  place.json(`${CONVERSATION}/snapshots/${id}/metadata.json`, { id, files: listed, ...facts });
  place.json(`${CONVERSATION}/snapshots/${id}/conversation-state.json`, {
    messageCount: 2,
    lastMessageId: "msg-2",
    artifacts: ["a1"],
  });
  for (const [path, content] of Object.entries(files))
    place.write(`${CONVERSATION}/snapshots/${id}/files/${path}`, content);
}

test("[R370] [R372] conversations come with messages, agents and snapshots; ids of snapshots still resolve", () => {
  snapshot(
    "snap-001",
    {
      timestamp: "2025-12-27T09:00:30Z",
      type: "auto-agent",
      agent: { id: "ag-1", role: "thinker", status: "completed", cost: 0.1, tokens: 20 },
    },
    { "src/auth.ts": "one\n" },
  );
  snapshot(
    "snap-002",
    { timestamp: "2025-12-27T10:00:00Z", type: "manual", description: "Before refactoring", tags: ["good"] },
    { "src/auth.ts": "two\n", "src/later.ts": "later\n" },
  );
  snapshot(
    "snap-003",
    { timestamp: "2025-12-27T11:00:00Z", type: "auto-checkpoint", description: "Auto-fix attempt 1 (low)" },
    { "src/auth.ts": "three\n" },
  );
  const said = place.import(sandbox, ["."]);
  expect(said).toMatchObject({ kind: "mimir", threads: 1, checkpoints: 3, files: 4, skipped: [] });
  const { checkpoints } = sandbox.json(["list", "--thread", "conv-1"]);
  expect(checkpoints).toMatchObject([
    { kind: "auto-fix", description: "Auto-fix attempt 1 (low)" },
    {
      kind: "manual",
      description: "Before refactoring",
      tags: ["good"],
      conversation: { messageCount: 2, lastMessageId: "msg-2", artifacts: ["a1"] },
    },
    { kind: "agent", agent: { id: "ag-1", role: "thinker", cost: 0.1, tokens: 20 } },
  ]);
  sandbox.ok("restore", "snap-001", "--yes");
  expect([sandbox.read("src/auth.ts"), sandbox.read("src/later.ts"), sandbox.read("notes.md")]).toEqual([
    "one\n",
    undefined,
    "mine\n",
  ]);
  sandbox.ok("restore", "good", "--yes");
  expect([sandbox.read("src/auth.ts"), sandbox.read("src/later.ts")]).toEqual(["two\n", "later\n"]);
  expect(place.import(sandbox, ["mimir", "."])).toMatchObject({ checkpoints: 3, alreadyThere: 3 });
});

test("[N1] a snapshot without files, links, altered content and lines that are none are named", () => {
  snapshot(
    "snap-001",
    { timestamp: "2025-12-27T09:00:30Z", type: "manual" },
    { "src/auth.ts": "one\n", "bad.ts": "bad\n" },
  );
  place.write(`${CONVERSATION}/snapshots/snap-001/files/bad.ts`, "altered\n");
  symlinkSync("/etc/hostname", sandbox.path(`${CONVERSATION}/snapshots/snap-001/files/link.ts`));
  snapshot("snap-002", { timestamp: "2025-12-27T10:00:00Z" }, {});
  place.write(
    `${CONVERSATION}/messages.jsonl`,
    '{"id": "msg-1", "role": "user", "content": "hi"}\n{"id": "ms',
  );
  const { skipped } = place.import(sandbox, ["."], 3);
  expect(skipped).toEqual([
    { what: "snapshots/snap-001/files/link.ts", reason: "it is a symbolic link" },
    { what: "snapshots/snap-002", reason: "no files were captured" },
    { what: "messages.jsonl:2", reason: "it is not valid JSON" },
    { what: "snap-001: bad.ts", reason: "its content is damaged" },
  ]);
  sandbox.ok("restore", "snap-001", "--yes");
  expect(sandbox.read("src/auth.ts")).toBe("one\n");
});

test("[R2431] a snapshot whose copying did not end deletes nothing, and what it lacks is named", () => {
  const files = { "src/auth.ts": "one\n", "src/later.ts": "later\n" };
  snapshot("snap-001", { timestamp: "2025-12-27T09:00:00Z" }, files);
  snapshot("snap-002", { timestamp: "2025-12-27T10:00:00Z" }, files);
  snapshot("snap-003", { timestamp: "2025-12-27T11:00:00Z" }, files);
  const copies = (id: string) => `${CONVERSATION}/snapshots/${id}`;
  rmSync(sandbox.path(`${copies("snap-002")}/files/src/later.ts`));
  rmSync(sandbox.path(`${copies("snap-003")}/files/src/later.ts`));
  rmSync(sandbox.path(`${copies("snap-003")}/metadata.json`));
  place.json(`${CONVERSATION}/snapshots/index.json`, [{ id: "snap-003" }, { id: "snap-000" }]);
  const { skipped } = place.import(sandbox, ["."], 3);
  expect(skipped).toEqual([
    { what: "snapshots/snap-000", reason: "only the index has it, its files are gone" },
    { what: "snapshots/snap-002/files/src/later.ts", reason: "it is missing" },
    { what: "snapshots/snap-003", reason: "without its own metadata its files are not proven to be whole" },
  ]);
  for (const id of ["snap-002", "snap-003"]) {
    sandbox.write("src/auth.ts", "now\n");
    sandbox.ok("restore", id, "--yes");
    expect([sandbox.read("src/auth.ts"), sandbox.read("src/later.ts")]).toEqual(["one\n", "later\n"]);
  }
});
