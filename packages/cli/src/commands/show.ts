import type {
  Checkpoint,
  CheckpointDetails,
  FileChange,
  GitState,
  TimelineRow,
  Workspace,
} from "@belay/engine";
import { ALL_ENTRIES, defineCommand, type Call } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import {
  checkpointDetailsJson,
  checkpointJson,
  fileChangeJson,
  historyRowJson,
  historyStepJson,
  listField,
} from "@belay/server/json";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { changesPaint, changesText } from "../output/checkpoint-table.ts";
import { diffForPeople } from "../output/diff-text.ts";
import { factTable, section } from "../output/facts.ts";
import { changedFileList, doubtList, excludedList, gapList, outsideFiles } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { count, dayAndTime, fitLine, relativeTime, size } from "@belay/tui/text";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "show [turn | checkpoint] [-p] [--all]",
  about: [
    "A turn: who, when, what it changed and with which tool calls. A checkpoint: when and why it was taken,",
    "what changed since the one before, and what it does not hold. Without a name: the last turn.",
  ].join("\n"),
  options: {
    patch: { type: "boolean", short: "p", about: "with what changed, line by line" },
    all: ALL_ENTRIES,
  },
  operands: { min: 0, max: 1 },
  examples: ["belay show", "belay show @turn -p", "belay show @", "belay show 12"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const { localReference } = await import("../command-parts/remote-reference.ts");
      const [named] = call.operands;
      const given = named === undefined ? undefined : await localReference(call, workspace, named);
      const row = await turnOf(workspace, given);
      if (row === undefined && given !== undefined) {
        const { resolveNamingPaths } = await import("../going-back/turn-of-path.ts");
        await resolveNamingPaths(call, workspace, given);
      }
      await (row === undefined ? showCheckpoint : showTurn)(call, workspace, row?.ref ?? given ?? "@");
      return EXIT.done;
    }),
});

type ShowCall = Pick<Call, "json" | "output"> & {
  readonly options: { readonly all?: boolean; readonly patch?: boolean };
};

/** The turn that is meant: by its name, as the last one, or because the newest checkpoints are only its end. */
async function turnOf(workspace: Workspace, ref: string | undefined): Promise<TimelineRow | undefined> {
  const { isTurnName } = await import("@belay/engine");
  if (ref !== undefined && isTurnName(ref)) return workspace.timeline.row(ref);
  if (ref === undefined) {
    const { rows } = await workspace.timeline.rows({
      q: "kind:turn",
      before: Number.MAX_SAFE_INTEGER,
      limit: 1,
    });
    return rows[0];
  }
  if (!/^@(?:-\d+)?$/.test(ref)) return undefined;
  const { checkpoint, files } = await workspace.show(ref);
  if (files.length > 0 || checkpoint.kind === "manual" || checkpoint.kind === "initial") return undefined;
  return findTurnAround(workspace, checkpoint);
}

/** The turn that a checkpoint was taken in. */
async function findTurnAround(workspace: Workspace, { seq }: Checkpoint): Promise<TimelineRow | undefined> {
  const row = await workspace.timeline.row(String(seq)).catch(() => undefined);
  return row?.kind === "turn" ? row : undefined;
}

async function showTurn(call: ShowCall, workspace: Workspace, ref: string): Promise<void> {
  const { all, patch = false } = call.options;
  const row = await workspace.timeline.row(ref);
  const steps = await workspace.timeline.steps(ref);
  const { files } = await workspace.timeline.changes(ref, { detail: patch ? "text" : "counts" });
  if (!call.json) {
    const { turnText } = await import("../output/turn-text.ts");
    call.output.print(turnText({ row, files, steps }, call.output, { all, patch }));
    return patch ? printLines(files, call.output) : undefined;
  }
  const { checkpoint } = await workspace.show(row.id);
  call.output.json({
    turn: historyRowJson(row),
    steps: steps.map(historyStepJson),
    checkpoint: checkpointJson(checkpoint, { workspace: workspace.id }),
    ...listField("files", files.map(fileChangeJson)),
  });
}

/** Shows a checkpoint: when and why it was taken, what it changed, what it leaves out. */
export async function showCheckpoint(call: ShowCall, workspace: Workspace, ref: string): Promise<void> {
  const details = await workspace.show(ref);
  const { all, patch = false } = call.options;
  const { checkpoint } = details;
  // of another line, the one before it may not be here
  const [parent] = await hereOf(workspace, checkpoint.parents);
  const lines =
    patch && parent !== undefined
      ? await workspace.diff({ from: parent, to: checkpoint.id, detail: "text" })
      : undefined;
  if (call.json) {
    const json = checkpointDetailsJson(details, workspace.id);
    return call.output.json(lines === undefined ? json : { ...json, files: lines.files.map(fileChangeJson) });
  }
  const turn = await findTurnAround(workspace, checkpoint);
  call.output.print(detailsText({ ...details, turn }, call.output, all));
  if (lines !== undefined) printLines(lines.files, call.output);
}

async function hereOf(workspace: Workspace, ids: readonly string[]): Promise<string[]> {
  const found = await Promise.all(ids.map((id) => workspace.resolve(id).catch(() => undefined)));
  return found.flatMap((each) => (each === undefined ? [] : [each.id]));
}

function printLines(files: readonly FileChange[], output: Output): void {
  if (files.length > 0) output.content(`\n${diffForPeople(files, output)}`);
}

/** A checkpoint, and the turn that it was taken in. */
type ShownCheckpoint = CheckpointDetails & { readonly turn: TimelineRow | undefined };

function detailsText(details: ShownCheckpoint, output: Output, all: boolean | undefined): string {
  const { files, gaps, doubts, excluded, outside, checkpoint } = details;
  const { style } = output;
  const parts = [
    `${style.bold(`Checkpoint ${checkpoint.seq}`)}  ${style.dim(checkpoint.id)}`,
    factTable(facts(details, output), output),
  ];
  if (files.length > 0) parts.push(section("Changed", changedFileList(files, output, all), output));
  if (gaps.length > 0)
    parts.push(section("Not captured", gapList(gaps, details.limits, { output, all }), output));
  if (doubts.length > 0) parts.push(section("Captured with a doubt", doubtList(doubts, output, all), output));
  if (excluded.length > 0) parts.push(section("Not protected", excludedList(excluded, output, all), output));
  if (outside.length > 0)
    parts.push(section("Outside the workspace", outsideFiles(outside, output, all), output));
  if (!output.quiet)
    parts.push(`\n${fitLine(`${style.dim("→")} ${nextSteps(details)}`, output.width, "  ")}`);
  return parts.join("\n");
}

function facts({ checkpoint, turn }: ShownCheckpoint, output: Output) {
  const { name, note, tags, kind, phase, thread, git, parents, createdAt } = checkpoint;
  const parent = parents[0];
  return [
    name === null ? undefined : (["name", output.style.bold(visible(name))] as const),
    ["what", visible(checkpoint.description)] as const,
    turn === undefined ? undefined : (["turn", turnFact(turn, checkpoint)] as const),
    ["kind", phase === null ? kind : `${kind}, ${phase}`] as const,
    ["taken", `${relativeTime(createdAt)} (${dayAndTime(createdAt)})`] as const,
    note === null ? undefined : (["note", visible(note)] as const),
    tags.length === 0 ? undefined : (["tags", tags.map(visible).join(", ")] as const),
    thread === null ? undefined : (["thread", thread] as const),
    git === null ? undefined : (["git", gitText(git)] as const),
    ["holds", `${count(checkpoint.files, "file")}, ${size(checkpoint.bytes)}`] as const,
    parent === undefined ? undefined : (["parent", parent] as const),
    parent === undefined
      ? (["changes", "none: it is the first"] as const)
      : (["changes", changesPaint(output.style)(changesText(checkpoint.changes))] as const),
  ];
}

function turnFact({ ref, title, before, after }: TimelineRow, { id }: Checkpoint): string {
  const side = id === before ? "before" : id === after ? "after" : "in";
  return `${side} ${ref} “${visible(title)}”`;
}

function gitText(git: GitState): string {
  const commit = git.commit === null ? "no commit" : git.commit.slice(0, 12);
  const staged = git.staged.length > 0 ? `, ${count(git.staged.length, "staged file")}` : "";
  return `${visible(git.branch ?? "detached")} at ${commit}${git.dirty ? ", dirty" : ", clean"}${staged}`;
}

function nextSteps({ checkpoint }: CheckpointDetails): string {
  const restore = `\`belay restore ${checkpoint.seq}\` goes back to it`;
  const [parent] = checkpoint.parents;
  if (parent === undefined) return `${restore}.`;
  return `\`belay diff ${parent.slice(0, 8)} ${checkpoint.seq}\` shows the lines; ${restore}.`;
}
