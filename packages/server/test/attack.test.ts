/** Requests that must not get through, sent as raw bytes: a browser, a proxy or a library would tidy them up first. */
import { connect } from "node:net";
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listenOnLoopback, type Listening } from "../src/http/listen.ts";

const TOKEN = "t0ken-t0ken-t0ken-t0ken-t0ken-t0ken-t0ken-1";
let listening: Listening;
let reached: string[] = [];

beforeAll(async () => {
  listening = await listenOnLoopback(0, { token: TOKEN }, (request, response) => {
    reached.push(`${request.method} ${request.url}`);
    request.resume();
    response.end("reached");
  });
});
afterAll(() => listening.close());

interface Attack {
  readonly name: string;
  /** Header lines; without them `Host` and `Authorization` are those of a client of ours. */
  readonly headers?: readonly string[];
  readonly line?: string;
  readonly body?: string;
  readonly without?: "host" | "token";
}

const POST = "POST /api/prune HTTP/1.1";
const json = "Content-Type: application/json";

const HOSTS = [
  "evil.example",
  "localhost.evil.example:PORT",
  "127.0.0.1.nip.io:PORT",
  "localhost",
  "127.0.0.1",
  "localhost:1",
  "LOCALHOST.:PORT",
  "localhost.:PORT",
  "0.0.0.0:PORT",
  "[::]:PORT",
  "2130706433:PORT",
  "0x7f.1:PORT",
  "127.1:PORT",
  "127.0.0.1:PORT, evil.example",
  "user@127.0.0.1:PORT",
  "[::ffff:127.0.0.1]:PORT",
  "xn--lcalhost-5bg:PORT",
  "",
];
const ORIGINS = [
  "null",
  "http://evil.example",
  "https://127.0.0.1:PORT",
  "http://127.0.0.1",
  "http://127.0.0.1:1",
  "http://localhost.evil.example:PORT",
  "http://127.0.0.1:PORT.evil.example",
  "http://127.0.0.1:PORT/",
  "file://",
  "vscode-webview://x",
  "http://[::1]",
  "chrome-extension://abc",
];
const TYPES = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-16",
  "application/jsonp",
  "text/json",
  "application/json, text/plain",
];
const PATHS = [
  "/api/..%2f..%2fetc",
  "/api/threads/%00",
  "/api/../../etc",
  "/..",
  "//evil.example/x",
  "/api/a%5cb",
  "/./api/threads",
  "/%2e/api/threads",
  "/api/x/%2E%2e/threads",
  "/api/threads#x",
  "*",
];

const ATTACKS: readonly Attack[] = [
  ...HOSTS.map((host) => ({
    name: `host ${host || "empty"}`,
    headers: [`Host: ${host}`],
    without: "host" as const,
  })),
  { name: "no host", without: "host" },
  { name: "two hosts", headers: ["Host: evil.example"] },
  { name: "two hosts, ours last", headers: ["Host: evil.example", "Host: 127.0.0.1:PORT"], without: "host" },
  { name: "absolute form", line: "GET http://evil.example/api/threads HTTP/1.1" },
  { name: "absolute form of ourselves", line: "GET http://127.0.0.1:PORT/api/threads HTTP/1.1" },
  { name: "HTTP/1.0", line: "GET /api/threads HTTP/1.0" },
  { name: "HTTP/2 preface", line: "PRI * HTTP/2.0" },
  ...ORIGINS.map((origin) => ({ name: `origin ${origin}`, headers: [`Origin: ${origin}`] })),
  ...ORIGINS.slice(0, 2).map((origin) => ({
    name: `post from origin ${origin}`,
    line: POST,
    headers: [`Origin: ${origin}`, json, "Content-Length: 2"],
    body: "{}",
  })),
  { name: "cross-site fetch", headers: ["Sec-Fetch-Site: cross-site"] },
  { name: "same-site fetch", headers: ["Sec-Fetch-Site: same-site"] },
  {
    name: "stream for a page of another site",
    line: "GET /api/events HTTP/1.1",
    headers: ["Origin: http://evil.example", "Accept: text/event-stream"],
  },
  ...TYPES.map((type) => ({
    name: `post of ${type}`,
    line: POST,
    headers: [`Content-Type: ${type}`, "Content-Length: 2"],
    body: "{}",
  })),
  { name: "post without a type", line: POST, headers: ["Content-Length: 2"], body: "{}" },
  {
    name: "two types",
    line: POST,
    headers: [json, "Content-Type: text/plain", "Content-Length: 2"],
    body: "{}",
  },
  {
    name: "preflight",
    line: "OPTIONS /api/prune HTTP/1.1",
    headers: ["Origin: http://127.0.0.1:PORT", "Access-Control-Request-Method: POST"],
  },
  { name: "trace", line: "TRACE /api/threads HTTP/1.1" },
  { name: "connect", line: "CONNECT evil.example:443 HTTP/1.1" },
  {
    name: "web socket",
    headers: [
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Origin: http://evil.example",
    ],
  },
  {
    name: "upgrade to h2c",
    headers: ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"],
  },
  { name: "no token", without: "token" },
  { name: "token in the query", line: `GET /api/threads?token=${TOKEN} HTTP/1.1`, without: "token" },
  { name: "token in a cookie", headers: [`Cookie: token=${TOKEN}`], without: "token" },
  { name: "another token", headers: [`Authorization: Bearer ${TOKEN.slice(0, -1)}2`], without: "token" },
  { name: "half a token", headers: [`Authorization: Bearer ${TOKEN.slice(0, 10)}`], without: "token" },
  {
    name: "basic",
    headers: [`Authorization: Basic ${Buffer.from(`a:${TOKEN}`).toString("base64")}`],
    without: "token",
  },
  { name: "two tokens", headers: [`Authorization: Bearer ${TOKEN}`] },
  { name: "token of an earlier start", headers: ["Authorization: Bearer YmVmb3Jl"], without: "token" },
  ...PATHS.map((path) => ({ name: `path ${path}`, line: `GET ${path} HTTP/1.1` })),
  { name: "body of 20 MB", line: POST, headers: [json, "Content-Length: 20000000"] },
  {
    name: "length and chunks",
    line: POST,
    headers: [json, "Content-Length: 2", "Transfer-Encoding: chunked"],
    body: "0\r\n\r\n",
  },
  { name: "two lengths", line: POST, headers: [json, "Content-Length: 2", "Content-Length: 3"], body: "{}" },
  { name: "odd chunk size", line: POST, headers: [json, "Transfer-Encoding: xchunked"], body: "0\r\n\r\n" },
  { name: "header of 20 MB", headers: [`X: ${"x".repeat(20_000_000)}`] },
  {
    name: "a thousand headers",
    headers: Array.from({ length: 3000 }, (_, index) => `X-${index}: ${"y".repeat(10)}`),
  },
  { name: "line feed in a header", headers: ["X: a\n\nGET /api/threads HTTP/1.1"] },
  { name: "folded header", headers: ["X: a\r\n b"] },
];

describe("the guard", () => {
  test("lets our own requests through", async () => {
    expect(await send({ name: "plain" })).toMatch(/ 200 /);
    expect(
      await send({
        name: "page of ours",
        headers: ["Origin: http://127.0.0.1:PORT", "Sec-Fetch-Site: same-origin"],
      }),
    ).toMatch(/ 200 /);
    expect(
      await send({ name: "json", line: POST, headers: [json, "Content-Length: 2"], body: "{}" }),
    ).toMatch(/ 200 /);
    expect(await send({ name: "nothing to say", line: POST, headers: ["Content-Length: 0"] })).toMatch(
      / 200 /,
    );
    expect(reached).toHaveLength(4);
  });

  test(`[R40] keeps ${ATTACKS.length} others from every handler`, async () => {
    expect(ATTACKS.length).toBeGreaterThanOrEqual(60);
    for (const attack of ATTACKS) {
      reached = [];
      const answer = await send(attack);
      expect(reached, attack.name).toEqual([]);
      expect(answer.split("\r\n", 1)[0], attack.name).not.toMatch(/ 2\d\d /);
      expect(answer.toLowerCase(), attack.name).not.toContain("access-control-allow");
    }
  });

  test("a client that never finishes its request is shown out", async () => {
    const slow = { name: "slow", line: "GET /api/threads HTTP/1.1\r\nX: " };
    expect(await send(slow, { finish: false, patienceMs: 100_000 })).toMatch(/ 408 |^$/);
  });

  test("answers carry what keeps pages out of them", async () => {
    const answer = (await send({ name: "plain" }, { patienceMs: 100_000 })).toLowerCase();
    for (const header of [
      "content-security-policy: default-src 'none'",
      "x-content-type-options: nosniff",
      "cross-origin-resource-policy: same-origin",
      "cache-control: no-store",
    ])
      expect(answer).toContain(header);
  });

  test("only loopback is listened on, IPv6 included where there is one", async () => {
    const other: Server = createServer();
    const taken = await new Promise<boolean>((done) => {
      other.once("error", () => done(true));
      other.listen(listening.port, "127.0.0.1", () => done(false));
    });
    expect(taken).toBe(true);
    const free = await new Promise<boolean>((done) => {
      const outside = createServer();
      outside.once("error", () => done(false));
      outside.listen(listening.port, "127.0.0.2", () => outside.close(() => done(true)));
    });
    expect(free, "another address of this machine is not ours").toBe(true);
  });
});

/** What came back before the connection ended; "" when it was closed without a word, and what gave up when it was not. */
function send(attack: Attack, { finish = true, patienceMs = 3000 } = {}): Promise<string> {
  const lines = [
    attack.line ?? "GET /api/threads HTTP/1.1",
    ...(attack.without === "host" ? [] : ["Host: 127.0.0.1:PORT"]),
    ...(attack.without === "token" ? [] : [`Authorization: Bearer ${TOKEN}`]),
    ...(attack.headers ?? []),
  ];
  const closing = lines.some((line) => /^connection:/i.test(line)) ? [] : ["Connection: close"];
  const head = finish ? [...lines, ...closing, "", attack.body ?? ""].join("\r\n") : lines[0]!;
  return new Promise((done) => {
    let answer = "";
    const socket = connect(listening.port, "127.0.0.1", () =>
      socket.write(head.replaceAll("PORT", String(listening.port))),
    );
    socket.setTimeout(patienceMs, () => {
      answer ||= "no answer, and the connection stayed";
      socket.destroy();
    });
    socket.on("data", (piece) => (answer += piece.toString("latin1")));
    socket.on("error", () => undefined);
    socket.on("close", () => done(answer));
  });
}
