import { defineCommand } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import type { Output } from "../output/output.ts";
import { visible } from "../output/visible.ts";
import { fitLine } from "@belay/tui/text";

export default defineCommand({
  usage: "doctor",
  about: "Checks everything that could stop Belay from working here. The exit code is 1 if something does.",
  options: {},
  operands: { min: 0, max: 0 },
  exits: { 0: "everything is in order, warnings aside", 1: "something keeps Belay from working here" },
  examples: ["belay doctor", "belay doctor --json"],
  run: async (call) => {
    const { diagnose } = await import("@belay/engine");
    const { residentCheck } = await import("../resident/resident-status.ts");
    const { recordUncaptured } = await import("../agents/uncaptured-work.ts");
    const { remoteChecks } = await import("../command-parts/remote-checks.ts");
    const remotes: Check[] = [];
    const { checks: found } = await diagnose(call.directory, {
      home: call.home,
      opened: async (workspace) => {
        remotes.push(...(await remoteChecks(workspace, call.home)));
        return recordUncaptured(call.home, workspace);
      },
    });
    const { agentChecks } = await import("../agents/agent-checks.ts");
    const { captureJson, captureStateAt } = await import("../agents/capture-state.ts");
    const capture = await captureStateAt(call.home, call.directory);
    const agents = agentChecks(call.home, capture, Date.now());
    const checks: Check[] = [...found, ...remotes, await residentCheck(call.home), ...agents];
    const { doctorJson } = await import("@belay/server/json");
    const report = doctorJson(checks, captureJson(capture));
    if (call.json) call.output.json(report);
    else call.output.print(checks.map((check) => checkText(check, call.output)).join("\n"));
    return report.ok ? EXIT.done : EXIT.failed;
  },
});

interface Check {
  readonly name: string;
  readonly status: "ok" | "warning" | "problem";
  readonly detail: string;
  readonly hint?: string;
}

function checkText(check: Check, { style, width }: Output): string {
  const mark = { ok: style.green("✓"), warning: style.yellow("!"), problem: style.red("✗") }[check.status];
  const line = `${mark} ${style.bold(visible(check.name))}: ${visible(check.detail)}`;
  const lines = [fitLine(line, width, "  ")];
  if (check.hint !== undefined && check.status !== "ok")
    lines.push(
      `  ${fitLine(`${style.dim("→")} ${visible(check.hint)}`, width - 4).replaceAll("\n", "\n    ")}`,
    );
  return lines.join("\n");
}
