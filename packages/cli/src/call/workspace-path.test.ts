import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { workspacePath, workspacePaths } from "./workspace-path.ts";

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "belay-path-")));
  root = join(base, "root");
  mkdirSync(join(root, "src"), { recursive: true });
  symlinkSync(root, join(base, "link"));
  symlinkSync(base, join(root, "out"));
});

afterEach(() => rmSync(base, { recursive: true }));

test("paths are relative to the current directory, also ones that do not exist", () => {
  const from = (directory: string, path: string) => workspacePath({ root }, directory, path);
  expect(from(root, "src/a.ts")).toBe("src/a.ts");
  expect(from(join(root, "src"), "a.ts")).toBe("src/a.ts");
  expect(from(join(root, "src"), "../gone/x")).toBe("gone/x");
  expect(from(root, join(root, "src/"))).toBe("src");
  expect(from(root, ".")).toBe("");
});

test("a symbolic link on the way to the workspace is followed, the last one is not", () => {
  expect(workspacePath({ root }, join(base, "link"), "src/a.ts")).toBe("src/a.ts");
  expect(workspacePath({ root }, base, join(base, "link", "new", "a"))).toBe("new/a");
  expect(workspacePath({ root }, root, "out")).toBe("out");
});

test.each(["..", "../other", "/etc/passwd"])("%s is outside", (path) => {
  expect(() => workspacePath({ root }, root, path)).toThrow(
    expect.objectContaining({ code: "PATH_OUTSIDE" }),
  );
});

test("an empty path and one that is not text are refused", () => {
  expect(() => workspacePath({ root }, root, "")).toThrow(/empty/);
  expect(() => workspacePath({ root }, root, "a\ufffdb")).toThrow(/UTF-8/);
});

test("the root itself means no choice of paths", () => {
  expect(workspacePaths({ root }, root, [])).toBeUndefined();
  expect(workspacePaths({ root }, root, ["src", "."])).toBeUndefined();
  expect(workspacePaths({ root }, root, ["src"])).toEqual(["src"]);
});

test("a pattern without a slash is tried at any depth below the current directory", () => {
  const from = (directory: string, ...given: string[]) => workspacePaths({ root }, directory, given);
  expect(from(root, "*.ts")).toEqual(["*.ts"]);
  expect(from(join(root, "src"), "*.ts", "./*.md", "a/*.c")).toEqual([
    "src/**/*.ts",
    "src/*.md",
    "src/a/*.c",
  ]);
});
