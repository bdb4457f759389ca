/** What agents did while nothing could be captured, put into the timeline once that is possible. */
import { forgetUncaptured, listUncaptured, type UncapturedWork } from "@belay/agents/uncaptured";
import type { Workspace } from "@belay/engine";
import { innermost } from "./protected-place.ts";

/** Before a command looks at the timeline; what still cannot be recorded stays where it is remembered. */
export async function recordUncaptured(home: string, workspace: Workspace): Promise<void> {
  const waiting = listUncaptured(home);
  if (waiting.length === 0) return;
  const { protectedRoots } = await import("@belay/engine");
  const roots = protectedRoots({ home }).map(({ path }) => path);
  for (const work of waiting) {
    if (innermost(roots, work.cwd) !== workspace.root) continue;
    try {
      await noteUncaptured(workspace, work);
      forgetUncaptured(home, work);
    } catch {
      // no room yet: `doctor` says what is waiting
    }
  }
}

/** One turn that was not captured, in its thread; without a checkpoint, which would be one of later. */
export async function noteUncaptured(workspace: Workspace, work: UncapturedWork): Promise<void> {
  const { agent, session: externalId, at, until, events, problem, prompt, messageId } = work;
  const { id } = await workspace.threads.open({ agent, externalId });
  await workspace.threads.noteUncaptured(id, {
    at,
    until,
    events,
    problem,
    ...(prompt !== null && { prompt }),
    ...(messageId !== null && { messageId }),
  });
}
