/**
 * Events of a workspace, over one stream for all tabs of a browser, whichever projects they show. HTTP/1.1 allows six
 * connections to a host, so a stream in every tab would hang the seventh: the tab that holds the lock reads for all, and
 * passes events on. Each tab holds a shared lock named after its workspace; from those the reader knows what is wanted.
 */
import { endedWords } from "./page-key.ts";
import type { BelayEvent } from "@belay/protocol";
import type { BrowserClient } from "./client.ts";

/** How fresh what is shown is. */
export type LiveState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** The connection broke at `since`; the next try is at `retryAt`. */
  | { readonly kind: "waiting"; readonly since: number; readonly retryAt: number }
  /** The server does not know the key any more. */
  | { readonly kind: "ended"; readonly message: string };

type Message =
  | { readonly event: BelayEvent }
  /** `key`: the digest of the key that the state is about. */
  | { readonly state: LiveState; readonly key: string }
  | { readonly hello: true }
  /** A person does not want to wait for the next try. */
  | { readonly hurry: true };

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** The server sends a sign of life every 15 s. */
const SILENCE_MS = 40_000;

/** The events of one workspace. */
export class LiveEvents {
  state: LiveState = { kind: "connecting" };
  readonly #client: BrowserClient;
  /** Its id, as events have it. */
  #workspace: string;
  /** Names locks and the channel; another server has others. */
  readonly #name: string;
  readonly #key: string;
  #channel: BroadcastChannel | undefined;
  readonly #events = new Set<(event: BelayEvent) => void>();
  readonly #states = new Set<() => void>();
  #reads = false;
  /** Ends the stream because other workspaces are wanted. */
  #changing = new AbortController();
  /** Ends the pause before the next try. */
  #hurry = new AbortController();
  #read: ReadonlySet<string> = new Set();

  constructor(client: BrowserClient, workspace: string) {
    const { url = "", key } = client.connection;
    this.#client = client;
    this.#workspace = workspace;
    this.#name = `belay-stream ${url}`;
    this.#key = digest(key);
  }

  /** Begins to listen; returns how to stop. It can be opened again afterwards. */
  open(): () => void {
    const channel = new BroadcastChannel(this.#name);
    channel.addEventListener("message", ({ data }: MessageEvent<Message>) => this.#receive(data));
    const ending = new AbortController();
    this.#channel = channel;
    void this.#start(ending.signal);
    return () => {
      ending.abort();
      channel.close();
      if (this.#channel === channel) this.#channel = undefined;
    };
  }

  async #start(ending: AbortSignal): Promise<void> {
    if (/[/\\]/.test(this.#workspace)) this.#workspace = await idOf(this.#client, this.#workspace);
    void this.#want(ending);
    void this.#readWhenAlone(ending);
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

  /** Tries again at once, in whichever tab reads for all. */
  tryNow(): void {
    if (this.#reads) this.#hurry.abort();
    else this.#tell({ hurry: true });
  }

  #tell(message: Message): void {
    this.#channel?.postMessage(message);
  }

  /** Says which workspace this tab shows for as long as it does. */
  async #want(signal: AbortSignal): Promise<void> {
    try {
      await navigator.locks.request(`${this.#name} ${this.#workspace}`, { mode: "shared", signal }, () => {
        this.#tell({ hello: true });
        void this.#readOthersToo();
        return new Promise<void>((done) => signal.addEventListener("abort", () => done()));
      });
    } catch {
      // the tab left this workspace before the lock was its own
    }
  }

  #receive(message: Message): void {
    if ("event" in message) this.#hear(message.event);
    else if ("state" in message) {
      // a key that ended is the end of the pages that have it
      if (message.state.kind !== "ended" || message.key === this.#key) this.#become(message.state);
    } else if ("hurry" in message) {
      if (this.#reads) this.#hurry.abort();
    } else if (this.#reads) {
      this.#tell({ state: this.state, key: this.#key });
      void this.#readOthersToo();
    }
  }

  #hear(event: BelayEvent): void {
    if (event.workspace === this.#workspace) for (const listener of this.#events) listener(event);
  }

  #become(state: LiveState): void {
    this.state = state;
    for (const listener of this.#states) listener();
    if (this.#reads) this.#tell({ state, key: this.#key });
  }

  /** The workspaces that tabs of this browser show. */
  async #wanted(): Promise<ReadonlySet<string>> {
    const { held = [] } = await navigator.locks.query();
    const prefix = `${this.#name} `;
    const others = held.flatMap(({ name = "" }) =>
      name.startsWith(prefix) ? [name.slice(prefix.length)] : [],
    );
    return new Set([this.#workspace, ...others]);
  }

  /** Opens the stream again where a tab came that shows a workspace it does not have. */
  async #readOthersToo(): Promise<void> {
    if (!this.#reads) return;
    const wanted = await this.#wanted();
    if ([...wanted].some((workspace) => !this.#read.has(workspace))) this.#changing.abort();
  }

  async #readWhenAlone(signal: AbortSignal): Promise<void> {
    try {
      await navigator.locks.request(this.#name, { signal }, async () => {
        this.#reads = true;
        await this.#readUntilEnded(signal);
        this.#reads = false;
      });
    } catch {
      // the tab left this workspace before its turn came
    }
  }

  async #readUntilEnded(signal: AbortSignal): Promise<void> {
    let wait = FIRST_WAIT_MS;
    let since = Date.now();
    while (!signal.aborted && this.state.kind !== "ended") {
      try {
        await this.#readStream(signal, () => {
          wait = FIRST_WAIT_MS;
        });
      } catch {
        // said by the state below
      }
      if (signal.aborted || (this.state as LiveState).kind === "ended") return;
      if (this.#changing.signal.aborted) continue;
      if ((this.state as LiveState).kind === "live") since = Date.now();
      this.#become({ kind: "waiting", since, retryAt: Date.now() + wait });
      this.#hurry = new AbortController();
      await pause(wait, AbortSignal.any([signal, this.#hurry.signal]));
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  async #readStream(ending: AbortSignal, opened: () => void): Promise<void> {
    const stalled = new AbortController();
    this.#changing = new AbortController();
    this.#read = await this.#wanted();
    const query = new URLSearchParams([...this.#read].map((workspace) => ["workspace", workspace]));
    const response = await this.#client.open(`/api/events?${query}`, {
      signal: AbortSignal.any([ending, this.#changing.signal, stalled.signal]),
    });
    if (response.status === 401) {
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      return this.#become({ kind: "ended", message: endedWords(error) });
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
      const event = JSON.parse(data) as BelayEvent;
      this.#hear(event);
      this.#tell({ event });
    }
    return rest;
  }
}

/** The id of the workspace at a path; the path where it cannot be told. */
async function idOf(client: BrowserClient, path: string): Promise<string> {
  try {
    const { workspaces } = await client.call("GET /api/workspaces");
    return workspaces.find((workspace) => workspace.path === path)?.id ?? path;
  } catch {
    return path;
  }
}

/** Enough to tell two keys apart without passing one on. */
function digest(text: string): string {
  let sum = 2166136261;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 16777619);
  return String(sum >>> 0);
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
