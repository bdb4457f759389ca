/**
 * The page's own files. They hold no data and need no key; everything that does is under `/api`. Names of assets have
 * the hash of their content, so a browser keeps them for good.
 */
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { answerRefusal, isPagePath, type Refusal } from "./guard.ts";
import type { Listener } from "./listen.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

/**
 * A listener that serves the page's files from a directory, and passes on every request for anything else. [R270] A request
 * that needed no key because it is for a file of the page never goes further, whether there is such a file or not.
 */
export function withPage(directory: string | undefined, next: Listener): Listener {
  return (request, response) => {
    if (!isPagePath(request)) return next(request, response);
    void serve(directory, request, response).then((isServed) => {
      if (!isServed) answerRefusal(response, NOT_FOUND);
    });
  };
}

const NOT_FOUND: Refusal = {
  code: "ROUTE_NOT_FOUND",
  message: "There is nothing at this address. `GET /openapi.json` lists all routes.",
};

async function serve(
  directory: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  if (directory === undefined) return false;
  const path = request.url!.split("?", 1)[0]!;
  const isAsset = path.startsWith("/assets/");
  // what the page itself made of names in its address may have a dot
  const isView = path.startsWith("/w/") || extname(path) === "";
  const name = isView ? "index.html" : path.slice(1);
  try {
    // only a name that the build wrote is ever opened
    const known = await readdir(isAsset ? join(directory, "assets") : directory);
    if (!known.includes(isAsset ? name.slice("assets/".length) : name)) return false;
    const content = await readFile(join(directory, name));
    const type = TYPES[extname(name)];
    if (type === undefined) return false;
    response.setHeader("content-security-policy", pagePolicy(directory));
    response.setHeader("cache-control", isAsset ? "public, max-age=31536000, immutable" : "no-store");
    response.writeHead(200, { "content-type": type, "content-length": content.length });
    response.end(request.method === "HEAD" ? undefined : content);
    return true;
  } catch {
    return false;
  }
}

/**
 * No script but ours, no data but this server's. The style hashes are those of the style elements that the diff view
 * writes; the build computes them.
 */
function pagePolicy(directory: string): string {
  const { styles } = JSON.parse(readFileSync(join(directory, "policy.json"), "utf8")) as { styles: string[] };
  return [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "connect-src 'self'",
    "img-src 'self' blob:",
    "font-src 'self'",
    `style-src ${["'self'", ...styles.map((hash) => `'${hash}'`)].join(" ")}`,
    "style-src-attr 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
