/**
 * Events as a stream. The reader pulls: nothing piles up for one that does not read, and one that comes
 * back goes on after the last number it saw, because events are kept in the store.
 */
import type { ThreadId, Workspace, WorkspaceEvent } from "@belay/engine";
import { eventJson } from "../json/index.ts";
import type { Served } from "../routes/served.ts";
import { ServerError } from "../server-error.ts";

const HEART_BEAT_MS = 15_000;
const ENCODER = new TextEncoder();

export function streamEvents(
  { ending, listeners }: Served,
  workspace: Workspace,
  request: Request,
  thread?: ThreadId,
): Response {
  const reader = new AbortController();
  const signal = AbortSignal.any([ending, request.signal, reader.signal]);
  const after = lastSeen(request);
  const stream = workspace.events({
    signal,
    ...(after !== undefined && { after }),
    ...(thread && { thread }),
  });
  const events = stream[Symbol.asyncIterator]();
  const listener = Symbol("listener");
  listeners.add(listener);
  const close = () => {
    listeners.delete(listener);
    reader.abort();
  };
  let next: Promise<IteratorResult<WorkspaceEvent>> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(statusLine(workspace)),
      async pull(controller) {
        next ??= events.next();
        const step = await Promise.race([next, heartBeat()]);
        if (step === undefined) return controller.enqueue(ENCODER.encode(": still here\n\n"));
        next = undefined;
        if (step.done !== true)
          return controller.enqueue(encode(eventJson(step.value, workspace.id), step.value.seq));
        close();
        controller.close();
      },
      cancel: close,
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Said first, so that a reader knows how far it may rely on what follows. */
function statusLine({ id, watching }: Workspace): Uint8Array {
  return encode({
    type: "resident_status",
    workspace: id,
    watching: watching.state === "live",
    reason: watching.reason,
  });
}

function lastSeen(request: Request): number | undefined {
  const given = request.headers.get("last-event-id");
  if (given === null || given === "") return undefined;
  const seq = Number(given);
  if (Number.isSafeInteger(seq) && seq >= 0) return seq;
  throw new ServerError("BAD_REQUEST", 400, "Last-Event-ID is not the number of an event.");
}

function heartBeat(): Promise<undefined> {
  return new Promise((beat) => {
    setTimeout(() => beat(undefined), HEART_BEAT_MS).unref();
  });
}

function encode(event: object, seq?: number): Uint8Array {
  const id = seq === undefined ? "" : `id: ${seq}\n`;
  return ENCODER.encode(`${id}data: ${JSON.stringify(event)}\n\n`);
}
