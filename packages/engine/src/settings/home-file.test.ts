import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import { homeFile, isObject, readObject, writeObject } from "./home-file.ts";

let base: string;
beforeEach(() => {
  base = makeDirectory("belay-home-file-");
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

const read = (text: string | Buffer) => {
  writeFileSync(join(base, "x.json"), text);
  return readObject(homeFile(base, "x.json"));
};

describe("reading", () => {
  test("no file is an empty object: nothing was set", () => {
    expect(readObject(homeFile(base, "x.json"))).toEqual({});
    expect(readObject(homeFile(join(base, "no", "home"), "x.json"))).toEqual({});
  });

  test("an object comes back as it was written, whatever is in it", () => {
    expect(read('{"a": 1, "b": {"c": [null]}, "": "ü"}')).toEqual({ a: 1, b: { c: [null] }, "": "ü" });
    expect(read("{}")).toEqual({});
    expect(read(' \n{"a":1}\n\n')).toEqual({ a: 1 });
  });

  test.each([
    ["an empty file", ""],
    ["white space", " \n"],
    ["a list", "[]"],
    ["null", "null"],
    ["a number", "7"],
    ["a text", '"a"'],
    ["half an object", '{"a": 1'],
    ["an object and more", '{"a": 1} x'],
    ["a comment", '{"a": 1} // one'],
    ["a byte order mark", Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d])],
    ["bytes", Buffer.from([0, 1, 2, 255])],
  ])("%s is no object", (_name, content) => {
    expect(read(content)).toBeUndefined();
  });

  test("what is larger than any settings file is not read", () => {
    const rest = (size: number) => `{"a":"${"x".repeat(size)}"}`;
    expect(read(rest(1024 * 1024))).toBeUndefined();
    expect(read(rest(1024))).toEqual({ a: "x".repeat(1024) });
  });

  test("what is no file is no object, and is not waited for", () => {
    mkdirSync(join(base, "directory"));
    expect(readObject(homeFile(base, "directory"))).toBeUndefined();
    execFileSync("mkfifo", [join(base, "pipe")]);
    expect(readObject(homeFile(base, "pipe"))).toBeUndefined();
    symlinkSync(join(base, "nowhere"), join(base, "dangling"));
    expect(readObject(homeFile(base, "dangling"))).toBeUndefined();
  });

  test("a key called __proto__ is data", () => {
    const parsed = read('{"__proto__": {"polluted": true}, "a": 1}')!;
    expect(Object.keys(parsed)).toEqual(["__proto__", "a"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

describe("writing", () => {
  test("makes the home directory, readable by its owner alone", () => {
    const home = join(base, "deep", "home");
    writeObject(home, "x.json", { a: 1 });
    expect(readFileSync(join(home, "x.json"), "utf8")).toBe('{\n  "a": 1\n}\n');
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  test("replaces what was there, and what is read is what was written", () => {
    writeObject(base, "x.json", { long: "x".repeat(10_000) });
    writeObject(base, "x.json", { short: true });
    expect(readObject(homeFile(base, "x.json"))).toEqual({ short: true });
  });

  test("a directory in its place is an error, and stays", () => {
    mkdirSync(join(base, "x.json"));
    expect(() => writeObject(base, "x.json", {})).toThrow();
    expect(statSync(join(base, "x.json")).isDirectory()).toBe(true);
  });

  test("a file where the home should be is an error, and stays", () => {
    writeFileSync(join(base, "file"), "mine");
    expect(() => writeObject(join(base, "file"), "x.json", {})).toThrow();
    expect(readFileSync(join(base, "file"), "utf8")).toBe("mine");
  });
});

test("only objects are objects", () => {
  expect([{}, { a: 1 }, Object.create(null)].map(isObject)).toEqual([true, true, true]);
  expect([null, undefined, [], "a", 1, true].map(isObject)).toEqual(Array.from({ length: 6 }, () => false));
});
