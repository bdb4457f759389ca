/** Facts fit narrow terminals. */
import { expect, test } from "vitest";
import { displayWidth } from "@belay/tui/text";
import { factTable } from "./facts.ts";
import { createOutput } from "./output.ts";

const FACTS = [["content", "12 MiB in 34 objects and more"], ["on disk", "1 MiB"], undefined] as const;

test("[R1913] a value that is too long is wrapped under itself", () => {
  const output = { ...createOutput({ json: false, quiet: false }), width: 24 };
  const text = factTable(FACTS, output);
  expect(text.split("\n").every((line) => displayWidth(line) <= 24)).toBe(true);
  expect(text).toBe("  content  12 MiB in 34\n           objects and\n           more\n  on disk  1 MiB");
});

test("a pipe gets it on one line", () => {
  const output = createOutput({ json: false, quiet: false });
  expect(factTable(FACTS, { ...output, width: Number.POSITIVE_INFINITY })).toContain("34 objects and more\n");
});
