/** How good the answers are, on a small set of files and questions whose answer is known. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openIndex } from "../src/index.ts";
import { inProject } from "./support/project.ts";

const { files, questions } = JSON.parse(
  readFileSync(new URL("fixtures/labelled.json", import.meta.url), "utf8"),
) as { files: Record<string, string>; questions: { question: string; answer: string }[] };

const MODES = ["hybrid", "text", "vector"] as const;

test(
  "[A51] [R1404] questions about code find its file: the local index, without a model",
  inProject(files, async ({ workspace }) => {
    await using index = await openIndex(workspace, { scope: "all" });
    await index.sync();
    const scores = new Map<string, { mrr: number; first: number }>();
    for (const mode of MODES) {
      let [sum, first] = [0, 0];
      for (const { question, answer } of questions) {
        const { hits } = await index.search(question, { k: 10, mode });
        const place = [...new Set(hits.map(({ path }) => path))].indexOf(answer);
        if (place >= 0) sum += 1 / (place + 1);
        if (place === 0) first += 1;
      }
      scores.set(mode, { mrr: sum / questions.length, first: first / questions.length });
      const { mrr, first: share } = scores.get(mode)!;
      console.log(`${mode}: MRR ${mrr.toFixed(3)}, first hit right ${share.toFixed(3)}`);
    }
    expect(scores.get("hybrid")!.mrr).toBeGreaterThan(0.8);
    expect(scores.get("text")!.mrr).toBeGreaterThan(0.8);
  }),
);
