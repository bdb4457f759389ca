/** Shared by `log` and the overview: what happened, newest first. */
import type { FileChange, TimelineOptions, TimelinePage, Workspace } from "@belay/engine";
import { EXIT } from "@belay/protocol/errors";
import { fileChangeJson, historyJson, listField } from "@belay/server/json";
import { grouped } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import { shownLimit } from "../call/limit-option.ts";
import { diffForPeople } from "../output/diff-text.ts";
import { changedFileList } from "../output/file-list.ts";
import { historyLine, historyTable, inOrder, nowLine } from "../output/history-table.ts";

/** What to list. */
export interface HistoryRequest {
  readonly filter: TimelineOptions;
  /** undefined = the default, Infinity = everything */
  readonly limit: number | undefined;
  /** The files of each row, or also their lines. */
  readonly detail?: "counts" | "text" | undefined;
  readonly whenEmpty: string;
}

type HistoryCall = Pick<Call, "json" | "output">;

/** Lists what happened as a table or as JSON. */
export async function printHistory(call: HistoryCall, workspace: Workspace, request: HistoryRequest) {
  const limit = shownLimit(call, request.limit);
  const page = await pagesUpTo(workspace, request.filter, limit);
  if (call.json) call.output.json(await toJson(workspace, page, request.detail));
  else {
    // rows that share a checkpoint come together, a page may have one more
    const shown = { ...page, rows: page.rows.slice(0, limit) };
    await printText(call, workspace, { page: shown, request });
  }
  return EXIT.done;
}

const PAGE = 1000;

/** The first page, and more of them until there are enough rows. */
async function pagesUpTo(
  workspace: Workspace,
  filter: TimelineOptions,
  limit: number,
): Promise<TimelinePage> {
  const first = await workspace.timeline.rows({ ...filter, look: true, limit: Math.min(limit, PAGE) });
  const rows = [...first.rows];
  const uncaptured = [...first.uncaptured];
  let { next } = first;
  while (next !== null && rows.length < limit) {
    const page: TimelinePage = await workspace.timeline.rows({
      ...filter,
      before: next,
      limit: Math.min(limit - rows.length, PAGE),
    });
    rows.push(...page.rows);
    uncaptured.push(...page.uncaptured);
    next = page.next;
  }
  return { ...first, rows, uncaptured, next };
}

async function toJson(workspace: Workspace, page: TimelinePage, detail: HistoryRequest["detail"]) {
  const json = historyJson(page, workspace.events.newest());
  if (detail === undefined) return json;
  const rows = [];
  for (const row of json.rows) {
    const { files } = await workspace.timeline.changes(row.ref, { detail });
    rows.push({ ...row, ...listField("files", files.map(fileChangeJson)) });
  }
  return { ...json, rows };
}

async function printText(
  { output }: HistoryCall,
  workspace: Workspace,
  { page, request }: { readonly page: TimelinePage; readonly request: HistoryRequest },
): Promise<void> {
  const { rows, total, now, uncaptured } = page;
  const { detail, whenEmpty } = request;
  if (rows.length === 0 && uncaptured.length === 0) return output.print(whenEmpty);
  const { q, agent, thread, since } = request.filter;
  const isWhole = [agent, thread, since].every((each) => each === undefined);
  const line = q === undefined ? nowLine(now, { rows, isWhole }, output.style) : undefined;
  if (line !== undefined) output.print(line);
  if (detail === undefined) output.print(historyTable({ rows, uncaptured }, output));
  else
    for (const one of inOrder({ rows, uncaptured })) {
      output.print(historyLine(one, output));
      if (!("ref" in one)) continue;
      const { files } = await workspace.timeline.changes(one.ref, { detail });
      printFiles(files, { output, detail });
    }
  if (total !== null && total > rows.length)
    output.note(output.noteStyle.dim(`… and ${grouped(total - rows.length)} more: use -n <n> or --all`));
}

function printFiles(
  files: readonly FileChange[],
  { output, detail }: { output: HistoryCall["output"]; detail: "counts" | "text" },
): void {
  if (files.length === 0) return;
  if (detail === "counts") output.print(`${changedFileList(files, output, undefined)}\n`);
  else output.content(`\n${diffForPeople(files, output)}\n`);
}
