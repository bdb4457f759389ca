import type { VerifyReport, Workspace } from "@belay/engine";
import { defineCommand, type Call } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { verifyJson } from "@belay/server/json";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { tellParentProcess } from "../resident/command-process.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { count, size } from "@belay/tui/text";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "verify [--full]",
  about: [
    "Verifies that the store is sound: its structure, and with --full every byte of every checkpoint.",
    "Damage is listed with the checkpoints it affects, and the exit code is 5.",
  ].join("\n"),
  options: { full: { type: "boolean", about: "re-hash every byte" } },
  operands: { min: 0, max: 0 },
  exits: { 0: "the store is sound", 5: "the store is damaged" },
  examples: ["belay verify", "belay verify --full"],
  run: (call) =>
    withWorkspace(call, async (workspace) => {
      const full = call.options.full === true;
      const report = await verifyWithBar(call, workspace, full);
      if (call.json) call.output.json(verifyJson(report));
      else if (!report.ok || !call.output.quiet) call.output.print(verifyText(report, full, call));
      return report.ok ? EXIT.done : EXIT.damaged;
    }),
});

async function verifyWithBar(call: Call, workspace: Workspace, full: boolean): Promise<VerifyReport> {
  using bar = createProgressBar("Verifying", "object", !call.json && !call.output.quiet);
  const progress = (done: number, total: number) => {
    bar.update({ done, total });
    tellParentProcess({ done, total });
  };
  return await workspace.upkeep.verify({ full, progress });
}

function verifyText(report: VerifyReport, full: boolean, { output }: Pick<Call, "output">): string {
  const { style } = output;
  const read = full ? `, ${size(report.bytes)}` : "";
  const sum = `${count(report.checkpoints, "checkpoint")}, ${count(report.objects, "object")}${read}`;
  if (report.ok) {
    const hint =
      full || output.quiet ? "" : `\n${style.dim("→")} \`belay verify --full\` re-hashes every byte.`;
    return `${style.green("✓")} The store is sound: ${sum}.${hint}`;
  }
  const problems = report.problems.map((problem) => {
    const affected =
      problem.checkpoints.length === 0 ? "" : `\n    affects ${problem.checkpoints.join(", ")}`;
    return `  ${style.red(problem.kind)}  ${visible(problem.detail)}${affected}`;
  });
  return [
    `${style.red("✗")} The store is damaged: ${count(report.problems.length, "problem")} in ${sum}.`,
    ...problems,
    `${style.dim("→")} Checkpoints that are not listed still restore exactly. \`belay export <checkpoint>\` saves one elsewhere.`,
  ].join("\n");
}
