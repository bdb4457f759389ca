/** How callers name checkpoints and conversations. */
import { EngineError, type Checkpoint, type ThreadId, type ThreadSummary } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";

/** Shorter beginnings of ids are not looked up. */
const SHORTEST = 4;

/** The forms in which fronts show ids, each around Belay's own. */
const FORMS = [/^snap-([k-z]{4,16})$/, /^cp_[0-9a-z]+_([k-z]{4,16})$/];

/** The checkpoint that a caller names: in a form of a front, by its id or the beginning of it, or by an alias. */
export function findCheckpoint(workspace: SyncWorkspace, text: string): Checkpoint {
  const known = FORMS.map((form) => form.exec(text)?.[1]).find((id) => id !== undefined);
  const ref = known ?? text;
  if (/^([k-z]{1,3}|\d*|@.*|T\d+|branch\/.*)$/s.test(ref) || ref.length < SHORTEST)
    throw checkpointNotFound(text);
  return workspace.resolve(ref);
}

/** What a caller is told who names a checkpoint that there is not. */
export function checkpointNotFound(text: string): EngineError<"CHECKPOINT_NOT_FOUND"> {
  return new EngineError("CHECKPOINT_NOT_FOUND", `There is no checkpoint "${text}". Nothing was changed.`, {
    checkpoint: text,
  });
}

/** The conversation that a caller names by an id of its own, or by Belay's; undefined when there is none. */
export function findThread(workspace: SyncWorkspace, agent: string, id: string): ThreadSummary | undefined {
  const threads = workspace.threads.list();
  const own = threads.find((thread) => thread.agent === agent && thread.externalId === id);
  if (own !== undefined) return own;
  const meant = threads.filter(
    (thread) => thread.id === id || (/^[k-z]{4,}$/.test(id) && thread.id.startsWith(id)),
  );
  return meant.length === 1 ? meant[0] : undefined;
}

/** The conversation of a caller's id, begun if there is none. */
export function openThread(workspace: SyncWorkspace, agent: string, id: string): ThreadId {
  return (findThread(workspace, agent, id) ?? workspace.threads.open({ agent, externalId: id })).id;
}

/** The same, with a checkpoint of the present if it is new: that one is its approved state, and all later ones can be dropped. */
export function begunThread(workspace: SyncWorkspace, agent: string, id: string): ThreadId {
  return (findThread(workspace, agent, id) ?? workspace.threads.create({ agent, externalId: id })).id;
}
