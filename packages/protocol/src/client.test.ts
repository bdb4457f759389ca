import { describe, expect, test } from "vitest";
import { BelayClient, ClientError, type ClientRequest } from "./client.ts";
import { openApiDocument } from "./openapi.ts";
import { ROUTES } from "./routes.ts";

/** A client whose requests are kept, and answered with this. */
function clientWith(answer: object, status = 200): { client: BelayClient; sent: ClientRequest[] } {
  const sent: ClientRequest[] = [];
  const client = new BelayClient(async (request) => {
    sent.push(request);
    return { status, body: JSON.stringify(answer) };
  });
  return { client, sent };
}

describe("a call", () => {
  test("fills in parameters and query, quoted for an address", async () => {
    const { client, sent } = clientWith({ plan: null });
    await client.call("GET /api/threads/:id/checkpoints/:cid/rollback/preview", {
      params: { id: "a/b", cid: "my name" },
      query: { paths: ["x y", "z"], keepNew: "1" },
    });
    expect(sent).toEqual([
      {
        method: "GET",
        path: "/api/threads/a%2Fb/checkpoints/my%20name/rollback/preview?paths=x+y&paths=z&keepNew=1",
        body: undefined,
      },
    ]);
  });

  test("leaves out what is undefined, and sends an empty object where there is no body", async () => {
    const { client, sent } = clientWith({ stopping: true });
    await client.call("GET /api/checkpoints", { query: { limit: undefined } });
    await client.call("POST /api/resident/stop");
    expect(sent.map(({ path, body }) => [path, body])).toEqual([
      ["/api/checkpoints", undefined],
      ["/api/resident/stop", "{}"],
    ]);
  });

  test("answers with what the server answered", async () => {
    const { client } = clientWith({ deleted: "t", more: 1 });
    expect(await client.call("DELETE /api/threads/:id", { params: { id: "t" } })).toEqual({
      deleted: "t",
      more: 1,
    });
  });

  test("throws the server's error with its code, hint, status and facts", async () => {
    const error = { code: "PLAN_STALE", message: "Too old.", hint: "Again.", plan: "p" };
    const { client } = clientWith({ error }, 409);
    const thrown = await client.call("GET /api/resident").catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(ClientError);
    expect(thrown).toMatchObject({
      status: 409,
      code: "PLAN_STALE",
      message: "Too old.",
      hint: "Again.",
      facts: { plan: "p" },
    });
  });
});

describe("openapi.json", () => {
  const { paths } = openApiDocument("1.2.3") as { paths: Record<string, Record<string, any>> };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));

  test("describes every route once, under a name of its own", () => {
    expect(operations).toHaveLength(Object.keys(ROUTES).length);
    const names = operations.map(({ operationId }) => operationId as string);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^(get|post|put|patch|delete)[A-Za-z]+$/);
  });

  test("has the parameters of the path and of the query", () => {
    const { parameters } = paths["/api/threads/{id}/revert/preview"]!["get"];
    expect(parameters).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "id", in: "path", required: true }),
        expect.objectContaining({ name: "checkpoint", in: "query", required: true }),
        expect.objectContaining({ name: "includeShared", in: "query", required: false }),
      ]),
    );
  });

  test("has a body and an answer as schemas, a stream as a stream, and the error for all else", () => {
    const undo = paths["/api/threads/{id}/undo"]!["post"];
    expect(undo.requestBody.content["application/json"].schema.required).toEqual(["planId"]);
    expect(undo.responses["200"].content["application/json"].schema.required).toContain("leftOut");
    expect(Object.keys(paths["/api/events"]!["get"].responses["200"].content)).toEqual(["text/event-stream"]);
    for (const { responses } of operations)
      expect(responses.default.content["application/json"].schema.properties.error.required).toEqual([
        "code",
        "message",
        "hint",
      ]);
  });
});
