/** How often what is tried, and what happens when that was not enough. */
import { isFields } from "../review/json-output.ts";
import { ISSUE_SEVERITIES, type IssueSeverity } from "../review/review-issue.ts";
import { invalid } from "../orchestrate/agent-book.ts";

/** [M48–M53] The settings of the loop: `agentOrchestration.autoFix`. */
export interface AutoFixConfig {
  /** False: issues are reported, and nothing is tried. */
  readonly enabled: boolean;
  /** How many attempts each severity gets; with 0 the user decides at once. */
  readonly maxRetries: Readonly<Record<IssueSeverity, number>>;
  /** How many attempts all of them get together. */
  readonly maxTotalRetries: number;
  readonly exponentialBackoff: boolean;
  /** Milliseconds before the second attempt; twice as many before each one after it. */
  readonly backoffBase: number;
  /** `auto`: the agent that wrote the code, else the first one found. */
  readonly fixerAgent: "thinker" | "auto";
  /** False: when the attempts are used up, the loop ends without a question. */
  readonly escalateToUser: boolean;
}

/** What holds where the user set nothing. */
export const AUTO_FIX_DEFAULTS: AutoFixConfig = {
  enabled: true,
  maxRetries: { low: 5, medium: 3, high: 1, critical: 0 },
  maxTotalRetries: 10,
  exponentialBackoff: true,
  backoffBase: 1000,
  fixerAgent: "thinker",
  escalateToUser: true,
};

/** The settings over the defaults; throws `CONFIG_INVALID`. */
export function readAutoFixConfig(value: unknown): AutoFixConfig {
  if (value === undefined) return AUTO_FIX_DEFAULTS;
  if (!isFields(value)) throw invalid(KEY, "it must be an object");
  for (const [key, kind] of Object.entries(KINDS)) {
    const found = value[key];
    if (found !== undefined && !kind.fits(found)) throw invalid(`${KEY}.${key}`, `it must be ${kind.is}`);
  }
  const retries = value["maxRetries"] as Partial<AutoFixConfig["maxRetries"]> | undefined;
  return {
    ...AUTO_FIX_DEFAULTS,
    ...(value as Partial<AutoFixConfig>),
    maxRetries: { ...AUTO_FIX_DEFAULTS.maxRetries, ...retries },
  };
}

const KEY = "agentOrchestration.autoFix";

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const FLAG = { fits: (value: unknown) => typeof value === "boolean", is: "true or false" };
const COUNT = { fits: isCount, is: "a number of 0 or more" };

const KINDS: Readonly<Record<keyof AutoFixConfig, { fits(value: unknown): boolean; is: string }>> = {
  enabled: FLAG,
  maxRetries: {
    fits: (value) =>
      isFields(value) &&
      Object.entries(value).every(
        ([key, count]) => (ISSUE_SEVERITIES as readonly string[]).includes(key) && isCount(count),
      ),
    is: "an object with numbers for low, medium, high and critical",
  },
  maxTotalRetries: COUNT,
  exponentialBackoff: FLAG,
  backoffBase: COUNT,
  fixerAgent: { fits: (value) => value === "thinker" || value === "auto", is: "thinker or auto" },
  escalateToUser: FLAG,
};
