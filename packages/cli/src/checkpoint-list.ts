/** What `list`, `search` and the overview have in common: some checkpoints, newest first. */
import type { ListOptions, Workspace } from "@belay/engine";
import type { Call } from "./command.ts";
import { EXIT } from "./exit-code.ts";
import { checkpointListJson } from "@belay/server/json";
import { checkpointTable } from "./output/checkpoint-table.ts";

/** Without `--limit`: as many as fit a screen for people, as many as a JSON list holds for programs. */
const SCREENFUL = 20;
const JSON_LIST = 200;

export interface ListRequest {
  readonly filter: ListOptions;
  /** undefined: the default; Infinity: everything */
  readonly limit: number | undefined;
  readonly whenEmpty: string;
  readonly fresh?: boolean;
}

export async function printCheckpoints(
  call: Pick<Call, "json" | "output">,
  workspace: Workspace,
  request: ListRequest,
) {
  const limit = request.limit ?? (call.json ? JSON_LIST : SCREENFUL);
  // one more than shown tells whether there are more, without counting them all
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
    call.output.json(checkpointListJson(checkpoints, { workspace: workspace.id, total }));
  } else printTable(call, checkpoints, { isAll, whenEmpty: request.whenEmpty });
  return EXIT.done;
}

function printTable(
  { output }: Pick<Call, "output">,
  checkpoints: Parameters<typeof checkpointTable>[0],
  { isAll, whenEmpty }: { isAll: boolean; whenEmpty: string },
): void {
  if (checkpoints.length === 0) output.print(whenEmpty);
  else output.print(checkpointTable(checkpoints, output));
  if (!isAll) output.note(output.noteStyle.dim("… there are more: --limit <n> or --all shows them"));
}
