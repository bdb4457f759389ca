import type { TakenCheckpoint, Workspace } from "@belay/engine";
import { ALL_ENTRIES, defineCommand, YES, type Call } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { checkpointJson } from "@belay/server/json";
import { warnAll } from "../open-workspace.ts";
import { excludedList, gapList } from "../output/file-list.ts";
import { section } from "../output/facts.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { count, duration, size } from "../output/quantity.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "init [--no-agents] [--nested]",
  about: [
    "Protects the current directory: from now on its states can be kept, compared and brought back.",
    "Everything is kept outside of it (see --home); git is never touched.",
  ].join("\n"),
  options: {
    "no-agents": { type: "boolean", about: "install no hooks for agents (there are none yet)" },
    nested: { type: "boolean", about: "allow it inside a directory that is protected already" },
    yes: YES,
    all: ALL_ENTRIES,
  },
  operands: { min: 0, max: 0 },
  run: async (call) => {
    const { initial, workspace } = await protect(call, call.options.nested === true);
    await using opened = workspace;
    warnAll(call, [...opened.notices, ...(initial?.warnings ?? [])]);
    const result = { initial, workspace: opened, all: call.options.all };
    if (call.json) call.output.json(initJson(result));
    else await printProtected(call, result);
    return EXIT.done;
  },
});

interface Result {
  /** null when the directory was protected already. */
  readonly initial: TakenCheckpoint | null;
  readonly workspace: Workspace;
  readonly all: boolean | undefined;
}

async function protect(call: Call, nested: boolean) {
  const { initWorkspace } = await import("@belay/engine");
  using bar = createProgressBar("Capturing", "file", !call.json && !call.output.quiet);
  return await initWorkspace(call.directory, { home: call.home, nested, progress: (at) => bar.update(at) });
}

function initJson({ initial, workspace, all }: Result) {
  const { id, root, store } = workspace;
  const place = { workspace: id, path: root, store, created: initial !== null };
  if (initial === null) return { ...place, checkpoint: null, durationMs: null };
  const { checkpoint, gaps, doubts, durationMs } = initial;
  return {
    ...place,
    checkpoint: checkpointJson(checkpoint, { workspace: id, all, gaps, doubts }),
    durationMs,
  };
}

async function printProtected(
  { output }: Pick<Call, "output">,
  { initial, workspace, all }: Result,
): Promise<void> {
  const { style, quiet } = output;
  const root = style.bold(visible(workspace.root));
  if (initial === null) {
    const { checkpoints } = await workspace.stats();
    const text = `${root} is already protected: ${count(checkpoints, "checkpoint")}.`;
    if (!quiet) output.print(`${text}\n${style.dim("→")} \`belay status\` tells more.`);
    return;
  }
  const { files, bytes } = initial.checkpoint;
  const facts = `${count(files, "file")}, ${size(bytes)}, ${duration(initial.durationMs)}`;
  if (!quiet) output.print(`${style.green("✓")} ${root} is protected (${facts}).`);
  if (initial.gaps.length > 0) output.warn(`Not captured:\n${gapList(initial.gaps, output, all)}`);
  if (quiet) return;
  const { excluded } = await workspace.show(initial.id);
  if (excluded.length > 0) {
    output.print(section("Not protected", excludedList(excluded, output, all), output));
  }
  output.print(
    `\n${style.dim("→")} \`belay run -- <agent>\` makes a step of it; \`belay undo\` takes it back.`,
  );
}
