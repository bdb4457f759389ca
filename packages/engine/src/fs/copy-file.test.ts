import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { AbsolutePath } from "./absolute-path.ts";
import { CopyThreads } from "./copy-threads.ts";
import { copySettled, copyTree } from "./copy-file.ts";
import { removeTree } from "./remove-tree.ts";
import { TreesByThreads } from "./trees-by-threads.ts";

let base: string;
const at = (path: string) => join(base, path) as AbsolutePath;
const COPY = { clone: false, linkTarget: (target: Buffer) => target, done: () => {}, torn: () => {} };

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
  expect(() => copySettled(at("from/link"), at("to"), { clone: false })).toThrow("ELOOP");
  expect(existsSync(at("to"))).toBe(false);
});

test("[R1951] directories that may not be read or written are removed with what is in them", () => {
  chmodSync(at("from/d"), 0o000);
  for (const _ of removeTree(at("from")));
  expect(existsSync(at("from"))).toBe(false);
});

/** Copies by threads; what happens between the look at the tree and the copies is up to the caller. */
async function copyByThreads(meanwhile: () => void): Promise<void> {
  mkdirSync(at("copy"));
  const threads = TreesByThreads.create({ from: at("."), to: at("copy"), clone: false })!;
  for (const _ of copyTree(at("from"), at("copy/from"), {
    ...COPY,
    later: threads.below("from" as BytePath),
  }));
  meanwhile();
  for (const step of threads.finish(() => {})) await step;
}

const hasThreads = CopyThreads.create() !== undefined;

test.runIf(hasThreads)(
  "[R1951] threads read nothing through a link that took the place of a directory or file",
  async () => {
    await copyByThreads(() => {
      swap("from/d");
      writeFileSync(at("from/left"), "not seen before");
    });
    expect(readdirSync(at("copy/from/d"))).toEqual([]);
    rmSync(at("copy"), { recursive: true });
    rmSync(at("from/d"));
    renameSync(at("away"), at("from/d"));
    await copyByThreads(() => {
      rmSync(at("from/d/2"));
      symlinkSync(at("outside/2"), at("from/d/2"));
    });
    expect(readdirSync(at("copy/from/d"))).toEqual(["1", "3"]);
    expectUntouched();
  },
);

test.runIf(hasThreads)("[R1951] threads write nothing through a link, and over nothing", async () => {
  rmSync(at("outside/2"));
  await copyByThreads(() => {
    renameSync(at("copy/from/d"), at("away"));
    symlinkSync(at("outside"), at("copy/from/d"));
  });
  expect(readdirSync(at("outside"))).toEqual(["1", "3"]);
  expect(readdirSync(at("away"))).toEqual([]);
  for (const name of ["1", "3"]) expect(readFileSync(at(`outside/${name}`), "utf8")).toBe("precious");
});

test.runIf(hasThreads)(
  "threads copy content, times and modes, and what a directory may not be written to has",
  async () => {
    writeFileSync(at("from/d/large"), Buffer.alloc(5_000_000, "large"));
    writeFileSync(at("from/empty"), "");
    chmodSync(at("from/d/1"), 0o4755);
    utimesSync(at("from/d/1"), 1_000_000, 2_000_000);
    utimesSync(at("from/d"), 3_000_000, 4_000_000);
    chmodSync(at("from/d"), 0o555);
    await copyByThreads(() => {});
    expect(readFileSync(at("copy/from/d/large")).equals(readFileSync(at("from/d/large")))).toBe(true);
    const facts = (path: string) => {
      const { mode, mtimeMs } = statSync(at(path));
      return { mode, mtimeMs };
    };
    for (const path of ["d", "d/1", "d/2", "d/large", "empty"])
      expect(facts(`copy/from/${path}`)).toEqual(facts(`from/${path}`));
    for (const path of ["from/d", "copy/from/d"]) chmodSync(at(path), 0o755);
  },
);
