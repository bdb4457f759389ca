/** Changes are noticed however quickly and quietly they are made; a scan that trusts the last one misses nothing. */
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import type { Workspace } from "../src/index.ts";
import { inProject, type Project } from "./support/project.ts";
import { createSeededRandom } from "./support/seeded-random.ts";

async function contentOf(workspace: Workspace, path: string): Promise<string | undefined> {
  for await (const file of workspace.files("@")) {
    if (file.path === path) return Buffer.concat([...file.content()]).toString("utf8");
  }
  return undefined;
}

test(
  "[R7, I23] an edit of the same length, right after a checkpoint and with the old time put back, is seen",
  inProject({ "a.py": "return 0" }, async (project) => {
    const workspace = await project.open();
    const path = join(project.root, "a.py");
    for (let round = 1; round < 40; round += 1) {
      const { atime, mtime } = statSync(path);
      writeFileSync(path, `return ${round % 10}`);
      utimesSync(path, atime, mtime);
      expect(await workspace.checkpoint()).toMatchObject({ unchanged: false });
      expect(await contentOf(workspace, "a.py")).toBe(`return ${round % 10}`);
    }
  }),
);

test(
  "[R8] a file that is being written all the time is captured as last read and marked unstable",
  inProject({ "still.txt": "still" }, async (project) => {
    const workspace = await project.open();
    const path = join(project.root, "hot.txt");
    const script = `const { writeFileSync } = require("node:fs");
      setInterval(() => writeFileSync(${JSON.stringify(path)}, String(process.hrtime.bigint())), 2);`;
    const writer = new Worker(script, { eval: true });
    try {
      await expect.poll(() => statSync(path, { throwIfNoEntry: false })?.size).toBeGreaterThan(0);
      const { doubts } = await workspace.checkpoint();
      expect(doubts).toEqual([{ path: "hot.txt", reason: "unstable" }]);
    } finally {
      await writer.terminate();
    }
  }),
);

const MANY = 6000;

test(
  "[R7] a scan that trusts the last one sees what one that trusts nothing sees",
  inProject({ ".gitignore": "*.log\n" }, async (project) => {
    const random = createSeededRandom();
    console.log(`seed ${random.seed}`);
    const directories = Array.from({ length: 300 }, (_, i) => `d${i % 7}/e${i % 23}/f${i}`);
    for (const directory of directories) mkdirSync(join(project.root, directory), { recursive: true });
    for (let i = 0; i < MANY; i += 1)
      writeFileSync(join(project.root, directories[i % directories.length]!, `n${i}.ts`), `${i}`);
    await project.close(await project.open());
    for (let round = 0; round < 6; round += 1) {
      for (let i = 0; i < 40; i += 1)
        disturb(project, join(project.root, directories[random.below(directories.length)]!), random);
      if (round === 3) writeFileSync(join(project.root, ".gitignore"), "*.log\nn1*.ts\n");
      if (round === 5) writeFileSync(join(project.root, "d3/.gitignore"), "!n1*.ts\n");
      const trusting = await project.open();
      const { checkpoint } = await trusting.checkpoint();
      await project.close(trusting);
      rmSync(join(project.storeDirectory(), "stat-cache"));
      const distrusting = await project.open();
      expect((await distrusting.checkpoint()).checkpoint.snapshot).toBe(checkpoint.snapshot);
      await project.close(distrusting);
    }
  }),
);

/** How many bytes this thread has read from files; undefined where the system does not count them. */
function bytesRead(): number | undefined {
  try {
    return Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/thread-self/io", "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

const LARGE = 512 * 1024;

test.skipIf(bytesRead() === undefined)(
  "[L39] [Y82] a file whose times are unchanged is not read: a capture costs what changed",
  inProject(
    Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`f${at}`, Buffer.alloc(LARGE, at + 1)])),
    async (project) => {
      const workspace = await project.open();
      // beyond the granularity of file times, so that no file is read again because it might be racy
      for (let at = 0; at < 40; at += 1) utimesSync(join(project.root, `f${at}`), 1000, 1000);
      await expect.poll(async () => readBy(workspace)).toBeLessThan(2 * LARGE);
      writeFileSync(join(project.root, "f7"), Buffer.alloc(LARGE, 99));
      const read = await readBy(workspace);
      expect(read).toBeGreaterThanOrEqual(LARGE);
      expect(read).toBeLessThan(8 * LARGE);
    },
  ),
);

async function readBy(workspace: Workspace): Promise<number> {
  const before = bytesRead()!;
  await workspace.checkpoint();
  return bytesRead()! - before;
}

test(
  "[L40] content is hashed before it is stored: what the store has is not stored again, under whatever name",
  inProject({ a: randomBytes(LARGE) }, async (project) => {
    const workspace = await project.open();
    const { contentBytes } = await workspace.upkeep.stats();
    project.write("copy/of/a", readFileSync(join(project.root, "a")));
    renameSync(join(project.root, "a"), join(project.root, "b"));
    expect((await workspace.checkpoint()).checkpoint.bytes).toBe(2 * LARGE);
    // trees and rules are new, the content is not
    expect((await workspace.upkeep.stats()).contentBytes - contentBytes).toBeLessThan(LARGE / 10);
  }),
);

/** One random change in a directory; whatever it is, it is one that a stat or a listing can show. */
function disturb({ root }: Project, directory: string, random: { below(limit: number): number }): void {
  const name = () => join(directory, `x${random.below(6)}${["", ".ts", ".log"][random.below(3)]!}`);
  const path = name();
  const stat = statSync(path, { throwIfNoEntry: false });
  const kinds = [
    () =>
      stat?.isDirectory() === true
        ? writeFileSync(join(path, "inner"), `${random.below(99)}`)
        : writeFileSync(path, `${random.below(99)}`),
    () => (stat?.isFile() === true ? appendFileSync(path, "more") : undefined),
    () => (stat?.isFile() === true ? unlinkSync(path) : mkdirSync(path, { recursive: true })),
    () =>
      stat === undefined
        ? undefined
        : chmodSync(
            path,
            stat.isDirectory() ? 0o755 - 0o10 * random.below(2) : 0o644 + 0o111 * random.below(2),
          ),
    () => (stat === undefined ? undefined : renameSync(path, join(root, `moved-${random.below(1e9)}`))),
  ];
  kinds[random.below(kinds.length)]!();
}
