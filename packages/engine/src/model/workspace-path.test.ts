import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { displayPath, ROOT_PATH } from "./byte-path.ts";
import { parsePath, parsePaths, pathInside } from "./workspace-path.ts";

const OUTSIDE = expect.objectContaining({ code: "PATH_OUTSIDE" });

describe("a path as callers write it", () => {
  test.each([
    ["a", "a"],
    ["a/b/c.txt", "a/b/c.txt"],
    ["./a", "a"],
    ["a/", "a"],
    ["a//", "a"],
    ["./a/b/", "a/b"],
    ["...", "..."],
    ["..a", "..a"],
    ["a..", "a.."],
    [".hidden", ".hidden"],
    [" a b ", " a b "],
    ["-rf", "-rf"],
    ["~", "~"],
    ["C:", "C:"],
    ["a\\b", "a\\b"],
    ["ü/日本", "ü/日本"],
    ["line\nbreak", "line\nbreak"],
  ])("%j means %j", (text, path) => {
    expect(displayPath(parsePath(text))).toBe(path);
  });

  test.each([".", "./", ".//"])("%j is the whole workspace", (text) => {
    expect(parsePath(text)).toBe(ROOT_PATH);
  });

  test.each([
    "",
    "/",
    "//",
    "/etc/passwd",
    "..",
    "../",
    "../a",
    "a/..",
    "a/../b",
    "a/../../b",
    "./..",
    "./../a",
    "a/./b",
    "././a",
    "a//b",
    ".//a",
    "a\0b",
    "\0",
  ])("%j is refused", (text) => {
    expect(() => parsePath(text)).toThrow(OUTSIDE);
  });

  test("the refusal names the path as it was written, and says that nothing was changed", () => {
    expect(() => parsePath("../a\nb")).toThrow(
      '"../a\\nb" is not a path inside the workspace. Nothing was changed.',
    );
  });

  test("whatever is written, what comes out stays inside", () => {
    const piece = fc.oneof(fc.constantFrom("..", ".", "", "a", "/", "\0", "./"), fc.string({ maxLength: 5 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = pieces.join("/");
        let path: string;
        try {
          path = parsePath(text);
        } catch {
          return;
        }
        if (path === "") return;
        for (const name of path.split("/")) {
          expect(name).not.toBe("");
          expect(name).not.toBe(".");
          expect(name).not.toBe("..");
          expect(name).not.toContain("\0");
        }
      }),
    );
  });
});

describe("a path as tools name it", () => {
  test("absolute ones below the root are inside", () => {
    expect(pathInside("/home/you/p", "/home/you/p/src/a.ts")).toBe("src/a.ts");
    expect(pathInside("/home/you/p", "src/a.ts")).toBe("src/a.ts");
    expect(pathInside("/home/you/p", "/home/you/p/")).toBeUndefined();
  });

  test.each(["/home/you/p2/a", "/home/you", "/etc/passwd", "../a", "/home/you/p/../a", "/home/you/p//a", ""])(
    "%j is outside",
    (text) => {
      expect(pathInside("/home/you/p", text)).toBeUndefined();
    },
  );
});

describe("several paths", () => {
  test("none given, or the root among them, means everything", () => {
    expect(parsePaths(undefined)).toBeUndefined();
    expect(parsePaths([])).toBeUndefined();
    expect(parsePaths(["a", "."])).toBeUndefined();
  });

  test("are each parsed, in their order", () => {
    expect(parsePaths(["b/", "./a"])).toEqual(["b", "a"]);
  });

  test("one bad path refuses all, also beside the root", () => {
    expect(() => parsePaths(["a", "../b"])).toThrow(OUTSIDE);
    expect(() => parsePaths([".", "/x"])).toThrow(OUTSIDE);
  });
});
