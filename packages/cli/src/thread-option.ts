/** `--thread`: an id, or whatever else the engine knows a conversation by. */
import type { ThreadId, Workspace } from "@belay/engine";

export async function threadId(
  workspace: Workspace,
  given: string | undefined,
): Promise<ThreadId | undefined> {
  return given === undefined ? undefined : (await workspace.thread(given)).id;
}
