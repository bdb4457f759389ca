/**
 * A remote in memory that other processes reach, and that kills one of them at a request: before it is done, or when it is
 * done and not answered.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { MemoryRemoteStore } from "../../src/stores/memory-remote-store.ts";
import type { PutOutcome, RemoteStore, StoredObject } from "../../src/stores/remote-store.ts";

/** A request, as it travels. */
type Call =
  | { readonly do: "put"; readonly key: string; readonly createOnly: boolean }
  | { readonly do: "get"; readonly key: string; readonly from?: number; readonly length?: number }
  | { readonly do: "list"; readonly prefix: string; readonly after?: string }
  | { readonly do: "remove"; readonly keys: readonly string[] };

/** Which request is the last one of a process. */
export interface Strike {
  readonly at: number;
  readonly when: "before" | "after";
  readonly kill: () => void;
}

/** The server, and its store for those in this process. */
export class KillServer {
  readonly store = new MemoryRemoteStore();
  readonly #server: Server;
  #strike: Strike | undefined;
  /** Requests since the last strike was set. */
  count = 0;

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    // a machine that waits for its turn longer than this would find its connection closed, and fail by itself
    this.#server.keepAliveTimeout = 0;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  strike(strike: Strike | undefined): void {
    [this.#strike, this.count] = [strike, 0];
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part as Buffer);
    } catch {
      // killed while it was sending
      return;
    }
    const strike = this.#strike;
    const isLast = ++this.count === strike?.at;
    if (isLast && strike?.when === "before") return strike.kill();
    const call = JSON.parse(String(request.headers["x-call"] ?? "null")) as Call | null;
    const [facts, body] = await this.#do(
      call ?? { do: "get", key: request.url!.slice(1) },
      Buffer.concat(parts),
    );
    if (isLast) return strike.kill();
    response.setHeader("x-facts", JSON.stringify(facts));
    response.end(body);
  }

  async #do(call: Call, body: Buffer): Promise<[facts: unknown, body: Buffer]> {
    const nothing = Buffer.alloc(0);
    if (call.do === "put") return [await this.store.put(call.key, body, call), nothing];
    if (call.do === "get") {
      const { from, length } = call;
      const range = from === undefined || length === undefined ? undefined : { from, length };
      const got = await this.store.get(call.key, range);
      return got === undefined ? [null, nothing] : [{ date: got.date }, got.bytes];
    }
    if (call.do === "list")
      return [
        null,
        Buffer.from(JSON.stringify(await Array.fromAsync(this.store.list(call.prefix, call.after)))),
      ];
    await this.store.remove(call.keys);
    return [null, nothing];
  }
}

/** That server, from another process. */
export class KillServerStore implements RemoteStore {
  readonly #endpoint: string;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  async put(key: string, bytes: Buffer, { createOnly }: { readonly createOnly: boolean }) {
    return (await this.#send({ do: "put", key, createOnly }, bytes)).facts as PutOutcome;
  }

  async get(key: string, range?: { readonly from: number; readonly length: number }) {
    const { facts, bytes } = await this.#send({ do: "get", key, ...range });
    return facts === null ? undefined : { bytes, ...(facts as { date: number }) };
  }

  async *list(prefix: string, after?: string): AsyncIterable<StoredObject> {
    const { bytes } = await this.#send({ do: "list", prefix, ...(after !== undefined && { after }) });
    yield* JSON.parse(bytes.toString()) as StoredObject[];
  }

  async remove(keys: readonly string[]): Promise<void> {
    await this.#send({ do: "remove", keys });
  }

  async presign(key: string): Promise<string> {
    return `${this.#endpoint}/${key}`;
  }

  async #send(call: Call, body: Buffer = Buffer.alloc(0)): Promise<{ facts: unknown; bytes: Buffer }> {
    const headers = { "x-call": JSON.stringify(call) };
    const answer = await fetch(this.#endpoint, { method: "POST", headers, body: new Uint8Array(body) });
    const bytes = Buffer.from(await answer.arrayBuffer());
    return { facts: JSON.parse(answer.headers.get("x-facts")!), bytes };
  }
}
