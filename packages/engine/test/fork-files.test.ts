/** The files of forks: apart from the original's on any file system, and taken over from a fork that was removed. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openWorkspace, writeSetting, type Fork } from "../src/index.ts";
import { makeDirectory } from "./support/place.ts";
import { canMount } from "./support/project.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";
import { readTreeMap } from "./support/tree-map.ts";
import { readCheckpointMap } from "./support/workspace-model.ts";

const FILES = { "a.txt": "a\n", "src/b.txt": "b\n", "src/deep/c.txt": "c\n", ".env": "SECRET=1\n" };

const make = async (temp: TempWorkspace, name: string): Promise<Fork> => await temp.workspace.fork(name);

/** The states of all working copies. */
function statesOf({ workspace }: TempWorkspace): unknown[] {
  using store = new DatabaseSync(join(workspace.store, "store.db"));
  const rows = store.prepare("SELECT state FROM working_copy ORDER BY id").all();
  return rows.map(({ state }) => state);
}

/** Writes in every way on either side, and looks at the other. */
function expectApart(root: string, fork: string): void {
  for (const [here, there] of [
    [root, fork],
    [fork, root],
  ] as const) {
    const facts = () => {
      const { ino, mtimeNs, ctimeNs } = statSync(join(there, "a.txt"), { bigint: true });
      return { tree: readTreeMap(there), ino, mtimeNs, ctimeNs };
    };
    const before = facts();
    writeFileSync(join(here, "a.txt"), "in place\n", { flag: "r+" });
    writeFileSync(join(here, "new.tmp"), "renamed over\n");
    renameSync(join(here, "new.tmp"), join(here, "src/b.txt"));
    chmodSync(join(here, "src/deep/c.txt"), 0o600);
    truncateSync(join(here, ".env"), 0);
    writeFileSync(join(here, "node_modules/x/index.js"), "2\n", { flag: "r+" });
    writeFileSync(join(here, "node_modules/back"), "through a link\n");
    if (hasPython) execFileSync("python3", ["-c", MAPPED, join(here, "a.txt")]);
    expect(facts()).toEqual(before);
  }
}

const hasPython = spawnSync("python3", ["-c", "import mmap"]).status === 0;
/** Writes through a memory map. */
const MAPPED = `
import mmap, sys
with open(sys.argv[1], "r+b") as file:
    with mmap.mmap(file.fileno(), 0) as memory: memory[0:2] = b"MM"
`;

/** Calls work with a new disk of this kind, of two gibibytes, in a file with holes: forks leave one of them free. */
async function withDisk(
  kind: string,
  work: (disk: string, base: string) => Promise<void>,
  options: readonly string[] = [],
): Promise<void> {
  const base = makeDirectory(`belay-${kind}-`);
  const [image, disk] = [join(base, "image"), join(base, "disk")];
  writeFileSync(image, "");
  truncateSync(image, 2 * 1024 ** 3);
  try {
    execFileSync(`mkfs.${kind}`, ["-q", ...options, image], { stdio: "ignore" });
    mkdirSync(disk);
    execFileSync("mount", ["-o", "loop", image, disk]);
    try {
      await work(disk, base);
    } finally {
      execFileSync("umount", ["--lazy", disk]);
    }
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** Whether disks of a kind can be made and mounted here. */
function canMake(kind: string): boolean {
  if (!canMount || spawnSync(`mkfs.${kind}`, ["-V"], { stdio: "ignore" }).status !== 0) return false;
  return new RegExp(`\\b${kind}$`, "m").test(readFileSync("/proc/filesystems", "utf8"));
}

for (const kind of ["xfs", "btrfs"])
  if (!canMake(kind)) console.log(`No ${kind} can be mounted here: forks on it are not tried.`);

test.for(["xfs", "btrfs"].filter(canMake))(
  "[R90] [R91] where blocks are shared (%s) a fork is a clone, and what is written there changes nothing here",
  (kind) =>
    withDisk(kind, async (disk, base) => {
      const root = join(disk, "root");
      for (const [path, content] of Object.entries({ ...FILES, "node_modules/x/index.js": "1\n" })) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), content);
      }
      symlinkSync(join(root, "a.txt"), join(root, "node_modules/back"));
      // files that were just written come from the store; those at rest are cloned
      await new Promise((resolve) => setTimeout(resolve, 100));
      await using workspace = await openWorkspace(root, { home: join(base, "home") });
      const fork = await workspace.fork("one");
      expect(fork).toMatchObject({ method: "clone", dependencies: [{ how: "cloned" }] });
      const inFork = new Map(readTreeMap(fork.path)).set("node_modules/back", `symlink ${root}/a.txt`);
      expect(inFork).toEqual(readTreeMap(root));
      expectApart(root, fork.path);
    }),
);

const MANY_FILES = 600;
/** The disk has room for so many files and directories: bytes there are enough of, so that no fork is refused. */
const MOST_FILES = 1000;

test.runIf(canMake("ext4"))(
  "[R90] [R1952] a disk that fills up while a fork is made: an error that says so, and nothing is left that looks like a fork",
  () =>
    withDisk(
      "ext4",
      async (disk, base) => {
        const root = join(disk, "root");
        for (const directory of ["root/src", "root/node_modules/x", "filler"])
          mkdirSync(join(disk, directory), { recursive: true });
        for (let number = 0; number < MANY_FILES; number += 1)
          writeFileSync(
            join(root, number % 2 === 0 ? "src" : "node_modules/x", `file-${number}`),
            `${number}`,
          );
        await using workspace = await openWorkspace(root, { home: join(base, "home") });
        const before = readTreeMap(root);
        const place = join(disk, ".belay-forks/root");
        for (const left of [100, 450]) {
          // not all of the files, and all of them but not all of the dependencies
          fill(join(disk, "filler"), left);
          await expect(workspace.fork("one")).rejects.toMatchObject({ code: "DISK_FULL" });
          expect(readdirSync(place)).toEqual([]);
          expect(await workspace.forks({ removed: true })).toEqual([]);
          expect((await workspace.branches()).map(({ name }) => name)).toEqual(["main"]);
          expect(readTreeMap(root)).toEqual(before);
          expect((await workspace.upkeep.verify()).problems).toEqual([]);
          for (const name of readdirSync(join(disk, "filler"))) rmSync(join(disk, "filler", name));
        }
        rmSync(join(root, "src/file-0"));
        for (let number = 1; number < MANY_FILES; number += 4)
          rmSync(join(root, "node_modules/x", `file-${number}`));
        const after = readTreeMap(root);
        expect(readTreeMap((await workspace.fork("one")).path)).toEqual(after);
      },
      ["-N", String(MOST_FILES)],
    ),
);

/** Takes the room for all files but so many. */
function fill(directory: string, left: number): void {
  const { ffree } = statfsSync(directory);
  for (let number = ffree - left; number > 0; number -= 1) writeFileSync(join(directory, String(number)), "");
}

test.runIf(canMake("ext4"))(
  "[I70] a disk of which nothing more may be used refuses a fork with both numbers, and nothing is left of it",
  () =>
    withDisk("ext4", async (disk, base) => {
      const root = join(disk, "root");
      mkdirSync(root);
      writeFileSync(join(root, "a.txt"), "a\n");
      await using workspace = await openWorkspace(root, { home: join(base, "home") });
      execFileSync("fallocate", ["-l", String(1200 * 1024 ** 2), join(disk, "filler")]);
      const refusal = { code: "FORK_LIMIT", facts: { limit: "disk", needed: 2, available: 0 } };
      await expect(workspace.fork("one")).rejects.toMatchObject(refusal);
      expect((await workspace.branches()).map(({ name }) => name)).toEqual(["main"]);
      rmSync(join(disk, "filler"));
      expect((await workspace.fork("one")).state).toBe("ready");
    }),
);

test(
  "[R91] [I66] what is written in a fork changes nothing in the original, and the reverse, however it is written",
  inWorkspace(FILES, async (temp) => {
    temp.write("node_modules/x/index.js", "1\n");
    symlinkSync(join(temp.root, "a.txt"), join(temp.root, "node_modules/back"));
    expectApart(temp.root, (await make(temp, "one")).path);
  }),
);

test(
  "[R90] [R91] [R1454] a removed fork is kept as a spare one after its grace time, and the next takes over what it needs of it",
  inWorkspace(FILES, async (temp) => {
    const trash = join(dirname(temp.root), ".belay-forks", basename(temp.root), ".trash");
    const old = await make(temp, "old");
    writeFileSync(join(old.path, "src/b.txt"), "work of the old fork\n");
    writeFileSync(join(old.path, "only-old.txt"), "only there\n");
    mkdirSync(join(old.path, "node_modules"));
    writeFileSync(join(old.path, "node_modules/x.js"), "made again\n");
    const outside = join(dirname(temp.root), "linked.txt");
    linkSync(join(old.path, "src/deep/c.txt"), outside);
    // files that were just written may change without another time: none of them would be taken over
    await new Promise((resolve) => setTimeout(resolve, 100));
    await temp.workspace.removeFork("old");
    temp.passHours(25);
    // a listing empties nothing; the next fork finds a spare one, and leaves nothing of it
    const next = await make(temp, "next");
    expect(next.method).toBe("spare");
    expect(readTreeMap(next.path)).toEqual(temp.tree());
    writeFileSync(join(next.path, "src/deep/c.txt"), "work of the next fork\n");
    expect(readFileSync(outside, "utf8")).toBe("c\n");
    expect([existsSync(trash), statesOf(temp)]).toEqual([false, ["main", "gone", "ready"]]);
    await temp.workspace.restoreTo("branch/old");
    expect([temp.read("src/b.txt"), temp.read("only-old.txt")]).toEqual([
      "work of the old fork\n",
      "only there\n",
    ]);
  }),
);

const SPARE_FILES = Object.fromEntries(
  Array.from({ length: 1200 }, (_, at) => [
    [`d${at % 12}/file-${at}.txt`, `${at}\n`],
    ...(at < 8 ? ["a", "b"].map((name) => [`deep/${at}/in/${name}.txt`, `${at}\n`]) : []),
  ]).flat(),
);

test(
  "[R90] [R1454] of a large spare fork whole directories are taken over, but for what is other or has a second name",
  inWorkspace(SPARE_FILES, async (temp) => {
    chmodSync(join(temp.root, "deep/5/in"), 0o555);
    symlinkSync("a.txt", join(temp.root, "deep/6/in/link"));
    const old = await make(temp, "old");
    const outside = join(dirname(temp.root), "linked.txt");
    linkSync(join(old.path, "d1/file-1.txt"), outside);
    writeFileSync(join(old.path, "d2/file-2.txt"), "other\n");
    await new Promise((resolve) => setTimeout(resolve, 100));
    await make(temp, "between");
    await temp.workspace.removeFork("old");
    temp.passHours(25);
    // the trash is emptied when a fork is removed: from then on this one is spare
    await temp.workspace.removeFork("between");
    const trash = join(dirname(temp.root), ".belay-forks", basename(temp.root), ".trash");
    const spare = join(
      trash,
      readdirSync(trash).find((name) => name.endsWith("-old"))!,
    );
    expect(statesOf(temp)).toContain("spare");
    // the same size, and all of it older than what a scan would not trust
    writeFileSync(join(spare, "d3/file-3.txt"), "9\n");
    writeFileSync(join(spare, "d4/not-captured.txt"), "?");
    writeFileSync(join(spare, "deep/1/in/not-captured.txt"), "?");
    writeFileSync(join(spare, "deep/2/in/a.txt"), "9\n");
    writeFileSync(join(spare, "deep/5/in/a.txt"), "9\n");
    temp.write("deep/3/in/a.txt", "edited\n");
    rmSync(join(temp.root, "deep/4/in/a.txt"));
    temp.write("d5/file-5.txt", "edited\n");
    chmodSync(join(temp.root, "d6/file-6.txt"), 0o755);
    const next = await make(temp, "next");
    expect(next.method).toBe("spare");
    expect(readTreeMap(next.path)).toEqual(temp.tree());
    // what the next capture takes for unchanged is
    await using opened = await temp.workspace.openFork(next.id);
    const { checkpoint } = await opened.checkpoint();
    expect(await readCheckpointMap(temp, checkpoint.id)).toEqual(temp.tree());
    writeFileSync(join(next.path, "d1/file-1.txt"), "work of the next fork\n");
    expect(readFileSync(outside, "utf8")).toBe("1\n");
  }),
);

/** Many names come before the last directory: it has been looked at by the time its name's turn comes. */
const FILES_BEFORE = Object.fromEntries([
  ...Array.from({ length: 1200 }, (_, at) => [`file-${at}.txt`, `${at}\n`]),
  ...["a", "b"].map((name) => [`last/inside/${name}.txt`, `${name}\n`]),
]);

test(
  "[R90] [R1454] of a spare fork nothing is taken over that lies behind a link",
  inWorkspace(FILES_BEFORE, async (temp) => {
    await make(temp, "old");
    await make(temp, "between");
    await new Promise((resolve) => setTimeout(resolve, 100));
    await temp.workspace.removeFork("old");
    temp.passHours(25);
    // the trash is emptied when a fork is removed: from then on this one is spare
    await temp.workspace.removeFork("between");
    const trash = join(dirname(temp.root), ".belay-forks", basename(temp.root), ".trash");
    const spare = join(
      trash,
      readdirSync(trash).find((name) => name.endsWith("-old"))!,
    );
    const outside = join(dirname(temp.root), "moved");
    renameSync(join(spare, "last"), outside);
    symlinkSync(outside, join(spare, "last"));
    const next = await make(temp, "next");
    expect(next.method).toBe("spare");
    expect(readTreeMap(next.path)).toEqual(temp.tree());
    // what the next capture takes for unchanged is
    await using opened = await temp.workspace.openFork(next.id);
    const { checkpoint } = await opened.checkpoint();
    expect(await readCheckpointMap(temp, checkpoint.id)).toEqual(temp.tree());
  }),
);

test(
  "[R92] [R1454] a spare fork is no fork to be seen, waits while a process is in it, and goes when room is needed",
  inWorkspace({ ...FILES, "data.bin": "x".repeat(100_000) }, async (temp) => {
    const trash = join(dirname(temp.root), ".belay-forks", basename(temp.root), ".trash");
    /** The first of two removed forks becomes the spare one when the second is removed. */
    const makeSpare = async (one: string, two: string) => {
      await make(temp, one);
      const { bytesOnDisk } = await make(temp, two);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await temp.workspace.removeFork(one);
      temp.passHours(25);
      await temp.workspace.removeFork(two);
      expect(await temp.workspace.forks({ removed: true })).toMatchObject([{ name: two }]);
      await expect(temp.workspace.restoreFork(one)).rejects.toMatchObject({ code: "FORK_NOT_FOUND" });
      return bytesOnDisk;
    };
    const inTrash = await makeSpare("one", "two");
    expect(statesOf(temp)).toEqual(["main", "spare", "removing"]);
    // both take room: the one in the trash, and the spare one
    expect((await temp.workspace.status()).disk.forks).toBeGreaterThan(inTrash);
    const [spare] = readdirSync(trash).filter((name) => name.endsWith("-one"));
    const child = spawn("sleep", ["60"], { cwd: join(trash, spare!) });
    try {
      await expect.poll(() => readlinkSync(`/proc/${child.pid}/cwd`)).toContain(".trash");
      expect((await make(temp, "three")).method).not.toBe("spare");
      expect(existsSync(join(trash, spare!))).toBe(true);
    } finally {
      child.kill();
      await once(child, "exit");
    }
    expect((await make(temp, "four")).method).toBe("spare");
    for (const name of ["two", "three", "four"]) await temp.workspace.removeFork(name, { now: true });
    expect(existsSync(trash)).toBe(false);
    await makeSpare("nine", "ten");
    writeSetting(temp.home, "forks.spare", "0");
    await temp.workspace.removeFork("ten", { now: true });
    expect(existsSync(trash)).toBe(false);
    writeSetting(temp.home, "forks.spare", "1");
    const bytesOnDisk = await makeSpare("five", "six");
    await temp.workspace.removeFork("six", { now: true });
    writeSetting(temp.home, "forks.bytes", String(Math.ceil(1.5 * bytesOnDisk)));
    expect((await make(temp, "seven")).method).not.toBe("spare");
    expect(existsSync(trash)).toBe(false);
    writeSetting(temp.home, "forks.bytes", "1GiB");
    writeSetting(temp.home, "forks.spare", "0");
    await temp.workspace.removeFork("seven");
    temp.passHours(25);
    expect((await make(temp, "eight")).method).not.toBe("spare");
    expect(existsSync(trash)).toBe(false);
  }),
);
