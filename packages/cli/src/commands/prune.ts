import type { DropRule, KeepRule, PruneReport, RetentionPolicy, Workspace } from "@belay/engine";
import {
  ALL_ENTRIES,
  ASKING_EXITS,
  defineCommand,
  DRY_RUN,
  THREAD,
  YES,
  type Call,
} from "../call/command.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { confirm, declined } from "../call/confirmation.ts";
import { pruneJson, unpruneJson } from "@belay/server/json";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { checkpointTable } from "../output/checkpoint-table.ts";
import { listText } from "../output/file-list.ts";
import { count, grouped, size } from "@belay/tui/text";
import { parseDuration } from "../call/duration.ts";
import { positiveNumber } from "../call/number-option.ts";
import { table } from "../output/table.ts";

const OPTIONS = {
  policy: {
    type: "string",
    value: "policy",
    about: "the policy to use instead of the setting retention.policy",
  },
  "older-than": { type: "string", value: "time", about: "drop only what is older, for example 30d or 12h" },
  thread: { ...THREAD, about: "only checkpoints of this thread" },
  "keep-last": { type: "string", value: "n", about: "keep the newest n of each thread, whatever their age" },
  undo: { type: "boolean", about: "bring back what was pruned within the last 24 hours" },
  "dry-run": DRY_RUN,
  yes: YES,
  all: ALL_ENTRIES,
} as const;

type PruneCall = Call<typeof OPTIONS>;

export default defineCommand({
  usage: "prune [--policy p | --older-than time] [--keep-last n] [--thread t] [--undo] [--dry-run] [--yes]",
  about: [
    "Drops old checkpoints by a retention policy, or with --older-than and --keep-last by these instead.",
    "Manual, named, tagged, initial and approved ones always stay, and so does what the last undo needs;",
    "--dry-run says which rule keeps how many. What is dropped can be brought back with --undo for 24 hours;",
    "`belay gc` frees the space after that.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 0, max: 0 },
  exits: ASKING_EXITS,
  examples: [
    "belay prune --dry-run",
    "belay prune --older-than 30d --keep-last 50 --dry-run",
    "belay prune --policy code-buddy",
  ],
  run: async (call) => {
    const policy = await policyOf(call);
    return withWorkspace(call, (workspace) =>
      call.options.undo === true ? unprune(call, workspace) : prune(call, workspace, policy),
    );
  },
});

/** Undefined = the one of the settings. */
async function policyOf({ options }: PruneCall): Promise<RetentionPolicy | undefined> {
  const { policy, "older-than": age, "keep-last": last } = options;
  if (age === undefined && last === undefined) return policyNamed(policy);
  if (policy !== undefined)
    throw usageError("--policy and --older-than or --keep-last cannot be combined.", "Use one or the other.");
  if (options.undo === true)
    throw usageError("--undo brings back everything that was pruned.", "It takes no other rule.");
  const keepLast = positiveNumber("--keep-last", last);
  const { onceOnly } = await import("@belay/engine");
  return onceOnly({
    ...(age !== undefined && { olderThanMs: parseDuration(age) }),
    ...(keepLast !== undefined && { keepLast }),
  });
}

async function policyNamed(name: string | undefined): Promise<RetentionPolicy | undefined> {
  if (name === undefined) return undefined;
  const { RETENTION_PRESETS } = await import("@belay/engine");
  const policy = Object.hasOwn(RETENTION_PRESETS, name) ? RETENTION_PRESETS[name] : undefined;
  if (policy !== undefined) return policy;
  throw usageError(`Unknown policy "${name}".`, `Policies: ${Object.keys(RETENTION_PRESETS).join(", ")}.`);
}

async function prune(
  call: PruneCall,
  workspace: Workspace,
  policy: RetentionPolicy | undefined,
): Promise<number> {
  const { thread: named } = call.options;
  const thread = named === undefined ? undefined : (await workspace.threads.get(named)).id;
  const rules = { ...(policy && { policy }), ...(thread && { thread }) };
  const isOnlyLook = call.options["dry-run"] === true;
  if (isOnlyLook || call.options.yes !== true) {
    const preview = await workspace.upkeep.prune({ ...rules, dryRun: true, estimate: isOnlyLook });
    if (isOnlyLook) return report(call, workspace, preview);
    if (preview.pruned.length > 1 && !(await ask(call, preview))) return declined(call);
  }
  return report(call, workspace, await workspace.upkeep.prune(rules));
}

function ask(call: PruneCall, preview: PruneReport): Promise<boolean> {
  if (call.output.canAsk) call.output.print(prunedTable(call, preview));
  return confirm(call, `Drop ${count(preview.pruned.length, "checkpoint")} and keep ${preview.kept}?`, {
    dryRun: true,
  });
}

function report(call: PruneCall, workspace: Workspace, prunes: PruneReport): number {
  const { output } = call;
  const { pruned, kept, dryRun } = prunes;
  if (call.json) output.json(pruneJson(prunes, workspace.id));
  else if (pruned.length === 0 && !dryRun)
    output.print(`Nothing to drop: all ${count(kept, "checkpoint")} stay.`);
  else if (dryRun) output.print(previewText(call, prunes));
  else
    output.print(
      `${count(pruned.length, "checkpoint")} dropped, ${kept} kept.\n→ \`belay prune --undo\` brings them back within 24 hours.`,
    );
  return EXIT.done;
}

function previewText(call: PruneCall, prunes: PruneReport): string {
  const { pruned, kept, storedBytes = 0 } = prunes;
  const rules = rulesText(call, prunes);
  if (pruned.length === 0) return `Nothing to drop: all ${count(kept, "checkpoint")} stay.\n${rules}`;
  const sum = `Would drop ${count(pruned.length, "checkpoint")}, about ${size(storedBytes)}, and keep ${kept}.`;
  return `${prunedTable(call, prunes)}\n${sum}\n${rules}`;
}

/** In the order in which they are tried. */
const RULES: Readonly<Record<DropRule | KeepRule, string>> = {
  old: "older than allowed",
  surplus: "more than a thread may have",
  newest: "the newest of all",
  undo: "needed to undo the last turn",
  initial: "initial: the state before everything",
  manual: "made by hand",
  approved: "approved",
  named: "named",
  tagged: "tagged",
  safety: "saved before going back, in a thread of the last 30 days",
  queued: "not sent to a remote yet",
  fetched: "fetched from another line, used in the last 30 days",
  last: "among the newest of their thread",
  young: "not old enough",
};

/** Which rule drops or keeps how many. */
function rulesText({ output }: PruneCall, { droppedBy, keptBy }: PruneReport): string {
  const counts: Partial<Record<DropRule | KeepRule, number>> = { ...droppedBy, ...keptBy };
  const rows = (Object.keys(RULES) as (DropRule | KeepRule)[]).flatMap((rule) => {
    const number = counts[rule];
    if (number === undefined) return [];
    const what = rule in droppedBy ? "drop" : "keep";
    return [[{ text: what, paint: output.style.dim }, { text: grouped(number) }, { text: RULES[rule] }]];
  });
  return table(rows, { width: output.width, indent: "  ", wraps: true, flexible: 2, right: [1] });
}

function prunedTable(call: PruneCall, { pruned }: Pick<PruneReport, "pruned">): string {
  const { output, options } = call;
  return listText(pruned, { output, all: options.all }, (shown) => checkpointTable(shown, output));
}

async function unprune(call: PruneCall, workspace: Workspace): Promise<number> {
  if (call.options.thread !== undefined)
    throw usageError("--undo brings back everything that was pruned.", "It takes no thread.");
  if (call.options["dry-run"] === true)
    throw usageError("--undo and --dry-run cannot be combined.", "It only brings checkpoints back.");
  const restored = await workspace.upkeep.unprune();
  if (call.json) call.output.json(unpruneJson(restored, workspace.id));
  else if (restored.length === 0) call.output.print("Nothing was pruned within the last 24 hours.");
  else
    call.output.print(
      `${checkpointTable(restored, call.output)}\n${count(restored.length, "checkpoint")} brought back.`,
    );
  return EXIT.done;
}
