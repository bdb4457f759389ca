/**
 * A model on loopback that does what it is told: after a known prompt it asks for one tool call after the other,
 * then says that it is done. Which call is due is read off the conversation, so a repeated request is harmless.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { protocolOf, type Body, type Said } from "./model-protocols.ts";

export interface ToolCall {
  readonly name: string;
  /** Text for tools that take it as it is. */
  readonly input: Record<string, unknown> | string;
  /** What the client calls it in its hooks, if not by its name. */
  readonly hookName?: string;
}

export type Turn = { readonly call: ToolCall; readonly id: string } | { readonly text: string };

export const ANSWER = "All done.";

export class ModelStub implements AsyncDisposable {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #prompt = "";
  #calls: readonly ToolCall[] = [];
  #heard: readonly Said[] = [];
  #stalls = false;
  readonly #thinkingMs: number;
  /** When each call was asked for, and when its result came. */
  readonly #askedAt: number[] = [];
  readonly #resultAt: number[] = [];
  /** It has asked for everything and is thinking. */
  isStalled = false;

  /** A model that thinks before each answer is nearer to a real one, which never answers at once. */
  constructor({ thinkingMs = 0 } = {}) {
    this.#thinkingMs = thinkingMs;
  }

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What the model asks for when it reads this prompt; one that stalls never comes to an answer. */
  expect(prompt: string, calls: readonly ToolCall[], { stalls = false } = {}): void {
    [this.#prompt, this.#calls, this.#heard] = [prompt, calls, []];
    [this.#stalls, this.isStalled] = [stalls, false];
    this.#askedAt.length = 0;
    this.#resultAt.length = 0;
  }

  /** How long the client took for each call of the last turn: from asking for it to its result. */
  get callTimes(): number[] {
    return this.#resultAt.flatMap((at, call) => (call === 0 ? [] : [at - this.#askedAt[call - 1]!]));
  }

  /** Whether the last request that offered tools has this text in it. */
  hasHeard(text: string): boolean {
    return this.#heard.some((item) => item !== "result" && item.text.includes(text));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const protocol = protocolOf(request.url ?? "");
    if (request.method !== "POST" || protocol === undefined) {
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const body = JSON.parse(Buffer.concat(pieces).toString("utf8")) as Body;
    const arrivedAt = performance.now();
    const next = this.#next(protocol.read(body), body);
    if (this.#stalls && "text" in next && this.#heard.includes("result")) {
      this.isStalled = true;
      return;
    }
    const [type, text] = protocol.write(next, body);
    if (this.#thinkingMs > 0) await setTimeout(this.#thinkingMs);
    response.writeHead(200, { "content-type": type }).end(text);
    if (!Array.isArray(body.tools) || body.tools.length === 0) return;
    this.#resultAt.push(arrivedAt);
    this.#askedAt.push(performance.now());
  }

  #next(said: readonly Said[], { tools }: Body): Turn {
    if (!Array.isArray(tools) || tools.length === 0) return { text: ANSWER };
    this.#heard = said;
    const prompt = said.findLastIndex((item) => item !== "result" && item.text.includes(this.#prompt));
    const done = said.slice(prompt).filter((item) => item === "result").length;
    const call = prompt < 0 ? undefined : this.#calls[done];
    return call === undefined ? { text: ANSWER } : { call, id: `call_${done + 1}_${Date.now()}` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}
