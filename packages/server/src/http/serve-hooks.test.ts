/** Hook events over a real server: what the service is given, what the hook gets back, and what passes by. */
import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { BODY_LIMIT_BYTES } from "./guard.ts";
import { withHooks, type DeliveredEvent } from "./serve-hooks.ts";

const CLOSERS: (() => void)[] = [];
afterEach(() => CLOSERS.splice(0).forEach((close) => close()));

interface Said {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Ask = (
  path: string,
  options?: { method?: string; body?: string | Buffer; headers?: Record<string, string> },
) => Promise<Said>;

async function setUp(answer: (event: DeliveredEvent) => Promise<string> = () => Promise.resolve("{}")) {
  const events: DeliveredEvent[] = [];
  const service = {
    answer: (event: DeliveredEvent) => {
      events.push(event);
      return answer(event);
    },
  };
  const listener = withHooks(service, (_request, response) => response.writeHead(418).end("passed on"));
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  CLOSERS.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const ask: Ask = (path, { method = "POST", body = "", headers = {} } = {}) =>
    new Promise((done, fail) => {
      const asked = httpRequest({ port, path, method, headers, agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        response.on("end", () =>
          done({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      });
      asked.on("error", fail);
      asked.end(body);
    });
  return { ask, events };
}

describe("[R60] an event from `belay-hook`", () => {
  test("is its body; the rest is in headers", async () => {
    const { ask, events } = await setUp(() => Promise.resolve('{"systemMessage":"ü"}'));
    const said = await ask("/api/hooks/claude-code/event", {
      body: '{"tool":"Bash → ü"}\r\n',
      headers: {
        "x-belay-cwd": "/a/project",
        "x-belay-environment": "CLAUDECODE=1\tBELAY_HOME=/home/a = b\tBELAY_CLIENT=\t",
        "x-belay-wait": "1794894854814-77",
      },
    });
    expect(said).toMatchObject({ status: 200, body: '{"systemMessage":"ü"}' });
    expect(events.map(({ input, ...rest }) => ({ ...rest, input: input.toString("utf8") }))).toEqual([
      {
        agent: "claude-code",
        input: '{"tool":"Bash → ü"}\r\n',
        cwd: "/a/project",
        environment: { CLAUDECODE: "1", BELAY_HOME: "/home/a = b", BELAY_CLIENT: "" },
        wait: { id: "1794894854814-77" },
      },
    ]);
  });

  test("without a name has nothing to wait for", async () => {
    const { ask, events } = await setUp();
    await ask("/api/hooks/codex/event", { body: "{}" });
    expect(events[0]).toEqual({ agent: "codex", input: Buffer.from("{}"), cwd: "", environment: {} });
  });

  test("gets an answer that says how long it is, and little else: a shell reads it byte by byte", async () => {
    const { ask } = await setUp();
    const { headers } = await ask("/api/hooks/codex/event", { body: "{}" });
    expect(headers).toEqual({ "content-length": "2", connection: "close" });
  });
});

describe("an event from `belay hook` or opencode's plugin", () => {
  test("is packed with the rest, and so is its answer", async () => {
    const { ask, events } = await setUp();
    const wait = { id: "1794894854814-77", deadline: 5 };
    const body = JSON.stringify({ input: "{}", cwd: "/a", environment: { A: "1" }, wait });
    expect(await ask("/api/hooks/opencode", { body })).toMatchObject({
      status: 200,
      body: '{"answer":"{}"}',
    });
    expect(events).toEqual([
      { agent: "opencode", input: Buffer.from("{}"), cwd: "/a", environment: { A: "1" }, wait },
    ]);
  });

  test.each(["", "no JSON", "null", "[]", '{"cwd":"/a"}', '{"input":{}}'])(
    "that is not one, %j, is refused and reaches no service",
    async (body) => {
      const { ask, events } = await setUp();
      expect((await ask("/api/hooks/opencode", { body })).status).toBeGreaterThanOrEqual(400);
      expect(events).toEqual([]);
    },
  );
});

test("a service that fails is the hook's to report: it gets no answer from here", async () => {
  const { ask } = await setUp(() => Promise.reject(new Error("the store is damaged")));
  expect(await ask("/api/hooks/codex/event", { body: "{}" })).toMatchObject({ status: 500, body: "" });
});

test("an event without an end is not kept in memory", async () => {
  const { ask, events } = await setUp();
  const headers = { "transfer-encoding": "chunked" };
  const body = Buffer.alloc(BODY_LIMIT_BYTES + 1, "x");
  // the server may end the connection before everything is written
  const said = await ask("/api/hooks/codex/event", { body, headers }).catch(() => undefined);
  expect(said?.status ?? 500).toBe(500);
  expect(events).toEqual([]);
});

test.each([
  ["GET", "/api/hooks/codex/event"],
  ["POST", "/api/hooks/codex/other"],
  ["POST", "/api/hooks/Codex"],
  ["POST", "/api/hooks/codex/event?x=1"],
  ["POST", "/api/hooks/"],
  ["POST", "/api/threads"],
])("%s %s is not a hook's", async (method, path) => {
  const { ask, events } = await setUp();
  expect(await ask(path, { method })).toMatchObject({ status: 418, body: "passed on" });
  expect(events).toEqual([]);
});
