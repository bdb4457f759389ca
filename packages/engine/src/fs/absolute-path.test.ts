import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import {
  absolutePath,
  below,
  displayAbsolute,
  forSystem,
  isInside,
  parentOf,
  realPath,
  realPathAsFarAsPossible,
  upwards,
} from "./absolute-path.ts";

let base: string;
beforeEach(() => {
  base = makeDirectory("belay-paths-");
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

describe("paths as bytes", () => {
  test("text goes in and comes out, whatever letters it has", () => {
    for (const text of ["/a/b", "/ü/日本/🙂", "/with space", "/a\nb", "/"])
      expect(displayAbsolute(absolutePath(text))).toBe(text);
  });

  test("dots and double slashes are resolved, symbolic links are not", () => {
    expect(absolutePath("/a/./b/../c//d/")).toBe("/a/c/d");
    symlinkSync("/nowhere", join(base, "link"));
    expect(absolutePath(join(base, "link"))).toBe(join(base, "link"));
  });

  test("the system gets ASCII as it is, and everything else as bytes", () => {
    expect(forSystem(absolutePath("/a"))).toBe("/a");
    expect(forSystem(absolutePath("/ü"))).toEqual(Buffer.from("/ü"));
  });

  test("joining knows the root and the empty path", () => {
    expect(below(absolutePath("/"), "a/b")).toBe("/a/b");
    expect(below(absolutePath("/a"), "b")).toBe("/a/b");
    expect(below(absolutePath("/a"), "")).toBe("/a");
  });
});

describe("directories above", () => {
  test("each has one, and the root is its own", () => {
    expect(["/a/b", "/a", "/"].map((path) => parentOf(absolutePath(path)))).toEqual(["/a", "/", "/"]);
  });

  test("come nearest first, and end at the root", () => {
    expect([...upwards(absolutePath("/a/b/c"))]).toEqual(["/a/b/c", "/a/b", "/a", "/"]);
    expect([...upwards(absolutePath("/"))]).toEqual(["/"]);
  });

  test("hold what is inside them, and nothing that only begins like them", () => {
    const inside = (path: string, directory: string) => isInside(absolutePath(path), absolutePath(directory));
    expect(inside("/a", "/a")).toBe(true);
    expect(inside("/a/b/c", "/a")).toBe(true);
    expect(inside("/ab", "/a")).toBe(false);
    expect(inside("/a", "/a/b")).toBe(false);
    expect(inside("/anything", "/")).toBe(true);
    expect(inside("/", "/")).toBe(true);
    expect(inside("/", "/a")).toBe(false);
  });
});

describe("real paths", () => {
  test("every link is followed; what is not there is an error", () => {
    mkdirSync(join(base, "a"));
    symlinkSync("a", join(base, "link"));
    expect(realPath(absolutePath(join(base, "link")))).toBe(join(base, "a"));
    expect(() => realPath(absolutePath(join(base, "missing")))).toThrow("ENOENT");
  });

  test("as far as possible: links in what exists are followed, the rest stays as it is written", () => {
    mkdirSync(join(base, "a"));
    symlinkSync("a", join(base, "link"));
    const real = (path: string) => realPathAsFarAsPossible(absolutePath(join(base, path)));
    expect(real("link/x/y")).toBe(join(base, "a/x/y"));
    expect(real("missing/link")).toBe(join(base, "missing/link"));
    expect(real("")).toBe(base);
    expect(realPathAsFarAsPossible(absolutePath("/"))).toBe("/");
  });

  test("as far as possible: a dangling link, a loop and a path through a file are no errors", () => {
    symlinkSync("nowhere", join(base, "dangling"));
    symlinkSync("loop", join(base, "loop"));
    writeFileSync(join(base, "file"), "");
    for (const path of ["dangling", "dangling/x", "loop/x", "file/x/y"])
      expect(realPathAsFarAsPossible(absolutePath(join(base, path)))).toBe(join(base, path));
  });
});
