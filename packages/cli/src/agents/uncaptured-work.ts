/** Agents' work that could not be captured, put into the timeline as soon as that is possible. */
import { forgetUncaptured, listUncaptured, type UncapturedWork } from "@belay/agents/uncaptured";
import type { Workspace } from "@belay/engine";
import { innermostRoot } from "../call/innermost-root.ts";

/** Runs before a command shows the timeline. What still cannot be recorded stays where it is. */
export async function recordUncaptured(home: string, workspace: Workspace): Promise<void> {
  const waiting = listUncaptured(home);
  if (waiting.length === 0) return;
  const { protectedRoots } = await import("@belay/engine");
  const roots = protectedRoots({ home }).map(({ path }) => path);
  for (const work of waiting) {
    if (innermostRoot(roots, work.cwd) !== workspace.root) continue;
    try {
      await noteUncaptured(workspace, work);
      forgetUncaptured(home, work);
    } catch {
      // no room yet: `doctor` reports what is waiting
    }
  }
}

/** Records one turn that was not captured, without a checkpoint: that would show a later state. */
export async function noteUncaptured(workspace: Workspace, work: UncapturedWork): Promise<void> {
  const { agent, session: externalId, at, until, events, problem, ends, prompt, messageId } = work;
  const { id } = await workspace.threads.open({ agent, externalId });
  await workspace.threads.noteUncaptured(id, {
    at,
    until,
    events,
    problem,
    ends,
    ...(prompt !== null && { prompt }),
    ...(messageId !== null && { messageId }),
  });
}
