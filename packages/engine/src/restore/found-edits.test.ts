/** What recovery finds at the paths of an interrupted operation, and what it puts back first. */
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import { absolutePath } from "../fs/absolute-path.ts";
import type { Entry } from "../model/entry.ts";
import { at, WrittenSnapshots } from "../testing/written-snapshots.ts";
import { putAsidesBack } from "./found-edits.ts";
import { Stage } from "./stage.ts";

let root: string;
let written: WrittenSnapshots;
let stage: Stage;

beforeEach(() => {
  root = makeDirectory("belay-found-");
  written = new WrittenSnapshots();
  stage = Stage.create(
    { store: written.store, workingCopy: { root: absolutePath(root) } },
    "kkkkkkkkkkkkkkkk",
  );
});

afterEach(() => {
  stage[Symbol.dispose]();
  written[Symbol.dispose]();
  rmSync(root, { recursive: true, force: true });
});

const file = (content: string, mode?: number) => written.file(content, mode);
const read = (path: string) => readFileSync(join(root, path), "utf8");
const write = (path: string, content: string) => writeFileSync(join(root, path), content, { mode: 0o644 });

/** Puts a node into the stage as the applier would have. */
function inStage(name: string, content: string): void {
  writeFileSync(stage.at(name), content, { mode: 0o644 });
}

/** The state of one path `x` between two entries, after what belongs back was put back. */
function find(from: Entry | undefined, to: Entry | undefined, path = "x"): string {
  const entry = { edits: [{ path: at(path), from, to }] };
  return putAsidesBack(absolutePath(root), stage, entry)[0]!.state;
}

describe("a path that was not reached", () => {
  test("is before: as it was, or not there yet", () => {
    write("x", "old");
    expect(find(file("old"), file("new"))).toBe("before");
    expect(find(file("old"), undefined)).toBe("before");
    rmSync(join(root, "x"));
    expect(find(undefined, file("new"))).toBe("before");
    expect(find(undefined, file("new"), "missing/x")).toBe("before");
  });

  test("is after where it is as it was to be", () => {
    write("x", "new");
    expect(find(file("old"), file("new"))).toBe("after");
    rmSync(join(root, "x"));
    expect(find(file("old"), undefined)).toBe("after");
  });

  test("is something else where another program wrote, removed or replaced it", () => {
    write("x", "theirs");
    expect(find(file("old"), file("new"))).toBe("other");
    chmodSync(join(root, "x"), 0o600);
    expect(find(file("theirs"), file("new"))).toBe("other");
    rmSync(join(root, "x"));
    expect(find(file("old"), file("new"))).toBe("other");
    symlinkSync("nowhere", join(root, "x"));
    expect(find(file("old"), file("new"))).toBe("other");
  });
});

describe("a file that was moved aside", () => {
  test("goes back where its place is free", () => {
    inStage("o0", "old");
    expect(find(file("old"), file("new"))).toBe("before");
    expect(read("x")).toBe("old");
  });

  test("[N0] goes back even when it is not what was saved: then it is another program's", () => {
    inStage("o0", "written meanwhile");
    expect(find(file("old"), file("new"))).toBe("other");
    expect(read("x")).toBe("written meanwhile");
  });

  test("stays in the stage where the new one is in place", () => {
    inStage("o0", "old");
    write("x", "new");
    expect(find(file("old"), file("new"))).toBe("after");
    expect(readFileSync(stage.at("o0"), "utf8")).toBe("old");
  });

  test("[R5] goes back over the new one when it turns out to be something else", () => {
    inStage("o0", "written meanwhile");
    write("x", "new");
    expect(find(file("old"), file("new"))).toBe("other");
    expect(read("x")).toBe("written meanwhile");
    expect(readFileSync(stage.at("n0"), "utf8")).toBe("new");
  });

  test("[R5] and does so where the new one still has its name in the stage", () => {
    inStage("o0", "written meanwhile");
    inStage("n0", "new");
    linkSync(stage.at("n0"), join(root, "x"));
    expect(find(file("old"), file("new"))).toBe("other");
    expect([read("x"), readFileSync(stage.at("n0"), "utf8")]).toEqual(["written meanwhile", "new"]);
  });

  test("does not go back over what another program put there", () => {
    inStage("o0", "old");
    write("x", "theirs");
    expect(find(file("old"), file("new"))).toBe("other");
    expect([read("x"), readFileSync(stage.at("o0"), "utf8")]).toEqual(["theirs", "old"]);
  });

  test("a second recovery finds the same", () => {
    inStage("o0", "written meanwhile");
    write("x", "new");
    find(file("old"), file("new"));
    expect(find(file("old"), file("new"))).toBe("other");
    expect(read("x")).toBe("written meanwhile");
  });
});

describe("a directory", () => {
  test("that was made and has no mode yet is between", () => {
    mkdirSync(join(root, "x"), { mode: 0o700 });
    expect(find(undefined, written.directory(0o755))).toBe("between");
    chmodSync(join(root, "x"), 0o755);
    expect(find(undefined, written.directory(0o755))).toBe("after");
  });

  test("that went and whose file has not come is between", () => {
    expect(find(written.directory(), file("new"))).toBe("between");
    mkdirSync(join(root, "x"));
    chmodSync(join(root, "x"), 0o755);
    expect(find(written.directory(), file("new"))).toBe("before");
  });

  test("in the place of a file that was to stay one is something else", () => {
    mkdirSync(join(root, "x"));
    expect(find(file("old"), file("new"))).toBe("other");
  });
});

test("without a stage nothing is moved", () => {
  write("x", "theirs");
  const entry = { edits: [{ path: at("x"), from: file("old"), to: file("new") }] };
  expect(putAsidesBack(absolutePath(root), undefined, entry)).toMatchObject([{ state: "other", index: 0 }]);
  expect(read("x")).toBe("theirs");
});

test("a directory on the way that was swapped for a link is not followed", () => {
  mkdirSync(join(root, "elsewhere"));
  symlinkSync("elsewhere", join(root, "d"));
  inStage("o0", "old");
  expect(find(file("old"), undefined, "d/x")).toBe("after");
  expect(readdirSync(join(root, "elsewhere"))).toEqual([]);
  expect(existsSync(stage.at("o0"))).toBe(true);
  renameSync(join(root, "elsewhere"), join(root, "gone"));
});
