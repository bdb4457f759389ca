/** Files that are written while they are copied into a fork: never a mixture without a word. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { writeSetting } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";
import { readTreeMap } from "./support/tree-map.ts";

const MIB = 1024 ** 2;
const BYTES = 48 * MIB;

/** A file that says at both of its ends which version it is. */
function writeVersion(path: string, version: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const descriptor = openSync(path, existsSync(path) ? "r+" : "w");
  ftruncateSync(descriptor, BYTES);
  for (const at of [0, BYTES - 8]) writeSync(descriptor, version.padEnd(8), at);
  closeSync(descriptor);
}

/** Both ends. */
function versionsOf(path: string): string[] {
  const descriptor = openSync(path, "r");
  const bytes = Buffer.alloc(8);
  const read = (at: number) => {
    readSync(descriptor, bytes, 0, 8, at);
    return bytes.toString().trim();
  };
  const versions = [read(0), read(BYTES - 8)];
  closeSync(descriptor);
  return versions;
}

/** Where the file is in the fork that is being made; undefined when it is not there yet, or complete. */
function isBeingCopied(temp: TempWorkspace, path: string): boolean {
  const place = join(dirname(temp.root), ".belay-forks", basename(temp.root));
  if (!existsSync(place)) return false;
  const making = readdirSync(place).find((name) => name.startsWith(".making-"));
  const copy = making === undefined ? undefined : join(place, making, path);
  return copy !== undefined && (statSync(copy, { throwIfNoEntry: false })?.size ?? BYTES) < BYTES;
}

/** Makes forks, each with one write in the middle of the copy, until that was the case; the paths of all of them. */
async function forksWhileWriting(temp: TempWorkspace, path: string): Promise<string[]> {
  const made: string[] = [];
  let isHit = false;
  for (let round = 0; round < 30 && !isHit; round += 1) {
    await pause(100);
    const { id } = await temp.workspace.checkpoint();
    let isWritten = false;
    const writer = setInterval(() => {
      if (isWritten || !isBeingCopied(temp, path)) return;
      writeVersion(join(temp.root, path), `new ${round}`);
      isHit = isBeingCopied(temp, path);
      isWritten = true;
    });
    const fork = await temp.workspace.fork(`round-${round}`, { from: id });
    clearInterval(writer);
    made.push(join(fork.path, path));
    if (!isHit) writeVersion(join(temp.root, path), "old");
  }
  expect(isHit).toBe(true);
  return made;
}

test(
  "[R90] [R2401] a write in the middle of a file that is copied into a fork: the file is that of the checkpoint",
  inWorkspace({ "a.txt": "a\n" }, async (temp) => {
    writeSetting(temp.home, "limits.fileBytes", "1GiB");
    writeVersion(join(temp.root, "data/large.bin"), "old");
    for (const file of await forksWhileWriting(temp, "data/large.bin"))
      expect(versionsOf(file)).toEqual(["old", "old"]);
  }),
);

test(
  "[R90] a file of the original that is another one by now, of the same size or the same time, comes from the store",
  inWorkspace({ "size.txt": "old\n", "time.txt": "old\n" }, async (temp) => {
    await pause(100);
    const { id } = await temp.workspace.checkpoint();
    const then = temp.tree();
    temp.write("size.txt", "new\n");
    const { atime, mtime } = statSync(join(temp.root, "time.txt"));
    temp.write("time.txt", "new\n");
    utimesSync(join(temp.root, "time.txt"), atime, mtime);
    expect(readTreeMap((await temp.workspace.fork("then", { from: id })).path)).toEqual(then);
  }),
);

test(
  "[R2401] a write in the middle of a dependency: it is copied again",
  inWorkspace({ "a.txt": "a\n" }, async (temp) => {
    writeVersion(join(temp.root, "node_modules/x/large.bin"), "old");
    for (const file of await forksWhileWriting(temp, "node_modules/x/large.bin")) {
      const [start, end] = versionsOf(file);
      expect(start).toBe(end);
    }
  }),
);

const WRITER = `
const { openSync, writeSync } = require("node:fs");
const files = process.argv.slice(1).map((path) => openSync(path, "r+"));
for (let version = 1; ; version += 1)
  for (const file of files)
    for (const at of [0, ${BYTES - 8}]) writeSync(file, String(version).padEnd(8), at);
`;

test(
  "[R2401] a file that is written all the time is named as one whose copy may be a mixture",
  inWorkspace({ "a.txt": "a\n" }, async (temp) => {
    writeSetting(temp.home, "limits.fileBytes", "1MiB");
    const paths = ["large.log", "node_modules/x/large.log"];
    for (const path of paths) writeVersion(join(temp.root, path), "0");
    const writer = spawn(process.execPath, ["-e", WRITER, ...paths.map((path) => join(temp.root, path))]);
    const named = new Set<string>();
    try {
      for (let round = 0; round < 20 && named.size < paths.length; round += 1) {
        const { path: fork, warnings } = await temp.workspace.fork(`round-${round}`);
        for (const path of paths) {
          const [start, end] = versionsOf(join(fork, path));
          const isNamed = warnings.some((text) => text.startsWith(`${path} was written while it was copied`));
          if (isNamed) named.add(path);
          else expect(start).toBe(end);
        }
        await temp.workspace.removeFork(`round-${round}`, { now: true, despiteGaps: true });
      }
    } finally {
      writer.kill("SIGKILL");
      await once(writer, "exit");
    }
    expect([...named].toSorted()).toEqual(paths);
  }),
);
