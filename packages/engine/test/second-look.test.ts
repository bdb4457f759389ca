/** A scan that another thread helps sees what a scan alone sees. */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { absolutePath } from "../src/fs/absolute-path.ts";
import { findWorkspace } from "../src/index.ts";
import { startSecondLook } from "../src/second-look.ts";
import { noteLargeTree } from "../src/worktree/note-large-tree.ts";
import { SecondLook } from "../src/worktree/second-look.ts";
import { readStatCache } from "../src/worktree/stat-cache.ts";
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

/** Longer than a thread takes to start. */
const STARTED_MS = 300;

/** Takes a checkpoint as a new process would, with help that is there in time. */
async function checkpointWithHelp({ root, home }: TempWorkspace) {
  const secondLook = new SecondLook();
  await pause(STARTED_MS);
  await using workspace = await findWorkspace(root, { home, secondLook });
  return (await workspace.checkpoint()).checkpoint;
}

describe("[R7] a second thread", () => {
  test(
    "helps, and whatever changed is seen all the same",
    { timeout: 60_000 },
    inWorkspace(PROJECT, async (temp) => {
      const random = createSeededRandom();
      console.log(`seed ${random.seed}`);
      for (let round = 0; round < 12; round += 1) {
        const at = (file: string) => join(temp.root, file);
        const any = () => pathOf(random.below(DIRECTORIES), random.below(FILES));
        for (let change = random.below(5); change >= 0; change -= 1) {
          const path = any();
          temp.write(path, `changed ${random.below(1e9)}`);
          if (random.below(3) === 0) chmodSync(at(path), 0o700);
          if (random.below(3) === 0) rmSync(at(any()), { force: true });
          if (random.below(4) === 0) mkdirSync(at(`d3/new${random.below(9)}`), { recursive: true });
          if (random.below(6) === 0) writeFileSync(at(".gitignore"), `e${random.below(DIRECTORIES)}\n`);
        }
        // beyond the granularity of file times, so that unchanged files are known as such
        await pause(random.below(2) * 60);
        const { snapshot } = await checkpointWithHelp(temp);
        const cold = await startInProcess<string>(
          { root: temp.root, home: `${temp.home}-${round}` },
          "return (await workspace.checkpoint()).checkpoint.snapshot;",
        );
        expect(snapshot).toBe(cold);
      }
    }),
  );

  test(
    "says of a directory that it is as before only if every entry is",
    inWorkspace(PROJECT, async (temp) => {
      // beyond the granularity of file times
      await pause(100);
      await temp.workspace.checkpoint();
      const { shared, table } = readStatCache(absolutePath(join(temp.workspace.store, "stat-cache")), {
        shared: true,
      })!;
      const changed = pathOf(7, 3);
      const removed = pathOf(20, 5);
      temp.write(changed, "changed");
      rmSync(join(temp.root, removed));
      const secondLook = new SecondLook();
      await pause(STARTED_MS);
      const hasSeenSame = secondLook.begin(absolutePath(temp.root), shared!)!;
      await pause(STARTED_MS);
      const others = table.directories.filter((_, directory) => !hasSeenSame(directory)).toSorted();
      // what is in a directory concerns that one and, by its times, the one above
      const concerned = [changed, removed].map((path) => path.slice(0, path.lastIndexOf("/")));
      expect(others).toEqual([...concerned, "d6"].toSorted());
      expect(secondLook.begin(absolutePath(temp.root), shared!)).toBeUndefined();
    }),
  );

  test(
    "is good for one scan: what changed after it is seen by the next",
    inWorkspace(PROJECT, async (temp) => {
      const { root, home } = temp;
      await using workspace = await findWorkspace(root, { home, secondLook: new SecondLook() });
      await workspace.checkpoint();
      const last = pathOf(DIRECTORIES - 1, FILES - 1);
      temp.write(last, "after the first look");
      const { checkpoint } = await workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
    }),
  );

  test(
    "is started for trees that were big the last time, and for what is in them",
    inWorkspace({ "a.txt": "a" }, async ({ root, home }) => {
      expect(startSecondLook(home, root)).toBeUndefined();
      noteLargeTree(absolutePath(home), absolutePath(root));
      expect(startSecondLook(home, root)).toBeInstanceOf(SecondLook);
      expect(startSecondLook(home, join(root, "sub"))).toBeInstanceOf(SecondLook);
      expect(startSecondLook(home, `${root}-other`)).toBeUndefined();
    }),
  );
});
