/**
 * The data of the screens. A source keeps one connection, makes another when it breaks, and tells its listeners what
 * happens in the workspace. Screens call routes through it and never hold a connection themselves.
 */
import type { BelayEvent, CallInput, CallOutput, RouteName } from "@belay/protocol";
import { createContext, useContext, useSyncExternalStore } from "react";
import type { Connection, Place } from "./connection.ts";

/** `resident` and `store`: connected to it. `lost`: what is shown is what was loaded. */
export type SourceState = "connecting" | Connection["by"] | "lost";

/** Seconds between attempts to connect, and between looks for a resident process that was missing. */
const RETRY_MS = [1000, 2000, 4000, 8000, 15_000, 30_000];
/** A connection that lasted this long was a good one: the next attempt is soon. */
const GOOD_MS = 5000;

/** The one way from the screens to the workspace. */
export class Source {
  readonly place: Place;
  readonly #listeners = new Set<(event: BelayEvent) => void>();
  readonly #watchers = new Set<() => void>();
  readonly #ending = new AbortController();
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #retries = 0;
  #held = 0;
  #timer: NodeJS.Timeout | undefined;
  #state: SourceState = "connecting";

  constructor(place: Place) {
    this.place = place;
  }

  get state(): SourceState {
    return this.#state;
  }

  /** Calls a route by name. An error of the workspace passes as it is; a broken connection is tried once more. */
  async call<Name extends RouteName>(name: Name, input: CallInput<Name> = {}): Promise<CallOutput<Name>> {
    const connection = await this.#connected();
    try {
      return await connection.client.call(name, input);
    } catch (error) {
      if (!isBroken(error)) throw error;
      await this.#drop(connection);
      // a read may be repeated; what changes something may have arrived
      if (!name.startsWith("GET ")) throw error;
      return await (await this.#connected()).client.call(name, input);
    }
  }

  /** Calls the listener for everything that happens; returns how to stop. */
  listen(listener: (event: BelayEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls the watcher when the state changes; returns how to stop. */
  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  };

  /** [R2470] Keeps the process that answers, as long as something that only it knows is needed; returns how to stop. */
  hold(): () => void {
    this.#held += 1;
    return () => {
      this.#held -= 1;
      if (this.#held === 0 && this.#connection?.by === "store" && this.place.expectsResident)
        this.#later(() => void this.#lookForResident());
    };
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.[Symbol.asyncDispose]();
  }

  #connected(): Promise<Connection> {
    if (this.#ending.signal.aborted) return Promise.reject(new Error("the screens have ended"));
    if (this.#connection !== undefined) return Promise.resolve(this.#connection);
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connect(): Promise<Connection> {
    try {
      const connection = await this.place.connect();
      this.#connection = connection;
      this.#become(connection.by);
      void this.#follow(connection);
      if (connection.by === "store" && this.place.expectsResident)
        this.#later(() => void this.#lookForResident());
      return connection;
    } catch (error) {
      this.#become("lost");
      this.#connectLater();
      throw error;
    }
  }

  async #follow(connection: Connection): Promise<void> {
    const since = performance.now();
    try {
      for await (const event of connection.events(this.place.workspace, this.#ending.signal)) {
        this.#retries = 0;
        for (const listener of this.#listeners) listener(event);
      }
    } catch {
      // the same as an end: the connection is made again
    }
    if (this.#ending.signal.aborted || this.#connection !== connection) return;
    if (performance.now() - since > GOOD_MS) this.#retries = 0;
    // calls wait for the next attempt too: a connection that breaks as soon as it is made, as that of a deleted project
    // does, would be made again and again
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#later(resolve);
    this.#connecting ??= promise.then(() => this.#connect()).finally(() => (this.#connecting = undefined));
    // a failure is on the screen as the state "lost"; calls that wait get it themselves
    this.#connecting.catch(() => undefined);
    await this.#drop(connection);
  }

  #connectLater(): void {
    // a failure makes the state "lost", which the head of every timeline says, and tries again
    this.#later(() => void this.#connected().catch(() => undefined));
  }

  /** The store was opened here because no resident process was there: it may have come since. */
  async #lookForResident(): Promise<void> {
    const before = this.#connection;
    if (before?.by !== "store" || this.#held > 0) return;
    // the store that is open goes on answering; that the process is missing is on the screen already
    const found = await this.place.connect().catch(() => undefined);
    if (found === undefined || found.by === "store" || this.#ending.signal.aborted || this.#held > 0) {
      await found?.[Symbol.asyncDispose]();
      this.#later(() => void this.#lookForResident());
      return;
    }
    this.#connection = found;
    this.#become(found.by);
    void this.#follow(found);
    await before[Symbol.asyncDispose]();
  }

  async #drop(connection: Connection): Promise<void> {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#become("lost");
    try {
      await connection[Symbol.asyncDispose]();
    } catch {
      // it was broken
    }
  }

  #later(work: () => void): void {
    if (this.#ending.signal.aborted) return;
    const wait = RETRY_MS[Math.min(this.#retries, RETRY_MS.length - 1)]!;
    this.#retries += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(work, wait);
    this.#timer.unref();
  }

  #become(state: SourceState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }
}

/** An answer of the server has a code and a status; what has neither never arrived. */
function isBroken(error: unknown): boolean {
  return typeof (error as { status?: unknown }).status !== "number";
}

const SourceContext = createContext<Source | undefined>(undefined);

/** Gives the screens their source. */
export const SourceProvider = SourceContext.Provider;

/** The source of the screens. */
export function useSource(): Source {
  const source = useContext(SourceContext);
  if (source === undefined) throw new Error("a screen without a source");
  return source;
}

/** The state of the source, as it changes. */
export function useSourceState(): SourceState {
  const source = useSource();
  return useSyncExternalStore(source.watch, () => source.state);
}
