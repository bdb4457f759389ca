/** Shared by `list`, `search` and the overview: some checkpoints, newest first. */
import type { Checkpoint, ListOptions, UncapturedTurn, Workspace } from "@belay/engine";
import type { Call } from "../call/command.ts";
import { shownLimit } from "../call/limit-option.ts";
import { EXIT } from "@belay/protocol/errors";
import { checkpointListJson, uncapturedJson } from "@belay/server/json";
import { checkpointTable } from "../output/checkpoint-table.ts";

/** What to list. */
export interface ListRequest {
  readonly filter: ListOptions;
  /** undefined = the default, Infinity = everything */
  readonly limit: number | undefined;
  readonly whenEmpty: string;
  readonly fresh?: boolean;
}

/** Lists checkpoints as a table or as JSON. */
export async function printCheckpoints(
  call: Pick<Call, "json" | "output">,
  workspace: Workspace,
  request: ListRequest,
) {
  const limit = shownLimit(call, request.limit);
  // one more than shown tells whether there are more, without counting all
  const wanted = Number.isFinite(limit) ? { limit: limit + 1 } : {};
  const found = await workspace.list({
    ...request.filter,
    ...wanted,
    fresh: request.fresh ?? false,
  });
  const checkpoints = found.slice(0, limit);
  const isAll = found.length === checkpoints.length;
  if (call.json) {
    const total = isAll ? found.length : (await workspace.list(request.filter)).length;
    const uncaptured = uncapturedAmong(await uncapturedOf(workspace, request), checkpoints, isAll);
    call.output.json({
      ...checkpointListJson(checkpoints, { workspace: workspace.id, total }),
      uncaptured: uncaptured.map(uncapturedJson),
    });
  } else {
    const uncaptured = uncapturedAmong(await uncapturedOf(workspace, request), checkpoints, isAll);
    printTable(call, { checkpoints, uncaptured }, { isAll, whenEmpty: request.whenEmpty });
  }
  return EXIT.done;
}

/** Uncaptured turns have no kind and cannot be searched. */
async function uncapturedOf(workspace: Workspace, { filter }: ListRequest): Promise<UncapturedTurn[]> {
  return filter.kind === undefined && filter.search === undefined
    ? workspace.threads.uncaptured(filter.thread)
    : [];
}

/** Those between the shown checkpoints. */
function uncapturedAmong(
  turns: readonly UncapturedTurn[],
  checkpoints: readonly Checkpoint[],
  isAll: boolean,
): UncapturedTurn[] {
  const oldest = isAll ? 0 : (checkpoints.at(-1)?.seq ?? 0);
  return turns.filter(({ after }) => after >= oldest);
}

function printTable(
  { output }: Pick<Call, "output">,
  { checkpoints, uncaptured }: { checkpoints: readonly Checkpoint[]; uncaptured: readonly UncapturedTurn[] },
  { isAll, whenEmpty }: { isAll: boolean; whenEmpty: string },
): void {
  if (checkpoints.length === 0 && uncaptured.length === 0) output.print(whenEmpty);
  else output.print(checkpointTable(checkpoints, output, uncaptured));
  if (!isAll) output.note(output.noteStyle.dim("… and more: use --limit <n> or --all"));
}
