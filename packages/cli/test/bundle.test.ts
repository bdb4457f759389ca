/** A conversation in one file: out of one store, and into another. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let other: Sandbox;
let thread: string;
let file: string;

beforeEach(async () => {
  sandbox = await Sandbox.protected();
  other = await Sandbox.protected({ "a.txt": "here\n", "mine.txt": "mine\n" });
  file = join(sandbox.base, "session.tar");
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  thread = (await workspace.threads.create({ agent: "test", externalId: "talk", title: "feature" })).id;
  await workspace.turns.prompt(thread as never, { content: "make it", messageId: "m1" });
  sandbox.write("a.txt", "changed\n");
  sandbox.write("new.bin", "\0\x01");
  await workspace.turns.end(thread as never);
  await workspace.checkpoint({ thread: thread as never, name: "good", note: "all tests pass", tags: ["v1"] });
  await workspace.approvals.approve(thread as never, { message: "First part" });
});
afterEach(async () => {
  await sandbox.verify();
  await other.verify();
  sandbox[Symbol.dispose]();
  other[Symbol.dispose]();
});

test("[Y30] [R372] a bundle brings messages, sessions, names, notes, tags and files into another store", () => {
  const exported = sandbox.json(["export", "--thread", thread, "--bundle", file]);
  expect(exported).toMatchObject({ thread, format: "bundle", file, messages: 1 });
  const said = other.json(["import", file]);
  expect(said).toMatchObject({
    kind: "bundle",
    threads: 1,
    checkpoints: exported.checkpoints,
    alreadyThere: 0,
    skipped: [],
  });
  const [there, here] = [sandbox, other].map((each) => each.json(["thread", "talk"]));
  const worded = (messages: { content: string; createdAt: string }[]) =>
    messages.map(({ content, createdAt }) => ({ content, createdAt }));
  expect(worded(here.messages)).toEqual(worded(there.messages));
  expect(here.sessions).toMatchObject([
    { name: "session_1", status: "merged", message: "First part" },
    { name: "session_2", status: "active" },
  ]);
  const good = other.json(["show", "good"]).checkpoint;
  expect(good).toMatchObject({ note: "all tests pass", tags: ["v1"], kind: "manual", origin: "bundle" });
  expect(other.json(["show", sandbox.json(["show", "good"]).checkpoint.id]).checkpoint.id).toBe(good.id);
  other.ok("restore", "v1", "--yes");
  expect([other.read("a.txt"), other.read("new.bin"), other.read("mine.txt")]).toEqual([
    "changed\n",
    "\0\x01",
    "mine\n",
  ]);
  expect(other.json(["import", "bundle", file])).toMatchObject({
    alreadyThere: exported.checkpoints,
    files: 0,
  });
  expect(other.json(["thread", "talk"]).messages).toHaveLength(1);
});

test("[R372] a store's own bundle changes nothing in it", () => {
  sandbox.ok("export", "--thread", thread, "--bundle", file);
  const before = sandbox.json(["list", "--thread", thread]).checkpoints.length;
  expect(sandbox.json(["import", file])).toMatchObject({ checkpoints: before, alreadyThere: before });
  expect(sandbox.json(["list", "--thread", thread]).checkpoints).toHaveLength(before);
});

test("[N1] a bundle that is cut off is refused; altered content is a gap", () => {
  sandbox.ok("export", "--thread", thread, "--bundle", file);
  const whole = readFileSync(file);
  writeFileSync(file, whole.subarray(0, whole.length - 2000));
  expect(other.error(["import", file], 4)).toMatchObject({
    code: "NOTHING_TO_IMPORT",
    message: expect.stringContaining("it ends too early"),
  });
  writeFileSync(file, "no archive");
  expect(other.error(["import", file], 4).code).toBe("NOTHING_TO_IMPORT");
  const at = whole.lastIndexOf("changed\n");
  whole.write("altered\n", at);
  writeFileSync(file, whole);
  const { skipped } = other.json(["import", file], 3);
  expect(skipped).toContainEqual({
    what: expect.stringMatching(/^[k-z]{16}: a\.txt$/),
    reason: "its content is damaged",
  });
  other.ok("restore", "good", "--yes");
  expect(other.read("a.txt")).toBe("here\n");
});

test("usage", () => {
  expect(sandbox.error(["export", "--thread", thread, "--bundle", file, "--git", "x"], 2).code).toBe("USAGE");
  expect(sandbox.error(["import", "nothing-of-it", file], 2).code).toBe("USAGE");
  expect(sandbox.error(["import", "gone"], 2).message).toContain("does not exist");
  expect(sandbox.error(["import", "moldable", "."], 4)).toMatchObject({
    code: "NOTHING_TO_IMPORT",
    path: sandbox.project,
  });
});
