/**
 * Live capture equals cold capture. The heart of it is a storm: several processes change the tree at full speed, and
 * after each round a live capture must have the snapshot that a fresh process with a store of its own finds.
 * `BELAY_LIVE_OPERATIONS=100000` makes the storm as long as that, with bursts beyond the kernel's queue.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, linkSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { absolutePath } from "../src/fs/absolute-path.ts";
import { readStatCache } from "../src/scan/stat-cache.ts";
import { overflowQueue } from "./support/overflow-queue.ts";
import { createSeededRandom } from "./support/seeded-random.ts";
import { inWorkspace, runInProcess, startInProcess, type TempWorkspace } from "./support/temp-workspace.ts";

const OPERATIONS = Number(process.env["BELAY_LIVE_OPERATIONS"] ?? 3000);
const STORM = new URL("./support/live-storm.ts", import.meta.url).pathname;
const PROCESSES = 3;
const PER_ROUND = 400;
/** Files; each makes three events, and the queue holds 16,384. */
const BURST = 7000;
/** Years from now. */
const YOUNG = 4e9;

/** The snapshot that a process sees which has only this to go by: the disk. */
async function coldSnapshot({ root, home }: Pick<TempWorkspace, "root" | "home">): Promise<string> {
  const script = "return (await workspace.checkpoint()).checkpoint.snapshot;";
  return await startInProcess<string>({ root, home: `${home}-cold` }, script);
}

async function expectLiveEqualsCold(temp: TempWorkspace): Promise<void> {
  const { checkpoint } = await temp.workspace.checkpoint();
  expect(checkpoint.snapshot).toBe(await coldSnapshot(temp));
}

function storm(root: string, seed: number): Promise<void> {
  const args = [STORM, root, ...[seed, PER_ROUND, 0].map(String)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  return new Promise((resolve) => child.on("close", () => resolve()));
}

function stormAndWait(root: string, seed: number): void {
  execFileSync(process.execPath, [STORM, root, ...[seed, PER_ROUND, BURST].map(String)]);
}

const PROJECT = { "a.txt": "a", "src/b.txt": "b", "src/deep/c.txt": "c", "out/ignored": "i" };

/** So many files that native threads look at them. */
const BIG_PROJECT: Record<string, string> = { ...PROJECT };
for (let file = 0; file < 1100; file += 1)
  BIG_PROJECT[`${"abcdef"[file % 6]!}/${"abcdef"[file % 5]!}/still${file}`] = `${file}`;

describe("[R44] a live capture", () => {
  test(
    "[Y34] sees what was written, made, moved, removed and ignored",
    inWorkspace({ ...PROJECT, ".belayignore": "out/\n" }, async (temp) => {
      expect(await temp.workspace.watch()).toEqual({ state: "live", reason: null, directories: 3 });
      temp.write("src/b.txt", "changed");
      temp.write("new/one/two.txt", "new");
      await expectLiveEqualsCold(temp);
      expect(temp.workspace.watching).toMatchObject({ state: "live", directories: 5 });
      renameSync(join(temp.root, "new"), join(temp.root, "src/moved"));
      temp.remove("src/deep");
      await expectLiveEqualsCold(temp);
      temp.write("src/moved/one/two.txt", "watched where it is now");
      temp.write("out/ignored", "not watched");
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
      expect(await temp.workspace.checkpoint()).toMatchObject({ unchanged: true });
      await expectLiveEqualsCold(temp);
    }),
  );

  test(
    "that named an ignored path has it, and what is next to it not",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("dist/sub/named", "1");
      temp.write("dist/sub/other", "1");
      await temp.workspace.checkpoint({ paths: ["dist/sub/named"] });
      expect(temp.workspace.watching.state).toBe("live");
      temp.write("dist/sub/named", "2");
      temp.write("dist/sub/other", "2");
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
      await temp.workspace.restoreTo("@-2");
      expect(temp.read("dist/sub/other")).toBe("2");
    }),
  );

  test(
    "is followed by a second reading of files that were just written",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("a.txt", "half");
      // as young as can be, however long the capture takes
      utimesSync(join(temp.root, "a.txt"), YOUNG, YOUNG);
      const { checkpoint, doubts } = await temp.workspace.checkpoint();
      temp.write("a.txt", "half and half");
      expect(doubts).toEqual([]);
      await temp.reopen();
      expect((await temp.workspace.show(checkpoint.id)).doubts).toEqual([
        { path: "a.txt", reason: "unstable" },
      ]);
    }),
  );

  test(
    "sees a file change under all its names",
    inWorkspace(PROJECT, async (temp) => {
      linkSync(join(temp.root, "a.txt"), join(temp.root, "src/second"));
      await temp.workspace.checkpoint();
      await temp.workspace.watch();
      temp.write("src/second", "by one of them");
      await expectLiveEqualsCold(temp);
      linkSync(join(temp.root, "a.txt"), join(temp.root, "out/third"));
      temp.write("out/third", "by a new one");
      await expectLiveEqualsCold(temp);
      temp.write("src/second", "by one that is gone");
      temp.remove("src/second");
      await expectLiveEqualsCold(temp);
    }),
  );

  test(
    "looks, and what it looked at is still to be recorded",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("src/b.txt", "seen by status first");
      temp.remove("src/deep");
      const { changedFiles } = await temp.workspace.status();
      expect(changedFiles.map(({ path }) => path)).toEqual(["src/b.txt", "src/deep/c.txt"]);
      expect((await temp.workspace.diff("@")).files).toHaveLength(2);
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 1 });
      await expectLiveEqualsCold(temp);
    }),
  );

  test(
    "has git's state as it is, and stays live when git writes its index",
    inWorkspace({ ...PROJECT, ".gitignore": "out/\n" }, async (temp) => {
      const git = (...args: string[]) =>
        execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: temp.root });
      git("init", "-q", "-b", "main");
      git("add", "-A");
      git("commit", "-qm", "first");
      await temp.workspace.checkpoint();
      await temp.workspace.watch();
      temp.write("src/b.txt", "changed");
      expect((await temp.workspace.checkpoint()).checkpoint.git).toMatchObject({ dirty: true, staged: [] });
      git("add", "src/b.txt");
      expect((await temp.workspace.checkpoint()).checkpoint.git).toMatchObject({ staged: ["src/b.txt"] });
      git("commit", "-qm", "second");
      expect(temp.workspace.watching.state).toBe("live");
      expect((await temp.workspace.checkpoint()).checkpoint.git).toMatchObject({ dirty: false, staged: [] });
      // in the index, and so captured although it is ignored
      git("add", "-f", "out/ignored");
      expect((await temp.workspace.checkpoint()).checkpoint.changes).toMatchObject({ deleted: 0 });
      await expectLiveEqualsCold(temp);
      expect((await temp.workspace.show("@")).checkpoint.files).toBe(5);
    }),
  );

  test(
    "equals a cold one after thousands of operations of several processes",
    inWorkspace(BIG_PROJECT, async (temp) => {
      const random = createSeededRandom();
      console.log(`seed ${random.seed}`);
      await temp.workspace.watch();
      const counts = { live: 0, cold: 0 };
      for (let done = 0, round = 1; done < OPERATIONS; done += PER_ROUND * PROCESSES, round += 1) {
        // while this process waits, the kernel's queue runs over
        if (round % 2 === 0) stormAndWait(temp.root, random.below(2 ** 31));
        let isOver = false;
        const storms = Array.from({ length: PROCESSES }, () => storm(temp.root, random.below(2 ** 31)));
        const over = Promise.all(storms).then(() => (isOver = true));
        while (!isOver) {
          await temp.workspace.checkpoint();
          await new Promise((resolve) => setTimeout(resolve, random.below(60)));
        }
        await over;
        counts[temp.workspace.watching.state] += 1;
        await expectLiveEqualsCold(temp);
      }
      console.log(`${OPERATIONS} operations, rounds that ended live and cold: ${JSON.stringify(counts)}`);
    }),
    Math.max(60_000, OPERATIONS * 30),
  );
});

describe("[R45] the watcher is a hint", () => {
  test(
    "a directory too many to watch leaves captures cold, and says so",
    inWorkspace(PROJECT, async (temp) => {
      const watching = await temp.workspace.watch({ directoryLimit: 2 });
      expect(watching).toMatchObject({ state: "cold", directories: 0 });
      expect(watching.reason).toContain("more than 2 directories");
      temp.write("src/deep/c.txt", "changed");
      await expectLiveEqualsCold(temp);
      expect(await temp.workspace.watch()).toMatchObject({ state: "live", directories: 4 });
      temp.write("one/more.txt", "watched");
      await expectLiveEqualsCold(temp);
    }),
  );

  test(
    "the limit reached later leaves captures cold from then on",
    inWorkspace(PROJECT, async (temp) => {
      expect(await temp.workspace.watch({ directoryLimit: 4 })).toMatchObject({ state: "live" });
      temp.write("one/more.txt", "not watched");
      await expectLiveEqualsCold(temp);
      expect(temp.workspace.watching).toMatchObject({ state: "cold", directories: 0 });
      temp.write("one/more.txt", "changed");
      await expectLiveEqualsCold(temp);
    }),
  );

  test(
    "a root that was replaced is scanned, and watched again",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      renameSync(temp.root, `${temp.root}-old`);
      temp.write("src/b.txt", "of another project");
      await expectLiveEqualsCold(temp);
      expect(temp.workspace.watching).toEqual({ state: "live", reason: null, directories: 2 });
      temp.write("src/b.txt", "changed");
      await expectLiveEqualsCold(temp);
      rmSync(temp.root, { recursive: true });
      await expect(temp.workspace.checkpoint()).rejects.toMatchObject({ code: "WORKSPACE_EMPTIED" });
      temp.write("a.txt", "back");
      await expectLiveEqualsCold(temp);
    }),
  );

  test(
    "a cookie that is not reported makes the capture a cold one",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      await temp.workspace.checkpoint();
      const cookies = join(temp.workspace.store, "cookies");
      overflowQueue(cookies);
      temp.write("a.txt", "no event says so");
      await expectLiveEqualsCold(temp);
      await temp.reopen();
      await temp.workspace.watch();
      rmSync(cookies, { recursive: true, force: true });
      writeFileSync(cookies, "no place for cookies");
      temp.write("a.txt", "none can be made");
      await expectLiveEqualsCold(temp);
      rmSync(cookies);
      await temp.workspace.checkpoint();
      temp.write("a.txt", "again");
      await expectLiveEqualsCold(temp);
      expect(temp.workspace.watching.state).toBe("live");
    }),
  );

  test(
    "[Y34] what changed without an event is found by a scan and marked as missed",
    inWorkspace(PROJECT, async (temp) => {
      const outside = `${temp.root}-link`;
      linkSync(join(temp.root, "a.txt"), outside);
      await temp.workspace.watch();
      const before = (await temp.workspace.checkpoint()).checkpoint;
      // files that were just written are read once more after the answer
      await new Promise((resolve) => setTimeout(resolve, 100));
      // written under its other name: no directory of the workspace has an event
      writeFileSync(outside, "silence");
      await new Promise((resolve) => setTimeout(resolve, 50));
      temp.write("src/b.txt", "reported");
      const lacking = (await temp.workspace.checkpoint()).checkpoint;
      temp.write("src/deep/c.txt", "reported");
      expect(await temp.workspace.reconcile()).toEqual({ missed: ["a.txt"], checkpoints: [lacking.id] });
      const doubts = async (id: string) => (await temp.workspace.show(id)).doubts;
      expect(await doubts(lacking.id)).toContainEqual({ path: "a.txt", reason: "missed" });
      expect(await doubts(before.id)).toEqual([]);
      await expectLiveEqualsCold(temp);
      expect(await temp.workspace.reconcile()).toEqual({ missed: [], checkpoints: [] });
    }),
  );

  test(
    "a restore scans everything first: what the watcher did not tell is safe",
    inWorkspace(PROJECT, async (temp) => {
      const outside = `${temp.root}-link`;
      linkSync(join(temp.root, "a.txt"), outside);
      await temp.workspace.watch();
      const { id } = await temp.workspace.checkpoint();
      writeFileSync(outside, "only here");
      const { safetyCheckpoint } = await temp.workspace.restoreTo(id);
      expect(temp.read("a.txt")).toBe("a");
      await temp.workspace.restoreTo(safetyCheckpoint!);
      expect(temp.read("a.txt")).toBe("only here");
      await expectLiveEqualsCold(temp);
    }),
  );
});

describe("[R46] watching ends with the workspace", () => {
  test(
    "closing gives back every watch and lets the process end",
    inWorkspace(PROJECT, async (temp) => {
      const watches = runInProcess<number[]>(
        temp,
        `const count = () => fs.readdirSync("/proc/self/fdinfo")
           .map((fd) => { try { return fs.readFileSync("/proc/self/fdinfo/" + fd, "utf8"); } catch { return ""; } })
           .join().split("inotify wd:").length - 1;
         await workspace.watch();
         await workspace.checkpoint();
         const during = count();
         await workspace.close();
         return [during, count()];`,
      );
      // each directory and the place of the cookies
      expect(watches).toEqual([5, 0]);
      expect(existsSync(join(temp.workspace.store, "cookies"))).toBe(false);
    }),
  );

  test(
    "closing leaves a stat cache of the tree as it was last recorded",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("src/new/d.txt", "d");
      temp.remove("src/deep");
      await temp.workspace.checkpoint();
      temp.write("a.txt", "looked at, not recorded");
      await temp.workspace.status();
      const cache = join(temp.workspace.store, "stat-cache");
      await temp.reopen();
      const { table, facts } = readStatCache(absolutePath(cache))!;
      expect(table.directories).toEqual(["", "out", "src", "src/new"]);
      expect(table.isCompact).toBe(true);
      expect(facts.checkpoint).toBe((await temp.workspace.resolve("@")).id);
      await expectLiveEqualsCold(temp);
      expect(temp.read("a.txt")).toBe("looked at, not recorded");
    }),
  );

  test(
    "a process that watches and is not closed ends nevertheless",
    inWorkspace(PROJECT, async (temp) => {
      expect(runInProcess(temp, "return (await workspace.watch()).state;")).toBe("live");
    }),
  );

  test(
    "two workspaces of one process know their own changes",
    inWorkspace(PROJECT, async (one) => {
      await inWorkspace(PROJECT, async (other) => {
        await one.workspace.watch();
        await other.workspace.watch();
        one.write("a.txt", "one");
        other.write("src/new/b.txt", "other");
        const taken = await Promise.all([one.workspace.checkpoint(), other.workspace.checkpoint()]);
        expect(taken.map(({ checkpoint }) => checkpoint.changes)).toEqual([
          { added: 0, modified: 1, deleted: 0 },
          { added: 1, modified: 0, deleted: 0 },
        ]);
        await expectLiveEqualsCold(one);
        await expectLiveEqualsCold(other);
      })();
    }),
  );
});
