import type { CheckpointRequest, TakenCheckpoint, Workspace } from "@belay/engine";
import type { CallOutput } from "@belay/protocol";
import { ALL_ENTRIES, defineCommand, THREAD, type Call } from "../call/command.ts";
import { EXIT, usageError } from "@belay/protocol/errors";
import { takenJson } from "@belay/server/json";
import { warnAll, withWorkspace } from "../wiring/open-workspace.ts";
import { changesPaint, changesText, checkpointLabel } from "../output/checkpoint-table.ts";
import { doubtList, gapList } from "../output/file-list.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { count, duration } from "../output/quantity.ts";
import { threadId } from "../call/thread-option.ts";
import { workspacePath } from "../call/workspace-path.ts";

export default defineCommand({
  usage: "checkpoint [-m name] [--note text] [--tag tag] [--include path] [--thread t]",
  about: "Keeps the present state of all files, durably. Manual checkpoints are never pruned.",
  options: {
    name: { type: "string", short: "m", value: "name", about: "a name to find it by" },
    note: { type: "string", value: "text", about: "a note" },
    tag: { type: "string", multiple: true, value: "tag", about: "a tag; may be given several times" },
    include: {
      type: "string",
      multiple: true,
      value: "path",
      about: "a path that this checkpoint holds although .belayignore or a default leaves it out",
    },
    thread: { ...THREAD, about: "the thread it belongs to" },
    all: ALL_ENTRIES,
  },
  operands: { min: 0, max: 0 },
  examples: [`belay checkpoint -m before-refactoring --note "all tests pass"`],
  run: async (call) => {
    const { name, note, tag: tags, include } = call.options;
    if (name === "") throw usageError("The name is empty.", "Leave out -m, or give it a name.");
    const asked =
      call.options.all === true || (call.options.thread ?? include) !== undefined
        ? undefined
        : await ask(call);
    if (asked !== undefined) return report(call, asked);
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
      else printTaken(call, taken, call.options.all);
      return EXIT.done;
    });
  },
});

type Answer = CallOutput<"POST /api/checkpoints">;

/** The resident process takes it, if there is one. */
async function ask(call: Call): Promise<Answer | undefined> {
  const { askResident } = await import("../resident/ask-resident.ts");
  const { name, note, tag } = call.options as { name?: string; note?: string; tag?: readonly string[] };
  const body = { ...(name && { name }), ...(note && { annotation: note }), ...(tag && { tags: [...tag] }) };
  const query = { workspace: call.directory };
  return askResident(call.home, (client) => client.call("POST /api/checkpoints", { query, body }));
}

function report(call: Call, answer: Answer): number {
  const { checkpoint, warnings } = answer;
  warnAll(call, warnings);
  if (call.json) call.output.json(answer);
  else
    printTaken(
      call,
      {
        ...answer,
        checkpoint,
        gaps: checkpoint.gaps.map(bytePath),
        doubts: checkpoint.doubts.map(bytePath),
      } as unknown as TakenCheckpoint,
      false,
    );
  return EXIT.done;
}

/** A path of an answer, as the engine has it. */
function bytePath<Item extends { path: string; pathBase64?: string | undefined }>(item: Item) {
  const bytes =
    item.pathBase64 === undefined ? Buffer.from(item.path) : Buffer.from(item.pathBase64, "base64");
  return { ...item, path: bytes.toString("latin1") };
}

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
  all: boolean | undefined,
): void {
  const { style } = output;
  const { checkpoint } = taken;
  const changes = taken.unchanged ? "unchanged" : changesPaint(style)(changesText(checkpoint.changes));
  const facts = `${changes}, ${count(checkpoint.files, "file")}, ${duration(taken.durationMs)}`;
  if (!output.quiet) output.print(`${style.green("✓")} ${checkpointLabel(checkpoint, style)} (${facts})`);
  // what was not captured is said even to those who want it quiet
  if (taken.gaps.length > 0) output.warn(`Not captured:\n${gapList(taken.gaps, output, all)}`);
  if (taken.doubts.length > 0) output.warn(`Captured with a doubt:\n${doubtList(taken.doubts, output, all)}`);
}
