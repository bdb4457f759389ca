/**
 * The auto-fix loop [M48–M57]: severity by severity, worst first, attempts until no issue of it is left, and then the
 * user's decision. Before every attempt there is a checkpoint [R99]. An attempt that brings something worse is taken
 * out again, and two in a row that change nothing end the loop: trying is not progress.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  isIssueSeverity,
  ISSUE_SEVERITIES,
  type IssueSeverity,
  type ReviewIssue,
} from "../review/review-issue.ts";
import type { Choice } from "./escalation.ts";
import type { FixerRun, FixOptions, FixRecord, FixResult, FixState, FixWorkspace } from "./fix-host.ts";

/** Fixes what a review finds. Where the user cannot be asked, the loop waits as `escalated` for `answerFix`. */
export async function fixIssues(workspace: FixWorkspace, options: FixOptions): Promise<FixResult> {
  const { fixes } = workspace;
  const fix = await fixes.begin({
    config: options.config,
    review: options.facts ?? null,
    issues: options.issues ?? [],
    ...(options.before !== undefined && { before: options.before }),
  });
  return orEscalated(workspace, { id: fix.id, signal: options.signal }, async () => {
    const issues = options.issues ?? (await options.review());
    options.signal?.throwIfAborted();
    if (options.issues === undefined) await fixes.update(fix.id, { state: "running", issues });
    return new FixLoop(workspace, fix, options, issues).run();
  });
}

/** Goes on with a loop that waits for a decision. */
export async function answerFix(
  workspace: FixWorkspace,
  fix: FixRecord,
  answer: { readonly choice: Choice; readonly options: FixOptions },
): Promise<FixResult> {
  const issues = fix.issues.filter(isIssue);
  const loop = new FixLoop(workspace, fix, answer.options, issues);
  const { signal } = answer.options;
  return orEscalated(workspace, { id: fix.id, signal }, () =>
    loop.decided(answer.choice, fix.reason ?? undefined),
  );
}

/** The reason of a loop that was ended from outside. */
export const INTERRUPTED = "Interrupted";

/** A loop that an error or an interrupt ended waits for a decision: its record does not stay at running. */
async function orEscalated(
  { fixes }: FixWorkspace,
  { id, signal }: { id: string; signal: AbortSignal | undefined },
  work: () => Promise<FixResult>,
): Promise<FixResult> {
  try {
    return await work();
  } catch (error) {
    const { state, issues: known, attempts, before } = await fixes.find(id);
    const issues = known.filter(isIssue);
    const isInterrupted = signal?.aborted === true;
    const reason = isInterrupted ? INTERRUPTED : (error as Error).message;
    if (state === "running") await fixes.update(id, { state: "escalated", issues, reason });
    if (!isInterrupted) throw error;
    const totalRetries = attempts.length;
    return {
      success: false,
      totalRetries,
      checkpoint: before,
      attempts,
      fix: id,
      state: "escalated",
      issues,
    };
  }
}

const SYSTEM_CLOCK = {
  now: () => Date.now(),
  wait: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, signal && { signal }),
};

class FixLoop {
  readonly #workspace: FixWorkspace;
  readonly #options: FixOptions;
  readonly #fix: FixRecord;
  readonly #startedAt: number;
  readonly #used: Record<IssueSeverity, number> = { critical: 0, high: 0, medium: 0, low: 0 };
  readonly #spent = { cost: 0, tokens: 0 };
  #total = 0;
  #issues: readonly ReviewIssue[];
  /** What the last attempt left: the issues and the files. */
  #left: { issues: string; tree: string | null } | undefined;

  constructor(workspace: FixWorkspace, fix: FixRecord, options: FixOptions, issues: readonly ReviewIssue[]) {
    this.#workspace = workspace;
    this.#options = options;
    this.#fix = fix;
    this.#issues = issues;
    this.#startedAt = this.#clock.now();
    for (const { severity } of fix.attempts) {
      this.#total += 1;
      if (isIssueSeverity(severity)) this.#used[severity] += 1;
    }
  }

  async run(): Promise<FixResult> {
    const { enabled, escalateToUser } = this.#options.config;
    for (;;) {
      const severity = ISSUE_SEVERITIES.find((each) => this.#of(each).length > 0);
      if (severity === undefined) return this.#end("clean", { success: true });
      if (!enabled) return this.#end("exhausted", { success: false });
      const stopped = await this.#fixSeverity(severity);
      if (stopped === undefined) continue;
      if (!escalateToUser) return this.#end("exhausted", { success: false }, stopped.reason);
      return this.#escalate(stopped.reason);
    }
  }

  /** Carries the user's decision out. */
  async decided(choice: Choice, reason: string | undefined): Promise<FixResult> {
    const { before } = this.#fix;
    switch (choice) {
      case "a":
        return this.#end("accepted", { success: true, ignoredIssues: this.#issues });
      case "r": {
        if (before === null) return this.#escalate("There is no checkpoint before it to go back to");
        const { outcome } = await this.#workspace.restoreTo(before);
        // nothing was changed: the decision is still due
        if (outcome === "conflicts") return this.#result("escalated", { success: false });
        if (outcome === "partial") return this.#escalate("Not everything could be put back");
        return this.#end("rejected", { success: false, rollback: true });
      }
      case "v":
        if (before !== null) await this.#options.showDiff?.(before);
        return this.#escalate(reason);
      case "m":
        return this.#end("manual", { success: false, manualFix: true });
      default:
        return this.#oneMore(reason);
    }
  }

  /** [M57] Exactly one more attempt; the budget is not restarted. */
  async #oneMore(reason: string | undefined): Promise<FixResult> {
    const severity = ISSUE_SEVERITIES.find((each) => this.#of(each).length > 0);
    if (severity === undefined) return this.run();
    await this.#workspace.fixes.update(this.#fix.id, { state: "running", issues: this.#issues });
    await this.#attempt(severity);
    return this.#of(severity).length === 0 ? this.run() : this.#escalate(reason);
  }

  /** Undefined when no issue of this severity is left; else why no further attempt is made. */
  async #fixSeverity(severity: IssueSeverity): Promise<{ reason: string | undefined } | undefined> {
    const { maxRetries, maxTotalRetries, exponentialBackoff, backoffBase } = this.#options.config;
    const most = maxRetries[severity];
    if (most === 0) return { reason: undefined };
    while (this.#used[severity] < most) {
      if (this.#total + 1 > maxTotalRetries) return { reason: "Total retry limit reached" };
      const limit = this.#limitReached();
      if (limit !== undefined) return { reason: limit };
      const { isStuck } = await this.#attempt(severity);
      if (this.#of(severity).length === 0) return undefined;
      if (isStuck) return { reason: "No progress" };
      const attempt = this.#used[severity];
      if (exponentialBackoff && attempt < most)
        await this.#clock.wait(backoffBase * 2 ** (attempt - 1), this.#options.signal);
    }
    return { reason: `Max retries (${most}) reached for ${severity} issues` };
  }

  async #attempt(severity: IssueSeverity): Promise<{ isStuck: boolean }> {
    const { fixes } = this.#workspace;
    this.#options.signal?.throwIfAborted();
    const wanted = this.#of(severity);
    this.#total += 1;
    this.#used[severity] += 1;
    const number = this.#total;
    const attempt = { number, ofSeverity: this.#used[severity], severity, issues: this.#issues };
    const checkpoint = await fixes.beginAttempt(this.#fix.id, attempt);
    this.#options.log?.(`attempt ${number} (${severity}): checkpoint ${checkpoint.id} is before it`);
    const fixed = await this.#options.fixer(wanted, severity);
    this.#spent.cost += fixed.cost ?? 0;
    this.#spent.tokens += fixed.tokens ?? 0;
    // what an interrupted review or fixer left says nothing
    this.#options.signal?.throwIfAborted();
    const found = await this.#options.review();
    this.#options.signal?.throwIfAborted();
    const left = { issues: JSON.stringify(found.map(keyOf).toSorted()), tree: fixed.tree };
    const isStuck = left.tree !== null && left.tree === this.#left?.tree && left.issues === this.#left.issues;
    this.#left = left;
    const takenBack = this.#isWorse(severity, found) && (await this.#takeBack(fixed));
    await fixes.endAttempt(this.#fix.id, number, { run: fixed.run, issues: found, takenBack });
    if (!takenBack) this.#issues = found;
    return { isStuck };
  }

  /** Issues have appeared that are more severe than those that were worked on. */
  #isWorse(severity: IssueSeverity, found: readonly ReviewIssue[]): boolean {
    const above = ISSUE_SEVERITIES.slice(0, ISSUE_SEVERITIES.indexOf(severity));
    return above.some(
      (each) => this.#of(each).length === 0 && found.some((issue) => issue.severity === each),
    );
  }

  /** Takes the fixer's own changes out; what the user changed meanwhile stays. */
  async #takeBack({ thread }: FixerRun): Promise<boolean> {
    if (thread === null) return false;
    const { outcome } = await this.#workspace.undo({ thread });
    const isOut = outcome === "applied" || outcome === "displaced";
    this.#options.log?.(isOut ? "it made things worse and was taken out again" : "it made things worse");
    return isOut;
  }

  #limitReached(): string | undefined {
    const { timeoutMs = null, maxCost = null, maxTokens = null } = this.#options.limits ?? {};
    if (timeoutMs !== null && this.#clock.now() - this.#startedAt > timeoutMs) return "Time limit reached";
    if (maxCost !== null && this.#spent.cost > maxCost) return "Cost limit reached";
    if (maxTokens !== null && this.#spent.tokens > maxTokens) return "Token limit reached";
    return undefined;
  }

  async #escalate(reason: string | undefined): Promise<FixResult> {
    const { id } = this.#fix;
    const waiting = { state: "escalated", issues: this.#issues, reason: reason ?? null } as const;
    await this.#workspace.fixes.update(id, waiting);
    const escalation = { fix: id, reason, issues: this.#issues, attempts: this.#total };
    const choice = await this.#options.ask?.(escalation);
    if (choice === undefined) return this.#result("escalated", { success: false });
    return this.decided(choice, reason);
  }

  async #end(
    state: FixState,
    facts: Pick<FixResult, "success" | "ignoredIssues" | "rollback" | "manualFix">,
    reason?: string,
  ): Promise<FixResult> {
    const { fixes } = this.#workspace;
    const result = { ...facts, totalRetries: this.#total };
    await fixes.update(this.#fix.id, { state, issues: this.#issues, reason: reason ?? null, result });
    return this.#result(state, facts);
  }

  async #result(
    state: FixState,
    facts: Pick<FixResult, "success" | "ignoredIssues" | "rollback" | "manualFix">,
  ): Promise<FixResult> {
    const { attempts, before } = await this.#workspace.fixes.find(this.#fix.id);
    const { id } = this.#fix;
    return {
      ...facts,
      totalRetries: this.#total,
      checkpoint: before,
      attempts,
      fix: id,
      state,
      issues: this.#issues,
    };
  }

  #of(severity: IssueSeverity): ReviewIssue[] {
    return this.#issues.filter((issue) => issue.severity === severity);
  }

  get #clock() {
    return this.#options.clock ?? SYSTEM_CLOCK;
  }
}

function keyOf({ severity, message, file, line }: ReviewIssue): string {
  return JSON.stringify([severity, message, file, line]);
}

function isIssue(value: unknown): value is ReviewIssue {
  return (
    typeof value === "object" && value !== null && isIssueSeverity((value as { severity?: unknown }).severity)
  );
}
