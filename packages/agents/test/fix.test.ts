/** The auto-fix loop, on real files and a real store. The fixer and the review are scripts of the test; time is given. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { initWorkspace, type Workspace } from "@belay/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AUTO_FIX_DEFAULTS, readAutoFixConfig, type AutoFixConfig } from "../src/fix/auto-fix-config.ts";
import { escalationText, type Choice, type Escalation } from "../src/fix/escalation.ts";
import type { FixerRun, FixOptions, FixResult } from "../src/fix/fix-host.ts";
import { answerFix, fixIssues } from "../src/fix/fix-issues.ts";
import { runReview } from "../src/fix/run-review.ts";
import type { IssueSeverity, ReviewIssue } from "../src/review/review-issue.ts";

let scratch: string;
let workspace: Workspace;
let waits: number[];
let asked: Escalation[];
let answers: Choice[];

beforeEach(async () => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "belay-fix-")));
  const root = join(scratch, "project");
  mkdirSync(root);
  writeFileSync(join(root, "issues.json"), "[]");
  ({ workspace } = await initWorkspace(root, { home: join(scratch, "home") }));
  [waits, asked, answers] = [[], [], []];
});

afterEach(async () => {
  await workspace.close();
  rmSync(scratch, { recursive: true, force: true });
});

const file = (path: string) => join(scratch, "project", path);

function issue(severity: IssueSeverity, message = `a ${severity} one`): ReviewIssue {
  return { severity, message, file: "src/a.ts", line: 4 };
}

/** The review reads the issues from a file; so what a fixer does is what it writes there. */
function stands(...issues: readonly ReviewIssue[]): void {
  writeFileSync(file("issues.json"), JSON.stringify(issues));
}

/** Each attempt leaves these issues; the last of them stay. A turn of the fixer's own thread, as a run is. */
function fixerLeaving(...left: readonly (readonly ReviewIssue[])[]) {
  const seen: { severity: IssueSeverity; issues: readonly ReviewIssue[] }[] = [];
  const fixer = async (issues: readonly ReviewIssue[], severity: IssueSeverity): Promise<FixerRun> => {
    const next = left[Math.min(seen.length, left.length - 1)]!;
    seen.push({ severity, issues });
    let thread: string | null = null;
    const { after } = await workspace.turns.run({ agent: "fixer", prompt: "fix" }, async (turn) => {
      thread = turn.thread;
      stands(...next);
      writeFileSync(file("tried.txt"), `${seen.length}\n`);
    });
    return { run: null, thread, tree: after.snapshot, cost: 1, tokens: 10 };
  };
  return { seen, fixer };
}

function fix(
  fixer: FixOptions["fixer"],
  options: Partial<FixOptions> & { set?: Partial<AutoFixConfig> } = {},
) {
  return fixIssues(workspace, {
    ...optionsFor(fixer),
    ...options,
    config: { ...AUTO_FIX_DEFAULTS, ...options.set },
  });
}

function optionsFor(fixer: FixOptions["fixer"]): FixOptions {
  return {
    review: async () => JSON.parse(readFileSync(file("issues.json"), "utf8")) as ReviewIssue[],
    fixer,
    config: AUTO_FIX_DEFAULTS,
    ask: async (escalation) => {
      asked.push(escalation);
      return answers.shift();
    },
    clock: {
      now: () => 0,
      wait: async (ms) => void waits.push(ms),
    },
  };
}

async function attempts(): Promise<string[]> {
  const list = await workspace.list();
  return list
    .filter(({ kind, description }) => kind === "auto-fix" && description.startsWith("Auto-fix"))
    .map(({ description }) => description)
    .toReversed();
}

describe("[M48, M49, M50, M51, M52, M53] the settings", () => {
  test("have these defaults", () => {
    expect(readAutoFixConfig(undefined)).toEqual({
      enabled: true,
      maxRetries: { low: 5, medium: 3, high: 1, critical: 0 },
      maxTotalRetries: 10,
      exponentialBackoff: true,
      backoffBase: 1000,
      fixerAgent: "thinker",
      escalateToUser: true,
    });
    expect(readAutoFixConfig({ maxRetries: { high: 4 } }).maxRetries).toEqual({
      low: 5,
      medium: 3,
      high: 4,
      critical: 0,
    });
  });

  test.each([
    [{ enabled: "yes" }, "enabled"],
    [{ maxRetries: { tiny: 1 } }, "maxRetries"],
    [{ maxTotalRetries: -1 }, "maxTotalRetries"],
    [{ fixerAgent: "rm" }, "fixerAgent"],
  ])("refuse %j", (settings, key) => {
    expect(() => readAutoFixConfig(settings)).toThrow(key);
  });
});

describe("[R99] the numbers of attempts hold exactly", () => {
  test.each([
    ["low", 5, [1000, 2000, 4000, 8000]],
    ["medium", 3, [1000, 2000]],
    ["high", 1, []],
  ] as const)("[M49, M51] %s: %d attempts, waits %j", async (severity, most, expected) => {
    stands(issue(severity));
    const { fixer, seen } = fixerLeaving([issue(severity)]);
    const result = await fix(fixer);
    expect(seen).toHaveLength(most);
    expect(waits).toEqual(expected);
    expect(asked[0]!.reason).toBe(`Max retries (${most}) reached for ${severity} issues`);
    expect(result).toMatchObject({ success: false, state: "escalated", totalRetries: most });
    expect(await attempts()).toEqual(
      Array.from({ length: most }, (_, index) => `Auto-fix attempt ${index + 1} (${severity})`),
    );
  });

  test("[M54] critical has none: the user decides at once, and nothing is tried", async () => {
    stands(issue("low"), issue("critical"));
    const { fixer, seen } = fixerLeaving([]);
    await fix(fixer);
    expect(seen).toEqual([]);
    expect(asked[0]).toMatchObject({ reason: undefined, attempts: 0 });
    expect(await attempts()).toEqual([]);
  });

  test("[M06] [M54] worst first; a severity is fixed when its own issues are gone", async () => {
    stands(issue("low"), issue("high"), issue("medium"));
    const { fixer, seen } = fixerLeaving(
      [issue("low"), issue("medium")],
      [issue("low"), issue("medium")],
      [issue("low")],
      [],
    );
    const result = await fix(fixer);
    expect(seen.map(({ severity }) => severity)).toEqual(["high", "medium", "medium", "low"]);
    expect(seen.every(({ severity, issues }) => issues.every((each) => each.severity === severity))).toBe(
      true,
    );
    expect(waits).toEqual([1000]);
    expect(result).toMatchObject({ success: true, state: "clean", totalRetries: 4 });
    expect(await attempts()).toEqual([
      "Auto-fix attempt 1 (high)",
      "Auto-fix attempt 1 (medium)",
      "Auto-fix attempt 2 (medium)",
      "Auto-fix attempt 1 (low)",
    ]);
  });

  test("[M50] all together", async () => {
    stands(issue("medium"), issue("low"));
    const { fixer, seen } = fixerLeaving(
      [issue("low")],
      [issue("low", "another")],
      [issue("low", "and another")],
    );
    await fix(fixer, { set: { maxTotalRetries: 3 } });
    expect(seen).toHaveLength(3);
    expect(asked[0]!.reason).toBe("Total retry limit reached");
  });

  test("[M51] without waiting where the user does not want it", async () => {
    stands(issue("medium"));
    await fix(fixerLeaving([issue("medium")]).fixer, { set: { exponentialBackoff: false } });
    expect(waits).toEqual([]);
  });

  test("[M55] the checkpoint before an attempt has the files before it", async () => {
    stands(issue("high"));
    writeFileSync(file("tried.txt"), "by hand\n");
    await fix(fixerLeaving([]).fixer);
    const { attempts: recorded } = (await workspace.fixes.list())[0]!;
    await workspace.restoreTo(recorded[0]!.checkpoint!);
    expect(readFileSync(file("tried.txt"), "utf8")).toBe("by hand\n");
  });
});

describe("[I75] no loop without progress", () => {
  test("an attempt that brings something worse is taken out again, and counts", async () => {
    stands(issue("medium"));
    const { fixer, seen } = fixerLeaving([issue("critical")], []);
    const result = await fix(fixer);
    expect(seen).toHaveLength(2);
    expect(result).toMatchObject({ success: true, totalRetries: 2 });
    expect(result.attempts.map(({ takenBack }) => takenBack)).toEqual([true, false]);
    // the second attempt began with the files as they were before the first
    const second = await workspace.file(result.attempts[1]!.checkpoint, "issues.json" as never, 1000);
    expect(second!.content!.toString()).toContain('"medium"');
  });

  test("[M57] two attempts that leave the same issues and the same files end it; one more is one", async () => {
    stands(issue("low"));
    const fixer = async (): Promise<FixerRun> => ({
      run: null,
      thread: null,
      tree: "same",
      cost: null,
      tokens: null,
    });
    const result = await fix(fixer);
    expect(asked[0]!.reason).toBe("No progress");
    expect(result.totalRetries).toBe(2);
    // asked for one more, it makes one, although the budget of the severity has three left
    answers.push("c");
    stands(issue("low"));
    expect((await fix(fixer)).totalRetries).toBe(3);
  });

  test("cost of the whole loop", async () => {
    stands(issue("low"));
    await fix(fixerLeaving([issue("low")]).fixer, { limits: { maxCost: 1.5 } });
    expect(asked[0]).toMatchObject({ reason: "Cost limit reached", attempts: 2 });
  });
});

describe("[M56, M57] the user decides", () => {
  const escalated = async (...given: Choice[]): Promise<FixResult> => {
    answers.push(...given);
    stands(issue("high", "first"));
    writeFileSync(file("tried.txt"), "before\n");
    return fix(fixerLeaving([issue("high", "first")]).fixer, { showDiff: async () => void waits.push(-1) });
  };

  test("the text, word for word", async () => {
    await escalated();
    expect(escalationText(asked[0]!)).toBe(
      [
        "⚠️ Auto-fix Max retries (1) reached for high issues",
        "",
        "Issues remaining (1):",
        "  1. [high] first (src/a.ts:4)",
        "",
        "Snapshots created: 1 (available for rollback)",
        "",
        "Options:",
        "  [a] Accept anyway (ignore issues and continue)",
        "  [r] Reject all changes (rollback to snapshot before this agent)",
        "  [v] View diff (compare current vs snapshot)",
        "  [m] Manual fix (open editor, I'll fix it)",
        "  [c] Continue trying (1 more attempt)",
      ].join("\n"),
    );
    expect(escalationText({ ...asked[0]!, reason: undefined, attempts: 0 })).toMatch(
      /^⚠️ Auto-fix failed after 0 attempts/,
    );
  });

  test("a: success, with what was ignored", async () => {
    expect(await escalated("a")).toMatchObject({
      success: true,
      state: "accepted",
      ignoredIssues: [issue("high", "first")],
    });
  });

  test("r: one restore to before the work that is reviewed", async () => {
    expect(await escalated("r")).toMatchObject({ success: false, state: "rejected", rollback: true });
    expect(readFileSync(file("tried.txt"), "utf8")).toBe("before\n");
    await workspace.undo();
    expect(readFileSync(file("tried.txt"), "utf8")).toBe("1\n");
  });

  test("r that cannot put everything back, or has nothing to go back to, is no rejection", async () => {
    stands(issue("medium"));
    const { fixer } = fixerLeaving([issue("medium")]);
    const { fix: id } = await fix(fixer, {
      set: { maxRetries: { ...AUTO_FIX_DEFAULTS.maxRetries, medium: 0 } },
    });
    const waiting = await workspace.fixes.find(id);
    const answer = { choice: "r", options: optionsFor(fixer) } as const;
    const { root, fixes } = workspace;
    const partial = {
      root,
      fixes,
      restoreTo: async () => ({ outcome: "partial" }),
      undo: () => workspace.undo(),
    };
    expect(await answerFix(partial, waiting, answer)).toMatchObject({ state: "escalated", success: false });
    expect((await fixes.find(id)).reason).toBe("Not everything could be put back");
    expect((await answerFix(workspace, { ...waiting, before: null }, answer)).state).toBe("escalated");
    expect(await fixes.find(id)).toMatchObject({
      state: "escalated",
      reason: "There is no checkpoint before it to go back to",
    });
  });

  test("after an error it waits for a decision, and says why", async () => {
    stands(issue("medium"));
    const fixer = () => Promise.reject(new Error("the disk is full"));
    await expect(fix(fixer)).rejects.toThrow("the disk is full");
    expect((await workspace.fixes.list())[0]).toMatchObject({
      state: "escalated",
      reason: "the disk is full",
      issues: [issue("medium")],
    });
  });

  test("v: the difference, then the question again", async () => {
    await escalated("v", "m");
    expect(waits).toEqual([-1]);
    expect(asked).toHaveLength(2);
  });

  test("m: the user fixes it, and nothing is touched", async () => {
    expect(await escalated("m")).toMatchObject({ success: false, state: "manual", manualFix: true });
    expect(readFileSync(file("tried.txt"), "utf8")).toBe("1\n");
  });

  test("c: exactly one more attempt, then the question again", async () => {
    const result = await escalated("c", "c", "m");
    expect(result.totalRetries).toBe(3);
    expect(asked.map(({ attempts: number }) => number)).toEqual([1, 2, 3]);
    expect(waits).toEqual([]);
  });

  test("c that fixes it goes on with the next severity, and the budget is not restarted", async () => {
    answers.push("c");
    stands(issue("high"), issue("low"));
    const { fixer } = fixerLeaving(
      [issue("high"), issue("low")],
      [issue("low")],
      [issue("low", "other")],
      [],
    );
    const result = await fix(fixer, { set: { maxTotalRetries: 3 } });
    expect(asked.map(({ reason }) => reason)).toEqual([
      "Max retries (1) reached for high issues",
      "Total retry limit reached",
    ]);
    expect(result.totalRetries).toBe(3);
  });

  test("without a user: it waits, and the answer may come from another process", async () => {
    stands(issue("high"));
    const result = await fix(fixerLeaving([issue("high")]).fixer, { ask: async () => undefined });
    expect(result.state).toBe("escalated");
    const waiting = await workspace.fixes.find(result.fix.slice(0, 6));
    expect(waiting).toMatchObject({ state: "escalated", reason: "Max retries (1) reached for high issues" });
    const { fixer, seen } = fixerLeaving([]);
    const answered = await answerFix(workspace, waiting, { choice: "c", options: optionsFor(fixer) });
    expect(answered).toMatchObject({ success: true, state: "clean", totalRetries: 2 });
    expect(seen).toHaveLength(1);
  });

  test("[M53] escalateToUser false: no question", async () => {
    stands(issue("high"));
    const result = await fix(fixerLeaving([issue("high")]).fixer, { set: { escalateToUser: false } });
    expect(result).toMatchObject({ success: false, state: "exhausted" });
    expect(asked).toEqual([]);
  });

  test("[M48] enabled false: the issues are reported, nothing is tried", async () => {
    stands(issue("low"));
    const { fixer, seen } = fixerLeaving([]);
    expect(await fix(fixer, { set: { enabled: false } })).toMatchObject({
      success: false,
      issues: [issue("low")],
    });
    expect(seen).toEqual([]);
  });
});

describe("a review's command", () => {
  test("runs without a shell in the working copy, and its output is read", async () => {
    const script = 'console.log("src/a.ts(1,2): error TS2304: no $(touch owned)"); process.exit(2)';
    const issues = await runReview({ command: [process.execPath, "-e", script], root: file("") });
    expect(issues).toEqual([
      { severity: "medium", message: "TS2304: no $(touch owned)", file: "src/a.ts", line: 1 },
    ]);
    expect(existsSync(file("owned"))).toBe(false);
  });

  test("that prints more than can be read is not clean", async () => {
    const flood = 'process.stdout.write("x\\n".repeat((8 << 20) + 1))';
    const issues = await runReview({ command: [process.execPath, "-e", flood], root: file("") });
    expect(issues).toMatchObject([{ severity: "high", file: "" }]);
    expect(issues[0]!.message).toContain("printed more than 16 MiB: what it found cannot be judged");
  });

  test("that cannot be started, or does not end, is an issue itself", async () => {
    const [missing] = await runReview({ command: [join(scratch, "none")], root: file("") });
    expect(missing).toMatchObject({ severity: "high", file: "" });
    expect(missing!.message).toContain("could not be started");
    const hanging = [process.execPath, "-e", "setInterval(() => undefined, 1000)"];
    const [slow] = await runReview({ command: hanging, root: file(""), timeoutMs: 300 });
    expect(slow).toMatchObject({ severity: "high" });
  });
});
