import type { Diff } from "@belay/engine";
import { ALL_ENTRIES, ANY_NUMBER, defineCommand, type Call } from "../call/command.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { diffJson } from "@belay/server/json";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { changedFilesText, changesText } from "../output/checkpoint-table.ts";
import { printDiff } from "../output/diff-text.ts";
import { changedFileList } from "../output/file-list.ts";
import { count, grouped } from "@belay/tui/text";
import { visiblePath } from "../output/visible.ts";
import { workspacePaths } from "../call/workspace-path.ts";

export default defineCommand({
  usage: "diff [a] [b] [[--] paths…] [--stat | --name-only]",
  about: [
    "Without a checkpoint: from the newest one to the files as they are now. With one: from it to now.",
    "With two: from one to the other. With a turn (T3): what it changed. Paths come after them, or after -- where a name could be both.",
  ].join("\n"),
  options: {
    stat: { type: "boolean", about: "show only files and line counts" },
    "name-only": { type: "boolean", about: "show only the names" },
    all: ALL_ENTRIES,
  },
  operands: { min: 0, max: ANY_NUMBER },
  examples: [
    "belay diff",
    "belay diff @turn",
    "belay diff 11 12",
    "belay diff src/",
    "belay diff @-1 --stat -- src/",
  ],
  run: (call) => {
    if (call.dashesAt > 2 && call.dashesAt < call.operands.length)
      throw usageError("`belay diff` takes at most two checkpoints.", "Paths go after --.");
    if (call.options.stat === true && call.options["name-only"] === true) {
      throw usageError("--stat and --name-only cannot be combined.", "Use one of them.");
    }
    return withWorkspace(call, async (workspace) => {
      const { compare, statesAndPaths } = await import("../command-parts/states-and-paths.ts");
      const given = await statesAndPaths(call, workspace);
      const paths = workspacePaths(workspace, call.directory, given.paths);
      const detail =
        call.options["name-only"] === true ? "names" : call.options.stat === true ? "counts" : "text";
      const diff = await compare(workspace, given.states, { detail, ...(paths && { paths }) });
      if (call.json) call.output.json(diffJson(diff));
      else await printResult(call, diff, detail);
      return EXIT.done;
    });
  },
});

type DiffCall = Pick<Call, "output"> & { readonly options: { readonly all?: boolean } };

async function printResult(call: DiffCall, diff: Diff, detail: "names" | "counts" | "text"): Promise<void> {
  const { output } = call;
  if (diff.files.length === 0) output.note("No differences.");
  else if (detail === "names") output.print(diff.files.map((file) => visiblePath(file.path)).join("\n"));
  else if (detail === "counts")
    output.print(`${changedFileList(diff.files, output, call.options.all)}\n${totals(diff)}`);
  else await printDiff(diff, output);
}

function totals({ summary }: Diff): string {
  return `${changedFilesText(summary)} changed (${changesText(summary)}), ${count(summary.linesAdded ?? 0, "line")} added, ${grouped(summary.linesDeleted ?? 0)} deleted`;
}
