/** `--thread`: an id, or whatever else the engine knows a thread by. */
import type { ThreadId, ThreadSummary, Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";

export async function threadId(
  workspace: Workspace,
  given: string | undefined,
): Promise<ThreadId | undefined> {
  return given === undefined ? undefined : (await workspace.threads.get(given)).id;
}

/** The given thread, or the one that was last at work. */
export async function activeThread(workspace: Workspace, given: string | undefined): Promise<ThreadSummary> {
  if (given !== undefined) return await workspace.threads.get(given);
  const threads = await workspace.threads.list();
  const [latest] = threads.toSorted((a, b) => b.updatedAt - a.updatedAt);
  if (latest !== undefined) return latest;
  throw new ContractError("THREAD_NOT_FOUND", "There is no thread yet. Nothing was changed.", {
    hint: "`belay run -- <agent>` makes one; so do the hooks of an agent.",
  });
}
