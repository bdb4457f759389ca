/** `belay cat` and `belay files`: what a checkpoint holds, byte for byte, without touching the disk. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "one\n", "src/b.txt": "two\n" });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

/** The exact bytes that a command writes. */
const bytes = (...args: string[]) =>
  spawnSync(process.execPath, [LAUNCHER, "--home", sandbox.home, ...args], { cwd: sandbox.project }).stdout;

test("[R235] cat prints any bytes exactly, from the directory it is typed in", async () => {
  const content = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  writeFileSync(sandbox.path("any.bin"), content);
  await sandbox.checkpoint();
  writeFileSync(sandbox.path("any.bin"), "later");
  expect(bytes("cat", "2", "any.bin").equals(content)).toBe(true);
  expect(sandbox.belay(["cat", "1", "b.txt"], { cwd: sandbox.path("src") }).stdout).toBe("two\n");
  expect(sandbox.json(["cat", "2", "any.bin"])).toMatchObject({
    encoding: "base64",
    content: content.toString("base64"),
  });
  expect(sandbox.json(["cat", "1", "a.txt"])).toMatchObject({
    encoding: "utf-8",
    content: "one\n",
    mode: 0o644,
  });
});

test("[R235] a file that is not there leads to its last checkpoint, or to the names that come close", async () => {
  sandbox.write("gone.txt", "gone\n");
  await sandbox.checkpoint();
  sandbox.remove("gone.txt");
  await sandbox.checkpoint();
  const gone = sandbox.belay(["cat", "@", "gone.txt"]);
  expect(gone).toMatchObject({ status: 4, stdout: "" });
  expect(gone.stderr).toContain("belay cat 2 gone.txt");
  expect(bytes("cat", "2", "gone.txt").toString()).toBe("gone\n");
  expect(sandbox.belay(["cat", "@", "b.txt"]).stderr).toContain("Did you mean src/b.txt?");
  expect(sandbox.belay(["cat", "@", "a.tx"]).stderr).toContain("Did you mean a.txt?");
  expect(sandbox.belay(["cat", "@", "src"]).stderr).toContain("belay files 3 src");
  expect(sandbox.belay(["cat", "99", "a.txt"]).status).toBe(4);
});

test("[R235] files lists what a checkpoint holds, all of it or below a path", async () => {
  expect(sandbox.ok("files", "1")).toBe("a.txt\nsrc/b.txt\n");
  expect(sandbox.ok("files", "@", "src")).toBe("src/b.txt\n");
  expect(sandbox.ok("files", "@", "b*")).toBe("src/b.txt\n");
  expect(sandbox.ok("files", "@", "*.txt")).toBe("a.txt\nsrc/b.txt\n");
  expect(sandbox.belay(["files", "1", "*.rs"])).toMatchObject({ status: 4, stdout: "" });
  expect(sandbox.ok("files", "@", "--long")).toMatch(/^644 +4 B +a\.txt\n644 +4 B +src\/b\.txt\n$/);
  expect(sandbox.json(["files", "1"])).toMatchObject({
    filesTotal: 2,
    files: [{ path: "a.txt", kind: "file", mode: 0o644, size: 4 }, { path: "src/b.txt" }],
  });
  expect(sandbox.belay(["files", "1", "nowhere"])).toMatchObject({ status: 4, stdout: "" });
});
