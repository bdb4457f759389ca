/** How restores are described. */
import { describe, expect, test } from "vitest";
import type { Checkpoint } from "../model/checkpoint.ts";
import { nameOf } from "./restore-way.ts";

const named = (seq: number, description: string, name: string | null = null) =>
  nameOf({ seq, description, name } as Checkpoint);

describe("the name of a checkpoint in a sentence", () => {
  test("is its own name, or its number and description", () => {
    expect(named(3, "Before Bash: npm test", "before-tests")).toBe("before-tests");
    expect(named(3, "Before Bash: npm test")).toBe("checkpoint 3 (Before Bash: npm test)");
  });

  test("does not nest when a restore is restored", () => {
    expect(named(4, "Restored to checkpoint 3 (Initial checkpoint)")).toBe(
      "checkpoint 4 (Restored to checkpoint 3)",
    );
    expect(named(5, "Before restoring a.txt from checkpoint 3 (Restored to checkpoint 2)")).toBe(
      "checkpoint 5 (Before restoring a.txt from checkpoint 3)",
    );
  });

  test("keeps what a person wrote, parentheses included", () => {
    const description = "Before user message: compare with checkpoint 3 (the old one)";
    expect(named(6, description)).toBe(`checkpoint 6 (${description})`);
  });
});
