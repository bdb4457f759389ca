import { expect, test } from "vitest";
import { pathFromText } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { hashBytes } from "../model/object-hash.ts";
import { pairRenames, type PathEntry } from "./renames.ts";

const file = (path: string, content: string): PathEntry => ({
  path: pathFromText(path),
  entry: { kind: "file", mode: 0o644, size: content.length, hash: hashBytes(Buffer.from(content)) },
});
const other = (path: string, entry: Entry): PathEntry => ({ path: pathFromText(path), entry });

function paths(deleted: PathEntry[], added: PathEntry[]) {
  const pairs = pairRenames(deleted, added);
  return {
    renames: pairs.renames.map(({ from, to }) => `${from.path} → ${to.path}`),
    deleted: pairs.deleted.map(({ path }) => path),
    added: pairs.added.map(({ path }) => path),
  };
}

test("equal content is a rename, different content is not", () => {
  expect(paths([file("a", "1"), file("b", "2")], [file("c", "3"), file("d", "1")])).toEqual({
    renames: ["a → d"],
    deleted: ["b"],
    added: ["c"],
  });
});

test("the same base name wins over path order", () => {
  const deleted = [file("old/a.ts", "same"), file("old/b.ts", "same"), file("old/c.ts", "same")];
  const added = [file("new/b.ts", "same"), file("new/x.ts", "same")];
  expect(paths(deleted, added)).toEqual({
    renames: ["old/b.ts → new/b.ts", "old/a.ts → new/x.ts"],
    deleted: ["old/c.ts"],
    added: [],
  });
});

test("the result does not depend on the order of the input", () => {
  const deleted = [file("a/1", "same"), file("a/2", "same")];
  const added = [file("b/3", "same"), file("b/4", "same"), file("b/5", "same")];
  const pairs = { renames: ["a/1 → b/3", "a/2 → b/4"], deleted: [], added: ["b/5"] };
  expect(paths(deleted, added)).toEqual(pairs);
  expect(paths(deleted.toReversed(), added.toReversed())).toEqual(pairs);
});

test("empty files are never paired", () => {
  expect(paths([file("a", "")], [file("b", "")]).renames).toEqual([]);
});

test("a changed mode is still a rename; directories, gaps and a symlink of the same bytes are not", () => {
  const hash = hashBytes(Buffer.from("1"));
  const added = [
    other("directory", { kind: "directory", mode: 0o755, hash }),
    other("gap", { kind: "gap", reason: "too-large", size: 1 }),
    other("link", { kind: "symlink", size: 1, hash }),
    other("script", { kind: "file", mode: 0o755, size: 1, hash }),
  ];
  expect(paths([file("a", "1")], added).renames).toEqual(["a → script"]);
});
