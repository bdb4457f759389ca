/** `belay agents list`, `show`, `logs` and `stop`. */
import { createReadStream } from "node:fs";
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
  if (call.json) {
    let text = "";
    for await (const piece of createReadStream(path, "utf8")) text += piece as string;
    call.output.json({ run: id, text });
    return EXIT.done;
  }
  for await (const lines of wholeLines(createReadStream(path, "utf8")))
    if (!(await call.output.raw(redact(lines)))) break;
  return EXIT.done;
}

/** A secret that is half in one piece and half in the next would not be known for one. */
async function* wholeLines(pieces: AsyncIterable<unknown>): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of pieces) {
    const text = rest + (piece as string);
    const end = text.length > LONGEST_LINE ? text.length : text.lastIndexOf("\n") + 1;
    rest = text.slice(end);
    if (end > 0) yield text.slice(0, end);
  }
  if (rest !== "") yield rest;
}

const LONGEST_LINE = 1 << 20;

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
