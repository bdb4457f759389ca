import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import type { AbsolutePath } from "./absolute-path.ts";
import { copyRegular, copyTree } from "./copy-file.ts";
import { removeTree } from "./remove-tree.ts";

let base: string;
const at = (path: string) => join(base, path) as AbsolutePath;
const COPY = { clone: false, linkTarget: (target: Buffer) => target, done: () => {} };

beforeEach(() => {
  base = makeDirectory("belay-copy-");
  for (const directory of ["from/d", "outside"]) mkdirSync(at(directory), { recursive: true });
  for (const name of ["1", "2", "3"]) {
    writeFileSync(at(`from/d/${name}`), "own");
    writeFileSync(at(`outside/${name}`), "precious");
  }
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Puts a link that leads outside in the place of a directory. */
function swap(path: string): void {
  renameSync(at(path), at("away"));
  symlinkSync(at("outside"), at(path));
}

function expectUntouched(): void {
  expect(readdirSync(at("outside"))).toEqual(["1", "2", "3"]);
  for (const name of ["1", "2", "3"]) expect(readFileSync(at(`outside/${name}`), "utf8")).toBe("precious");
}

test("[R1951] a directory that is swapped for a link while it is removed leads nowhere", () => {
  const work = removeTree(at("from"));
  work.next();
  swap("from/d");
  for (const _ of work);
  expectUntouched();
  expect(existsSync(at("from"))).toBe(false);
});

test("[R1951] a directory that is swapped for a link while it is copied is read as it was", () => {
  const work = copyTree(at("from"), at("to"), COPY);
  work.next();
  swap("from/d");
  for (const _ of work);
  for (const name of ["1", "2", "3"]) expect(readFileSync(at(`to/d/${name}`), "utf8")).toBe("own");
});

test("[R1951] the copy of a directory that is swapped for a link while it is filled is written where it was", () => {
  rmSync(at("outside/2"));
  const work = copyTree(at("from"), at("to"), COPY);
  work.next();
  renameSync(at("to/d"), at("away"));
  symlinkSync(at("outside"), at("to/d"));
  for (const _ of work);
  expect(existsSync(at("outside/2"))).toBe(false);
  expect(readFileSync(at("away/2"), "utf8")).toBe("own");
});

test("[R1951] a link in the place of a file is not copied", () => {
  symlinkSync(at("outside/1"), at("from/link"));
  expect(() => copyRegular(at("from/link"), at("to"), { clone: false })).toThrow("ELOOP");
  expect(existsSync(at("to"))).toBe(false);
});

test("[R1951] directories that may not be read or written are removed with what is in them", () => {
  chmodSync(at("from/d"), 0o000);
  for (const _ of removeTree(at("from")));
  expect(existsSync(at("from"))).toBe(false);
});
