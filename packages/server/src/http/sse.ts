/**
 * Events as a stream. The reader pulls: one event at a time waits for it, and a reader that stalls is
 * disconnected. A reader that comes back resumes after the last number it saw, because events are kept in the
 * store.
 */
import type { ThreadId, Workspace, WorkspaceEvent } from "@belay/engine";
import { redactJson } from "@belay/protocol/redact";
import { eventJson } from "../json/index.ts";
import { ContractError } from "@belay/protocol/errors";

const HEART_BEAT_MS = 15_000;
/** A reader that has not read what was sent within this time is gone. */
const STALLED_MS = 10_000;
const ENCODER = new TextEncoder();

/** The event streams of a process. */
export interface EventStreams {
  /** Ends every open stream. */
  readonly ending: AbortSignal;
  /** Open streams: a process with readers is not idle. */
  readonly listeners: Set<symbol>;
}

/** Answers a request with the events of workspaces, or of one thread of the only one. */
export function streamEvents(
  { ending, listeners }: EventStreams,
  workspaces: readonly Workspace[],
  request: Request,
  thread?: ThreadId,
): Response {
  const reader = new AbortController();
  const signal = AbortSignal.any([ending, request.signal, reader.signal]);
  // events are numbered by workspace: a reader of several cannot name the last one it saw
  const after = workspaces.length === 1 ? lastSeen(request) : undefined;
  const sources = workspaces.map((workspace) => {
    const options = { signal, ...(after !== undefined && { after }), ...(thread && { thread }) };
    return { id: workspace.id, events: workspace.events.read(options)[Symbol.asyncIterator]() };
  });
  const chunks = new Chunks(sources);
  const listener = Symbol("listener");
  listeners.add(listener);
  let stalled: NodeJS.Timeout | undefined;
  const close = () => {
    clearTimeout(stalled);
    listeners.delete(listener);
    reader.abort();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        for (const workspace of workspaces) controller.enqueue(statusLine(workspace));
      },
      async pull(controller) {
        clearTimeout(stalled);
        const chunk = await chunks.next();
        if (chunk === undefined) {
          close();
          return controller.close();
        }
        controller.enqueue(chunk);
        stalled = setTimeout(() => {
          close();
          controller.error(new Error("a reader of events stalled and was disconnected"));
        }, STALLED_MS).unref();
      },
      cancel: close,
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** The events of one workspace. */
interface Source {
  readonly id: string;
  readonly events: AsyncIterator<WorkspaceEvent>;
}

interface Happened {
  readonly event: WorkspaceEvent;
  readonly id: string;
}

/** Events on the wire, with a keep-alive when there are none for a while. */
class Chunks {
  readonly #merged: AsyncIterator<Happened>;
  readonly #isNumbered: boolean;
  #next: Promise<IteratorResult<Happened>> | undefined;

  constructor(sources: readonly Source[]) {
    this.#merged = merged(sources);
    this.#isNumbered = sources.length === 1;
  }

  /** Undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    this.#next ??= this.#merged.next();
    const step = await withinHeartBeat(this.#next);
    if (step === undefined) return ENCODER.encode(": still here\n\n");
    this.#next = undefined;
    if (step.done === true) return undefined;
    const { event, id } = step.value;
    return this.#isNumbered ? encodeOnce(event, id) : encode(eventJson(event, id));
  }
}

/** All events in the order in which they come; each source has at most one on its way. */
async function* merged(sources: readonly Source[]): AsyncGenerator<Happened> {
  const arrived: { readonly source: Source; readonly step: IteratorResult<WorkspaceEvent> }[] = [];
  let wake: () => void = () => undefined;
  let failure: Error | undefined;
  const ask = (source: Source) =>
    void source.events.next().then(
      (step) => {
        arrived.push({ source, step });
        wake();
      },
      (error: unknown) => {
        failure = error instanceof Error ? error : new Error(String(error));
        wake();
      },
    );
  sources.forEach(ask);
  let open = sources.length;
  while (open > 0) {
    if (failure !== undefined) throw failure;
    const next = arrived.shift();
    if (next === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    } else if (next.step.done === true) open -= 1;
    else {
      yield { event: next.step.value, id: next.source.id };
      ask(next.source);
    }
  }
}

/** Sent first, so that a reader knows how reliable the stream is. */
function statusLine({ id, watching, events }: Workspace): Uint8Array {
  return encode({
    type: "resident_status",
    workspace: id,
    watching: watching.state === "live",
    reason: watching.reason,
    newest: events.newest(),
  });
}

function lastSeen(request: Request): number | undefined {
  const given = request.headers.get("last-event-id");
  if (given === null || given === "") return undefined;
  const seq = Number(given);
  if (Number.isSafeInteger(seq) && seq >= 0) return seq;
  throw new ContractError("BAD_REQUEST", "Last-Event-ID is not the number of an event.");
}

async function withinHeartBeat<Value>(work: Promise<Value>): Promise<Value | undefined> {
  const { promise: beat, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), HEART_BEAT_MS).unref();
  try {
    return await Promise.race([work, beat]);
  } finally {
    clearTimeout(timer);
  }
}

/** One copy for all readers of the same event. */
const ENCODED = new WeakMap<WorkspaceEvent, Uint8Array>();

function encodeOnce(event: WorkspaceEvent, workspace: string): Uint8Array {
  const known = ENCODED.get(event);
  if (known !== undefined) return known;
  const encoded = encode(eventJson(event, workspace), event.seq);
  ENCODED.set(event, encoded);
  return encoded;
}

function encode(event: object, seq?: number): Uint8Array {
  const id = seq === undefined ? "" : `id: ${seq}\n`;
  return ENCODER.encode(`${id}data: ${JSON.stringify(redactJson(event))}\n\n`);
}
