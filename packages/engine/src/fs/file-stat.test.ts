import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import { absolutePath } from "./absolute-path.ts";
import { createNameStat, statNode } from "./file-stat.ts";

let directory: string;

beforeEach(() => {
  directory = makeDirectory("belay-stat-");
});

afterEach(() => rmSync(directory, { recursive: true }));

describe("nothing stands below", () => {
  const at = (...names: string[]) => absolutePath(join(directory, ...names));

  test("what is not there", () => {
    expect(statNode(at("gone", "below"))).toBeUndefined();
  });

  test("a file", () => {
    writeFileSync(join(directory, "file"), "");
    expect(statNode(at("file", "below"))).toBeUndefined();
    expect(createNameStat(at("file"))("below")).toBeUndefined();
  });

  test("a symbolic link that leads to itself; the link is there", () => {
    symlinkSync("loop", join(directory, "loop"));
    expect(statNode(at("loop", "below"))).toBeUndefined();
    expect(createNameStat(at("loop"))("below")).toBeUndefined();
    expect(statNode(at("loop"))?.isSymbolicLink()).toBe(true);
  });
});
