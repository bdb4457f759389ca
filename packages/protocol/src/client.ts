/**
 * A client of the resident process without a runtime import. The caller chooses how a request travels: a
 * socket, `fetch`, or straight into the application.
 */
import type { z } from "zod";
import type { Route, ROUTES, RouteName } from "./routes.ts";

export { bodyPieces, readEvents } from "./read-events.ts";

/** A request as a transport sends it. */
export interface ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  /** Ends the request when its answer is no longer wanted; a transport that cannot end one answers all the same. */
  readonly signal?: AbortSignal | undefined;
}

/** An answer as a transport receives it. */
export interface ClientResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends one request to the resident process. */
export type Transport = (request: ClientRequest) => Promise<ClientResponse>;

/** A refusal by the server. */
export class ClientError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(status: number, error: { code: string; message: string; hint: string }) {
    const { code, message, hint, ...facts } = error;
    super(message);
    this.name = "ClientError";
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.facts = facts;
  }
}

type PathParameters<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParameters<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type Input<Name extends RouteName, Part extends "query" | "body"> = (typeof ROUTES)[Name] extends {
  readonly [part in Part]: infer Shape extends z.ZodType;
}
  ? z.input<Shape>
  : undefined;

/** The parameters, query and body of a route. */
export interface CallInput<Name extends RouteName> {
  readonly params?: Readonly<Record<PathParameters<Name>, string>>;
  readonly query?: Input<Name, "query">;
  readonly body?: Input<Name, "body">;
}

/** The answer of a route. */
export type CallOutput<Name extends RouteName> = (typeof ROUTES)[Name] extends {
  readonly response: infer Shape extends z.ZodType;
}
  ? z.infer<Shape>
  : never;

/** The shape of the route table, for code that walks it. */
export type { Route };

/** Calls routes by name, with their types. */
export class BelayClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async call<Name extends RouteName>(
    name: Name,
    input: CallInput<Name> = {},
    signal?: AbortSignal,
  ): Promise<CallOutput<Name>> {
    const [method] = name.split(" ") as [string];
    return (await this.send({
      method,
      path: routePath(name, input),
      body: method === "GET" ? undefined : JSON.stringify(input.body ?? {}),
      signal,
    })) as CallOutput<Name>;
  }

  /** Sends a request that is not in the table. */
  async send(request: ClientRequest): Promise<unknown> {
    const { status, body } = await this.#transport(request);
    const answer = JSON.parse(body) as { error?: { code: string; message: string; hint: string } };
    if (answer.error !== undefined) throw new ClientError(status, answer.error);
    return answer;
  }
}

/** The path and query of a route, for what a transport of JSON does not carry: bytes and streams. */
export function routePath<Name extends RouteName>(name: Name, input: CallInput<Name> = {}): string {
  return fill(name.slice(name.indexOf(" ") + 1), input.params ?? {}) + search(input.query);
}

function fill(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

function search(query: unknown): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    for (const each of [value].flat()) words.append(name, String(each));
  }
  return words.size === 0 ? "" : `?${words.toString()}`;
}
