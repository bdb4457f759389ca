/**
 * Files like code, changed at random by two sides: whatever is merged here without asking is what `git merge-file`
 * makes of it, and exchanging the sides changes nothing.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mergeText } from "../../packages/engine/src/merge/merge3.ts";
import { createMergeCase, mergeByGit } from "../../packages/engine/test/support/merge-cases.ts";
import type { Round, Suite } from "../suite.ts";

const CASES_A_ROUND = 100;

export const merges: Suite = {
  name: "merges",
  unit: "merges",
  goal: 20_000,
  short: 150,
  async round(round) {
    const folder = mkdtempSync(join(tmpdir(), "belay-merges-"));
    try {
      for (let tried = 0; tried < CASES_A_ROUND && !round.isOver; tried += 1) tryOne(round, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function tryOne(round: Round, folder: string): void {
  const files = createMergeCase(round.random);
  const { base, shared, ours, theirs } = files;
  const [here, swapped] = [mergeText(base, ours, theirs), mergeText(base, theirs, ours)];
  assert.deepEqual(here.clean ? here : false, swapped.clean ? swapped : false, "the sides were exchanged");
  const git = mergeByGit(folder, files);
  if (!here.clean) return round.count(git === undefined ? "conflict in both" : "clean in git only");
  // git may align a change that both sides made differently for each, and see a conflict between equal texts
  const wanted = git ?? mergeByGit(folder, { base: shared, ours, theirs });
  assert.ok(wanted?.equals(here.content), "a clean result that is not git's");
  round.count(git === undefined ? "clean here only, equal changes" : "clean and equal in both");
}
