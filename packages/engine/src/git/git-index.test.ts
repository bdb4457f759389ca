import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createGitFixture, fingerprint, repositoryOf, type GitFixture } from "../../test/git-fixture.ts";
import { ROOT_PATH } from "../model/byte-path.ts";
import type { IndexEntries } from "./git-index-entries.ts";
import { decodeIndexFile } from "./git-index-file.ts";
import { decodeIndexListing, LISTING_ARGUMENTS } from "./git-index-listing.ts";
import { indexKey, readGitIndex } from "./git-index.ts";

const fixtures: GitFixture[] = [];
afterEach(() => {
  for (const fixture of fixtures.splice(0)) fixture.remove();
});

const NAMES = [
  "a",
  "a-b",
  "a.b",
  "aa/b",
  "aa/c/d",
  "dir with space/ü",
  "new\nline",
  `long/${"x".repeat(200)}/${"y".repeat(200)}`,
];
/** Longer than an entry can count. */
const VERY_LONG = Array.from({ length: 20 }, () => "z".repeat(220)).join("/");

/** An index with odd names and kinds: not UTF-8, longer than the index can count, sorted around slashes, linked. */
function createFull(...initArguments: string[]): GitFixture {
  const fixture = createCommittable(...initArguments);
  writeFileSync(Buffer.from(`${fixture.path}/\xff\xfe`, "latin1"), "bytes");
  symlinkSync("a", join(fixture.path, "link"));
  fixture.git("add", "-A");
  const object = fixture.git("hash-object", "-w", "a");
  fixture.git("update-index", "--add", "--cacheinfo", `100644,${object},${VERY_LONG}`);
  return fixture;
}

function createCommittable(...initArguments: string[]): GitFixture {
  const fixture = createGitFixture(...initArguments);
  fixtures.push(fixture);
  for (const name of NAMES) fixture.write(name, name);
  fixture.git("add", "-A");
  fixture.git("update-index", "--chmod=+x", "a");
  return fixture;
}

function rows(entries: IndexEntries | undefined): unknown[] {
  return entries!.paths.map((path, at) => ({
    path,
    object: entries!.object(at),
    mtime: [entries!.mtimeSeconds(at), entries!.mtimeNanoseconds(at)],
    size: entries!.size(at),
    mode: entries!.mode(at),
    flags: flagsAt(entries!, at),
  }));
}

function flagsAt(entries: IndexEntries, at: number): string[] {
  const flags = {
    trusted: entries.isTrusted(at),
    intended: entries.isIntendedOnly(at),
    unmerged: entries.isUnmerged(at),
  };
  return Object.entries(flags).flatMap(([name, isSet]) => (isSet ? [name] : []));
}

function expectAsGitLists({ path, gitBytes }: GitFixture): void {
  const repository = repositoryOf(path);
  const before = fingerprint(repository.commonDir);
  const index = readGitIndex(repository);
  expect(fingerprint(repository.commonDir)).toBe(before);
  const { prefix, objectFormat } = repository;
  const listing = decodeIndexListing(gitBytes(...LISTING_ARGUMENTS), {
    prefix,
    objectBytes: objectFormat === "sha1" ? 20 : 32,
  });
  expect(rows(index?.entries)).toEqual(rows(listing));
  expect(index?.key).toBe(indexKey(repository));
}

describe("the index reads as git lists it", () => {
  test.each(["2", "3", "4"])("version %s", (version) => {
    const fixture = createFull();
    fixture.git("update-index", "--index-version", version);
    // only flags of version 3 make git write version 3
    if (version === "3") fixture.git("update-index", "--skip-worktree", "a-b");
    expect(readFileSync(join(fixture.path, ".git/index")).readUInt32BE(4)).toBe(Number(version));
    expectAsGitLists(fixture);
    expect(readGitIndex(repositoryOf(fixture.path))?.paths).toEqual(
      [...NAMES.map((name) => Buffer.from(name).toString("latin1")), "\xff\xfe", "link", VERY_LONG].sort(),
    );
  });

  test("a SHA-256 repository", () => {
    expectAsGitLists(createFull("--object-format=sha256"));
  });

  test("flags: assumed unchanged, skipped, intended, unmerged", () => {
    const fixture = createFull();
    fixture.write("later", "later");
    fixture.git("add", "-N", "later");
    fixture.git("update-index", "--assume-unchanged", "a");
    fixture.git("update-index", "--skip-worktree", "a.b");
    const object = fixture.git("hash-object", "-w", "a");
    const sides = [1, 2, 3].map((stage) => `100644 ${object} ${stage}\tboth\n`).join("");
    writeFileSync(join(fixture.path, "sides"), sides);
    fixture.git("-c", "alias.take=!git update-index --index-info <sides", "take");
    expectAsGitLists(fixture);
    const index = readGitIndex(repositoryOf(fixture.path));
    const flagsOf = (path: string) =>
      flagsAt(
        index!.entries,
        index!.entries.paths.findIndex((each) => each === path),
      );
    expect(["a", "a.b", "later", "both", "link"].map(flagsOf)).toEqual([
      ["trusted"],
      ["trusted"],
      ["intended"],
      ["unmerged"],
      [],
    ]);
    expect(index!.paths.filter((path) => path === "both")).toHaveLength(1);
    expect(index!.entries.paths.filter((path) => path === "both")).toHaveLength(3);
  });

  test("a folder of the repository sees its own part", () => {
    const fixture = createFull();
    const index = readGitIndex(repositoryOf(join(fixture.path, "aa")));
    expect(index?.paths).toEqual(["b", "c/d"]);
    fixture.git("update-index", "--index-version", "4");
    expect(readGitIndex(repositoryOf(join(fixture.path, "aa")))?.paths).toEqual(["b", "c/d"]);
  });

  test("a submodule is an entry and not a tracked file", () => {
    const inner = createCommittable();
    inner.git("commit", "-qm", "all");
    const outer = createGitFixture();
    fixtures.push(outer);
    outer.git("submodule", "add", "-q", inner.path, "sub");
    const index = readGitIndex(repositoryOf(outer.path));
    expect(index?.paths).toEqual([".gitmodules"]);
    expect(index?.entries.paths).toEqual([".gitmodules", "sub"]);
    expectAsGitLists(outer);
  });
});

describe("where the file alone does not tell", () => {
  test("a split index is listed by git, and only the time of its shared part is freshened", () => {
    const fixture = createFull();
    const whole = rows(readGitIndex(repositoryOf(fixture.path))?.entries);
    fixture.git("update-index", "--split-index");
    const before = fingerprint(join(fixture.path, ".git"), { times: false });
    expect(rows(readGitIndex(repositoryOf(fixture.path))?.entries)).toEqual(whole);
    expect(fingerprint(join(fixture.path, ".git"), { times: false })).toBe(before);
  });

  test("a sparse index tells what is checked out", () => {
    const fixture = createCommittable();
    fixture.git("commit", "-qm", "all");
    fixture.git("sparse-checkout", "init", "--cone", "--sparse-index");
    fixture.git("sparse-checkout", "set", "aa");
    const before = fingerprint(join(fixture.path, ".git"));
    const index = readGitIndex(repositoryOf(fixture.path));
    expect(fingerprint(join(fixture.path, ".git"))).toBe(before);
    expect(index?.paths).toEqual(["a", "a-b", "a.b", "aa/b", "aa/c/d", "new\nline"]);
  });

  test("no index yet is an empty one; a damaged one is none", () => {
    const fixture = createGitFixture();
    fixtures.push(fixture);
    const repository = repositoryOf(fixture.path);
    expect(indexKey(repository)).toBe("no index");
    expect(readGitIndex(repository)).toMatchObject({ paths: [], key: "no index" });
    writeFileSync(join(fixture.path, ".git/index"), "DIRC nonsense");
    expect(readGitIndex(repository)).toBeNull();
  });

  test("no cut of the file is taken for an index, or throws", () => {
    const fixture = createFull();
    fixture.git("update-index", "--index-version", "4");
    const bytes = readFileSync(join(fixture.path, ".git/index"));
    const layout = { objectBytes: 20, prefix: ROOT_PATH };
    const whole = decodeIndexFile(bytes, layout)!.length;
    for (let length = 0; length < bytes.length; length += 1) {
      const entries = decodeIndexFile(bytes.subarray(0, length), layout);
      expect(entries === undefined || entries.length === whole).toBe(true);
    }
  });
});

test("the key changes when the index does", () => {
  const fixture = createFull();
  const repository = repositoryOf(fixture.path);
  const before = indexKey(repository);
  expect(indexKey(repository)).toBe(before);
  fixture.write("another", "");
  fixture.git("add", "another");
  expect(indexKey(repository)).not.toBe(before);
});
