/** Generates `openapi.json` from the route table. */
import { z } from "zod";
import { ROUTES, type Route } from "./routes.ts";
import { errorBody } from "./shapes.ts";

/** The OpenAPI document, generated from the route table. */
export function openApiDocument(version: string): object {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, route] of Object.entries(ROUTES) as [string, Route][]) {
    const [method, path] = name.split(" ") as [string, string];
    const place = path.replaceAll(/:(\w+)/g, "{$1}");
    (paths[place] ??= {})[method.toLowerCase()] = operation(name, path, route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Belay", version, description: "Undo for AI coding agents." },
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  };
}

function operation(name: string, path: string, { summary, query, body, response, media }: Route): object {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, parameter]) => ({
    name: parameter,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  return {
    operationId: operationId(name),
    summary,
    parameters: [...inPath, ...(query === undefined ? [] : queryParameters(query))],
    ...(body === undefined ? {} : { requestBody: { content: json(body, "input") } }),
    responses: {
      "200": {
        description: summary,
        content: response === undefined ? { [media ?? "text/event-stream"]: {} } : json(response, "output"),
      },
      default: { description: "What went wrong.", content: json(errorBody, "output") },
    },
  };
}

function operationId(name: string): string {
  return name
    .replace("/api", "")
    .split(/[^A-Za-z]+/)
    .map((word, index) => (index === 0 ? word.toLowerCase() : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");
}

function queryParameters(query: z.ZodObject): object[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "input" });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function json(schema: z.ZodType, io: "input" | "output"): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return { "application/json": { schema: rest } };
}
