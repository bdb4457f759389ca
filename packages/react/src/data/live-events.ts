/**
 * Events of a workspace, over one stream for all tabs of a browser. HTTP/1.1 allows six connections to a host, so a
 * stream in every tab would hang the seventh: the tab that holds the lock reads, and passes events on to the others.
 */
import type { BelayEvent } from "@belay/protocol";
import type { Connection } from "./client.ts";

/** How fresh what is shown is. */
export type LiveState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** The connection broke at `since`; the next try is at `retryAt`. */
  | { readonly kind: "waiting"; readonly since: number; readonly retryAt: number }
  /** The server does not know the key any more. */
  | { readonly kind: "ended"; readonly message: string };

type Message = { readonly event: BelayEvent } | { readonly state: LiveState } | { readonly hello: true };

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** The server sends a sign of life every 15 s. */
const SILENCE_MS = 40_000;

/** The events of one workspace. */
export class LiveEvents {
  state: LiveState = { kind: "connecting" };
  readonly #connection: Connection;
  readonly #workspace: string;
  readonly #channel: BroadcastChannel;
  readonly #ending = new AbortController();
  readonly #events = new Set<(event: BelayEvent) => void>();
  readonly #states = new Set<() => void>();
  #lastId: string | undefined;
  #reads = false;

  constructor(connection: Connection, workspace: string) {
    this.#connection = connection;
    this.#workspace = workspace;
    this.#channel = new BroadcastChannel(`belay-events-${workspace}`);
    this.#channel.addEventListener("message", ({ data }: MessageEvent<Message>) => this.#receive(data));
    this.#channel.postMessage({ hello: true } satisfies Message);
    void this.#readWhenAlone();
  }

  /** Calls back for every event; returns how to stop. */
  onEvent(listener: (event: BelayEvent) => void): () => void {
    this.#events.add(listener);
    return () => this.#events.delete(listener);
  }

  /** Calls back when the state changes; returns how to stop. */
  onState = (listener: () => void): (() => void) => {
    this.#states.add(listener);
    return () => this.#states.delete(listener);
  };

  close(): void {
    this.#ending.abort();
    this.#channel.close();
  }

  #receive(message: Message): void {
    if ("event" in message) for (const listener of this.#events) listener(message.event);
    else if ("state" in message) this.#become(message.state);
    else if (this.#reads) this.#channel.postMessage({ state: this.state } satisfies Message);
  }

  #become(state: LiveState): void {
    this.state = state;
    for (const listener of this.#states) listener();
    if (this.#reads && !this.#ending.signal.aborted) this.#channel.postMessage({ state } satisfies Message);
  }

  async #readWhenAlone(): Promise<void> {
    const { signal } = this.#ending;
    try {
      await navigator.locks.request(`belay-stream-${this.#workspace}`, { signal }, async () => {
        this.#reads = true;
        await this.#readUntilEnded();
      });
    } catch {
      // the tab left this workspace before its turn came
    }
  }

  async #readUntilEnded(): Promise<void> {
    let wait = FIRST_WAIT_MS;
    let since = Date.now();
    while (!this.#ending.signal.aborted && this.state.kind !== "ended") {
      try {
        await this.#readStream(() => {
          wait = FIRST_WAIT_MS;
        });
      } catch {
        // said by the state below
      }
      if (this.#ending.signal.aborted || (this.state as LiveState).kind === "ended") return;
      if ((this.state as LiveState).kind === "live") since = Date.now();
      this.#become({ kind: "waiting", since, retryAt: Date.now() + wait });
      await pause(wait, this.#ending.signal);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  async #readStream(opened: () => void): Promise<void> {
    const { url = "", key } = this.#connection;
    const stalled = new AbortController();
    const response = await fetch(`${url}/api/events?workspace=${encodeURIComponent(this.#workspace)}`, {
      headers: { authorization: `Bearer ${key}`, ...(this.#lastId && { "last-event-id": this.#lastId }) },
      signal: AbortSignal.any([this.#ending.signal, stalled.signal]),
    });
    if (response.status === 401) {
      const { error } = (await response.json()) as { error: { message: string } };
      return this.#become({ kind: "ended", message: error.message });
    }
    if (!response.ok || response.body === null) throw new Error(`${response.status}`);
    opened();
    this.#become({ kind: "live" });
    let text = "";
    let silence = setTimeout(() => stalled.abort(), SILENCE_MS);
    for await (const piece of piecesOf(response.body)) {
      clearTimeout(silence);
      silence = setTimeout(() => stalled.abort(), SILENCE_MS);
      text = this.#take(text + piece);
    }
    clearTimeout(silence);
  }

  /** Hands on every whole event; returns the rest. */
  #take(text: string): string {
    const blocks = text.split("\n\n");
    const rest = blocks.pop()!;
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data === undefined) continue;
      this.#lastId = /^id: (.*)$/m.exec(block)?.[1] ?? this.#lastId;
      const event = JSON.parse(data) as BelayEvent;
      this.#receive({ event });
      this.#channel.postMessage({ event } satisfies Message);
    }
    return rest;
  }
}

/** Chromium iterates streams, Safari does not yet. */
async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield decoder.decode(value, { stream: true });
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    });
  });
}
