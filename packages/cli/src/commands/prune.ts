import type { PruneReport, RetentionPolicy, Workspace } from "@belay/engine";
import { ASKING_EXITS, ALL_ENTRIES, defineCommand, DRY_RUN, YES, type Call } from "../call/command.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { confirm, declined } from "../call/confirmation.ts";
import { pruneJson, unpruneJson } from "@belay/server/json";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { checkpointTable } from "../output/checkpoint-table.ts";
import { listText } from "../output/file-list.ts";
import { count } from "@belay/tui/text";

const OPTIONS = {
  policy: {
    type: "string",
    value: "policy",
    about: "the policy to use instead of the setting retention.policy",
  },
  undo: { type: "boolean", about: "bring back what was pruned within the last 24 hours" },
  "dry-run": DRY_RUN,
  yes: YES,
  all: ALL_ENTRIES,
} as const;

type PruneCall = Call<typeof OPTIONS>;

export default defineCommand({
  usage: "prune [--policy p] [--undo] [--dry-run] [--yes]",
  about: [
    "Drops old checkpoints by a retention policy. Manual, named and tagged ones always stay. What is dropped",
    "can be brought back with --undo for 24 hours; `belay gc` frees the space after that.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 0, max: 0 },
  exits: ASKING_EXITS,
  examples: ["belay prune --dry-run", "belay prune --policy code-buddy"],
  run: async (call) => {
    const policy = await policyNamed(call.options.policy);
    return withWorkspace(call, (workspace) =>
      call.options.undo === true ? unprune(call, workspace) : prune(call, workspace, policy),
    );
  },
});

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
  const rules = policy === undefined ? {} : { policy };
  const isOnlyLook = call.options["dry-run"] === true;
  if (isOnlyLook || call.options.yes !== true) {
    const preview = await workspace.upkeep.prune({ ...rules, dryRun: true });
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

function report(call: PruneCall, workspace: Workspace, { pruned, kept, dryRun }: PruneReport): number {
  const { output } = call;
  if (call.json) output.json(pruneJson({ pruned, kept, dryRun }, workspace.id));
  else if (pruned.length === 0) output.print(`Nothing to drop: all ${count(kept, "checkpoint")} stay.`);
  else if (dryRun)
    output.print(
      `${prunedTable(call, { pruned })}\nWould drop ${count(pruned.length, "checkpoint")} and keep ${kept}.`,
    );
  else
    output.print(
      `${count(pruned.length, "checkpoint")} dropped, ${kept} kept.\n→ \`belay prune --undo\` brings them back within 24 hours.`,
    );
  return EXIT.done;
}

function prunedTable(call: PruneCall, { pruned }: Pick<PruneReport, "pruned">): string {
  const { output, options } = call;
  return listText(pruned, { output, all: options.all }, (shown) => checkpointTable(shown, output));
}

async function unprune(call: PruneCall, workspace: Workspace): Promise<number> {
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
