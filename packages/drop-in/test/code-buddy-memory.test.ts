/** Code Buddy's manager of one session: in a protected directory, and in one that is not. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { protectedRoots } from "@belay/engine";
import { openWorkspaceSync } from "@belay/engine/sync";
import { expect, test } from "vitest";
import { CheckpointManager, getCheckpointManager, resetCheckpointManager } from "../src/code-buddy.ts";
import { sessionHome } from "../src/frame/session-home.ts";
import { makePlace } from "./support/place.ts";

function manage(files: Readonly<Record<string, string>> = { "src/a.ts": "one\n", other: "x\n" }) {
  const place = makePlace(files);
  place.enter();
  return { ...place, manager: new CheckpointManager({}, place.options) };
}

test("[C01] [C02] [C07] [C10] a file is saved before an edit and comes back; the directory is not protected", () => {
  const { manager, root, home, read, write } = manage();
  const checkpoint = manager.checkpointBeforeEdit("src/a.ts");
  expect(checkpoint).toMatchObject({
    id: expect.stringMatching(/^cp_[0-9a-z]+_[k-z]{16}$/),
    timestamp: expect.any(Date),
    description: "Before editing: a.ts",
    workingDirectory: root,
  });
  expect(checkpoint.files).toMatchObject([{ path: join(root, "src/a.ts"), content: "one\n", existed: true }]);
  write("src/a.ts", "two\n");
  write("by-hand", "mine\n");
  expect(manager.rewindToLast()).toMatchObject({
    success: true,
    restored: [join(root, "src/a.ts")],
    errors: [],
    checkpoint: { id: checkpoint.id },
  });
  expect([read("src/a.ts"), read("by-hand")]).toEqual(["one\n", "mine\n"]);
  expect(existsSync(home) ? protectedRoots({ home }) : []).toEqual([]);
});

test("[R354] [C08] [C09] original 23: a new file is removed; going back further takes the files named since, and drops nothing", () => {
  const { manager, root, read, write, exists } = manage();
  const first = manager.checkpointBeforeEdit("src/a.ts");
  write("src/a.ts", "two\n");
  const second = manager.checkpointBeforeCreate(join(root, "src/b.ts"), "a new one");
  expect(second.files).toMatchObject([{ path: join(root, "src/b.ts"), content: "", existed: false }]);
  write("src/b.ts", "new\n");
  expect(manager.rewindTo(first.id).restored).toEqual([
    join(root, "src/a.ts"),
    `Deleted: ${join(root, "src/b.ts")}`,
  ]);
  expect([read("src/a.ts"), exists("src/b.ts")]).toEqual(["one\n", false]);
  expect(manager.getCheckpoints().map(({ id }) => id)).toEqual([first.id, second.id]);
  expect(manager.rewindTo(second.id)).toMatchObject({ success: true, restored: [join(root, "src/a.ts")] });
  expect(read("src/a.ts")).toBe("two\n");
});

test("[C05] original 24: a link is saved as a link, named or not, and comes back as one; what it leads to stays", () => {
  const { manager, root, read, write } = manage({ "real.ts": "real\n" });
  const link = join(root, "link.ts");
  symlinkSync("real.ts", link);
  manager.checkpointBeforeEdit("link.ts");
  rmSync(link);
  writeFileSync(link, "a file now\n");
  write("real.ts", "changed\n");
  expect(manager.rewindToLast()).toMatchObject({ success: true, restored: [link] });
  expect([readlinkSync(link), read("real.ts")]).toEqual(["real.ts", "changed\n"]);
  const { id } = manager.createCheckpoint("everything");
  rmSync(link);
  symlinkSync("elsewhere.ts", link);
  expect(manager.rewindTo(id)).toMatchObject({ success: true, restored: [link] });
  expect([readlinkSync(link), read("real.ts")]).toEqual(["real.ts", "changed\n"]);
});

test("[C01] before an edit one file is saved, whatever the size of the project; a file named later goes back to what it was then", () => {
  const { manager, root, read, write } = manage({ "src/a.ts": "one\n" });
  for (let index = 0; index < 500; index += 1) write(`many/${index % 10}/f${index}`, `${index}\n`);
  const first = manager.checkpointBeforeEdit("src/a.ts");
  write("src/a.ts", "two\n");
  write("many/1/f1", "between\n");
  manager.checkpointBeforeEdit("many/1/f1");
  write("many/1/f1", "later\n");
  write("many/2/f2", "never named\n");
  using inside = openWorkspaceSync(root, { home: sessionHome(() => undefined), nested: true });
  expect(inside.list().map(({ files }) => files)).toEqual([2, 1, 0, 0]);
  expect(manager.rewindTo(first.id).restored).toEqual([join(root, "many/1/f1"), join(root, "src/a.ts")]);
  expect([read("src/a.ts"), read("many/1/f1"), read("many/2/f2")]).toEqual([
    "one\n",
    "between\n",
    "never named\n",
  ]);
});

test("[R354] [C05] [C06] original 22: without files the whole workspace is saved, bytes and modes, and goes back exactly", () => {
  const { manager, root, write, exists } = manage({ a: "a\n", "run.sh": "#!/bin/sh\n" });
  const bytes = Buffer.from([0, 0xff, 0xfe, 10]);
  write("image", bytes);
  chmodSync(join(root, "run.sh"), 0o755);
  const { id, files } = manager.createCheckpoint("everything");
  expect(files.map(({ path }) => path)).toEqual(["a", "image", "run.sh"].map((name) => join(root, name)));
  expect(files[1]).toMatchObject({ content: bytes.toString("base64"), encoding: "base64", existed: true });
  write("image", "text");
  write("later", "x");
  chmodSync(join(root, "run.sh"), 0o644);
  expect(manager.rewindTo(id)).toMatchObject({ success: true });
  expect(readFileSync(join(root, "image"))).toEqual(bytes);
  expect([statSync(join(root, "run.sh")).mode & 0o777, exists("later")]).toEqual([0o755, false]);
});

test("[C03] [C04] [C11] [C14] the oldest goes when there are too many; the list is the manager's own", () => {
  const { options, enter } = makePlace({ a: "0\n" });
  enter();
  const manager = new CheckpointManager({ maxCheckpoints: 3, autoCheckpoint: false }, options);
  for (const name of ["1", "2", "3", "4", "5"]) manager.createCheckpoint(name, ["a"]);
  expect(manager.getCheckpoints().map(({ description }) => description)).toEqual(["3", "4", "5"]);
  expect(manager.getRecentCheckpoints(2).map(({ description }) => description)).toEqual(["4", "5"]);
  expect(new CheckpointManager({}, options).getCheckpoints()).toEqual([]);
  expect([manager.isAutoCheckpointEnabled(), manager.getStats().count]).toEqual([false, 3]);
  manager.setAutoCheckpoint(true);
  expect(manager.isAutoCheckpointEnabled()).toBe(true);
  const [first] = manager.getCheckpoints();
  expect(manager.getCheckpoint(first!.id)).toMatchObject({ description: "3" });
  expect([manager.deleteCheckpoint(first!.id), manager.deleteCheckpoint(first!.id)]).toEqual([true, false]);
  expect(manager.getCheckpoint(first!.id)).toBeUndefined();
});

test("[C12] lists for people", () => {
  const { manager } = manage();
  expect(manager.formatCheckpointList()).toBe("No checkpoints available.");
  const { id, timestamp } = manager.checkpointBeforeEdit("src/a.ts");
  const short = id.split("_")[2]!.slice(0, 8);
  expect(manager.formatCheckpointList()).toBe(
    `Checkpoints:\n${"─".repeat(60)}\n1. [${short}] ${timestamp.toLocaleTimeString()} - Before editing: a.ts (1 file)`,
  );
});

test("[C13] events come when it is done; what fails says why and changes nothing", () => {
  const { manager, read, write } = manage();
  const events: unknown[] = [];
  manager.on("checkpoint-created", ({ description }) => events.push(["created", description]));
  manager.on("rewind", (checkpoint, restored, errors) =>
    events.push(["rewind", checkpoint.description, restored.length, errors]),
  );
  manager.on("checkpoints-cleared", () => events.push("cleared"));
  expect(manager.rewindToLast()).toEqual({
    success: false,
    restored: [],
    errors: ["No checkpoints available"],
  });
  expect(manager.rewindTo("x")).toEqual({
    success: false,
    restored: [],
    errors: ["Checkpoint not found: x"],
  });
  manager.createCheckpoint("one", ["other"]);
  write("other", "y\n");
  manager.rewindToLast();
  manager.clearCheckpoints();
  expect(events).toEqual([["created", "one"], ["rewind", "one", 1, []], "cleared"]);
  expect([read("other"), manager.getCheckpoints()]).toEqual(["x\n", []]);
  expect(() => manager.checkpointBeforeEdit("../outside")).toThrow(
    expect.objectContaining({ code: "PATH_OUTSIDE" }),
  );
});

test("[C54] one manager a process until it is reset", () => {
  const { options, enter } = makePlace({ a: "0\n" });
  enter();
  const manager = getCheckpointManager({ maxCheckpoints: 7 }, options);
  expect(getCheckpointManager()).toBe(manager);
  resetCheckpointManager();
  expect(getCheckpointManager({}, options)).not.toBe(manager);
  resetCheckpointManager();
});

test("[R355] a process that was killed leaves no half-done rewind: the next one finishes it", async () => {
  const { root, options, read, write, enter } = makePlace({ a: "0\n" });
  for (let index = 0; index < 300; index += 1) write(`many/f${index}`, "before\n");
  const script = join(root, "..", "killed.mjs");
  writeFileSync(
    script,
    `import { CheckpointManager } from ${JSON.stringify(join(import.meta.dirname, "../dist/code-buddy.js"))};
import { readdirSync, writeFileSync, existsSync } from "node:fs";
const manager = new CheckpointManager({}, { home: ${JSON.stringify(options.home)} });
manager.createCheckpoint("all");
for (let index = 0; index < 300; index += 1) writeFileSync(\`many/f\${index}\`, "after\\n");
// killed from outside as soon as the restore has its staging directory
console.log("ready");
setTimeout(() => manager.rewindToLast(), 50);
setTimeout(() => {}, 60_000);
`,
  );
  const child = spawn(process.execPath, [script], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const until = Date.now() + 20_000;
  while (!readdirSync(root).some((name) => name.startsWith(".belay-stage-")) && Date.now() < until);
  child.kill("SIGKILL");
  await once(child, "exit");
  enter();
  new CheckpointManager({}, options).createCheckpoint("the next process", ["a"]);
  const contents = new Set(Array.from({ length: 300 }, (_, index) => read(`many/f${index}`)));
  expect([...contents]).toHaveLength(1);
  expect(readdirSync(root).filter((name) => name.startsWith(".belay-stage-"))).toEqual([]);
  const leftovers = readdirSync(join(tmpdir(), `belay-session-${process.getuid?.() ?? "user"}`));
  expect(leftovers.filter((name) => name.startsWith(`${child.pid}-`))).toEqual([]);
});
