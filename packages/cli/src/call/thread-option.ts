/** `--thread`: an id, or any other name by which the engine knows a thread. */
import type { ThreadId, ThreadSummary, Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";

/** The id of the named thread; undefined when none was named. */
export async function threadId(
  workspace: Workspace,
  given: string | undefined,
): Promise<ThreadId | undefined> {
  return given === undefined ? undefined : (await workspace.threads.get(given)).id;
}

/** The named thread, or the one that was active last. */
export async function activeThread(workspace: Workspace, given: string | undefined): Promise<ThreadSummary> {
  if (given !== undefined) return await workspace.threads.get(given);
  const threads = await workspace.threads.list();
  const [latest] = threads.toSorted((a, b) => b.updatedAt - a.updatedAt);
  if (latest !== undefined) return latest;
  throw new ContractError("THREAD_NOT_FOUND", "There is no thread yet. Nothing was changed.", {
    hint: "`belay run -- <agent>` creates one, and so do an agent's hooks.",
  });
}
