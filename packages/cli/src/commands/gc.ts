import type { GcReport, Workspace } from "@belay/engine";
import { ASKING_EXITS, defineCommand, DRY_RUN, YES, type Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { EXIT } from "@belay/protocol/errors";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { stepLabel } from "../output/step-label.ts";
import { gcJson } from "@belay/server/json";
import { count, size } from "@belay/tui/text";

const OPTIONS = { "dry-run": DRY_RUN, yes: YES } as const;

export default defineCommand({
  usage: "gc [--dry-run] [--yes]",
  about: [
    "Frees space that no checkpoint needs and repacks the rest. Asks before it permanently drops checkpoints",
    "that were pruned more than 24 hours ago.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 0, max: 0 },
  exits: ASKING_EXITS,
  examples: ["belay gc --dry-run", "belay gc"],
  run: (call) => withWorkspace(call, (workspace) => collect(call, workspace)),
});

async function collect(call: Call<typeof OPTIONS>, workspace: Workspace): Promise<number> {
  const isOnlyLook = call.options["dry-run"] === true;
  if (isOnlyLook || call.options.yes !== true) {
    const preview = await workspace.upkeep.gc({ dryRun: true });
    if (isOnlyLook) return report(call, preview);
    const question = `Permanently drop ${count(preview.checkpointsDropped, "pruned checkpoint")}?`;
    if (preview.checkpointsDropped > 0 && !(await confirm(call, question, { dryRun: true })))
      return declined(call);
  }
  return report(call, await gcWithBar(call, workspace));
}

async function gcWithBar(call: Call<typeof OPTIONS>, workspace: Workspace): Promise<GcReport> {
  using bar = createProgressBar("Repacking", "object", !call.json && !call.output.quiet);
  return await workspace.upkeep.gc({ progress: (done, total) => bar.update({ done, total }) });
}

function report(call: Pick<Call, "json" | "output">, gc: GcReport): number {
  if (call.json) call.output.json(gcJson(gc));
  else call.output.print(gcText(gc));
  return EXIT.done;
}

function gcText(gc: GcReport): string {
  const { objectsFreed, contentFreed, packsFreed, packsRewritten, checkpointsDropped, stepsDropped } = gc;
  const inUse = size(gc.bytesAfter ?? gc.bytesBefore);
  if (objectsFreed + packsFreed + packsRewritten + checkpointsDropped === 0)
    return `Nothing to free (${inUse} in use).`;
  const steps =
    stepsDropped.length > 0
      ? ` ${count(stepsDropped.length, "step")} can no longer be undone: ${stepsDropped.map(stepLabel).join(", ")}.`
      : "";
  if (gc.dryRun && objectsFreed + packsFreed + checkpointsDropped === 0)
    return `${count(packsRewritten, "pack")} would be rewritten (${inUse} in use now); what that frees shows when it is done.`;
  const saved = gc.bytesBefore - (gc.bytesAfter ?? gc.bytesBefore);
  const what = [
    objectsFreed === 0
      ? saved > 0
        ? size(saved)
        : "nothing"
      : `${count(objectsFreed, "object")} with ${size(contentFreed)} of content`,
    ...(checkpointsDropped > 0 ? [`of ${count(checkpointsDropped, "pruned checkpoint")}`] : []),
  ].join(" ");
  const packs =
    packsRewritten > 0
      ? ` ${count(packsRewritten, "pack")} ${gc.dryRun ? "would be" : packsRewritten === 1 ? "was" : "were"} rewritten.`
      : "";
  const sizes = gc.bytesAfter === null ? `${inUse} in use now` : `${size(gc.bytesBefore)} → ${inUse}`;
  return `${gc.dryRun ? "Would free" : "Freed"} ${what} (${sizes}).${packs}${steps}`;
}
