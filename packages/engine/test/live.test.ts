/**
 * Live capture equals cold capture. The heart of it is a storm: several processes change the tree at full speed, and
 * after each round a live capture must have the snapshot that a fresh process with a store of its own finds.
 * `BELAY_LIVE_OPERATIONS=100000` makes the storm as long as that, with bursts beyond the kernel's queue.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSeededRandom } from "./support/seeded-random.ts";
import { inWorkspace, runInProcess, startInProcess, type TempWorkspace } from "./support/temp-workspace.ts";

const OPERATIONS = Number(process.env["BELAY_LIVE_OPERATIONS"] ?? 3000);
const STORM = new URL("./support/live-storm.ts", import.meta.url).pathname;
const PROCESSES = 3;
const PER_ROUND = 400;

/** The snapshot that a process sees which has only this to go by: the disk. */
async function coldSnapshot({ root, home }: Pick<TempWorkspace, "root" | "home">): Promise<string> {
  const script = "return (await workspace.checkpoint()).checkpoint.snapshot;";
  return await startInProcess<string>({ root, home: `${home}-cold` }, script);
}

async function expectLiveEqualsCold(temp: TempWorkspace): Promise<void> {
  const { checkpoint } = await temp.workspace.checkpoint();
  expect(checkpoint.snapshot).toBe(await coldSnapshot(temp));
}

function storm(root: string, seed: number, operations: number, burst: number): Promise<void> {
  const args = [STORM, root, ...[seed, operations, burst].map(String)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  return new Promise((resolve) => child.on("close", () => resolve()));
}

const PROJECT = { "a.txt": "a", "src/b.txt": "b", "src/deep/c.txt": "c", "out/ignored": "i" };

describe("[R29] a live capture", () => {
  test(
    "sees what was written, made, moved, removed and ignored",
    inWorkspace({ ...PROJECT, ".gitignore": "out/\n" }, async (temp) => {
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
    inWorkspace({ ...PROJECT, ".gitignore": "out/\n" }, async (temp) => {
      await temp.workspace.watch();
      temp.write("out/sub/named", "1");
      temp.write("out/sub/other", "1");
      await temp.workspace.checkpoint({ paths: ["out/sub/named"] });
      expect(temp.workspace.watching.state).toBe("live");
      temp.write("out/sub/named", "2");
      temp.write("out/sub/other", "2");
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
      await temp.workspace.restoreTo("@-2");
      expect(temp.read("out/sub/other")).toBe("2");
    }),
  );

  test(
    "equals a cold one after thousands of operations of several processes",
    inWorkspace(PROJECT, async (temp) => {
      const random = createSeededRandom();
      console.log(`seed ${random.seed}`);
      await temp.workspace.watch();
      const counts = { live: 0, cold: 0 };
      for (let done = 0, round = 1; done < OPERATIONS; done += PER_ROUND * PROCESSES, round += 1) {
        const burst = round % 10 === 0 ? 12_000 : 0;
        let isOver = false;
        const storms = Array.from({ length: PROCESSES }, (_, at) =>
          storm(temp.root, random.below(2 ** 31), PER_ROUND, at === 0 ? burst : 0),
        );
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
void existsSync; void mkdirSync; void rmSync; void writeFileSync; void runInProcess;
