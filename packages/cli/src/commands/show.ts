import type { CheckpointDetails, GitState } from "@belay/engine";
import { ALL_ENTRIES, defineCommand } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { checkpointDetailsJson } from "@belay/server/json";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { changesPaint, changesText } from "../output/checkpoint-table.ts";
import { factTable, section } from "../output/facts.ts";
import { changedFileList, doubtList, excludedList, gapList } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { count, dayAndTime, fitLine, relativeTime, size } from "@belay/tui/text";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "show <checkpoint> [--all]",
  about:
    "One checkpoint: when and why it was taken, what changed since the one before, and what it does not hold.",
  options: { all: ALL_ENTRIES },
  operands: { min: 1, max: 1 },
  examples: ["belay show @", "belay show 12"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const details = await workspace.show(call.operands[0] ?? "");
      const { all } = call.options;
      if (call.json) call.output.json(checkpointDetailsJson(details, workspace.id));
      else call.output.print(detailsText(details, call.output, all));
      return EXIT.done;
    }),
});

function detailsText(details: CheckpointDetails, output: Output, all: boolean | undefined): string {
  const { files, gaps, doubts, excluded, checkpoint } = details;
  const { style } = output;
  const parts = [
    `${style.bold(`Checkpoint ${checkpoint.seq}`)}  ${style.dim(checkpoint.id)}`,
    factTable(facts(details, output), output),
  ];
  if (files.length > 0) parts.push(section("Changed", changedFileList(files, output, all), output));
  if (gaps.length > 0) parts.push(section("Not captured", gapList(gaps, output, all), output));
  if (doubts.length > 0) parts.push(section("Captured with a doubt", doubtList(doubts, output, all), output));
  if (excluded.length > 0) parts.push(section("Not protected", excludedList(excluded, output, all), output));
  if (!output.quiet)
    parts.push(`\n${fitLine(`${style.dim("→")} ${nextSteps(details)}`, output.width, "  ")}`);
  return parts.join("\n");
}

function facts({ checkpoint }: CheckpointDetails, output: Output) {
  const { name, note, tags, kind, phase, thread, git, parents, createdAt } = checkpoint;
  const parent = parents[0];
  return [
    name === null ? undefined : (["name", output.style.bold(visible(name))] as const),
    ["what", visible(checkpoint.description)] as const,
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
