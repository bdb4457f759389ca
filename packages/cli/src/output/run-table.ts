/** Runs of agents as rows, and one of them in full. */
import type { Run } from "@belay/engine";
import { duration, grouped, relativeTime } from "@belay/tui/text";
import { changesText } from "./checkpoint-table.ts";
import { factTable } from "./facts.ts";
import type { Output } from "./output.ts";
import { table } from "./table.ts";
import { visible } from "./visible.ts";

const MARKS: Readonly<Record<string, string>> = { done: "✓", queued: "·", starting: "·", running: "·" };

/** Runs as rows, newest first. */
export function runTable(runs: readonly Run[], output: Output): string {
  const { style } = output;
  const rows = runs.map((run) => [
    { text: MARKS[run.status] ?? "✗", paint: run.status === "done" ? style.green : style.yellow },
    { text: run.id.slice(0, 8), paint: style.cyan },
    { text: visible(run.role) },
    { text: run.status },
    { text: run.startedAt === null ? "" : relativeTime(run.startedAt), paint: style.dim },
    { text: costText(run), paint: style.dim },
    { text: visible(run.fork ?? (run.before === null ? "" : "in place")) },
    { text: visible(run.prompt.split("\n")[0]!), paint: style.dim },
  ]);
  return table(rows, { width: output.width, flexible: 7, dispensable: [5, 4, 6] });
}

/** Everything about one run. */
export function runText(run: Run, output: Output): string {
  const { style } = output;
  const took =
    run.startedAt === null ? "" : ` after ${duration((run.endedAt ?? Date.now()) - run.startedAt)}`;
  const head = `${style.bold(visible(run.role))} is ${run.status}${run.endedAt === null ? "" : took}${run.reason === null ? "" : `: ${visible(run.reason)}`}`;
  const facts = factTable(
    [
      ["run", run.id],
      ["agent", visible(run.agent)],
      ["where", run.fork === null ? "in place" : `fork ${visible(run.fork)}`],
      ["prompt", visible(run.prompt.split("\n")[0]!)],
      run.before === null ? undefined : ["before", run.before],
      run.after === null ? undefined : ["after", run.after],
      run.changes === null ? undefined : ["changed", changesText(run.changes)],
      ["cost", costText(run) === "" ? "not reported" : costText(run)],
      run.session === null ? undefined : ["session", visible(run.session)],
      run.log === null
        ? undefined
        : ["log", visible(`${run.log.stdout}${run.log.truncated ? " (cut)" : ""}`)],
      ...run.escaped.map((path) => ["outside", visible(path)] as const),
    ],
    output,
  );
  return `${head}\n${facts}`;
}

/** `$0.12, 3,400 tokens`; nothing where the agent reported nothing. */
function costText({ cost, tokens }: Run): string {
  const total = tokens?.total ?? null;
  return [
    ...(cost === null ? [] : [`$${cost.toFixed(2)}`]),
    ...(total === null ? [] : [`${grouped(total)} tokens`]),
  ].join(", ");
}
