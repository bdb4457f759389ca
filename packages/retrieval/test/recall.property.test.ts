/** The quick search for near vectors finds what comparing everything finds. */
import { expect, test } from "vitest";
import { hashedEmbedder, toBytes, VectorTable } from "../src/index.ts";

/** Numbers that are the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const WORDS = Array.from(
  { length: 3000 },
  (_, at) => `${"abcdefghij"[at % 10]}${at.toString(36)}${"klmnopqr"[at % 8]}`,
);

/** Texts like code: some words are everywhere, most are rare. */
function makeText(random: () => number): string {
  return Array.from({ length: 120 }, () => WORDS[Math.floor(random() ** 3 * WORDS.length)]).join(" ");
}

test("[A51, R431] recall@10 of the quick search is at least 0.95 of a float scan", async () => {
  const random = numbers(7);
  const embedder = hashedEmbedder();
  const texts = Array.from({ length: 9000 }, () => makeText(random));
  const vectors = await embedder.embed(texts, "document");
  const table = new VectorTable(embedder.dimensions);
  vectors.forEach((vector, at) => table.add(at, at, toBytes(vector)));
  let [found, all] = [0, 0];
  for (let round = 0; round < 10; round += 1) {
    const base = texts[Math.floor(random() * texts.length)]!.split(" ");
    const [query] = await embedder.embed([base.slice(0, 12).join(" ")], "query");
    const exact = vectors
      .map((vector, id) => ({ id, score: product(vector, query!) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 10);
    const quick = new Set(table.nearest(query!, 10, () => true).map(({ id }) => id));
    found += exact.filter(({ id }) => quick.has(id)).length;
    all += exact.length;
  }
  console.log(`recall@10 ${(found / all).toFixed(3)}`);
  expect(found / all).toBeGreaterThanOrEqual(0.95);
});

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += a[at]! * b[at]!;
  return sum;
}
