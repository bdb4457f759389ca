/** Where `attach` may put a store, and what becomes of the files that stood there. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let workspace: string;
beforeEach(() => {
  sandbox = new Sandbox();
  workspace = sandbox.json(["init", "--no-agents"]).workspace;
});
afterEach(() => sandbox[Symbol.dispose]());

function directory(name: string, files: Readonly<Record<string, string>>): string {
  const path = join(sandbox.base, name);
  mkdirSync(path);
  for (const [file, content] of Object.entries(files)) writeFileSync(join(path, file), content);
  return path;
}

describe("[R210] attach refuses what init refuses", () => {
  const refused = (cwd: string) =>
    expect(sandbox.json(["attach", workspace, "--yes"], 3, { cwd }).error).toMatchObject({
      code: "WORKSPACE_REFUSED",
    });

  test("a home directory, the whole file system and Belay's own store, even with --yes", () => {
    rmSync(sandbox.project, { recursive: true });
    for (const place of [sandbox.base, "/", sandbox.home]) refused(place);
    expect(sandbox.json(["workspaces"], 0, { cwd: sandbox.base }).workspaces).toMatchObject([
      { path: sandbox.project },
    ]);
  });

  test("a directory inside another protected one; not one inside its own old place", () => {
    const outer = directory("outer", {});
    const inner = directory("outer/inner", {});
    expect(sandbox.belay(["init", "--no-agents"], { cwd: outer }).status).toBe(0);
    refused(inner);
    const own = directory("project/own", {});
    expect(sandbox.json(["attach", workspace, "--yes"], 0, { cwd: own })).toMatchObject({ path: own });
  });
});

describe("[R210] attach to a directory with other files", () => {
  test("asks: exit 3 without --yes, and nothing changes", () => {
    const strange = directory("strange", { "mine.txt": "mine\n" });
    rmSync(sandbox.project, { recursive: true });
    const { error } = sandbox.json(["attach", workspace], 3, { cwd: strange });
    expect(error).toMatchObject({ code: "CONFIRMATION_REQUIRED" });
    expect(error.message).toContain(`${strange} holds files that are not from ${sandbox.project}`);
    expect(sandbox.json(["workspaces"], 0, { cwd: sandbox.base }).workspaces).toMatchObject([
      { path: sandbox.project },
    ]);
  });

  test("does not ask for an empty one, and a restore fills it", () => {
    const empty = directory("empty", {});
    rmSync(sandbox.project, { recursive: true });
    sandbox.json(["attach", workspace], 0, { cwd: empty });
    sandbox.json(["restore", "@", "--yes"], 0, { cwd: empty });
    expect(readFileSync(join(empty, "a.txt"), "utf8")).toBe("one\n");
  });

  test.each(["at once", "after a capture there"])("[N6] a whole restore keeps them, %s", (when) => {
    const strange = directory("strange", { "mine.txt": "mine\n" });
    mkdirSync(join(strange, "notes"));
    writeFileSync(join(strange, "notes", "n.txt"), "n\n");
    sandbox.write("later.txt", "later\n");
    sandbox.json(["checkpoint"]);
    rmSync(sandbox.project, { recursive: true });
    sandbox.json(["attach", workspace, "--yes"], 0, { cwd: strange });
    if (when !== "at once") {
      sandbox.json(["checkpoint"], 0, { cwd: strange });
      writeFileSync(join(strange, "new.txt"), "new\n");
    }
    const { kept } = sandbox.json(["restore", "1", "--yes"], 0, { cwd: strange });
    const reason = "it was in this directory before the store was";
    expect(kept).toContainEqual(expect.objectContaining({ path: "mine.txt", reason }));
    expect(readFileSync(join(strange, "mine.txt"), "utf8")).toBe("mine\n");
    expect(readFileSync(join(strange, "notes", "n.txt"), "utf8")).toBe("n\n");
    expect(readFileSync(join(strange, "a.txt"), "utf8")).toBe("one\n");
    // what did come later goes
    for (const gone of ["later.txt", "new.txt"]) expect(existsSync(join(strange, gone))).toBe(false);
  });

  test("what the project itself had added goes, as it would have in the old place", () => {
    sandbox.write("later.txt", "later\n");
    sandbox.json(["checkpoint"]);
    const copy = directory("copy", { "a.txt": "one\n", "later.txt": "later\n" });
    rmSync(sandbox.project, { recursive: true });
    sandbox.json(["attach", workspace], 0, { cwd: copy });
    sandbox.json(["restore", "1", "--yes"], 0, { cwd: copy });
    expect(existsSync(join(copy, "later.txt"))).toBe(false);
  });
});
