import { Hono } from "hono";
import { reportError } from "@belay/protocol/errors";
import { describe, expect, test } from "vitest";
import { parse, serveRoute } from "./serve-route.ts";
import { z } from "zod";

/** An application with one route that answers with what it was given. */
function appWith(serve: (app: Hono) => void): Hono {
  const app = new Hono();
  serve(app);
  app.onError((error) => {
    const { code, message, facts, status } = reportError(error, { kind: "api" });
    return Response.json({ code, message, ...facts }, { status });
  });
  return app;
}

async function ask(app: Hono, path: string, init?: RequestInit): Promise<{ status: number; body: any }> {
  const response = await app.request(path, init);
  return { status: response.status, body: await response.json() };
}

const post = (body: string) => ({ method: "POST", body });

describe("what comes in", () => {
  const given: unknown[] = [];
  const app = appWith((routes) => {
    serveRoute(routes, "POST /api/prune", async ({ query, body }) => {
      given.push({ query, body });
      const nothing = { pruned: [], prunedTotal: 0, kept: 0, keptBy: {}, droppedBy: {} };
      return { ...nothing, dryRun: body.dryRun ?? false };
    });
    serveRoute(routes, "GET /api/checkpoints", async ({ query }) => {
      given.push(query);
      return { checkpoints: [] };
    });
    serveRoute(routes, "DELETE /api/threads/:id", async ({ params }) => ({ deleted: params.id }));
  });

  test("has the types of the table: numbers, flags and names without what is not in it", async () => {
    given.length = 0;
    await ask(app, "/api/checkpoints?limit=12&fresh=1&kind=manual&other=x");
    expect(given).toEqual([{ limit: 12, fresh: true, kind: "manual" }]);
  });

  test("an empty body is an empty object", async () => {
    given.length = 0;
    expect((await ask(app, "/api/prune", post(""))).status).toBe(200);
    expect(given).toEqual([{ query: {}, body: {} }]);
  });

  test("parameters of the path are decoded", async () => {
    const { body } = await ask(app, "/api/threads/a%20b", { method: "DELETE" });
    expect(body).toEqual({ deleted: "a b" });
  });

  test.each([
    ["a body that is not JSON", "/api/prune", post("{"), "The body is not JSON"],
    ["a body that is no object", "/api/prune", post("[]"), "body"],
    ["a flag that is none", "/api/checkpoints?fresh=maybe", {}, "query.fresh"],
    ["a number that is too large", "/api/checkpoints?limit=10001", {}, "query.limit"],
    ["a number that is none", "/api/checkpoints?limit=x", {}, "query.limit"],
    ["the same word twice", "/api/checkpoints?kind=a&kind=b", {}, "query.kind"],
    ["a field of another type", "/api/prune", post('{"dryRun":"yes"}'), "body.dryRun"],
  ])("is refused before any handler sees it: %s", async (_, path, init, named) => {
    given.length = 0;
    const { status, body } = await ask(app, path, init);
    expect(status).toBe(400);
    expect(body.code).toBe("BAD_REQUEST");
    expect(body.message).toContain(named);
    expect(given).toEqual([]);
  });

  test("every problem of it is named", () => {
    const shape = z.object({ a: z.string(), b: z.number() });
    expect(() => parse("body", shape, { a: 1, b: "x" })).toThrow(
      expect.objectContaining({
        code: "BAD_REQUEST",
        details: {
          facts: { problems: [expect.stringMatching(/^body\.a: /), expect.stringMatching(/^body\.b: /)] },
        },
      }),
    );
    expect(parse("body", shape, { a: "x", b: 1, c: 2 })).toEqual({ a: "x", b: 1 });
  });
});

describe("what goes out", () => {
  test("is JSON without the secrets of words", async () => {
    const app = appWith((routes) => {
      serveRoute(routes, "DELETE /api/threads/:id", async () => ({ deleted: "PASSWORD=hunter2" }));
    });
    const { body } = await ask(app, "/api/threads/x", { method: "DELETE" });
    expect(JSON.stringify(body)).not.toContain("hunter2");
  });

  test("of a stream is the handler's own response", async () => {
    const app = appWith((routes) => {
      serveRoute(routes, "GET /api/events", async () => new Response("data: 1\n\n"));
    });
    expect(await (await app.request("/api/events")).text()).toBe("data: 1\n\n");
  });

  test("does not compile with another shape", () => {
    const app = new Hono();
    // @ts-expect-error -- a field is missing
    serveRoute(app, "POST /api/prune", async () => ({ pruned: [], kept: 0 }));
    // @ts-expect-error -- a field has another type
    serveRoute(app, "DELETE /api/threads/:id", async () => ({ deleted: 1 }));
    // @ts-expect-error -- a time is a number
    serveRoute(app, "GET /api/threads/:id/session", async () => ({
      activeSession: null,
      sessionRef: null,
      hasUnapproved: false,
      lastApprovedAt: 0,
      changedFiles: [],
    }));
    // @ts-expect-error -- a stream is a response
    serveRoute(app, "GET /api/events", async () => ({ events: [] }));
    // @ts-expect-error -- there is no such route
    serveRoute(app, "GET /api/nothing", async () => ({}));
    // @ts-expect-error -- it has no such parameter
    serveRoute(app, "DELETE /api/threads/:id", async ({ params }) => ({ deleted: params.cid }));
    expect(app.routes).toHaveLength(6);
  });
});
