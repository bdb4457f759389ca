/** The native look says what the scan would have found by itself, or nothing. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lutimesSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { absolutePath, below, type AbsolutePath } from "../src/fs/absolute-path.ts";
import { createNameStat } from "../src/fs/file-stat.ts";
import { nativeLook } from "../src/fs/on-demand.ts";
import { DirectoryWatches } from "../src/fs/watch.ts";
import type { Workspace } from "../src/index.ts";
import type { LocalWorkspace } from "../src/workspace/local-workspace.ts";
import type { FileTable } from "../src/scan/file-table.ts";
import type { LiveCapture } from "../src/capture/live/live.ts";
import { beginNativeLook } from "../src/scan/native-look.ts";
import { readStatCache, type StatCache } from "../src/scan/stat-cache.ts";
import { createSeededRandom } from "./support/seeded-random.ts";
import { inWorkspace, startInProcess, type TempWorkspace } from "./support/temp-workspace.ts";

const DIRECTORIES = 60;
const FILES = 20;

function pathOf(directory: number, file: number): string {
  return `d${directory % 7}/e${directory}/f${file}.txt`;
}

const PROJECT = Object.fromEntries(
  Array.from({ length: DIRECTORIES * FILES }, (_, at) => [
    pathOf(at % DIRECTORIES, Math.floor(at / DIRECTORIES)),
    `${at}`,
  ]),
);

/** Beyond the granularity of file times, so that unchanged files are known as such. */
const AT_REST_MS = 60;

/** Something that can happen to a project between two captures. */
function change({ root, write }: TempWorkspace, random: ReturnType<typeof createSeededRandom>): unknown {
  const any = () => pathOf(random.below(DIRECTORIES), random.below(FILES));
  const path = any();
  const file = join(root, path);
  const stat = lstatSync(file, { throwIfNoEntry: false });
  switch (random.below(8)) {
    case 0:
      return rmSync(file, { force: true });
    case 1:
      return stat && chmodSync(file, 0o700);
    case 2:
      return mkdirSync(join(root, `d3/new${random.below(9)}`), { recursive: true });
    case 3:
      return writeFileSync(join(root, ".gitignore"), `e${random.below(DIRECTORIES)}\n`);
    case 4:
      rmSync(file, { force: true });
      return symlinkSync("elsewhere", file);
    case 5:
      return stat && renameSync(file, join(root, any()));
    case 6:
      write(path, `${random.below(9)}`);
      return stat && lutimesSync(file, stat.atime, stat.mtime);
    default:
      return write(path, `changed ${random.below(1e9)}`);
  }
}

function cachePath({ workspace }: TempWorkspace): AbsolutePath {
  return absolutePath(join(workspace.store, "stat-cache"));
}

function readCache(temp: TempWorkspace): StatCache {
  return readStatCache(cachePath(temp))!;
}

/** What the native look says of each directory. */
function verdicts(root: string, table: FileTable): boolean[] {
  using look = beginNativeLook(absolutePath(root), table)!;
  return table.directories.map((_, directory) => look.isAsBefore(directory));
}

/** Not for others to have: what happens to it by chance has to happen here. */
function liveCaptureOf(workspace: Workspace): LiveCapture {
  return (workspace as LocalWorkspace).runner.context.workingCopy.live!.capture;
}

describe("[R7] [R73] the native look", () => {
  test("is there where there is a compiler", () => {
    expect(nativeLook() !== undefined).toBe(spawnSync("cc", ["--version"]).status === 0);
  });

  test(
    "says of every directory what a look from here says",
    inWorkspace(PROJECT, async (temp) => {
      const random = createSeededRandom();
      console.log(`seed ${random.seed}`);
      const root = absolutePath(temp.root);
      let [same, other] = [0, 0];
      for (let round = 0; round < 30; round += 1) {
        await pause(random.below(2) * AT_REST_MS);
        await temp.workspace.checkpoint();
        const { table } = readCache(temp);
        for (let count = random.below(6); count > 0; count -= 1) change(temp, random);
        const expected = table.directories.map((path, directory) =>
          table.isAsBefore(directory, createNameStat(below(root, path))),
        );
        expect(verdicts(temp.root, table)).toEqual(expected);
        // a table whose names were never bytes
        expect(verdicts(temp.root, table.compacted())).toEqual(expected);
        same += expected.filter(Boolean).length;
        other += expected.filter((each) => !each).length;
      }
      expect(Math.min(same, other)).toBeGreaterThan(100);
    }),
  );

  test(
    "notices a difference in each of the columns",
    inWorkspace(PROJECT, async (temp) => {
      await pause(AT_REST_MS);
      await temp.workspace.checkpoint();
      const directory = (table: FileTable) => table.directories.indexOf("d1/e1" as never);
      const alterations: ((table: FileTable, entry: number) => void)[] = [
        (table, entry) => (table.mtimeNs[entry]! += 1n),
        (table, entry) => (table.ctimeNs[entry]! -= 1n),
        (table, entry) => (table.ino[entry]! += 1n),
        (table, entry) => (table.size[entry]! += 1),
        (table, entry) => (table.mode[entry]! ^= 0o100),
        (table, entry) => (table.kind[entry] = 1),
        (table, entry) => (table.kind[entry] = 3),
        (table, entry) => (table.flags[entry] = 1),
        (table, entry) => (table.names[entry] = "another"),
      ];
      for (const alter of alterations) {
        const { table } = readCache(temp);
        const at = directory(table);
        alter(table, table.firstEntry[at]! + FILES - 1);
        const seen = verdicts(temp.root, table.compacted());
        expect([at, alter.toString(), seen[at]]).toEqual([at, alter.toString(), false]);
        expect(seen.filter((each) => !each)).toHaveLength(1);
      }
      const { table } = readCache(temp);
      table.kind[table.firstEntry[directory(table)]!] = 254;
      table.names[table.firstEntry[directory(table)]!] = "left out";
      expect(verdicts(temp.root, table.compacted()).every(Boolean)).toBe(true);
    }),
  );

  test(
    "is not to be had for arrays that do not belong together",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.checkpoint();
      const root = absolutePath(temp.root);
      const { table } = readCache(temp);
      const texts = table.texts();
      const shorter = { names: texts.names.subarray(0, 500), paths: texts.paths };
      expect(beginNativeLook(root, table, { texts: shorter })).toBeUndefined();
      expect(
        beginNativeLook(root, table, { texts: { ...texts, paths: texts.paths.subarray(0, 50) } }),
      ).toBeUndefined();
      expect(beginNativeLook(absolutePath(`${temp.root}-gone`), table, { texts })).toBeUndefined();
      table.entryCount[3]! += table.length;
      expect(beginNativeLook(root, table, { texts })).toBeUndefined();
    }),
  );

  test(
    "[R44] is not asked of a directory whose watch is newer than the look",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      await pause(AT_REST_MS);
      await temp.workspace.checkpoint();
      const path = pathOf(20, 5);
      // a lost tree gets new watches; the look is far ahead of them
      liveCaptureOf(temp.workspace).loseEvents("too much changed");
      const add = DirectoryWatches.prototype.add;
      let isWritten = false;
      using _ = {
        [Symbol.dispose]: () => {
          DirectoryWatches.prototype.add = add;
        },
      };
      DirectoryWatches.prototype.add = function (directory) {
        if (directory === "d6/e20" && !isWritten) {
          isWritten = true;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
          temp.write(path, "just before the watch");
        }
        return add.call(this, directory);
      };
      await temp.workspace.checkpoint();
      expect(isWritten).toBe(true);
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(temp.workspace.watching).toMatchObject({ state: "live" });
      temp.write(path, "later");
      await temp.workspace.restoreTo(checkpoint.id);
      expect(temp.read(path)).toBe("just before the watch");
    }),
  );

  test(
    "knows the directories of a table from which some were taken out",
    inWorkspace(PROJECT, async (temp) => {
      await pause(AT_REST_MS);
      await temp.workspace.checkpoint();
      const { table } = readCache(temp);
      table.removeDirectory(table.directories.indexOf("d1/e1" as never));
      expect(verdicts(temp.root, table).every(Boolean)).toBe(true);
    }),
  );

  test(
    "changes nothing but the time of a capture",
    inWorkspace(PROJECT, async (temp) => {
      const random = createSeededRandom();
      console.log(`seed ${random.seed}`);
      for (let round = 0; round < 12; round += 1) {
        for (let count = random.below(6); count > 0; count -= 1) change(temp, random);
        await pause(random.below(2) * AT_REST_MS);
        const { snapshot } = (await temp.workspace.checkpoint()).checkpoint;
        const first = await startInProcess<string>(
          { root: temp.root, home: `${temp.home}-${round}` },
          "return (await workspace.checkpoint()).checkpoint.snapshot;",
        );
        expect(snapshot).toBe(first);
      }
    }),
  );

  test(
    "says nothing more once it is ended",
    inWorkspace(PROJECT, async (temp) => {
      await pause(AT_REST_MS);
      await temp.workspace.checkpoint();
      const { table } = readCache(temp);
      const look = beginNativeLook(absolutePath(temp.root), table)!;
      expect(look.isAsBefore(0)).toBe(true);
      look[Symbol.dispose]();
      look[Symbol.dispose]();
      expect(look.isAsBefore(0)).toBe(false);
      expect(look.isAsBefore(1e6)).toBe(false);
    }),
  );
});
