/** What a sync finds: edits and deletions that no event named, other checkpoints, damage, the cap. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "@belay/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hashedEmbedder, hasIndex, keepInStep, openIndex, removeIndex } from "../src/index.ts";
import { countingEmbedder, inProject } from "./support/project.ts";

const FILES = {
  "a.ts": "export const alpha = 1;\n",
  "b.ts": "export const beta = 2;\n",
  "copy-of-b.ts": "export const beta = 2;\n",
  "image.png": Buffer.from([0x89, 0x50, 0, 1]),
  "latin1.txt": Buffer.from([0xe9, 0x0a]),
};

test(
  "[A53, A54] edits and deletions by a shell are found, by the hash of the content; nothing else is read",
  inProject(FILES, async ({ workspace, write, remove }) => {
    const embedder = countingEmbedder();
    await using index = await openIndex(workspace, { embedder });
    expect(await index.sync()).toEqual({ checked: 0, reindexed: 3, removed: 0, skipped: 2 });
    expect(index.files()).toMatchObject([
      { path: "a.ts", hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { path: "b.ts" },
      { path: "copy-of-b.ts" },
    ]);
    // the same content is one document
    expect(embedder.texts).toBe(2);
    expect(await index.sync()).toMatchObject({ reindexed: 0, removed: 0 });
    write("a.ts", "export const gamma = 3;\n");
    remove("b.ts");
    await workspace.checkpoint();
    expect(await index.sync({ captured: true })).toMatchObject({ reindexed: 1, removed: 1 });
    expect(embedder.texts).toBe(3);
    write("c.ts", "export const delta = 4;\n");
    expect(await index.sync()).toMatchObject({ reindexed: 1, removed: 0 });
    expect((await index.search("delta")).hits[0]).toMatchObject({ path: "c.ts", checkpoint: null });
  }),
);

test(
  "any checkpoint is searched by its contents; those never indexed are counted",
  inProject({ "a.ts": "export const old = 1;\n" }, async ({ workspace, write }) => {
    await using index = await openIndex(workspace);
    await index.sync();
    const first = await workspace.resolve("@");
    write("a.ts", "export const unseen = 2;\n");
    await workspace.checkpoint();
    write("a.ts", "export const present = 3;\n");
    await workspace.checkpoint();
    await index.sync();
    expect(await index.search("old", { at: first.id, k: 1 })).toMatchObject({
      hits: [{ path: "a.ts", text: "export const old = 1;\n", checkpoint: first.id }],
      notIndexed: 0,
    });
    expect(await index.search("unseen", { at: "@-1", mode: "text" })).toMatchObject({
      hits: [],
      notIndexed: 1,
    });
    expect((await index.search("old", { mode: "text" })).hits).toEqual([]);
  }),
);

test(
  "[R430] without a sync an answer is what is on disk: text that went is not told, and a file that is gone is none",
  inProject(
    {
      "one.ts": "export const walrus = 1;\n",
      "two.ts": "export const walrus = 2;\n",
      "three.ts": "walrus(3)\n",
    },
    async ({ workspace, write, remove }) => {
      await using index = await openIndex(workspace);
      await index.sync();
      write("one.ts", "export const penguin = 1;\n");
      remove("two.ts");
      const texts = async (word: string) => {
        const { hits } = await index.search(word, { mode: "text" });
        return hits.map(({ path, text }) => [path, text]);
      };
      expect(await texts("walrus")).toEqual([["three.ts", "walrus(3)\n"]]);
      // what was found changed is indexed by then
      expect(await texts("penguin")).toEqual([["one.ts", "export const penguin = 1;\n"]]);
      expect(index.files().map(({ path }) => path)).toEqual(["one.ts", "three.ts"]);
    },
  ),
);

test(
  "limited to paths, and by their words; a path is found by its own name",
  inProject(
    { "src/retry/backoff.ts": "export const wait = 1;\n", "docs/wait.md": "wait\n", "x.ts": "wait(1)\n" },
    async ({ workspace }) => {
      await using index = await openIndex(workspace);
      await index.sync();
      expect((await index.search("wait", { paths: ["src"] })).hits.map(({ path }) => path)).toEqual([
        "src/retry/backoff.ts",
      ]);
      expect((await index.search("backoff")).hits[0]).toMatchObject({ path: "src/retry/backoff.ts" });
      expect((await index.search("")).hits).toEqual([]);
      for (const query of ['"', "a AND (", "NEAR(", "*", "'; DROP TABLE file"]) await index.search(query);
      expect(index.files()).toHaveLength(3);
    },
  ),
);

test(
  "[R432] an index that is damaged or of another version is made again, and another embedder makes its own vectors",
  inProject(FILES, async ({ workspace }) => {
    const place = join(workspace.store, "index.db");
    expect(hasIndex(workspace)).toBe(false);
    for (const content of ["not a database", "SQLite format 3\0", Buffer.alloc(5000, 7)]) {
      removeIndex(workspace);
      writeFileSync(place, content);
      await using index = await openIndex(workspace);
      expect(index.files()).toEqual([]);
      await index.sync();
      expect((await index.search("alpha")).hits[0]).toMatchObject({ path: "a.ts" });
    }
    const other = { ...hashedEmbedder(), name: "another" };
    await using index = await openIndex(workspace, { embedder: other });
    expect((await index.search("alpha", { mode: "vector" })).hits).toEqual([]);
    expect((await index.search("alpha")).hits[0]).toMatchObject({ path: "a.ts" });
    await index.sync();
    expect((await index.search("alpha", { mode: "vector" })).hits[0]).toMatchObject({ path: "a.ts" });
    expect(await index.rebuild()).toMatchObject({ reindexed: 3 });
    removeIndex(workspace);
    expect(hasIndex(workspace)).toBe(false);
  }),
);

test(
  "over its cap, contents that no file has go first",
  inProject({ "a.txt": "first words\n" }, async ({ workspace, write }) => {
    await using index = await openIndex(workspace, { capBytes: 400_000 });
    for (let round = 0; round < 12; round += 1) {
      write("a.txt", Array.from({ length: 4000 }, (_, at) => `word${round}x${at} `).join(""));
      await workspace.checkpoint();
      await index.sync();
    }
    expect(index.bytes).toBeLessThanOrEqual(400_000);
    expect((await index.search("word11x5", { mode: "text" })).hits[0]).toMatchObject({ path: "a.txt" });
  }),
);

const ROUNDS = 170;
/** In each turn. */
const EDITS = 10;

test(
  "[A52, A53, R430] after 1,000 random edits, restores and undos the index equals a fresh one",
  { timeout: 600_000 },
  inProject({ "a.txt": "start\n" }, async ({ workspace, write, remove }) => {
    await using index = await openIndex(workspace, { scope: "all" });
    keepInStep(workspace, index);
    await index.sync();
    const { id: thread } = await workspace.threads.open({ agent: "test", externalId: "x" });
    const seed = Number(process.env["BELAY_SEED"]);
    console.log(`seed ${seed}`);
    const length = ROUNDS * (1 + EDITS) * 3;
    const random = fc.sample(fc.array(fc.nat(1_000_000), { minLength: length, maxLength: length }), {
      numRuns: 1,
      seed,
    })[0]!;
    const next = () => random.pop()!;
    const present = new Set(["a.txt"]);
    const edit = () => {
      const which = next();
      if (next() % 5 === 0 && present.size > 1) {
        const gone = [...present][which % present.size]!;
        remove(gone);
        present.delete(gone);
        return;
      }
      const path = `${"abcdefghijkl"[which % 12]}${which % 2 === 0 ? "" : "/below"}.txt`;
      const content = next();
      write(path, `word${content % 20} and more ${content % 7}\n`.repeat((content % 90) + 1));
      present.add(path);
    };
    let operations = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const what = next() % 6;
      operations += what <= 3 ? EDITS : 1;
      if (what <= 3) {
        await workspace.turns.prompt(thread, { content: `round ${round}` });
        for (let count = 0; count < EDITS; count += 1) edit();
        await workspace.turns.end(thread);
      } else if (what === 4) await workspace.undo();
      else {
        const all = await workspace.list({ limit: 30 });
        await workspace.restoreTo(all[next() % all.length]!.id);
      }
      present.clear();
      for await (const file of workspace.files("@")) if (file.kind === "file") present.add(String(file.path));
      await index.idle();
      if (round % 3 === 0) await index.sync({ captured: true });
    }
    expect(operations).toBeGreaterThanOrEqual(1000);
    await index.sync();
    await using fresh = await openIndex(elsewhere(workspace), { scope: "all" });
    await fresh.sync();
    const facts = (one: typeof index) => one.files().map(({ path, hash }) => ({ path, hash }));
    expect(facts(index)).toEqual(facts(fresh));
    for (let word = 0; word < 20; word += 1) {
      const places = async (one: typeof index) =>
        (await one.search(`word${word}`, { mode: "text", k: 100 })).hits
          .map(({ path, startLine, endLine, text }) => ({ path, startLine, endLine, text }))
          .sort((a, b) => (a.path === b.path ? a.startLine - b.startLine : a.path < b.path ? -1 : 1));
      expect(await places(index), `word${word}`).toEqual(await places(fresh));
    }
  }),
);

/** The same workspace as one whose store is in memory, so that its index is too. */
function elsewhere(workspace: Workspace): Workspace {
  return new Proxy(workspace, {
    get: (target, key) => {
      if (key === "store") return "memory";
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
