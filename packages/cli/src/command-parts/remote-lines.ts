/** `belay remote lines`: the lines of other machines, or the checkpoints of one; no server is asked. */
import type { Workspace } from "@belay/engine";
import type { LineCheckpoint, OtherLine } from "@belay/remote";
import { ContractError, EXIT } from "@belay/protocol/errors";
import { count, relativeTime } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import type { Output } from "../output/output.ts";
import { table } from "../output/table.ts";
import { visible } from "../output/visible.ts";
import { lineCheckpointJson, lineJson } from "./sync-parts.ts";

type LinesCall = Pick<Call, "environment" | "home" | "json" | "operands" | "output">;

/** As many checkpoints of a line are shown. */
const SHOWN = 50;

/** Lists lines, or with a line's name its checkpoints. */
export async function listLines(call: LinesCall, workspace: Workspace): Promise<number> {
  const { openRemote } = await import("@belay/remote");
  const { createRemoteHost } = await import("../wiring/remote-host.ts");
  const [name, wanted] = call.operands;
  using remote = openRemote(workspace, name, await createRemoteHost(call));
  const lines = await remote.lines();
  const of = remote.entry.name;
  if (wanted === undefined) {
    if (call.json) call.output.json({ lines: lines.map((line) => lineJson(line, of)) });
    else call.output.print(lines.length === 0 ? NONE : linesText(lines, call.output));
    return EXIT.done;
  }
  const line = lines.find((each) => each.name === wanted || each.line === wanted);
  if (line === undefined) throw noLine(wanted, lines);
  const checkpoints = await remote.checkpoints(line.line, SHOWN);
  if (call.json)
    call.output.json({
      ...lineJson(line, of),
      checkpoints: checkpoints.map((each) => lineCheckpointJson(each, of)),
    });
  else call.output.print(checkpointsText(checkpoints, call.output));
  return EXIT.done;
}

const NONE = "No line of another machine is known.\n→ `belay pull` looks for them.";

function linesText(lines: readonly OtherLine[], output: Output): string {
  const rows = lines.map(({ name, at, newest }) => [
    { text: visible(name), paint: output.style.bold },
    { text: relativeTime(at) },
    { text: newest === null ? "no checkpoint" : visible(newest.description) },
  ]);
  return table(rows, { width: output.width, flexible: 2 });
}

function checkpointsText(checkpoints: readonly LineCheckpoint[], output: Output): string {
  if (checkpoints.length === 0) return "It has no checkpoint.";
  const rows = checkpoints.map(({ id, createdAt, name, description, changes }) => [
    { text: id.slice(0, 8), paint: output.style.dim },
    { text: relativeTime(createdAt) },
    { text: visible(name ?? description) },
    { text: count(changes.added + changes.modified + changes.deleted, "change") },
  ]);
  return table(rows, { width: output.width, flexible: 2 });
}

function noLine(wanted: string, lines: readonly OtherLine[]): ContractError {
  return new ContractError("REMOTE_NOT_FOUND", `No line "${wanted}" is known there. Nothing was changed.`, {
    hint: "`belay pull` looks at the lines again.",
    facts: { lines: lines.map(({ name }) => name) },
    list: lines.map(({ name }) => name),
  });
}
