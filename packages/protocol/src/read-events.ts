/** Reads a stream of events, as `GET /api/events` sends it. */
import type { BelayEvent } from "./events.ts";

/** The events of a stream of bytes; comments and what is not an event are skipped. */
export async function* readEvents(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<BelayEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of pieces) {
    const blocks = (rest + decoder.decode(piece, { stream: true })).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (data !== undefined) yield JSON.parse(data.slice("data: ".length)) as BelayEvent;
    }
  }
}

/** The pieces of an answer's body as they come, until the signal ends it. */
export async function* bodyPieces(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", cancel);
  try {
    if (signal.aborted) cancel();
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}
