/** The names that the watcher told, until a capture that has them is recorded. */
import { describe, expect, test } from "vitest";
import type { BytePath } from "../../model/byte-path.ts";
import { LiveChanges } from "./live-changes.ts";

const path = (text: string) => text as BytePath;

function changesOf(...paths: readonly (string | [string, "replaced"])[]): LiveChanges {
  const changes = new LiveChanges();
  for (const each of paths)
    if (typeof each === "string") changes.addPath(path(each), false);
    else changes.addPath(path(each[0]), true);
  return changes;
}

/** The directories to look at, each with its names. */
function looksOf(changes: LiveChanges): Record<string, Record<string, boolean>> {
  return Object.fromEntries(
    [...changes.directories()].map(([directory, names]) => [directory, Object.fromEntries(names)]),
  );
}

describe("the names that changed", () => {
  test("are kept by directory, each once", () => {
    const changes = changesOf("a", "src/b", "src/c", "src/b", "src/deep/d");
    expect(looksOf(changes)).toEqual({
      "": { a: false },
      src: { b: false, c: false },
      "src/deep": { d: false },
    });
    expect(changes.size).toBe(4);
    expect([...changes.paths()].sort()).toEqual(["a", "src/b", "src/c", "src/deep/d"]);
  });

  test("come parents first", () => {
    const changes = changesOf("z/a", "a/b/c", "a/b", "a.b/c", "b");
    expect([...changes.directories()].map(([directory]) => directory)).toEqual(["", "a", "a.b", "a/b", "z"]);
  });

  test("are bytes: names that look alike are different", () => {
    const changes = changesOf("caf\xc3\xa9", "caf\xe9");
    expect(changes.size).toBe(2);
    expect([changes.has(path("caf\xe9")), changes.has(path("cafe"))]).toEqual([true, false]);
  });

  test("are gone after `clear`", () => {
    const changes = changesOf("a", ["src", "replaced"]);
    changes.clear();
    expect([changes.size, [...changes.paths()], changes.has(path("a"))]).toEqual([0, [], false]);
    expect(changes.isReplaced(path("src/b"))).toBe(false);
  });

  test("are refused when there are more than a scan would cost", () => {
    const changes = new LiveChanges();
    let count = 0;
    while (changes.add(path(`d${count % 10}`), `f${count}`, false)) count += 1;
    expect(count).toBe(20_000);
    // a name that is known takes no room
    expect(changesOf("a").add(path(""), "a", true)).toBe(true);
  });
});

describe("a name that was replaced", () => {
  test("stays so, whatever happens to it later", () => {
    const changes = changesOf(["src", "replaced"], "src");
    expect(changes.isReplaced(path("src"))).toBe(true);
    expect(changesOf("src", ["src", "replaced"]).isReplaced(path("src"))).toBe(true);
    expect(changesOf("src").isReplaced(path("src"))).toBe(false);
  });

  test("makes everything below it replaced and changed, and nothing beside it", () => {
    const changes = changesOf(["src/deep", "replaced"]);
    for (const below of ["src/deep/a", "src/deep/b/c"]) {
      expect(changes.isReplaced(path(below))).toBe(true);
      expect(changes.has(path(below))).toBe(true);
    }
    for (const beside of ["src", "src/deeper", "src/deeper/a", "deep/a", ""]) {
      expect(changes.isReplaced(path(beside))).toBe(false);
      expect(changes.has(path(beside))).toBe(false);
    }
  });

  test("takes the place of names below it: they are seen when it is entered", () => {
    const changes = changesOf("src/deep/a", "src/deep/b/c", ["src", "replaced"], "other/d");
    expect(looksOf(changes)).toEqual({ "": { src: true }, other: { d: false } });
    // they are still among the paths that changed
    expect(changes.has(path("src/deep/a"))).toBe(true);
    expect(changes.size).toBe(4);
  });

  test("that merely changed hides nothing below it", () => {
    const changes = changesOf("src", "src/a");
    expect(looksOf(changes)).toEqual({ "": { src: false }, src: { a: false } });
  });
});
