/** Mimir's loops under their old names: conflicts of agents side by side, and what a reviewer found. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  ConflictSeverity,
  MergeConflictResolver,
  readMimirConfig,
  ReviewerAutoFixLoop,
  SnapshotManager,
  type MergeConflict,
  type MergeConflictResolverOptions,
  type MimirConfig,
  type ResolvedConflict,
  type ReviewIssue,
  type Snapshot,
} from "../src/mimir.ts";
import { makePlace, type Place } from "./support/place.ts";

const C = "conv-1";

function mimir(files: Readonly<Record<string, string>>) {
  const place = makePlace(files);
  return { ...place, manager: new SnapshotManager({ directory: place.root, ...place.options }) };
}

const LINES = ["one", "two", "three", "four", "five", "six", "seven"];
const text = (change: Record<number, string> = {}) =>
  `${LINES.map((line, at) => change[at] ?? line).join("\n")}\n`;

/** Snapshots of a state and of what two agents made of it, each for itself. */
async function sideBySide(sides: readonly Readonly<Record<string, string>>[]): Promise<Snapshot[]> {
  const base = { "a.txt": text(), "b.txt": text(), "c.txt": text(), "d.txt": text() };
  const { manager, write } = mimir(base);
  const taken = [await manager.createSnapshot(C, "manual", "base")];
  for (const [at, side] of sides.entries()) {
    await manager.createAgentSnapshot(C, `agent-${at}`, { role: "thinker" });
    for (const [path, content] of Object.entries({ ...base, ...side })) write(path, content);
    taken.push(await manager.createSnapshot(C, "manual", `agent-${at}`));
  }
  return taken;
}

const CONFLICTS: readonly Readonly<Record<string, string>>[] = [
  {
    "a.txt": text({ 1: "two  " }),
    "b.txt": text({ 0: "ONE" }),
    "c.txt": text({ 3: "ours" }),
    "d.txt": text({ 2: "x" }),
  },
  { "a.txt": text({ 1: "\ttwo" }), "b.txt": text({ 6: "SEVEN" }), "c.txt": text({ 3: "theirs" }) },
];

async function resolved(options: MergeConflictResolverOptions = {}) {
  const resolver = new MergeConflictResolver(options);
  const conflicts = await resolver.detectConflicts(await sideBySide(CONFLICTS));
  return { conflicts, resolution: await resolver.resolveConflicts(conflicts) };
}

const pathsOf = (list: readonly { path: string }[]) => list.map(({ path }) => path);

test("[M42] [M43] conflicts are found by comparing snapshots, each with its agents, severity and reason", async () => {
  const { conflicts } = await resolved();
  expect(conflicts).toEqual([
    expect.objectContaining({ path: "a.txt", severity: ConflictSeverity.LOW, autoResolvable: true }),
    expect.objectContaining({ path: "b.txt", severity: ConflictSeverity.MEDIUM, autoResolvable: true }),
    expect.objectContaining({
      path: "c.txt",
      severity: ConflictSeverity.HIGH,
      autoResolvable: false,
      reason: "both sides changed line 4",
      agents: [expect.stringMatching(/^snap-/), expect.stringMatching(/^snap-/)],
    }),
  ]);
});

test("[R354] [M44] [M47] original 16: low ones settle themselves; without a merger and a user the others stay open, and success is false", async () => {
  const { resolution } = await resolved();
  expect(pathsOf(resolution.autoResolved)).toEqual(["a.txt", "b.txt"]);
  expect(resolution.autoResolved[1]!.content).toBe(text({ 0: "ONE", 6: "SEVEN" }));
  expect(resolution).toMatchObject({ mergerResolved: [], userResolved: [], success: false, settled: false });
  expect(pathsOf(resolution.unresolved)).toEqual(["c.txt"]);
});

const answer = (conflicts: readonly MergeConflict[], content: string): ResolvedConflict[] =>
  conflicts.map(({ path }) => ({ path, resolution: "merged", content }));

test("[M45] [M46] the merger gets the medium ones, validated; what it cannot do and the high ones go to the user with options", async () => {
  const shown: { paths: string[]; options: unknown[] }[] = [];
  const ui = {
    show: async (conflicts: MergeConflict[], options: unknown[]) => {
      shown.push({ paths: pathsOf(conflicts), options });
      return answer(conflicts, "mine\n");
    },
  };
  const merger = (content: string) => ({
    resolve: async (conflicts: MergeConflict[]) => answer(conflicts, content),
    generateResolutionOptions: async () => ["ours", "theirs"],
  });
  const good = await resolved({ ui, merger: merger(text({ 0: "ONE", 6: "SEVEN" })) });
  expect(pathsOf(good.resolution.mergerResolved)).toEqual(["b.txt"]);
  // the user had to be asked: that is not Mimir's success, and everything is settled
  expect(good.resolution).toMatchObject({ success: false, settled: true, unresolved: [] });
  const bad = await resolved({ ui, merger: merger("<<<<<<< marks\n") });
  expect(pathsOf(bad.resolution.mergerResolved)).toEqual([]);
  const refused = await resolved({
    ui,
    merger: merger(text({ 0: "ONE", 6: "SEVEN" })),
    validate: async () => ({ success: false }),
  });
  expect(pathsOf(refused.resolution.userResolved)).toEqual(["b.txt", "c.txt"]);
  expect(shown).toEqual([
    { paths: ["c.txt"], options: ["ours", "theirs"] },
    { paths: ["b.txt", "c.txt"], options: ["ours", "theirs"] },
    { paths: ["b.txt", "c.txt"], options: ["ours", "theirs"] },
  ]);
});

const issue = (severity: ReviewIssue["severity"], message = `a ${severity} one`): ReviewIssue => ({
  severity,
  message,
  file: "a.txt",
  line: 1,
});

/** A loop whose fixer writes the code to a file, and removes an issue after it was asked often enough. */
function loop(
  { manager, write }: Place & { manager: SnapshotManager },
  { issues, needs, answers = [], autoFix = {} }: LoopRequest,
) {
  const told = { prompts: [] as string[], waits: [] as number[], diffs: 0, fixed: [] as string[] };
  const left = new Map(issues.map((each) => [each, needs[each.severity] ?? 1]));
  const fixing = new ReviewerAutoFixLoop({
    snapshotManager: manager,
    conversationId: C,
    config: { agentOrchestration: { autoFix } },
    ui: {
      prompt: async (question) => {
        told.prompts.push(question);
        return answers.shift() ?? "";
      },
    },
    getFixer: async () => ({
      fixIssues: async (code, wanted) => {
        told.fixed.push(wanted[0]!.severity);
        for (const each of wanted) left.set(each, left.get(each)! - 1);
        write("a.txt", `${code}+`);
        return `${code}+`;
      },
    }),
    getReviewer: async () => ({
      review: async () => {
        const found = issues.filter((each) => left.get(each)! > 0);
        return { hasIssues: found.length > 0, issues: found };
      },
    }),
    showDiff: async () => void (told.diffs += 1),
    wait: async (ms) => void told.waits.push(ms),
  });
  return { told, run: () => fixing.fixIssues("code", [...issues]) };
}

interface LoopRequest {
  readonly issues: readonly ReviewIssue[];
  /** How many attempts an issue of a severity takes. */
  readonly needs: Partial<Record<ReviewIssue["severity"], number>>;
  readonly answers?: string[];
  readonly autoFix?: NonNullable<MimirConfig["agentOrchestration"]>["autoFix"];
}

test("[M48] [M49] [M51] [M54] [M55] [M58] severity by severity with pauses between, a snapshot before every attempt", async () => {
  const place = mimir({ "a.txt": "0\n" });
  const { told, run } = loop(place, {
    issues: [issue("low"), issue("medium"), issue("high")],
    needs: { low: 4, medium: 2 },
  });
  expect(await run()).toEqual({ success: true, code: "code+++++++", totalRetries: 7 });
  expect(told.fixed).toEqual(["high", "medium", "medium", "low", "low", "low", "low"]);
  expect(told.waits).toEqual([1000, 1000, 2000, 4000]);
  expect(told.prompts).toEqual([]);
  const taken = (await place.manager.listSnapshots(C)).toReversed().map(({ description }) => description);
  expect(taken).toEqual([
    "Before auto-fix",
    "Auto-fix attempt 1 (high)",
    "Auto-fix attempt 1 (medium)",
    "Auto-fix attempt 2 (medium)",
    ...[1, 2, 3, 4].map((attempt) => `Auto-fix attempt ${attempt} (low)`),
  ]);
});

test("[R354] [M50] [M56] [M57] original 15: the limit of all attempts asks; view shows and asks again; one more is exactly one more; manual ends", async () => {
  const place = mimir({ "a.txt": "0\n" });
  const { told, run } = loop(place, {
    issues: [issue("low")],
    needs: { low: 9 },
    answers: ["v", "c", "m"],
    autoFix: { maxTotalRetries: 2, exponentialBackoff: false },
  });
  expect(await run()).toEqual({ success: false, manualFix: true });
  expect([told.fixed.length, told.diffs, told.waits, told.prompts.length]).toEqual([3, 1, [], 3]);
  expect(told.prompts[0]).toContain("Auto-fix Total retry limit reached");
  expect(told.prompts[0]).toContain("1. [low] a low one (a.txt:1)");
  expect(told.prompts[2]).toContain("Snapshots created: 3");
});

test("[M53] [M57] critical ones are asked about at once; after accepting the others are tried, and what was ignored is told", async () => {
  const place = mimir({ "a.txt": "0\n" });
  const issues = [issue("critical"), issue("low")];
  const { told, run } = loop(place, { issues, needs: { critical: 9 }, answers: ["a"] });
  expect(await run()).toEqual({
    success: true,
    code: "code+",
    totalRetries: 1,
    ignoredIssues: [issues[0]],
  });
  expect([told.fixed, told.prompts.length]).toEqual([["low"], 1]);
  const silent = loop(place, { issues, needs: { critical: 9 }, autoFix: { escalateToUser: false } });
  expect(await silent.run()).toEqual({ success: false, code: "code", totalRetries: 0 });
  expect(silent.told.prompts).toEqual([]);
});

test("[M56] [M57] a later question counts the snapshots of all attempts, also those before an answer", async () => {
  const place = mimir({ "a.txt": "0\n" });
  const issues = [issue("high"), issue("low")];
  const { told, run } = loop(place, { issues, needs: { high: 9, low: 9 }, answers: ["a", "m"] });
  expect(await run()).toEqual({ success: false, manualFix: true });
  expect(told.fixed).toEqual(["high", ...Array.from({ length: 5 }, () => "low")]);
  expect(told.prompts.map((text) => /Snapshots created: (\d+)/.exec(text)?.[1])).toEqual(["1", "6"]);
});

test("[M57] a rejection brings the files back to the snapshot before the agent, and undo takes that back", async () => {
  const place = mimir({ "a.txt": "before the agent\n" });
  await place.manager.createAgentSnapshot(C, "ag-1", { role: "coder" });
  place.write("a.txt", "by the agent\n");
  const { run } = loop(place, { issues: [issue("high")], needs: { high: 9 }, answers: ["r"] });
  expect(await run()).toEqual({ success: false, rollback: true });
  expect(place.read("a.txt")).toBe("before the agent\n");
  expect(place.look((workspace) => workspace.undo().outcome)).toBe("applied");
  expect(place.read("a.txt")).toBe("code+");
});

test("[M48] [M52] the YAML file that the host names; what is of the wrong type is named by its key", async () => {
  const place = mimir({ "a.txt": "0\n" });
  const file = join(place.home, "..", "config.yml");
  const read = (yaml: string) => {
    writeFileSync(file, yaml);
    return readMimirConfig(file);
  };
  const config = read(`
snapshots:
  retention: { perConversation: { keepForHours: 48 } }
agentOrchestration:
  autoFix:
    maxRetries: { low: 2 } # the others stay
    fixerAgent: auto
other: [1]
`);
  expect(config).toEqual({
    snapshots: { retention: { perConversation: { keepForHours: 48 } } },
    agentOrchestration: { autoFix: { maxRetries: { low: 2 }, fixerAgent: "auto" } },
  });
  expect(read("# nothing\n")).toEqual({});
  const wrong = (key: string) =>
    expect.objectContaining({
      code: "CONFIG_INVALID",
      facts: { key, reason: expect.any(String) as unknown },
    });
  expect(() => read("snapshots: { retention: { autoCleanup: maybe } }")).toThrow(
    wrong("snapshots.retention.autoCleanup"),
  );
  expect(() => read("agentOrchestration: { autoFix: [] }")).toThrow(wrong("agentOrchestration.autoFix"));
  const { run } = loop(place, {
    issues: [issue("low")],
    needs: {},
    autoFix: read("agentOrchestration: { autoFix: { backoffBase: soon } }").agentOrchestration!.autoFix,
  });
  await expect(run()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
