/** Where the issues come from: a review of config.json, the agent in the role of the reviewer, or a command. */
import {
  isIssueSeverity,
  readBelay,
  readReview,
  REVIEW_FORMATS,
  REVIEW_PROMPT,
  runReview,
  type IssueSeverity,
  type Orchestrator,
  type AgentBook,
  type ReviewFormat,
  type ReviewIssue,
} from "@belay/agents/orchestration";
import { ContractError, usageError } from "@belay/protocol/errors";
import { splitWords } from "../call/split-words.ts";

/** A review that can be run, now or by another process later. */
export interface ReviewSource {
  /** Its words; empty where an agent reviews. */
  readonly command: readonly string[];
  /** The agent that reviews. */
  readonly agent: string | null;
  readonly format: ReviewFormat;
  readonly severity: Readonly<Partial<Record<IssueSeverity, IssueSeverity>>>;
}

/** The role of the agent that reviews. */
const REVIEWER = "reviewer";

/** What `--review` names. `named`: only a name of the settings will do. */
export function findReview(
  given: { readonly review: string; readonly format: string | undefined; readonly named: boolean },
  { reviews, agents }: { reviews: unknown; agents: AgentBook },
): ReviewSource {
  const format = formatOf(given.format ?? "auto");
  const known = Object(reviews) as Record<string, unknown>;
  if (Object.hasOwn(known, given.review))
    return fromSettings(given.review, known[given.review], given.format);
  const agent = given.review === REVIEWER ? agents.inRole(REVIEWER) : undefined;
  if (agent !== undefined) return { command: [], agent, format: "belay", severity: {} };
  const command = given.named ? [] : splitWords(given.review);
  if (command.length === 0)
    throw new ContractError("CONFIG_INVALID", `There is no review "${given.review}". Nothing was started.`, {
      facts: { key: `reviews.${given.review}`, reason: "it is not set" },
      hint: '`reviews` in config.json names them: { "types": { "command": ["npx", "tsc", "--noEmit"] } }.',
    });
  return { command, agent: null, format, severity: {} };
}

/** What the review finds now. */
export async function review(
  source: ReviewSource,
  {
    root,
    environment,
    orchestrator,
    signal,
  }: {
    root: string;
    environment: NodeJS.ProcessEnv;
    orchestrator: Orchestrator;
    signal?: AbortSignal | undefined;
  },
): Promise<ReviewIssue[]> {
  const { command, agent, format, severity } = source;
  if (agent === null) return runReview({ command, root, format, severity, environment, signal });
  const task = { prompt: REVIEW_PROMPT, role: REVIEWER };
  const { run, facts } = await orchestrator.executeAgent(agent, task, { signal });
  const exitCode = run.status === "done" ? 0 : 1;
  const issues = readReview({ stdout: facts.answer, stderr: "", exitCode }, { root, format, severity });
  if (issues.length > 0 || readBelay(facts.answer) !== undefined) return issues;
  // an answer that is none must not count as a clean review
  return [
    { severity: "high", message: `${agent} gave no review: ${facts.answer.slice(-500)}`, file: "", line: 0 },
  ];
}

function fromSettings(name: string, value: unknown, format: string | undefined): ReviewSource {
  const { command, format: written, severity = {} } = Object(value) as Record<string, unknown>;
  const isWords =
    Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === "string");
  if (!isWords) throw invalid(`reviews.${name}.command`, 'it must be a list of words such as ["npx", "tsc"]');
  const renamed = Object.entries(Object(severity) as Record<string, unknown>);
  if (!renamed.flat().every(isIssueSeverity))
    throw invalid(`reviews.${name}.severity`, "it must map severities to severities");
  return {
    command,
    agent: null,
    format: formatOf(format ?? (typeof written === "string" ? written : "auto")),
    severity: Object.fromEntries(renamed),
  };
}

function formatOf(text: string): ReviewFormat {
  const found = REVIEW_FORMATS.find((format) => format === text);
  if (found === undefined)
    throw usageError(`There is no format "${text}".`, `Formats: ${REVIEW_FORMATS.join(", ")}.`);
  return found;
}

function invalid(key: string, reason: string): ContractError {
  return new ContractError("CONFIG_INVALID", `Setting ${key}: ${reason}. Nothing was started.`, {
    facts: { key, reason },
  });
}
