/** Pages in browsers: how one gets its key, what the key opens, and what it never opens. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROUTES } from "@belay/protocol";
import { PageBook } from "../src/http/page-book.ts";
import { startResident, type Resident } from "../src/index.ts";
import { createSocketTransport, RunDirectory } from "../src/resident.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "belay-pages-")));
const home = join(base, "home");
const page = join(base, "page");
const command = () => Promise.resolve({});
let resident: Resident;

beforeAll(async () => {
  mkdirSync(join(page, "assets"), { recursive: true });
  writeFileSync(join(page, "index.html"), "<!doctype html>");
  writeFileSync(join(page, "assets/app-1a2b.js"), "1");
  writeFileSync(join(page, "policy.json"), JSON.stringify({ styles: ["sha256-abc="] }));
  resident = (await startResident({ home, version: "1", ports: [0], foreground: true, page, command }))!;
});
afterAll(async () => {
  resident.stop();
  await resident.ended;
  rmSync(base, { recursive: true });
});

interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: any;
}

/** A request with exactly these headers, as a browser or a stranger would send it. */
function send(line: string, headers: Readonly<Record<string, string>> = {}, body?: object): Promise<Sent> {
  const [method, path] = line.split(" ") as [string, string];
  const { hostname, port } = new URL(resident.facts.url);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const all = { ...(text !== undefined && { "content-type": "application/json" }), ...headers };
  return new Promise((done, fail) => {
    const sent = httpRequest({ hostname, port, method, path, headers: all, agent: false }, (answer) => {
      let text = "";
      answer.on("data", (piece) => (text += piece));
      answer.on("end", () =>
        done({
          status: answer.statusCode!,
          headers: answer.headers,
          body: text.startsWith("{") ? JSON.parse(text) : text,
        }),
      );
    });
    sent.on("error", fail);
    sent.end(text);
  });
}

const origin = () => ({ origin: resident.facts.url });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

async function newCode(body: object = {}): Promise<string> {
  const transport = createSocketTransport(new RunDirectory(home).socket, 5000);
  const answer = await transport({ method: "POST", path: "/api/pages/codes", body: JSON.stringify(body) });
  return (JSON.parse(answer.body) as { code: string }).code;
}

async function openPage(): Promise<string> {
  return (await send("POST /api/pages", origin(), { code: await newCode() })).body.key;
}

describe("the page's own files", () => {
  test("[R270] need no key, hold no data and come with the strict policy", async () => {
    for (const path of ["/", "/w/abc/", "/w/abc/compare/1/disk", "/w/abc/compare/%40turn/v1.0"]) {
      const { status, headers, body } = await send(`GET ${path}`);
      expect([status, body]).toEqual([200, "<!doctype html>"]);
      expect(headers["cache-control"]).toBe("no-store");
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';");
      expect(policy).toContain("style-src 'self' 'sha256-abc=';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/script-src[^;]*'unsafe-/);
      expect(headers["set-cookie"]).toBeUndefined();
    }
    const asset = await send("GET /assets/app-1a2b.js");
    expect(asset.headers["cache-control"]).toContain("immutable");
  });

  test("[R270] nothing outside the built page is served, and nothing under /api without a key", async () => {
    for (const path of ["/policy.json", "/assets/other.js", "/assets/../index.html", "/home/config.json"])
      expect((await send(`GET ${path}`)).status, path).toBeGreaterThanOrEqual(400);
    for (const path of ["/api/workspaces", "/api", "/openapi.json", "/API/workspaces.json"])
      expect((await send(`GET ${path}`)).status, path).toBeGreaterThanOrEqual(400);
    expect((await send("POST /")).status).toBe(401);
  });

  test("[R40] [R270] no spelling of an address reaches a handler without a key", async () => {
    const spellings = ["/./api", "/%2e/api", "/x/%2e%2e/api", "/x/.%2E/api", "/%61pi", "/ap%69", "/api/."];
    for (const start of spellings)
      for (const rest of ["/threads/a.b", "/workspaces", "/checkpoints/1/files/disk.x", "/dialogs/a.b"]) {
        const { body } = await send(`GET ${start}${rest}`);
        const handlers = ["THREAD_NOT_FOUND", "WORKSPACE_REQUIRED", undefined];
        if (body !== "<!doctype html>") expect(handlers, start + rest).not.toContain(body.error?.code);
      }
    for (const path of ["/x/%2e%2e/openapi.json", "/openapi%2ejson", "/nothing.json"])
      expect((await send(`GET ${path}`)).body.openapi, path).toBeUndefined();
  });

  test("another host name and another site get nothing", async () => {
    expect((await send("GET /", { host: "evil.example" })).status).toBe(403);
    expect((await send("GET /", { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await send("GET /", { origin: "http://127.0.0.1:1" })).status).toBe(403);
  });
});

test("a port that is taken is left to its owner; the next one that was named is tried", async () => {
  const taken = Number(new URL(resident.facts.url).port);
  const options = { home: join(base, "second"), version: "1", ports: [taken, 0], foreground: true, command };
  const second = (await startResident(options))!;
  const port = Number(new URL(second.facts.url).port);
  expect(port).not.toBe(taken);
  expect(new RunDirectory(options.home).lastPort).toBe(port);
  second.stop();
  await second.ended;
  const again = (await startResident({ ...options, ports: [port, 0] }))!;
  expect(again.facts.url).toBe(second.facts.url);
  again.stop();
  await again.ended;
});

describe("[R271] a page's key", () => {
  test("comes for a code of the user's socket, once, to a page of this server", async () => {
    const code = await newCode();
    expect(Buffer.from(code, "base64url")).toHaveLength(16);
    expect((await send("POST /api/pages", {}, { code })).body.error.code).toBe("ORIGIN_REFUSED");
    expect((await send("POST /api/pages", { origin: "http://evil.example" }, { code })).status).toBe(403);
    const { key } = (await send("POST /api/pages", origin(), { code })).body;
    expect((await send("GET /api/workspaces", bearer(key))).status).toBe(200);
    expect((await send("GET /api/workspaces", { ...bearer(key), host: "evil.example" })).status).toBe(403);
  });

  test("opens every route of the table but those of the process", async () => {
    const key = await openPage();
    const own = Object.entries(ROUTES).filter(([, route]) => "ownProgramsOnly" in route);
    expect(own.map(([name]) => name).toSorted()).toEqual([
      "POST /api/moldable/:command",
      "POST /api/pages/codes",
      "POST /api/remotes",
      "POST /api/remotes/:name/lines/:line/adopt",
      "POST /api/remotes/:name/rotate",
      "POST /api/resident/stop",
    ]);
    for (const line of [
      ...own.map(([name]) => name),
      "POST /api/command",
      "POST /api/hooks/claude-code",
      "POST /api/hooks/claude-code/event",
      "GET /openapi.json",
      "POST /api/r%65sident/stop",
    ]) {
      const { status, body } = await send(line, bearer(key), line.startsWith("POST") ? {} : undefined);
      expect([status, body.error?.code], line).toEqual([403, "PAGE_REFUSED"]);
    }
  });

  test("never reads the process's token, which the user's own programs do", async () => {
    const key = await openPage();
    const { body } = await send("GET /api/resident", bearer(key));
    expect(body).toMatchObject({ pid: process.pid, token: null });
    expect(JSON.stringify(body)).not.toContain(resident.facts.token);
    const { token } = resident.facts;
    expect((await send("GET /api/resident", bearer(token))).body.token).toBe(token);
  });

  test("is listed and can be ended from another page, with its event stream", async () => {
    const [key, other] = [await openPage(), await openPage()];
    const { pages } = (await send("GET /api/pages", bearer(key))).body;
    const mine = pages.find(({ current }: { current: boolean }) => current);
    expect(pages.filter(({ current }: { current: boolean }) => current)).toHaveLength(1);
    expect((await send(`DELETE /api/pages/${mine.id}`, bearer(other))).body).toEqual({ ended: mine.id });
    const { status, body } = await send("GET /api/workspaces", bearer(key));
    expect([status, body.error.code]).toEqual([401, "PAGE_ENDED"]);
    expect((await send("GET /api/workspaces", bearer(other))).status).toBe(200);
    expect((await send(`DELETE /api/pages/${mine.id}`, bearer(other))).status).toBe(404);
  });

  test("ends when its code comes a second time, and both pages are told why", async () => {
    const code = await newCode();
    const { key } = (await send("POST /api/pages", origin(), { code })).body;
    const again = (await send("POST /api/pages", origin(), { code })).body;
    expect(again.error.code).toBe("CODE_REFUSED");
    const { error } = (await send("GET /api/workspaces", bearer(key))).body;
    expect(error.code).toBe("PAGE_ENDED");
    for (const { message } of [error, again.error]) expect(message).toContain("used a second time");
  });

  test("a tunnel's address is let in exactly, once a code was made for it", async () => {
    const host = { host: "localhost:9000" };
    expect((await send("GET /", host)).status).toBe(403);
    const code = await newCode({ at: "http://localhost:9000/" });
    const from = { ...host, origin: "http://localhost:9000" };
    expect((await send("GET /", host)).status).toBe(200);
    expect((await send("POST /api/pages", from, { code })).body.key).toEqual(expect.any(String));
    expect((await send("GET /", { host: "localhost:9001" })).status).toBe(403);
    expect((await send("GET /", { ...host, origin: "http://localhost:9001" })).status).toBe(403);
  });
});

describe("[R271] codes", () => {
  test("last a minute", () => {
    let now = 0;
    const book = new PageBook(() => now);
    const [early, late] = [book.newCode(), book.newCode()];
    now = 60_000;
    expect(book.open(early)).toHaveLength(43);
    now = 60_001;
    expect(() => book.open(late)).toThrow(expect.objectContaining({ code: "CODE_REFUSED" }));
  });

  test("are tried ten times a minute", () => {
    let now = 0;
    const book = new PageBook(() => now);
    for (let tries = 0; tries < 10; tries++)
      expect(() => book.open("guess")).toThrow(expect.objectContaining({ code: "CODE_REFUSED" }));
    const code = book.newCode();
    expect(() => book.open(code)).toThrow(expect.objectContaining({ code: "TOO_MANY_TRIES" }));
    now = 59_999;
    expect(() => book.open(code)).toThrow(expect.objectContaining({ code: "TOO_MANY_TRIES" }));
  });
});
