import type { BytePath, SpaceGroup, SpaceUse, Stats, UsageBy, Workspace } from "@belay/engine";
import { ALL_ENTRIES, defineCommand, type Call } from "../call/command.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { storageJson, usageJson } from "@belay/server/json";
import { listText } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { table, type Cell } from "../output/table.ts";
import { threadLabel } from "../output/thread-table.ts";
import { visible, visiblePath } from "../output/visible.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { factTable, type Fact } from "../output/facts.ts";
import { count, fitLine, relativeTime, size } from "@belay/tui/text";

export default defineCommand({
  usage: "stats [--by thread | directory | kind | checkpoint]",
  about: [
    "Counts and sizes: checkpoints by kind, what was done, objects, packs, disk use.",
    "\n\n",
    "With --by: who takes the space. Equal content is stored once, so each line counts only what no other",
    "line needs: about what would be freed if it went. What several need has a line of its own. Single",
    "checkpoints share nearly everything with the next one: their lines count what each was the first to hold.",
  ].join("\n"),
  options: {
    by: {
      type: "string",
      value: "what",
      about: "who takes the space: thread, directory, kind or checkpoint",
    },
    all: ALL_ENTRIES,
  },
  operands: { min: 0, max: 0 },
  examples: ["belay stats", "belay stats --by thread", "belay stats --by directory"],
  run: (call) => {
    const by = usageBy(call.options.by);
    return withWorkspace(call, async (workspace) => {
      if (by !== undefined) return printUsage(call, workspace, by);
      const stats = await workspace.upkeep.stats();
      if (call.json) call.output.json(storageJson(stats));
      else call.output.print(factTable(facts(stats), call.output));
      return EXIT.done;
    });
  },
});

const GROUPINGS = ["thread", "directory", "kind", "checkpoint"] as const;

function usageBy(given: string | undefined): UsageBy | undefined {
  const by = GROUPINGS.find((each) => each === given);
  if (by !== undefined || given === undefined) return by;
  throw usageError(`--by takes ${GROUPINGS.join(", ")}, not "${given}".`, "For example: --by thread");
}

async function printUsage(
  call: Pick<Call<{ all: typeof ALL_ENTRIES }>, "json" | "output" | "options">,
  workspace: Workspace,
  by: UsageBy,
): Promise<number> {
  const { output } = call;
  const usage = await workspace.upkeep.usage(by);
  if (call.json) {
    output.json(usageJson(by, usage));
    return EXIT.done;
  }
  const names = await namesOf(workspace, by);
  const rows = usage.groups.map((group) => useRow(group, groupLabel(by, group.key, names), output));
  const others = [
    ...(usage.shared.bytes > 0 ? [useRow(usage.shared, SHARED_BY[by], output)] : []),
    ...(usage.rest.bytes > 0 ? [useRow(usage.rest, "no longer needed, or Belay's own records", output)] : []),
  ];
  const shown = (some: readonly Cell[][]) =>
    table([...some, ...others], {
      width: output.width,
      indent: "  ",
      flexible: 3,
      dispensable: [1],
      right: [0, 1, 2],
    });
  const meaning =
    by === "checkpoint"
      ? "About what each checkpoint was the first to hold, and of how much content:"
      : `About what each ${by} takes that no other needs, and of how much content:`;
  output.note(output.noteStyle.dim(fitLine(meaning, output.width)));
  output.print(listText(rows, { output, all: call.options.all }, shown));
  return EXIT.done;
}

const SHARED_BY: Readonly<Record<UsageBy, string>> = {
  thread: "needed by several threads",
  directory: "the same in several directories",
  kind: "needed by several kinds",
  checkpoint: "needed by several checkpoints",
};

/** Stored bytes, content bytes, checkpoints, and whose they are. */
function useRow(
  use: SpaceUse & Partial<Pick<SpaceGroup, "checkpoints">>,
  label: string,
  output: Output,
): Cell[] {
  const { bytes, storedBytes, checkpoints = null } = use;
  return [
    { text: size(storedBytes) },
    { text: `of ${size(bytes)}`, paint: output.style.dim },
    { text: checkpoints === null ? "" : count(checkpoints, "checkpoint") },
    { text: label },
  ];
}

/** Names of threads or checkpoints, where those are the groups. */
async function namesOf(workspace: Workspace, by: UsageBy): Promise<ReadonlyMap<string, string>> {
  if (by === "thread")
    return new Map((await workspace.threads.list()).map((thread) => [thread.id, threadLabel(thread)]));
  if (by !== "checkpoint") return new Map();
  const checkpoints = await workspace.list();
  return new Map(
    checkpoints.map(({ id, seq, name, description }) => [id, `${seq} ${visible(name ?? description)}`]),
  );
}

function groupLabel(by: UsageBy, key: string | null, names: ReadonlyMap<string, string>): string {
  if (by === "directory") return key === "" ? "files at the top" : `${visiblePath(key as BytePath)}/`;
  if (key === "pruned") return "pruned; `belay gc` frees it after a day";
  if (by === "kind") return key ?? "";
  if (key === null) return "without a thread";
  const short = key.slice(0, 8);
  // the list of checkpoints is that of the branch here
  return (
    names.get(key) ?? (by === "checkpoint" ? `${short}, on another branch` : `a deleted thread, ${short}`)
  );
}

function facts(stats: Stats): Fact[] {
  const { oldest, newest, contentBytes, storedBytes } = stats;
  const ratio = storedBytes > 0 ? `, ${(contentBytes / storedBytes).toFixed(1)} times smaller` : "";
  return [
    ["checkpoints", `${stats.checkpoints}${breakdown(stats.byKind)}`],
    ["operations", breakdown(stats.operations).replace(/^ \(|\)$/g, "") || "none"],
    ["threads", String(stats.threads)],
    ["rolled back", rolledBack(stats)],
    [
      "manual",
      `${count(stats.usage.manualCheckpoints, "checkpoint")}${inThreads(stats.usage.threadsWithManual, stats)}`,
    ],
    oldest === null || newest === null
      ? undefined
      : ["taken", `${relativeTime(oldest)} to ${relativeTime(newest)}`],
    ["content", `${size(contentBytes)} in ${count(stats.objects, "object")}`],
    ["stored", `${size(storedBytes)} in ${count(stats.packs, "pack")}${ratio}`],
    ["on disk", `${size(stats.diskBytes)} of at most ${size(stats.capBytes)}`],
  ];
}

/** Counted in the log, so that what was pruned since is among it. */
function rolledBack(stats: Stats): string {
  const { rollbacks, undos, threadsWithRollback } = stats.usage;
  if (rollbacks === 0) return "never";
  const by = undos === 0 ? "" : `, ${undos} of them by undo`;
  return `${count(rollbacks, "time")}${by}${inThreads(threadsWithRollback, stats)}`;
}

function inThreads(threads: number, stats: Stats): string {
  return threads === 0 ? "" : `, in ${threads} of ${count(stats.usage.threads, "thread")}`;
}

/** ` (3 manual, 1 initial)` */
function breakdown(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, number]) => `${number} ${name}`);
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}
