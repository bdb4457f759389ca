/** What a process that watches has read before anybody asked is in the next capture, as it is on disk by then. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { findWorkspace, writeSetting } from "../src/index.ts";
import { createSeededRandom, type SeededRandom } from "./support/seeded-random.ts";
import { inWorkspace, runInProcess, type TempWorkspace } from "./support/temp-workspace.ts";
import type { TreeMap } from "./support/tree-map.ts";

/** Longer than a change has to lie before it is read ahead. */
const QUIET_MS = 140;
const PROJECT = { "a.txt": "a", "b.txt": "b", "src/c.txt": "c", "src/deep/d.txt": "d" };
const STEPS = 120;

/** Whether a file was read since it was written; true also where the file system does not note it. */
async function wasRead({ root }: TempWorkspace, path: string): Promise<boolean> {
  const isReadLater = (file: string) => {
    const { atimeMs, mtimeMs } = statSync(file);
    return atimeMs > mtimeMs;
  };
  const probe = join(root, "..", "probe");
  writeFileSync(probe, "probe");
  await pause(20);
  readFileSync(probe);
  return !isReadLater(probe) || isReadLater(join(root, path));
}

async function storeBytes({ workspace }: TempWorkspace): Promise<number> {
  return (await workspace.stats()).storedBytes;
}

describe("[R69] what changed is read ahead", () => {
  test(
    "and nothing is stored before a capture is",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      const before = await storeBytes(temp);
      temp.write("a.txt", "x".repeat(200_000));
      await vi.waitFor(async () => expect(await wasRead(temp, "a.txt")).toBe(true), 5000);
      expect(await storeBytes(temp)).toBe(before);
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
      expect(await temp.workspace.checkpoint()).toMatchObject({ unchanged: true });
    }),
  );

  test(
    "and what changes again before the capture is in it as it is then",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("a.txt", "read ahead");
      temp.write("src/deep/d.txt", "read ahead too");
      await pause(QUIET_MS);
      temp.write("a.txt", "changed since");
      const { checkpoint } = await temp.workspace.checkpoint();
      temp.write("a.txt", "later");
      temp.remove("src");
      await temp.workspace.restoreTo(checkpoint.id);
      expect(temp.read("a.txt")).toBe("changed since");
      expect(temp.read("src/deep/d.txt")).toBe("read ahead too");
    }),
  );

  test(
    "and a comparison with the disk shows it, before and after",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("a.txt", "a\nline\n");
      await pause(QUIET_MS);
      const diff = await temp.workspace.diff({ from: "@", detail: "text" });
      expect(diff.files.map(({ path }) => path)).toEqual(["a.txt"]);
      await pause(QUIET_MS);
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
    }),
  );

  test(
    "and a capture that another process outran loses nothing of it",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("a.txt", "read ahead");
      await pause(QUIET_MS);
      runInProcess(temp, `fs.writeFileSync(root + "/b.txt", "theirs"); await workspace.checkpoint();`);
      const { checkpoint } = await temp.workspace.checkpoint();
      temp.write("a.txt", "later");
      await temp.workspace.restoreTo(checkpoint.id);
      expect([temp.read("a.txt"), temp.read("b.txt")]).toEqual(["read ahead", "theirs"]);
    }),
  );

  test(
    "and gc in between does not leave the capture with holes",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      const taken: string[] = [];
      for (const content of ["an old version", "a newer one", "the last"]) {
        temp.write("a.txt", content);
        taken.push((await temp.workspace.checkpoint({ kind: "message" })).checkpoint.id);
      }
      for (const id of taken.slice(0, 2)) await temp.workspace.deleteCheckpoint(id);
      temp.passHours(24 * 365);
      // found to be in the store still, and gone from it a moment later
      temp.write("a.txt", "an old version");
      await pause(QUIET_MS);
      expect((await temp.workspace.gc()).objectsFreed).toBeGreaterThan(0);
      const { checkpoint } = await temp.workspace.checkpoint();
      temp.write("a.txt", "later");
      await temp.workspace.restoreTo(checkpoint.id);
      expect(temp.read("a.txt")).toBe("an old version");
    }),
  );

  test(
    "and an announced edit that keeps no checkpoint does not take it for recorded",
    inWorkspace(PROJECT, async (temp) => {
      const { root, home } = temp;
      const policy = { name: "message", triggers: ["message", "turn"] } as const;
      await using workspace = await findWorkspace(root, { home, policy });
      await workspace.watch();
      const thread = (await workspace.openThread({ agent: "test", externalId: "t" })).id;
      temp.write("a.txt", "read ahead");
      await pause(QUIET_MS);
      const { id } = await workspace.startEdit(thread, { paths: ["b.txt"], tool: "write" });
      await workspace.finalizeEdit(id);
      // nothing refers any more to what the edit had saved
      await workspace.gc();
      const { checkpoint } = await workspace.checkpoint();
      temp.write("a.txt", "later");
      await workspace.restoreTo(checkpoint.id);
      expect(temp.read("a.txt")).toBe("read ahead");
    }),
  );

  test(
    "and a process that ends before the capture leaves nothing behind that the next one could take for stored",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("a.txt", "read ahead");
      await pause(QUIET_MS);
      await temp.reopen();
      const { checkpoint } = await temp.workspace.checkpoint();
      temp.write("a.txt", "later");
      await temp.workspace.restoreTo(checkpoint.id);
      expect(temp.read("a.txt")).toBe("read ahead");
    }),
  );

  test.each(["read ahead", "looked at"])(
    "and who watches next, after a process that ended before the capture, sees what was only %s",
    (how) =>
      inWorkspace(PROJECT, async (temp) => {
        await pause(QUIET_MS);
        await temp.workspace.checkpoint();
        await temp.workspace.watch();
        temp.write("src/deep/d.txt", "never recorded");
        if (how === "looked at") await temp.workspace.status();
        else await pause(QUIET_MS);
        await temp.reopen();
        await temp.workspace.watch();
        const { checkpoint } = await temp.workspace.checkpoint();
        expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
        expect(temp.workspace.watching.state).toBe("live");
        temp.write("src/deep/d.txt", "later");
        await temp.workspace.restoreTo(checkpoint.id);
        expect(temp.read("src/deep/d.txt")).toBe("never recorded");
      })(),
  );

  test(
    "and what went away with its ignore file is missed by nobody",
    inWorkspace({ ...PROJECT, "src/pkg/.gitignore": "x\n", "src/pkg/f": "f" }, async (temp) => {
      await pause(QUIET_MS);
      await temp.workspace.watch();
      await temp.workspace.checkpoint();
      renameSync(join(temp.root, "src/pkg"), join(temp.root, "../gone"));
      await pause(QUIET_MS);
      await temp.reopen();
      await temp.workspace.watch();
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 0, deleted: 2 });
    }),
  );

  test(
    "and the cap counts as it is when the capture comes",
    inWorkspace({}, async (temp) => {
      const { root, home } = temp;
      writeSetting(home, "disk.capBytes", "3100000");
      await using workspace = await findWorkspace(root, { home });
      for (let round = 0; round < 4; round += 1)
        await workspace.turn({}, async () => writeFileSync(join(root, "noise"), randomBytes(600_000)));
      await workspace.watch();
      await workspace.checkpoint();
      const before = (await workspace.list()).length;
      writeFileSync(join(root, "noise"), randomBytes(900_000));
      await pause(QUIET_MS);
      writeSetting(home, "disk.capBytes", "100000000");
      await workspace.checkpoint();
      expect(await workspace.list()).toHaveLength(before + 1);
    }),
  );

  test(
    "whatever happens in between: every capture has what was on disk",
    { timeout: 60_000 },
    inWorkspace(PROJECT, async (temp) => {
      const random = createSeededRandom();
      console.log(`seed ${random.seed}`);
      await temp.workspace.watch();
      const captured = new Map<string, TreeMap>();
      for (let step = 0; step < STEPS; step += 1) {
        change(temp, random);
        if (random.below(4) === 0) await pause(QUIET_MS);
        if (random.below(6) === 0) await temp.workspace.status();
        if (random.below(12) === 0) {
          await temp.reopen();
          await temp.workspace.watch();
        }
        if (random.below(25) === 0) runInProcess(temp, "await workspace.checkpoint(); await workspace.gc();");
        if (random.below(3) > 0) continue;
        const { checkpoint } = await temp.workspace.checkpoint();
        captured.set(checkpoint.id, temp.tree());
      }
      for (const [id, tree] of captured) {
        await temp.workspace.restoreTo(id);
        expect(temp.tree()).toEqual(tree);
      }
    }),
  );
});

/** One change of the kind that editors and tools make. */
function change({ root, write }: TempWorkspace, random: SeededRandom): void {
  const path = () => random.pick(["a.txt", "b.txt", "src/c.txt", "src/e.txt", "src/deep/d.txt", "new/f.txt"]);
  const at = path();
  const absolute = join(root, at);
  switch (random.below(8)) {
    case 0:
      return rmSync(absolute, { force: true, recursive: true });
    case 1:
      return rmSync(join(root, random.pick(["src/deep", "new"])), { recursive: true, force: true });
    case 2: {
      rmSync(absolute, { force: true, recursive: true });
      mkdirSync(join(absolute, ".."), { recursive: true });
      return symlinkSync(random.pick(["a.txt", "nowhere"]), absolute);
    }
    case 3: {
      write("src/moved.txt", `moved ${random.below(5)}`);
      rmSync(absolute, { force: true, recursive: true });
      mkdirSync(join(absolute, ".."), { recursive: true });
      return renameSync(join(root, "src/moved.txt"), absolute);
    }
    default:
      rmSync(absolute, { force: true });
      // few contents, so that the same ones come again
      write(at, `content ${random.below(6)}`);
  }
}
