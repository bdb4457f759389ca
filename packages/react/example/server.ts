/**
 * The host's server: it serves the page, answers the chat, and passes `/api` on to Belay's resident process. The page has
 * a key of its own, which it got for a one-time code: the process's token never reaches the browser.
 */
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, request as send, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { answer, type Asked } from "./agent.ts";
import { buildPage } from "./build-page.ts";

const { values } = parseArgs({
  options: {
    project: { type: "string" },
    home: { type: "string" },
    port: { type: "string", default: "0" },
    pages: { type: "string" },
  },
});
const own =
  values.project === undefined ? realpathSync(mkdtempSync(join(tmpdir(), "belay-chat-"))) : undefined;
const project = values.project ?? join(own!, "app");
const home = values.home ?? join(own!, "home");
const pages = values.pages ?? mkdtempSync(join(tmpdir(), "belay-chat-page-"));
const belay = join(import.meta.dirname, "../../cli/bin/belay.js");

/** Runs a command of Belay and gives what it answers as JSON. */
function run(...words: string[]): { url: string; token: string } {
  const line = [belay, "--home", home, "-C", project, ...words, "--json"];
  const { status, stdout, stderr } = spawnSync(process.execPath, line, { encoding: "utf8", timeout: 60_000 });
  if (status !== 0) throw new Error(stderr || stdout);
  return JSON.parse(stdout) as { url: string; token: string };
}

if (own !== undefined) {
  mkdirSync(project);
  writeFileSync(join(project, "app.txt"), "the first version\n");
  run("init", "--no-agents", "--yes");
}
if (values.pages === undefined) await buildPage(pages);
const resident = run("start");

/** Passes a request on as it is. The process checks Host, Origin and key by itself. */
function forward(request: IncomingMessage, response: ServerResponse): void {
  const { hostname, port } = new URL(resident.url);
  const { method, url, headers } = request;
  const passed = send({ hostname, port, method, path: url, headers }, (given) => {
    response.writeHead(given.statusCode!, given.headers);
    given.pipe(response);
  });
  passed.on("error", () => {
    if (!response.headersSent) response.writeHead(502);
    response.end();
  });
  response.on("close", () => passed.destroy());
  request.pipe(passed);
}

async function chat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const piece of request) body += String(piece);
  response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
  try {
    for await (const words of answer({ project, transport }, JSON.parse(body) as Asked))
      response.write(words);
    response.end();
  } catch (error) {
    console.error(`The answer ended: ${(error as Error).message}`);
    // a connection that breaks is what a chat sees of an agent that failed
    response.destroy();
  }
}

/** The agent is one of the user's own programs and has the process's token. */
async function transport({ method, path, body }: { method: string; path: string; body: string | undefined }) {
  const headers = { authorization: `Bearer ${resident.token}`, "content-type": "application/json" };
  const given = await fetch(resident.url + path, {
    method,
    ...(body === undefined ? { headers: { authorization: headers.authorization } } : { headers, body }),
    signal: AbortSignal.timeout(10_000),
  });
  return { status: given.status, body: await given.text() };
}

function files(): Record<string, string> {
  const names = readdirSync(project, { recursive: true, encoding: "utf8" }).sort();
  const found = names.filter((name) => !name.startsWith(".") && statSync(join(project, name)).isFile());
  return Object.fromEntries(found.map((name) => [name, readFileSync(join(project, name), "utf8").trim()]));
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".wasm": "application/wasm",
};

function servePage(path: string, response: ServerResponse): void {
  const name = /^\/assets\/[\w.-]+$/.test(path) ? path.slice(1) : "index.html";
  response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream" });
  response.end(readFileSync(join(pages, name)));
}

const server = createServer((request, response) => {
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { origin = `http://${place}`, host } = request.headers;
  const path = (request.url ?? "/").split("?")[0]!;
  // other sites in the same browser may not make this agent work
  if (host !== place || origin !== `http://${place}`) response.writeHead(403).end();
  else if (path.startsWith("/api/")) forward(request, response);
  else if (path === "/chat" && request.method === "POST") void chat(request, response);
  else if (path === "/files") response.end(JSON.stringify(files()));
  else if (path === "/app") response.end(JSON.stringify({ app: project }));
  else servePage(path, response);
});

server.listen(Number(values.port), "127.0.0.1", () => {
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const code = new URL(run("ui", "--no-open", "--at", at).url).hash;
  console.log(`${at}/${code}`);
});

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    if (own !== undefined) {
      spawnSync(process.execPath, [belay, "--home", home, "stop"], { timeout: 30_000 });
      rmSync(own, { recursive: true, force: true });
    }
    if (values.pages === undefined) rmSync(pages, { recursive: true, force: true });
    process.exit(0);
  });
