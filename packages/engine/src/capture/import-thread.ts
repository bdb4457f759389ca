/** Takes a whole conversation that another program kept into the store: its checkpoints, messages and sessions. */
import { displayAbsolute } from "../fs/absolute-path.ts";
import { insertArrivedMessages, insertSessions, setThreadTimes } from "../history/arrivals.ts";
import { openThread, threadIdOf } from "../history/threads.ts";
import type { ImportedThread, ImportRequest, ThreadImport } from "../model/arrival.ts";
import { EngineError } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import type { Context } from "./context.ts";
import { importCheckpoints } from "./import-checkpoints.ts";

/** Imports a conversation: all of it, or nothing. What is there already stays as it is. */
export function importThread(context: Context, request: ThreadImport): ImportedThread {
  const { store, system } = context;
  const { db } = store;
  const { origin, agent, externalId, title, createdAt } = request;
  const known = threadIdOf(db, request);
  const id = known ?? (system.newId() as ThreadId);
  let messages = 0;
  const imported = importCheckpoints(context, asRequests(request, id), {
    begin() {
      const opened = openThread(db, { agent, externalId, title }, { id, now: createdAt });
      if (opened.id !== id) throw openedMeanwhile(context);
      if (known === undefined) setThreadTimes(db, id, request);
    },
    end() {
      const arrived = { thread: id, origin, newId: system.newId };
      if (known === undefined) insertSessions(db, arrived, request.sessions);
      messages = insertArrivedMessages(db, arrived, request.messages);
    },
  });
  return { ...imported, thread: id, messages };
}

function openedMeanwhile({ workingCopy }: Context): EngineError<"STORE_BUSY"> {
  const message = "Another process opened this conversation meanwhile. Nothing was imported; try again.";
  return new EngineError("STORE_BUSY", message, { store: displayAbsolute(workingCopy.root) });
}

function* asRequests({ origin, checkpoints }: ThreadImport, thread: ThreadId): Generator<ImportRequest> {
  for (const checkpoint of checkpoints) yield { ...checkpoint, origin, thread };
}
