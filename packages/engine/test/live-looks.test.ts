/** A process that watches looks without recording: the next capture has everything, as it is on disk by then. */
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { findWorkspace } from "../src/index.ts";
import { createSeededRandom, type SeededRandom } from "./support/seeded-random.ts";
import { inWorkspace, runInProcess, type TempWorkspace } from "./support/temp-workspace.ts";
import type { TreeMap } from "./support/tree-map.ts";

/** Longer than a file counts as hot, and than the granularity of its times. */
const AT_REST_MS = 140;
const PROJECT = { "a.txt": "a", "b.txt": "b", "src/c.txt": "c", "src/deep/d.txt": "d" };
const STEPS = 120;

/** Looks at what changed and records nothing. */
async function look({ workspace }: Pick<TempWorkspace, "workspace">): Promise<void> {
  await workspace.status();
}

describe("[R44] what was looked at counts as unrecorded", () => {
  test(
    "and nothing of it is stored before a capture is",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      const before = (await temp.workspace.upkeep.stats()).storedBytes;
      temp.write("a.txt", "x".repeat(200_000));
      expect((await temp.workspace.status()).changedFiles).toHaveLength(1);
      expect((await temp.workspace.upkeep.stats()).storedBytes).toBe(before);
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
      expect(await temp.workspace.checkpoint()).toMatchObject({ unchanged: true });
    }),
  );

  test(
    "and what changes again before the capture is in it as it is then",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("a.txt", "looked at");
      temp.write("src/deep/d.txt", "looked at too");
      await look(temp);
      temp.write("a.txt", "changed since");
      const { checkpoint } = await temp.workspace.checkpoint();
      temp.write("a.txt", "later");
      temp.remove("src");
      await temp.workspace.restoreTo(checkpoint.id);
      expect(temp.read("a.txt")).toBe("changed since");
      expect(temp.read("src/deep/d.txt")).toBe("looked at too");
    }),
  );

  test(
    "and what is taken back before the capture is no change",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("a.txt", "for a moment");
      temp.write("src/new/e.txt", "for a moment");
      await look(temp);
      temp.write("a.txt", "a");
      temp.remove("src/new");
      expect(await temp.workspace.checkpoint()).toMatchObject({ unchanged: true });
    }),
  );

  test(
    "and a comparison with the disk shows it, before and after",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("a.txt", "a\nline\n");
      const diff = await temp.workspace.diff({ from: "@", detail: "text" });
      expect(diff.files.map(({ path }) => path)).toEqual(["a.txt"]);
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
    }),
  );

  test(
    "and a capture that another process outran loses nothing of it",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("a.txt", "looked at");
      await look(temp);
      runInProcess(temp, `fs.writeFileSync(root + "/b.txt", "theirs"); await workspace.checkpoint();`);
      const { checkpoint } = await temp.workspace.checkpoint();
      temp.write("a.txt", "later");
      await temp.workspace.restoreTo(checkpoint.id);
      expect([temp.read("a.txt"), temp.read("b.txt")]).toEqual(["looked at", "theirs"]);
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
      for (const id of taken.slice(0, 2)) await temp.workspace.upkeep.deleteCheckpoint(id);
      temp.passHours(24 * 365);
      // found to be in the store still, and gone from it a moment later
      temp.write("a.txt", "an old version");
      await look(temp);
      expect((await temp.workspace.upkeep.gc()).objectsFreed).toBeGreaterThan(0);
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
      const thread = (await workspace.threads.open({ agent: "test", externalId: "t" })).id;
      temp.write("a.txt", "looked at");
      await look({ workspace });
      const { id } = await workspace.turns.startEdit(thread, { paths: ["b.txt"], tool: "write" });
      await workspace.turns.finalizeEdit(id);
      // nothing refers any more to what the edit had saved
      await workspace.upkeep.gc();
      const { checkpoint } = await workspace.checkpoint();
      temp.write("a.txt", "later");
      await workspace.restoreTo(checkpoint.id);
      expect(temp.read("a.txt")).toBe("looked at");
    }),
  );

  test(
    "and a process that ends before the capture leaves nothing behind that the next one could take for stored",
    inWorkspace(PROJECT, async (temp) => {
      await temp.workspace.watch();
      temp.write("a.txt", "looked at");
      await look(temp);
      await temp.reopen();
      const { checkpoint } = await temp.workspace.checkpoint();
      temp.write("a.txt", "later");
      await temp.workspace.restoreTo(checkpoint.id);
      expect(temp.read("a.txt")).toBe("looked at");
    }),
  );

  test(
    "and a process that watches after one that ended before the capture sees what was only looked at",
    inWorkspace(PROJECT, async (temp) => {
      await pause(AT_REST_MS);
      await temp.workspace.checkpoint();
      await temp.workspace.watch();
      temp.write("src/deep/d.txt", "never recorded");
      await look(temp);
      await temp.reopen();
      await temp.workspace.watch();
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 1, deleted: 0 });
      expect(temp.workspace.watching.state).toBe("live");
      temp.write("src/deep/d.txt", "later");
      await temp.workspace.restoreTo(checkpoint.id);
      expect(temp.read("src/deep/d.txt")).toBe("never recorded");
    }),
  );

  test(
    "and what went away with its ignore file is missed by no later watch",
    inWorkspace({ ...PROJECT, "src/pkg/.gitignore": "x\n", "src/pkg/f": "f" }, async (temp) => {
      await pause(AT_REST_MS);
      await temp.workspace.watch();
      await temp.workspace.checkpoint();
      renameSync(join(temp.root, "src/pkg"), join(temp.root, "../gone"));
      await look(temp);
      await temp.reopen();
      await temp.workspace.watch();
      const { checkpoint } = await temp.workspace.checkpoint();
      expect(checkpoint.changes).toEqual({ added: 0, modified: 0, deleted: 2 });
    }),
  );

  test(
    "whatever happens in between: every capture has what was on disk",
    inWorkspace(PROJECT, async (temp) => {
      const random = createSeededRandom();
      console.log(`seed ${random.seed}`);
      await temp.workspace.watch();
      const captured = new Map<string, TreeMap>();
      for (let step = 0; step < STEPS; step += 1) {
        change(temp, random);
        if (random.below(4) === 0) await pause(AT_REST_MS);
        if (random.below(3) === 0) await look(temp);
        if (random.below(12) === 0) {
          await temp.reopen();
          await temp.workspace.watch();
        }
        if (random.below(25) === 0)
          runInProcess(temp, "await workspace.checkpoint(); await workspace.upkeep.gc();");
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
