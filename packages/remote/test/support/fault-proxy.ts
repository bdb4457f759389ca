/** A proxy in front of a server that does one thing wrong to one request. */
import { createServer, request as send, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What can happen to a request. */
export const FAULTS = [
  "dropped before",
  "dropped after",
  "500 before",
  "500 after",
  "503",
  "delivered twice",
  "body cut in half",
  "answer cut in half",
  "a bit of the body flipped",
  "a bit of the answer flipped",
  "delivered after the next one",
  "answered too late",
  "answered bit by bit",
  "403",
] as const;

export type Fault = (typeof FAULTS)[number];

/** Request number `at` from now on, counted from 1 among those that match, has the fault. */
interface Strike {
  readonly at: number;
  readonly fault: Fault;
  readonly of?: RegExp;
}

/** What the server answered. */
interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

const PATIENCE_MS = 20_000;

export class FaultProxy {
  readonly #target: URL;
  readonly #server = createServer((incoming, outgoing) => void this.#handle(incoming, outgoing));
  /** Requests since `strike`. */
  count = 0;
  #plan: Strike | undefined;
  /** Requests are taken and never answered. */
  hangs = false;
  /** Called before a request is passed on, and when the server has done it but the answer is not passed on. */
  watch: ((when: "before" | "after", count: number) => void) | undefined;

  constructor(target: string) {
    this.#target = new URL(target);
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  /** undefined: no request has a fault. */
  strike(plan: Strike | undefined): void {
    this.#plan = plan;
    this.count = 0;
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const body = await bytesOf(incoming);
      if (this.hangs) return;
      if (this.#plan?.of?.test(`${incoming.method} ${incoming.url}`) !== false) this.count += 1;
      const fault = this.#plan?.at === this.count ? this.#plan.fault : undefined;
      this.watch?.("before", this.count);
      await this.#strike(fault, { incoming, outgoing, body });
    } catch {
      outgoing.destroy();
    }
  }

  async #strike(
    fault: Fault | undefined,
    { incoming, outgoing, body }: { incoming: IncomingMessage; outgoing: ServerResponse; body: Buffer },
  ): Promise<void> {
    const forward = (bytes = body) => this.#forward(incoming, bytes);
    if (fault === "dropped before") return void outgoing.destroy();
    if (fault === "500 before") return void outgoing.writeHead(500).end();
    if (fault === "403") return void outgoing.writeHead(403).end();
    if (fault === "delivered after the next one") {
      this.#late = () => this.#forward(incoming, body);
      return void outgoing.destroy();
    }
    if (fault === "503") return void outgoing.writeHead(503, { "retry-after": "0" }).end();
    if (fault === "body cut in half" && body.length > 1) {
      await this.#forward(incoming, body.subarray(0, body.length / 2), { isCut: true }).catch(
        () => undefined,
      );
      return void outgoing.destroy();
    }
    const answer = await forward(fault === "a bit of the body flipped" ? flipped(body) : body);
    this.watch?.("after", this.count);
    await this.#deliverLate();
    // the client gives up, and does not learn that it was done
    if (fault === "answered too late") return;
    if (fault === "answered bit by bit") return trickle(answer, outgoing);
    if (fault === "dropped after") return void outgoing.destroy();
    if (fault === "500 after") return void outgoing.writeHead(500).end();
    if (fault === "delivered twice") await forward();
    if (fault === "answer cut in half" && answer.body.length > 1) {
      outgoing.writeHead(answer.status, answer.headers);
      outgoing.write(answer.body.subarray(0, answer.body.length / 2), () => outgoing.destroy());
      return;
    }
    const isFlipped = fault === "a bit of the answer flipped";
    outgoing.writeHead(answer.status, answer.headers).end(isFlipped ? flipped(answer.body) : answer.body);
  }

  /** The request that was held back, once another one has been answered. */
  #late: (() => Promise<Answered>) | undefined;

  async #deliverLate(): Promise<void> {
    const late = this.#late;
    this.#late = undefined;
    await late?.().catch(() => undefined);
  }

  #forward(
    { method, url, headers }: IncomingMessage,
    body: Buffer,
    { isCut = false } = {},
  ): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.#target;
      // signed for the proxy's address: the server must see that one
      const options = { hostname, port, method, path: url, headers, timeout: PATIENCE_MS };
      const outgoing = send(options, (incoming) => {
        bytesOf(incoming).then(
          (bytes) =>
            resolve({
              status: incoming.statusCode ?? 0,
              headers: plain(incoming.headers, bytes),
              body: bytes,
            }),
          reject,
        );
      });
      outgoing.on("timeout", () => outgoing.destroy(new Error("the server does not answer")));
      outgoing.on("error", reject);
      if (isCut) outgoing.write(body, () => outgoing.destroy(new Error("cut")));
      else outgoing.end(body);
    });
  }
}

const PIECES = 16;

/** Slower than one write, and in time. */
async function trickle({ status, headers, body }: Answered, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(status, headers);
  const size = Math.ceil(body.length / PIECES) || 1;
  for (let at = 0; at < body.length; at += size) {
    outgoing.write(body.subarray(at, at + size));
    await new Promise((resolve) => {
      setTimeout(resolve, 1);
    });
  }
  outgoing.end();
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function plain(headers: IncomingMessage["headers"], body: Buffer): IncomingMessage["headers"] {
  const { "transfer-encoding": _, connection: __, ...rest } = headers;
  return { ...rest, "content-length": String(body.length) };
}

function flipped(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  if (changed.length > 0) changed[changed.length >> 1]! ^= 1;
  return changed;
}
