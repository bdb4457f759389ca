/**
 * Binds a handler to a route of the table. A request that does not have the table's shape reaches no handler;
 * a handler whose answer has another shape does not compile.
 */
import { ROUTES, type CallInput, type Route, type RouteAnswer, type RouteName } from "@belay/protocol";
import type { IncomingMessage } from "node:http";
import type { Context, Hono } from "hono";
import { ContractError } from "@belay/protocol/errors";
import { answerJson } from "./answer.ts";
import { pageOf, type OpenPage } from "./page-book.ts";

/** A request in the table's shape. */
export interface RouteInput<Name extends RouteName> {
  readonly params: NonNullable<CallInput<Name>["params"]>;
  readonly query: ParsedQuery<Name>;
  readonly body: ParsedBody<Name>;
  readonly request: Request;
  /** The page in a browser that sent it; undefined for the user's own programs. */
  readonly page: OpenPage | undefined;
}

type Parsed<Shape> = Shape extends { readonly _zod: { readonly output: infer Output } } ? Output : never;
type ParsedQuery<Name extends RouteName> = (typeof ROUTES)[Name] extends { query: infer Shape }
  ? Parsed<Shape>
  : undefined;
type ParsedBody<Name extends RouteName> = (typeof ROUTES)[Name] extends { body: infer Shape }
  ? Parsed<Shape>
  : undefined;

/** What serves one route. */
export type RouteHandler<Name extends RouteName> = (input: RouteInput<Name>) => Promise<RouteAnswer<Name>>;

/** Serves a route of the table. */
export function serveRoute<Name extends RouteName>(app: Hono, name: Name, handler: RouteHandler<Name>): void {
  const [method, path] = name.split(" ") as [string, string];
  const route: Route = ROUTES[name];
  app.on(method, path, async (context) => {
    const input = {
      params: context.req.param(),
      query: route.query === undefined ? undefined : parse("query", route.query, queryOf(context)),
      body: route.body === undefined ? undefined : parse("body", route.body, await readJson(context)),
      request: context.req.raw,
      page: pageOf((context.env as { incoming?: IncomingMessage } | undefined)?.incoming),
    } as unknown as RouteInput<Name>;
    const answer = await handler(input);
    return answer instanceof Response ? answer : answerJson(answer as object);
  });
}

/** The body of a request as JSON. An empty one is an empty object: many actions need no input. */
export async function readJson(context: Context): Promise<unknown> {
  const text = await context.req.text();
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new ContractError("BAD_REQUEST", "The body is not JSON. Nothing was changed.");
  }
}

function queryOf(context: Context): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(context.req.queries()).map(([key, values]) => [
      key,
      values.length === 1 ? values[0]! : values,
    ]),
  );
}

interface Parser<Output> {
  safeParse(
    input: unknown,
  ):
    | { success: true; data: Output }
    | { success: false; error: { issues: readonly { path: readonly PropertyKey[]; message: string }[] } };
}

/** Checks part of a request against its shape; throws `BAD_REQUEST`. */
export function parse<Output>(part: string, shape: Parser<Output>, input: unknown): Output {
  const result = shape.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${[part, ...path].join(".")}: ${message}`);
  throw new ContractError("BAD_REQUEST", `The request is invalid: ${problems.join("; ")}.`, {
    facts: { problems },
  });
}
