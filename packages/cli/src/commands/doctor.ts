import { defineCommand } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import type { Style } from "../output/style.ts";
import { visible } from "../output/visible.ts";

export default defineCommand({
  usage: "doctor",
  about:
    "Looks for everything that could keep Belay from doing its job here. The exit code is 1 if something does.",
  options: {},
  operands: { min: 0, max: 0 },
  run: async (call) => {
    const { diagnose } = await import("@belay/engine");
    const { residentCheck } = await import("../resident/resident-status.ts");
    const { recordUncaptured } = await import("../agents/uncaptured-work.ts");
    const { checks: found } = await diagnose(call.directory, {
      home: call.home,
      opened: (workspace) => recordUncaptured(call.home, workspace),
    });
    const { agentChecks } = await import("../agents/agent-checks.ts");
    const { captureJson, captureStateAt } = await import("../agents/capture-state.ts");
    const capture = await captureStateAt(call.home, call.directory);
    const agents = agentChecks(call.home, capture, Date.now());
    const checks: Check[] = [...found, await residentCheck(call.home), ...agents];
    const isHealthy = checks.every((check) => check.status !== "problem");
    if (call.json) call.output.json({ ok: isHealthy, checks, capture: captureJson(capture) });
    else call.output.print(checks.map((check) => checkText(check, call.output.style)).join("\n"));
    return isHealthy ? EXIT.done : EXIT.failed;
  },
});

interface Check {
  readonly name: string;
  readonly status: "ok" | "warning" | "problem";
  readonly detail: string;
  readonly hint?: string;
}

function checkText(check: Check, style: Style): string {
  const mark = { ok: style.green("✓"), warning: style.yellow("!"), problem: style.red("✗") }[check.status];
  const hint =
    check.hint === undefined || check.status === "ok" ? "" : `\n  ${style.dim("→")} ${visible(check.hint)}`;
  return `${mark} ${style.bold(visible(check.name))}: ${visible(check.detail)}${hint}`;
}
