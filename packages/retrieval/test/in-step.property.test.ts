/** [A52, A53] After any edits, restores and undos the index is what a fresh one would be. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepInStep, openIndex, type RetrievalIndex } from "../src/index.ts";
import { inProject, type Project } from "./support/project.ts";

const STEPS = Number(process.env["BELAY_FUZZ_RUNS"] ?? 200);
const SEED = Number(process.env["BELAY_SEED"] ?? 1);

/** Numbers that are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const PATHS = Array.from({ length: 12 }, (_, at) => `${["src", "docs", "lib/deep"][at % 3]}/file-${at}.ts`);
const WORDS = Array.from({ length: 20 }, (_, at) => `word${"abcdefghijklmnopqrst"[at]}`);

function textsOnDisk(root: string): Map<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => statSync(join(root, name)).isFile());
  return new Map(files.toSorted().map((name) => [name, readFileSync(join(root, name), "utf8")]));
}

async function expectFresh(index: RetrievalIndex, { root }: Project, word: string): Promise<void> {
  const texts = textsOnDisk(root);
  const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
  expect(index.files().map(({ path, hash }) => [path, hash])).toEqual(
    [...texts].map(([path, text]) => [path, hashOf(text)]),
  );
  const { hits } = await index.search(word, { mode: "text", k: 50 });
  expect([...new Set(hits.map(({ path }) => path))].toSorted()).toEqual(
    [...texts].filter(([, text]) => text.split(/\s/).includes(word)).map(([path]) => path),
  );
}

test(
  `the index equals a fresh one after ${STEPS} random edits, restores and undos (seed ${SEED})`,
  inProject({ "src/file-0.ts": "worda\n" }, async (project) => {
    const { workspace, write, remove, root } = project;
    const random = numbers(SEED);
    const one = <Item>(items: readonly Item[]): Item => items[random(items.length)]!;
    await using index = await openIndex(workspace, { scope: "all" });
    keepInStep(workspace, index);
    const { id: thread } = await workspace.threads.open({ agent: "test", externalId: "one" });
    const edit = () => {
      const path = one(PATHS);
      if (random(4) === 0 && textsOnDisk(root).has(path)) remove(path);
      else
        write(path, Array.from({ length: 1 + random(300) }, () => one(WORDS)).join(random(2) ? " " : "\n"));
    };
    const turn = async () => {
      await workspace.turns.prompt(thread, { content: "go on" });
      for (let left = random(4); left >= 0; left -= 1) edit();
      await workspace.turns.end(thread);
    };
    const ways: (() => Promise<unknown>)[] = [
      turn,
      turn,
      async () => edit(),
      () => workspace.checkpoint(),
      () => workspace.undo({ bestEffort: true }),
      () => workspace.redo({ bestEffort: true }),
      async () => workspace.restoreTo(one(await workspace.list({ limit: 30 })).id),
      async () => {
        await index.sync();
        await expectFresh(index, project, one(WORDS));
      },
    ];
    await index.sync();
    for (let step = 0; step < STEPS; step += 1) await one(ways)();
    await index.idle();
    expect(await index.sync()).toMatchObject({ skipped: 0 });
    for (const word of WORDS.slice(0, 5)) await expectFresh(index, project, word);
  }),
);
