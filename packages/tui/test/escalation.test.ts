/** The question of the auto-fix loop: the reference's text, and what each letter does. */
import { expect, test } from "vitest";
import {
  askEscalation,
  escalationText,
  type Escalation,
  type EscalationHost,
} from "../src/slash-commands/index.ts";

const ESCALATION: Escalation = {
  reason: "Max retries (1) reached for high issues",
  attempts: 4,
  issues: [
    { severity: "high", message: "Retry loop never ends on 429", file: "src/payments/backoff.ts", line: 14 },
    { severity: "medium", message: "Missing test for the budget", file: "test/budget.test.ts", line: 1 },
  ],
};

const TEXT = `⚠️ Auto-fix Max retries (1) reached for high issues

Issues remaining (2):
  1. [high] Retry loop never ends on 429 (src/payments/backoff.ts:14)
  2. [medium] Missing test for the budget (test/budget.test.ts:1)

Snapshots created: 4 (available for rollback)

Options:
  [a] Accept anyway (ignore issues and continue)
  [r] Reject all changes (rollback to snapshot before this agent)
  [v] View diff (compare current vs snapshot)
  [m] Manual fix (open editor, I'll fix it)
  [c] Continue trying (1 more attempt)`;

/** A host that gives these answers and records what was done. */
function host(
  answers: string[],
  { restores = true, editor = true } = {},
): EscalationHost & { done: string[]; shown: string[] } {
  const done: string[] = [];
  const shown: string[] = [];
  return {
    done,
    shown,
    write: (text) => void shown.push(text),
    ask: (question) => {
      done.push(question);
      const answer = answers.shift();
      return answer === undefined ? Promise.reject(new Error("asked once more")) : Promise.resolve(answer);
    },
    viewDiff: async () => void done.push("diff"),
    restore: async () => {
      done.push("restore");
      return restores;
    },
    edit: async (file, line) => {
      done.push(`edit ${file}:${line}`);
      return editor;
    },
  };
}

const ASK = "a/r/v/m/c: ";

test("[M56] the text is the reference's, word for word", () => {
  expect(escalationText(ESCALATION)).toBe(TEXT);
  const { reason: _, ...without } = ESCALATION;
  expect(escalationText(without).split("\n")[0]).toBe("⚠️ Auto-fix failed after 4 attempts");
});

test("[M57] a accepts, c makes one more attempt, any other key asks again", async () => {
  const asked = host(["", "x", "accept", "a"]);
  expect(await askEscalation(ESCALATION, asked)).toBe("accept");
  expect(asked.done).toEqual([ASK, ASK, ASK, ASK]);
  // an empty line before the question
  expect(asked.shown).toEqual([`${TEXT}\n`]);
  expect(await askEscalation(ESCALATION, host(["C\n"]))).toBe("continue");
});

test("[M57] v shows the diff and asks again; r shows the preview first, and leaving it asks again", async () => {
  const viewed = host(["v", "r"]);
  expect(await askEscalation(ESCALATION, viewed)).toBe("reject");
  expect(viewed.done).toEqual([ASK, "diff", ASK, "restore"]);
  const left = host(["r", "a"], { restores: false });
  expect(await askEscalation(ESCALATION, left)).toBe("accept");
  expect(left.done).toEqual([ASK, "restore", ASK]);
});

test("[M57] m opens the editor on the first issue's line; without one it prints the places", async () => {
  const edited = host(["m"]);
  expect(await askEscalation(ESCALATION, edited)).toBe("manual");
  expect(edited.done).toEqual([ASK, "edit src/payments/backoff.ts:14"]);
  const printed = host(["m"], { editor: false });
  expect(await askEscalation(ESCALATION, printed)).toBe("manual");
  expect(printed.shown[1]).toBe("  src/payments/backoff.ts:14\n  test/budget.test.ts:1");
});

test("without a terminal the text is the answer, and nothing is chosen", async () => {
  const alone = { ...host([]), ask: null };
  expect(await askEscalation(ESCALATION, alone)).toBeNull();
  expect(alone.shown).toEqual([TEXT]);
  expect(alone.done).toEqual([]);
});

test("messages of a reviewer are text", () => {
  const issues = [{ severity: "low", message: "\u001b[2Jx", file: "a\nb", line: 1 } as const];
  expect(escalationText({ issues, attempts: 1 })).toContain("  1. [low] \\x1b[2Jx (a\\nb:1)");
});
