/** `belay agents list`, `show`, `logs` and `stop`. */
import { readFile } from "node:fs/promises";
import type { Run, Workspace } from "@belay/engine";
import { EXIT } from "@belay/protocol/errors";
import { redact } from "@belay/protocol/redact";
import { runJson } from "@belay/server/json";
import { count } from "@belay/tui/text";
import { orchestrate, takeOverRuns } from "../agents/orchestrating.ts";
import { runTable, runText } from "../output/run-table.ts";
import type { AgentsCall } from "./agents-run.ts";

/** All runs, newest first. */
export async function listRuns(call: AgentsCall, workspace: Workspace): Promise<number> {
  await takeOverRuns(call, workspace);
  const runs = await workspace.runs.list();
  if (call.json) call.output.json({ runs: runs.map(runJson) });
  else if (runs.length === 0)
    call.output.print("No agent has run yet: `belay agents run --agent <name> -p <text>`.");
  else call.output.print(runTable(runs, call.output));
  return EXIT.done;
}

/** One run in full. */
export async function showRun(call: AgentsCall, workspace: Workspace): Promise<number> {
  await takeOverRuns(call, workspace);
  const run = await workspace.runs.find(call.operands[1]!);
  if (call.json) call.output.json({ run: runJson(run) });
  else call.output.print(runText(run, call.output));
  return EXIT.done;
}

/** What a run printed. */
export async function showLog(call: AgentsCall, workspace: Workspace): Promise<number> {
  const { log, id } = await workspace.runs.find(call.operands[1]!);
  const path = call.options.stderr === true ? log?.stderr : log?.stdout;
  if (path === undefined) {
    if (call.json) call.output.json({ run: id, text: "" });
    else call.output.note("It has not started yet.");
    return EXIT.done;
  }
  // as a whole: piece by piece, a secret that lies across a cut would be shown in two halves [R168]
  const text = redact(await readFile(path, "utf8"));
  if (call.json) call.output.json({ run: id, text });
  else await call.output.raw(text);
  return EXIT.done;
}

/** [R880] Ends runs and every process of theirs. */
export async function stopRuns(call: AgentsCall, workspace: Workspace): Promise<number> {
  const { orchestrator } = orchestrate(call, workspace);
  const wanted =
    call.options.all === true
      ? await workspace.runs.list({ alive: true })
      : [await workspace.runs.find(call.operands[1]!)];
  for (const { id } of wanted) await orchestrator.stop(id);
  const runs = await Promise.all(wanted.map(({ id }) => workspace.runs.find(id)));
  if (call.json) call.output.json({ runs: runs.map(runJson) });
  else if (runs.length === 0) call.output.print("No run is at work.");
  else call.output.print(`${stoppedText(runs)}\n${runTable(runs, call.output)}`);
  return runs.some(isOpen) ? EXIT.refused : EXIT.done;
}

function stoppedText(runs: readonly Run[]): string {
  const open = runs.filter(isOpen).length;
  const ended = `${count(runs.length - open, "run")} ended.`;
  if (open === 0) return ended;
  return `${ended} The end of ${count(open, "run")} is not recorded yet: \`belay agents list\` shows when it is.`;
}

const isOpen = ({ endedAt }: Run): boolean => endedAt === null;
