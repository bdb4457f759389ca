/** What a kept ignored path means for the rest of a plan. */
import { expect, test } from "vitest";
import { pathFromText, type BytePath } from "../model/byte-path.ts";
import type { Edit } from "../model/plan.ts";
import { keptAsIs, spareBelow } from "./spare-ignored.ts";

const path = (text: string): BytePath => pathFromText(text);

function making(text: string): Edit {
  return { path: path(text), from: undefined, to: { kind: "directory", mode: 0o755, hash: "" as never } };
}

test("[R133] what a plan would write below a kept path that is no directory now is kept with it, and named", () => {
  const plan = {
    kept: [keptAsIs(path("d"))],
    edits: [making("d/e"), making("d/e/f"), making("dd"), making("x/d")],
  };
  const spared = spareBelow(plan, () => false);
  expect(spared.edits.map((edit) => edit.path)).toEqual(["dd", "x/d"]);
  expect(spared.kept.map((each) => each.path)).toEqual(["d", "d/e", "d/e/f"]);
});

test("[R133] below a kept directory the plan goes on", () => {
  const plan = { kept: [keptAsIs(path("d"))], edits: [making("d/e")] };
  expect(spareBelow(plan, () => true)).toBe(plan);
});

test("what is kept for another reason stands in the way of nothing", () => {
  const plan = {
    kept: [{ path: path("d"), reason: "its content was forgotten" as never }],
    edits: [making("d/e")],
  };
  expect(spareBelow(plan, () => false)).toBe(plan);
});
