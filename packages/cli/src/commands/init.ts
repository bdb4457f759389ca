import type { TakenCheckpoint, Workspace } from "@belay/engine";
import { ALL_ENTRIES, defineCommand, YES, type Call } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { checkpointJson } from "../json/checkpoint-json.ts";
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
    const { initial, created, workspace } = await protect(call, call.options.nested === true);
    await using protectedWorkspace = workspace;
    warnAll(call, [...protectedWorkspace.notices, ...initial.warnings]);
    const result = { initial, created, workspace: protectedWorkspace, all: call.options.all };
    if (call.json) call.output.json(await initJson(result));
    else await printProtected(call, result);
    return EXIT.done;
  },
});

interface Result {
  readonly workspace: Workspace;
  readonly initial: TakenCheckpoint;
  readonly created: boolean;
  readonly all: boolean | undefined;
}

async function protect(call: Call, nested: boolean): Promise<Omit<Result, "all">> {
  const { initWorkspace } = await import("@belay/engine");
  using bar = createProgressBar("Capturing", "file", !call.json && !call.output.quiet);
  return await initWorkspace(call.directory, { home: call.home, nested, progress: (at) => bar.update(at) });
}

async function initJson({ workspace, initial, created, all }: Result) {
  const { store } = await workspace.status();
  const { checkpoint, gaps, doubts, durationMs } = initial;
  return {
    workspace: workspace.id,
    path: workspace.root,
    store,
    created,
    checkpoint: checkpointJson(checkpoint, { workspace: workspace.id, all, gaps, doubts }),
    durationMs,
  };
}

async function printProtected({ output }: Call, { workspace, initial, created, all }: Result): Promise<void> {
  const { style } = output;
  const root = style.bold(visible(workspace.root));
  if (!created) {
    output.print(`${root} is already protected: checkpoint ${initial.checkpoint.seq} is its first.`);
    return;
  }
  const { files, bytes } = initial.checkpoint;
  const facts = `${count(files, "file")}, ${size(bytes)}, ${duration(initial.durationMs)}`;
  if (!output.quiet) output.print(`${style.green("✓")} ${root} is protected (${facts}).`);
  if (initial.gaps.length > 0) output.warn(`Not captured:\n${gapList(initial.gaps, output, all)}`);
  const { excluded } = await workspace.status();
  if (output.quiet) return;
  if (excluded.length > 0)
    output.print(section("Not protected", excludedList(excluded, output, all), output));
  output.print(
    `\n${style.dim("→")} \`belay run -- <agent>\` makes a step of it; \`belay undo\` takes it back.`,
  );
}
