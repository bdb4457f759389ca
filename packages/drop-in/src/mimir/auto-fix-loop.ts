/**
 * Mimir's loop over what a reviewer found: worst first, a snapshot before every attempt, then the user's decision. The
 * loop itself is Belay's; the code is a text here, as in Mimir. After "accept anyway" the other severities are tried.
 */
import type { Choice, Escalation, FixOptions, FixRecord, FixWorkspace } from "@belay/agents/orchestration";
import type { MimirConfig } from "./config.ts";
import type { SnapshotManager } from "./conversation-snapshots.ts";
import { SEVERITIES, type FixResult, type ReviewIssue } from "./types.ts";

/** Changes the code so that these issues are gone. */
export interface Fixer {
  fixIssues(code: string, issues: ReviewIssue[]): Promise<string>;
}

/** Looks the code over. */
export interface Reviewer {
  review(code: string): Promise<{ hasIssues: boolean; issues: ReviewIssue[] }>;
}

/** Who fixes, who reviews, whom to ask. */
export interface ReviewerAutoFixLoopOptions {
  snapshotManager: SnapshotManager;
  conversationId: string;
  config: MimirConfig;
  ui: { prompt(text: string): Promise<string> };
  getFixer(): Promise<Fixer>;
  getReviewer(): Promise<Reviewer>;
  showDiff?(): Promise<void>;
  wait?(ms: number): Promise<void>;
}

/** Fixes what a reviewer found, and asks the user where that does not succeed. */
export class ReviewerAutoFixLoop {
  readonly #options: ReviewerAutoFixLoopOptions;

  constructor(options: ReviewerAutoFixLoopOptions) {
    this.#options = options;
  }

  /** Ends with the code as it is then; after a rejection the files are back already. */
  async fixIssues(code: string, issues: ReviewIssue[]): Promise<FixResult> {
    const { fixIssues, readAutoFixConfig } = await import("@belay/agents/orchestration");
    const config = readAutoFixConfig(this.#options.config.agentOrchestration?.autoFix);
    const before = await this.#before();
    const state: LoopState = { code, ignored: [], retries: 0 };
    for (let open = issues; ;) {
      const maxTotalRetries = config.maxTotalRetries - state.retries;
      const result = await fixIssues(this.#workspace(before), {
        ...(await this.#parts(state)),
        config: { ...config, maxTotalRetries },
        issues: open,
        before,
      });
      state.retries += result.totalRetries;
      if (result.state !== "accepted") return resultOf(state, result);
      const left = result.issues as readonly ReviewIssue[];
      const isUsedUp = state.retries >= config.maxTotalRetries;
      const worst = SEVERITIES.find((severity) => left.some((issue) => issue.severity === severity));
      state.ignored.push(...left.filter(({ severity }) => isUsedUp || severity === worst));
      open = left.filter((issue) => !state.ignored.includes(issue));
      if (open.length === 0) return { success: true, code: state.code, ignoredIssues: state.ignored };
    }
  }

  async #parts(
    state: LoopState,
  ): Promise<Pick<FixOptions, "fixer" | "review" | "ask" | "showDiff" | "clock">> {
    const { getFixer, getReviewer, showDiff, wait } = this.#options;
    return {
      fixer: async (wanted) => {
        state.code = await (await getFixer()).fixIssues(state.code, [...wanted]);
        return { run: null, thread: null, tree: null, cost: null, tokens: null };
      },
      review: async () => {
        const { hasIssues, issues } = await (await getReviewer()).review(state.code);
        const ignored = new Set(state.ignored.map(keyOf));
        return hasIssues ? issues.filter((issue) => !ignored.has(keyOf(issue))) : [];
      },
      ask: (escalation) => this.#ask({ ...escalation, attempts: escalation.attempts + state.retries }),
      showDiff: async () => showDiff?.(),
      ...(wait && { clock: { now: () => Date.now(), wait } }),
    };
  }

  async #ask(escalation: Escalation): Promise<Choice | undefined> {
    const { escalationText, isChoice } = await import("@belay/agents/orchestration");
    const answer = (await this.#options.ui.prompt(escalationText(escalation))).trim().toLowerCase();
    return isChoice(answer) ? answer : undefined;
  }

  /** What a rejection goes back to: the snapshot before the newest agent, else one of now. */
  async #before(): Promise<string> {
    const { snapshotManager, conversationId } = this.#options;
    const known = await snapshotManager.listSnapshots(conversationId);
    const agent = known.find(({ type }) => type === "auto-agent");
    return (agent ?? (await this.#snapshot("Before auto-fix"))).id;
  }

  #snapshot(description: string) {
    const { snapshotManager, conversationId } = this.#options;
    return snapshotManager.createSnapshot(conversationId, "auto-checkpoint", description);
  }

  #workspace(before: string): FixWorkspace {
    const { snapshotManager, conversationId } = this.#options;
    return {
      root: "",
      fixes: keeper(before, (description) => this.#snapshot(description)),
      restoreTo: async (snapshot) => {
        await snapshotManager.restore(conversationId, snapshot, { filesOnly: true });
        return { outcome: "applied" };
      },
      // an attempt of a fixer that is given a text is not a turn of its own
      undo: async () => ({ outcome: "unchanged" }),
    };
  }
}

interface LoopState {
  code: string;
  ignored: ReviewIssue[];
  retries: number;
}

function resultOf(
  { code, ignored, retries }: LoopState,
  { state, success }: { readonly state: FixRecord["state"]; readonly success: boolean },
): FixResult {
  if (state === "rejected") return { success: false, rollback: true };
  if (state === "manual") return { success: false, manualFix: true };
  return { success, code, totalRetries: retries, ...(ignored.length > 0 && { ignoredIssues: ignored }) };
}

/** The record of one call: it ends with the call, and what is worth keeping are its snapshots. */
function keeper(
  before: string,
  snapshot: (description: string) => Promise<{ readonly id: string }>,
): FixWorkspace["fixes"] {
  let record: FixRecord = {
    id: "",
    state: "running",
    config: null,
    review: null,
    before,
    attempts: [],
    issues: [],
    reason: null,
  };
  return {
    find: async () => record,
    begin: async ({ issues }) => (record = { ...record, issues }),
    beginAttempt: async (_, { number, ofSeverity, severity }) => {
      const { id } = await snapshot(`Auto-fix attempt ${ofSeverity} (${severity})`);
      const attempt = { number, severity, checkpoint: id, run: null, issuesAfter: null, takenBack: false };
      record = { ...record, attempts: [...record.attempts, attempt] };
      return { id };
    },
    endAttempt: async () => undefined,
    update: async (_, { state, issues, reason = null }) => (record = { ...record, state, issues, reason }),
  };
}

function keyOf({ severity, message, file, line }: ReviewIssue): string {
  return JSON.stringify([severity, message, file, line]);
}
