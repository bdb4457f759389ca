import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { BytePath } from "../model/byte-path.ts";
import { absolutePath } from "./absolute-path.ts";
import { Anchor, hasDescriptorPaths } from "./anchor.ts";

function place(): string {
  const directory = mkdtempSync(join(tmpdir(), "belay-anchor-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function write(path: string, content: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content);
}

function enter(root: string): Anchor {
  const anchor = new Anchor(absolutePath(root));
  onTestFinished(() => anchor[Symbol.dispose]());
  return anchor;
}

const read = (anchor: Anchor, path: string) => readFileSync(anchor.at(path as BytePath), "utf8");

describe("an anchor", () => {
  test("[R1891] refuses a link at any level of a deep path, wherever it leads", () => {
    for (const level of ["a", "a/b", "a/b/c"]) {
      const root = join(place(), "root");
      write(join(root, "a/b/c/file"), "inside");
      write(join(root, "other/b/c/file"), "elsewhere in the root");
      const away = join(root, "..", "away");
      renameSync(join(root, level), away);
      symlinkSync(level === "a/b" ? join(root, "other/b") : away, join(root, level));
      expect(() => read(enter(root), "a/b/c/file"), level).toThrow(/ELOOP|ENOTDIR/);
    }
  });

  test("goes from one deep directory to the next, whatever they have in common", () => {
    const root = place();
    const paths = ["top", "a/b/c/d/1", "a/b/c/d/e/2", "a/b/x/3", "a/b2/x/y/4", "a/5", "z/y/x/6", "ü/ß/7"];
    for (const path of paths) write(join(root, path), path);
    const anchor = enter(root);
    const bytes = (path: string) => Buffer.from(path).toString("latin1");
    for (const path of [...paths, ...paths.toReversed()]) expect(read(anchor, bytes(path))).toBe(path);
  });

  test("enters a root through a link, and stays in it when another directory takes its place", () => {
    const root = join(place(), "root");
    write(join(root, "a/b/c/file"), "this one");
    symlinkSync(root, `${root}-link`);
    const anchor = enter(`${root}-link`);
    expect(read(anchor, "a/b/c/file")).toBe("this one");
    if (!hasDescriptorPaths) return;
    anchor.forget();
    renameSync(root, `${root}-moved`);
    write(join(root, "a/b/c/file"), "another");
    expect(read(anchor, "a/b/c/file")).toBe("this one");
  });

  test.runIf(hasDescriptorPaths)("reaches what lies deeper than any path may be long", () => {
    const root = place();
    const names = Array.from({ length: 24 }, (_, level) => `${level}-${"x".repeat(240)}`);
    const anchor = enter(root);
    names.forEach((name, level) =>
      mkdirSync(anchor.at([...names.slice(0, level), name].join("/") as BytePath)),
    );
    const file = [...names, "file"].join("/") as BytePath;
    writeFileSync(anchor.at(file), "deep");
    expect(read(enter(root), file)).toBe("deep");
  });
});
