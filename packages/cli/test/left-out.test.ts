/** What going back could not bring back is said, and never passes for done. */
import { beforeEach, afterEach, describe, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected({
    "a.txt": "one\n",
    "secret.key": "password\n",
    "d/x": "x\n",
    "d/y": "y\n",
  });
});
afterEach(() => sandbox[Symbol.dispose]());

describe("[R198] a restore of several chosen paths", () => {
  beforeEach(() => {
    sandbox.write("a.txt", "two\n");
    sandbox.ok("forget", "secret.key", "--yes");
  });

  test("of which one was forgotten is partial, restores the others and names it", () => {
    const { status, stdout } = sandbox.belay(["restore", "1", "a.txt", "secret.key", "--yes"]);
    expect(status).toBe(3);
    expect(stdout).toMatch(/^! Restored /m);
    expect(stdout).toMatch(/: 1 path$/m);
    expect(stdout).toContain("secret.key was forgotten and cannot be restored");
    expect(stdout).toContain("`belay undo` takes this back.");
    expect(sandbox.read("a.txt")).toBe("one\n");
    expect(sandbox.read("secret.key")).toBe("password\n");
  });

  test("says so in JSON", () => {
    expect(sandbox.json(["restore", "1", "a.txt", "secret.key", "--yes"], 3)).toMatchObject({
      outcome: "partial",
      modified: 1,
      leftOut: [{ path: "secret.key", reason: "forgotten" }],
      leftOutTotal: 1,
    });
  });

  test("is whole when the forgotten path is not among them", () => {
    expect(sandbox.json(["restore", "1", "a.txt", "d", "--yes"])).toMatchObject({
      outcome: "applied",
      leftOut: [],
    });
  });

  test("is partial also without --yes, when one file is left to change", () => {
    expect(sandbox.belay(["restore", "1", "a.txt", "secret.key"]).status).toBe(3);
    expect(sandbox.read("a.txt")).toBe("one\n");
  });
});

test("[R198] a file forgotten inside a chosen directory is named, and the directory is restored", () => {
  sandbox.ok("forget", "d/x", "--yes");
  sandbox.write("d/y", "changed\n");
  expect(sandbox.json(["restore", "1", "d", "--yes"])).toMatchObject({
    outcome: "applied",
    leftOut: [{ path: "d/x", reason: "forgotten" }],
  });
  expect(sandbox.read("d/y")).toBe("y\n");
});

test("[R198] a file that the caller asked to keep is not left out", () => {
  sandbox.write("d/new", "new\n");
  sandbox.write("d/y", "changed\n");
  expect(sandbox.json(["restore", "1", "d", "--keep-new", "--yes"])).toMatchObject({
    outcome: "applied",
    kept: [{ path: "d/new", reason: "keep-new" }],
    leftOut: [],
  });
});

describe("[R198] an undo of which everything was forgotten", () => {
  beforeEach(() => {
    sandbox.ok("run", "--", "sh", "-c", "echo new > secret.key");
    sandbox.ok("forget", "secret.key", "--yes");
  });

  test.each([["--dry-run"], ["--yes"]])("is refused with %s and says why", (how) => {
    const { status, stdout } = sandbox.belay(["undo", how]);
    expect(stdout).toContain("Nothing could be undone, and nothing was changed:");
    expect(stdout).toContain("secret.key was forgotten and cannot be restored");
    expect(status).toBe(3);
    expect(sandbox.read("secret.key")).toBe("new\n");
  });

  test("says so in JSON, and so does the redo", () => {
    const left = { outcome: "unchanged", leftOut: [{ path: "secret.key", reason: "forgotten" }] };
    expect(sandbox.json(["undo", "--dry-run"], 3).leftOut).toEqual(left.leftOut);
    expect(sandbox.json(["undo", "--yes"], 3)).toMatchObject(left);
    expect(sandbox.json(["redo", "--yes"], 3)).toMatchObject(left);
  });

  test("does not stand in the way of the steps before it", () => {
    expect(sandbox.belay(["undo", "--yes"]).status).toBe(3);
    expect(sandbox.ok("undo", "--yes")).toContain("Nothing to undo");
  });
});

test("[R198] an undo of which a part was forgotten takes back the rest and names it", () => {
  sandbox.ok("run", "--", "sh", "-c", "echo new > secret.key; echo two > a.txt");
  sandbox.ok("forget", "secret.key", "--yes");
  expect(sandbox.json(["undo", "--yes"])).toMatchObject({
    outcome: "applied",
    leftOut: [{ path: "secret.key", reason: "forgotten" }],
  });
  expect(sandbox.read("a.txt")).toBe("one\n");
});
