/** Events as a stream: the reader pulls, so nothing piles up for one that does not read. */
import type { BelayEvent } from "@belay/protocol";
import type { EventLog } from "../event-log.ts";

const HEART_BEAT_MS = 15_000;
const ENCODER = new TextEncoder();

export interface EventStream {
  readonly log: EventLog;
  /** The id of the last event the reader has seen. */
  readonly lastId: string | undefined;
  wanted(event: BelayEvent): boolean;
  /** Ends the stream when the process does. */
  readonly signal: AbortSignal;
  closed(): void;
}

export function streamEvents({ log, lastId, wanted, signal, closed }: EventStream): Response {
  const reader = new AbortController();
  const ends = AbortSignal.any([signal, reader.signal]);
  let { after, missed } = log.placeAfter(lastId);
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(ENCODER.encode(": belay\n\n"));
      },
      async pull(controller) {
        if (missed) {
          missed = false;
          controller.enqueue(encode({ type: "resync" }));
          return;
        }
        const beat = AbortSignal.timeout(HEART_BEAT_MS);
        const next = await log.after(after, wanted, AbortSignal.any([ends, beat]));
        if (next === "missed") {
          after = log.latest;
          controller.enqueue(encode({ type: "resync" }));
        } else if (next !== undefined) {
          after = next.number;
          controller.enqueue(encode(next.event, next.id));
        } else if (ends.aborted) {
          controller.close();
          closed();
        } else {
          controller.enqueue(ENCODER.encode(": still here\n\n"));
        }
      },
      cancel() {
        reader.abort();
        closed();
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function encode(event: BelayEvent, id?: string): Uint8Array {
  const name = id === undefined ? "" : `id: ${id}\n`;
  return ENCODER.encode(`${name}data: ${JSON.stringify(event)}\n\n`);
}
