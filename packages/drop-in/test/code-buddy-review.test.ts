/** Code Buddy's reviewed diffs, applied whole or not at all. */
import { hash } from "node:crypto";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  applyReviewedDiff,
  rollbackAppliedDiff,
  type ProposedDiff,
  type ProposedFileChange,
  type ReviewVerdict,
} from "../src/code-buddy-review.ts";
import { makePlace, type Place } from "./support/place.ts";

const hashOf = (text: string) => hash("sha256", text, "hex").slice(0, 16);

function propose(place: Place, changes: Record<string, string | null>): ProposedDiff {
  const files = Object.entries(changes).map(([path, newContent]): ProposedFileChange => {
    const base = place.exists(path) ? place.read(path) : null;
    const action = newContent === null ? "delete" : base === null ? "create" : "modify";
    return { path, action, baseContent: base, baseHash: base === null ? null : hashOf(base), newContent };
  });
  const origin = { kind: "agent", label: "t" };
  return {
    id: "diff-1",
    createdAt: "2026-01-01T00:00:00Z",
    workDir: place.root,
    origin,
    intent: "a change",
    files,
  };
}

const verdict = (over: Partial<ReviewVerdict> = {}): ReviewVerdict => ({
  diffId: "diff-1",
  decision: "accept",
  annotations: [],
  ...over,
});

test("[C65] an accepted diff is applied and can be rolled back; modes stay", () => {
  const place = makePlace({ "run.sh": "old\n", gone: "x\n", other: "o\n" });
  chmodSync(join(place.root, "run.sh"), 0o755);
  const diff = propose(place, { "run.sh": "new\n", "made/deep": "n\n", gone: null });
  const report = applyReviewedDiff(diff, verdict(), {}, place.options);
  expect(report).toEqual({
    diffId: "diff-1",
    applied: true,
    appliedFiles: ["run.sh", "made/deep", "gone"],
    skippedFiles: [],
    checkpointId: expect.stringMatching(/^cp_[0-9a-z]+_[k-z]{16}$/),
    rolledBack: false,
    conflicts: [],
    errors: [],
  });
  expect([place.read("run.sh"), place.read("made/deep"), place.exists("gone")]).toEqual([
    "new\n",
    "n\n",
    false,
  ]);
  expect(statSync(join(place.root, "run.sh")).mode & 0o777).toBe(0o755);
  place.write("other", "by hand\n");
  expect(rollbackAppliedDiff(report.checkpointId!)).toMatchObject({ success: true });
  expect([place.read("run.sh"), place.exists("made/deep"), place.read("gone"), place.read("other")]).toEqual([
    "old\n",
    false,
    "x\n",
    "by hand\n",
  ]);
  expect(rollbackAppliedDiff("cp_x_kkkkkkkkkkkkkkkk", place.options)).toMatchObject({ success: false });
});

test("[C65] a base that changed since is a conflict: nothing is applied, or in per-file mode the rest", () => {
  const place = makePlace({ a: "a\n", b: "b\n" });
  const diff = propose(place, { a: "A\n", b: "B\n", c: "C\n" });
  place.write("a", "by another\n");
  place.write("c", "by another\n");
  expect(applyReviewedDiff(diff, verdict(), {}, place.options)).toMatchObject({
    applied: false,
    checkpointId: null,
    conflicts: [
      { path: "a", kind: "stale-base" },
      { path: "c", kind: "unexpected-existing" },
    ],
  });
  expect(place.read("b")).toBe("b\n");
  expect(applyReviewedDiff(diff, verdict(), { mode: "per-file" }, place.options)).toMatchObject({
    applied: true,
    appliedFiles: ["b"],
    skippedFiles: ["a", "c"],
  });
  expect(["a", "b", "c"].map(place.read)).toEqual(["by another\n", "B\n", "by another\n"]);
});

test("[C65] what fails midway is put back, the new files too", () => {
  const place = makePlace({ a: "a\n" });
  const diff = propose(place, { a: "A\n", "sub/new": "n\n" });
  // a directory of that name appears: its draft cannot become the file
  diff.files.push({ path: "d", action: "modify", baseContent: null, baseHash: null, newContent: "D\n" });
  mkdirSync(join(place.root, "d"));
  const report = applyReviewedDiff(diff, verdict(), {}, place.options);
  expect(report).toMatchObject({
    applied: false,
    rolledBack: true,
    appliedFiles: [],
    skippedFiles: ["a", "sub/new", "d"],
  });
  expect(report.errors[0]).toMatch(/^apply failed \(.*\): rolled back$/);
  expect([place.read("a"), place.exists("sub/new")]).toEqual(["a\n", false]);
});

test("[C65] the verdict decides: rejected, with remarks, of another diff", () => {
  const place = makePlace({ a: "a\n", b: "b\n" });
  const diff = propose(place, { a: "A\n", b: "B\n" });
  const remarks = {
    decision: "annotate" as const,
    annotations: [{ path: "a", severity: "warning" as const }],
  };
  expect(applyReviewedDiff(diff, verdict({ decision: "reject" }), {}, place.options).applied).toBe(false);
  expect(applyReviewedDiff(diff, verdict(remarks), {}, place.options).applied).toBe(false);
  expect(applyReviewedDiff(diff, verdict(remarks), { mode: "per-file" }, place.options)).toMatchObject({
    appliedFiles: ["b"],
    skippedFiles: ["a"],
  });
  expect(() => applyReviewedDiff(diff, verdict({ diffId: "x" }), {}, place.options)).toThrow(
    "does not match",
  );
  diff.files[0]!.path = "../outside";
  expect(() => applyReviewedDiff(diff, verdict(), {}, place.options)).toThrow(
    expect.objectContaining({ code: "PATH_OUTSIDE" }),
  );
});

test("[C65] what is written between the look and the writing is a conflict too: nothing of the diff stays, and theirs does", () => {
  const place = makePlace({ a: "a\n", b: "b\n" });
  const diff = propose(place, { b: "B\n", a: "A\n", "sub/new": "n\n" });
  // the clock is first asked when the state is saved: after the look, before the writing
  let isWritten = false;
  const clock = () => {
    if (!isWritten) place.write("a", "by another\n");
    isWritten = true;
    return Date.now();
  };
  const report = applyReviewedDiff(diff, verdict(), {}, { ...place.options, clock });
  expect(report).toMatchObject({ applied: false, rolledBack: true, appliedFiles: [] });
  expect(report.errors[0]).toMatch(/^apply failed \(a: it changed since .*\): rolled back$/);
  expect([place.read("a"), place.read("b"), place.exists("sub/new")]).toEqual(["by another\n", "b\n", false]);
});
