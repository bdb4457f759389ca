import type { CheckpointRequest, TakenCheckpoint, Workspace } from "@belay/engine";
import { ALL_ENTRIES, ANY_NUMBER, defineCommand, THREAD, type Call } from "../call/command.ts";
import { shellWords } from "@belay/protocol/command-text";
import { EXIT, usageError } from "@belay/protocol/errors";
import { takenJson } from "@belay/server/json";
import { warnAll, withWorkspace } from "../wiring/open-workspace.ts";
import { changesPaint, changesText, checkpointLabel } from "../output/checkpoint-table.ts";
import { doubtList, gapList } from "../output/file-list.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { count, duration } from "@belay/tui/text";
import { threadId } from "../call/thread-option.ts";
import { workspacePath } from "../call/workspace-path.ts";

export default defineCommand({
  usage: "checkpoint [-m name] [--note text] [--tag tag] [--include path] [--thread t]",
  about: "Takes a checkpoint of all files. Manual checkpoints are never pruned.",
  options: {
    name: { type: "string", short: "m", value: "name", about: "a name to find it by" },
    note: { type: "string", value: "text", about: "a note" },
    tag: { type: "string", multiple: true, value: "tag", about: "a tag; may be given several times" },
    include: {
      type: "string",
      multiple: true,
      value: "path",
      about: "capture this path too, although .belayignore or a default excludes it",
    },
    thread: { ...THREAD, about: "the thread it belongs to" },
    all: ALL_ENTRIES,
  },
  operands: { min: 0, max: ANY_NUMBER },
  examples: [`belay checkpoint -m before-refactoring --note "all tests pass"`],
  run: async (call) => {
    const { name, note, tag: tags, include } = call.options;
    if (call.operands.length > 0)
      throw usageError(
        `Unexpected argument "${call.operands[0]}".`,
        `A name goes after -m: \`${shellWords(["belay", "checkpoint", "-m", call.operands.join(" ")])}\``,
      );
    if (name === "") throw usageError("The name is empty.", "Leave out -m, or give it a name.");
    return withWorkspace(call, async (workspace) => {
      const thread = await threadId(workspace, call.options.thread);
      const annotations = { ...(name && { name }), ...(note && { note }), ...(tags && { tags }) };
      const paths = include?.map((path) => workspacePath(workspace, call.directory, path));
      const request = {
        kind: "manual",
        ...annotations,
        ...(thread && { thread }),
        ...(paths && { include: paths }),
      } as const;
      const taken = await capture(call, workspace, request);
      warnAll(call, taken.warnings);
      if (call.json) call.output.json(takenJson(taken, workspace.id));
      else printTaken(call, taken, { limits: workspace.limits, all: call.options.all });
      return EXIT.done;
    });
  },
});

async function capture(
  call: Call,
  workspace: Workspace,
  request: CheckpointRequest,
): Promise<TakenCheckpoint> {
  using bar = createProgressBar("Capturing", "file", !call.json && !call.output.quiet);
  return await workspace.checkpoint(request, (at) => bar.update(at));
}

function printTaken(
  { output }: Pick<Call, "output">,
  taken: TakenCheckpoint,
  { limits, all }: Pick<Workspace, "limits"> & { readonly all: boolean | undefined },
): void {
  const { style } = output;
  const { checkpoint } = taken;
  const changes = taken.unchanged ? "unchanged" : changesPaint(style)(changesText(checkpoint.changes));
  const facts = `${changes}, ${count(checkpoint.files, "file")}, ${duration(taken.durationMs)}`;
  if (!output.quiet) output.print(`${style.green("✓")} ${checkpointLabel(checkpoint, style)} (${facts})`);
  // gaps are reported even with --quiet
  if (taken.gaps.length > 0) output.warn(`Not captured:\n${gapList(taken.gaps, limits, { output, all })}`);
  if (taken.doubts.length > 0) output.warn(`Captured with a doubt:\n${doubtList(taken.doubts, output, all)}`);
}
