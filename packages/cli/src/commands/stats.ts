import type { Stats } from "@belay/engine";
import { defineCommand } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { storageJson } from "@belay/server/json";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { factTable, type Fact } from "../output/facts.ts";
import { count, relativeTime, size } from "@belay/tui/text";

export default defineCommand({
  usage: "stats",
  about: "Counts and sizes: checkpoints by kind, what was done, objects, packs, disk use.",
  options: {},
  operands: { min: 0, max: 0 },
  examples: ["belay stats"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const stats = await workspace.upkeep.stats();
      if (call.json) call.output.json(storageJson(stats));
      else call.output.print(factTable(facts(stats), call.output));
      return EXIT.done;
    }),
});

function facts(stats: Stats): Fact[] {
  const { oldest, newest, contentBytes, storedBytes } = stats;
  const ratio = storedBytes > 0 ? `, ${(contentBytes / storedBytes).toFixed(1)} times smaller` : "";
  return [
    ["checkpoints", `${stats.checkpoints}${breakdown(stats.byKind)}`],
    ["operations", breakdown(stats.operations).replace(/^ \(|\)$/g, "") || "none"],
    ["threads", String(stats.threads)],
    oldest === null || newest === null
      ? undefined
      : ["taken", `${relativeTime(oldest)} to ${relativeTime(newest)}`],
    ["content", `${size(contentBytes)} in ${count(stats.objects, "object")}`],
    ["stored", `${size(storedBytes)} in ${count(stats.packs, "pack")}${ratio}`],
    ["on disk", `${size(stats.diskBytes)} of at most ${size(stats.capBytes)}`],
  ];
}

/** ` (3 manual, 1 initial)` */
function breakdown(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, number]) => `${number} ${name}`);
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}
