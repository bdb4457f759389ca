import type { Workspace } from "@belay/engine";
import { usageError } from "@belay/protocol/errors";
import { ASKING_EXITS, defineCommand, YES } from "../call/command.ts";
import type { FixCall } from "../command-parts/fixing.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";

export default defineCommand({
  usage: "fix --review <command or name> [--agent name] | fix show [id] | fix answer <id> a|r|v|m|c",
  about: `Runs a review, lets an agent fix what it finds, worst first, and reviews again: with a checkpoint before every
attempt, and only as often as \`agentOrchestration.autoFix\` in config.json says. What makes things worse is taken out
again. When that is not enough you decide: accept, reject (everything goes back), view the difference, fix it yourself, or
one more attempt. The review is a command (no shell reads it), a name of \`reviews\` in config.json, or \`reviewer\`: the
agent in that role. Its output is recognised: SARIF, ESLint, Oxlint, Biome, tsc, JUnit, pytest, cargo, file:line:col, and
{"issues":[…]}.`,
  options: {
    review: {
      type: "string",
      value: "command",
      about: "the review: a command, a name of config.json, or reviewer",
    },
    named: { type: "boolean", about: "only a name of config.json, no command" },
    format: { type: "string", value: "format", about: "how to read it, instead of recognising it" },
    agent: { type: "string", value: "name", about: "the agent that fixes (default: agents.roles.thinker)" },
    run: {
      type: "string",
      value: "run",
      about: "the run whose work is reviewed: rejecting goes back to before it",
    },
    issues: {
      type: "string",
      value: "file",
      about: "begin with these issues instead of a review; - reads standard input",
    },
    "max-total": { type: "string", value: "n", about: "attempts in all (default: 10)" },
    timeout: { type: "string", value: "minutes", about: "no further attempt after this time" },
    "max-cost": { type: "string", value: "n", about: "no further attempt when they cost more" },
    "max-tokens": { type: "string", value: "n", about: "no further attempt when they used more" },
    detach: { type: "boolean", about: "do not wait for the end" },
    yes: YES,
  },
  operands: { min: 0, max: 3 },
  exits: {
    ...ASKING_EXITS,
    0: "clean, or accepted",
    3: "a decision is needed, the attempts are used up, or it was rejected",
    4: "no such agent or loop",
  },
  examples: ["belay fix show"],
  run: (call) => {
    const [verb = "start", ref, choice] = call.operands;
    const way = Object.hasOwn(WAYS, verb) ? WAYS[verb] : undefined;
    if (way === undefined || (verb === "answer" && choice === undefined))
      throw usageError(
        `"fix ${call.operands.join(" ")}" is not complete.`,
        "fix --review <command>, fix show [id] or fix answer <id> a|r|v|m|c",
      );
    if (verb === "start" && ref !== undefined)
      throw usageError("Unexpected argument.", "`belay fix --help` says more.");
    return withWorkspace(call, (workspace) => way(call, workspace));
  },
});

const WAYS: Readonly<Record<string, (call: FixCall, workspace: Workspace) => Promise<number>>> = {
  start: async (call, workspace) => (await import("../command-parts/fixing.ts")).startFix(call, workspace),
  show: async (call, workspace) => (await import("../command-parts/fixing.ts")).show(call, workspace),
  answer: async (call, workspace) => (await import("../command-parts/fixing.ts")).answer(call, workspace),
};
