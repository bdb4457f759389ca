/** One file outside being replaced while other programs work beside it: what each of them wrote is still there. */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import { absolutePath } from "./absolute-path.ts";
import { readOutsideFile, replaceOutside, settleOutside, type ReadOutside } from "./outside-file.ts";

let base: string;
beforeEach(() => {
  base = makeDirectory("belay-outside-file-");
  mkdirSync(join(base, "dir"));
});
afterEach(() => rmSync(base, { recursive: true }));

const at = (name: string) => join(base, "dir", name);
const read = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), "utf8") : undefined);
const names = () => readdirSync(join(base, "dir")).toSorted();
const isText = (text: string) => (file: ReadOutside | undefined) => file?.bytes.toString() === text;

function replace(pieces: Iterable<Buffer>, isSaved: (file: ReadOutside | undefined) => boolean) {
  const content = { pieces, mode: 0o600 };
  return replaceOutside(absolutePath(at("x")), { operation: "op", content, isSaved });
}

describe("[R844] [N0] a file outside that is replaced", () => {
  test("gets its name back if it is not the one that was saved, or if looking at it fails", () => {
    writeFileSync(at("x"), "theirs");
    expect(replace([Buffer.from("new")], isText("saved"))).toBe("it was changed meanwhile");
    const failing = () => {
      throw new Error("the disk is gone");
    };
    expect(replace([Buffer.from("new")], failing)).toBe("the disk is gone");
    expect([names(), read("x")]).toEqual([["x"], "theirs"]);
  });

  test("[N1] keeps another name where a second file took its own, and that name is told", () => {
    writeFileSync(at("x"), "first");
    const problem = replace([Buffer.from("new")], () => {
      writeFileSync(at("x"), "second");
      return false;
    });
    expect(problem).toContain(`what stood there is ${at("x.op.belay-old")} now`);
    expect([read("x"), read("x.op.belay-old"), names().length]).toEqual(["second", "first", 2]);
  });

  test("stays, and nothing is left beside it, where the new content cannot be written", () => {
    writeFileSync(at("x"), "old");
    function* full(): Generator<Buffer> {
      yield Buffer.from("half");
      throw new Error("no space left");
    }
    expect(() => replace(full(), isText("old"))).toThrow("no space left");
    expect([names(), read("x")]).toEqual([["x"], "old"]);
  });

  test.runIf(process.platform === "linux")("stays while a program has it open for writing", () => {
    writeFileSync(at("x"), "old");
    const descriptor = openSync(at("x"), "a");
    expect(replace([Buffer.from("new")], isText("old"))).toBe(
      `process ${process.pid} has it open for writing`,
    );
    writeSync(descriptor, " and more");
    closeSync(descriptor);
    expect([names(), read("x")]).toEqual([["x"], "old and more"]);
    expect(replace([Buffer.from("new")], isText("old and more"))).toBeUndefined();
    expect([names(), read("x")]).toEqual([["x"], "new"]);
  });
});

describe("[R1400] a directory that is swapped for a link", () => {
  beforeEach(() => {
    mkdirSync(join(base, "victim"));
    writeFileSync(join(base, "victim", "x"), "victim");
  });
  const swap = () => {
    renameSync(join(base, "dir"), join(base, "away"));
    symlinkSync(join(base, "victim"), join(base, "dir"));
  };
  const victim = () =>
    readdirSync(join(base, "victim")).map((name) => [name, readFileSync(join(base, "victim", name), "utf8")]);

  test("before the call leads nowhere", () => {
    swap();
    expect(readOutsideFile(absolutePath(at("x")), 100)).toContain("a link or a file is on the way to it");
    expect(() => replace([Buffer.from("new")], () => true)).toThrow("on the way to it");
    const deep = absolutePath(join(base, "dir", "deep", "x"));
    const content = { pieces: [Buffer.from("new")], mode: 0o600 };
    expect(() => replaceOutside(deep, { operation: "op", content, isSaved: () => true })).toThrow(
      "on the way",
    );
    expect(victim()).toEqual([["x", "victim"]]);
  });

  test.runIf(process.platform === "linux")("in the middle of it leads nowhere either", () => {
    writeFileSync(at("x"), "old");
    function* swapping(): Generator<Buffer> {
      yield Buffer.from("new");
      swap();
    }
    expect(replace(swapping(), isText("old"))).toBeUndefined();
    expect(victim()).toEqual([["x", "victim"]]);
    expect(readFileSync(join(base, "away", "x"), "utf8")).toBe("new");
  });
});

describe("[R1401] what a crash left beside a file", () => {
  const settle = (isSaved = isText("old")) =>
    settleOutside(absolutePath(at("x")), { operation: "op", isSaved });

  test("gets its name back, or goes where the new file is in place", () => {
    writeFileSync(at("x.op.belay-old"), "old");
    writeFileSync(at("x.op.belay-new"), "new");
    expect([settle(), names(), read("x")]).toEqual([undefined, ["x"], "old"]);
    writeFileSync(at("x.op.belay-old"), "old");
    writeFileSync(at("x"), "new");
    expect([settle(), names(), read("x")]).toEqual([undefined, ["x"], "new"]);
    expect([settle(), names()]).toEqual([undefined, ["x"]]);
  });

  test("[N0] stays if no checkpoint has it, and is told of", () => {
    writeFileSync(at("x.op.belay-old"), "written since");
    writeFileSync(at("x"), "new");
    expect(settle()).toBe(`What stood at ${at("x")} is ${at("x.op.belay-old")} now.`);
    expect(read("x.op.belay-old")).toBe("written since");
  });
});
