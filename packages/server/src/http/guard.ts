/**
 * Checks every request before any handler: a web page in the user's browser, another user of the machine and
 * a host name that resolves to 127.0.0.1 must not get through. It reads the raw request, because a
 * framework's parser hides duplicate headers and odd forms.
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ROUTES, type Route } from "@belay/protocol";
import { ContractError, errorJson, ERRORS, type ApiErrorName } from "@belay/protocol/errors";
import { notePage, type PageBook } from "./page-book.ts";

/** Why a request is refused. */
export interface Refusal {
  readonly code: ApiErrorName;
  readonly message: string;
}

/** Judges a request before its handler runs; undefined admits it. */
export type Guard = (request: IncomingMessage) => Refusal | undefined;

/** The largest request body. */
export const BODY_LIMIT_BYTES = 1024 * 1024;

const OWN_SITES = new Set(["same-origin", "none"]);
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** The secrets that this process and its clients share. */
export interface Secrets {
  /** Sent with every request. */
  readonly token: string;
  /** Pages in browsers have keys of their own. */
  readonly pages?: PageBook;
}

/** The one route that gives a key and therefore needs none. */
const OPEN_PAGE = "/api/pages";

/** For TCP: checks everything, the token on every request, reads included. */
export function createNetworkGuard(port: number, { token, pages }: Secrets): Guard {
  const hosts = new Set(["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${port}`));
  const origins = new Set([...hosts].map((host) => `http://${host}`));
  return (request) => {
    const host = valuesOf(request, "host");
    const tunnels = pages?.origins ?? NONE;
    if (host.length !== 1 || !(hosts.has(host[0]!) || tunnels.has(`http://${host[0]!}`)))
      return refuse("HOST_REFUSED", "This server answers to its own loopback address only.");
    const given = valuesOf(request, "origin");
    const foreign = given.some((origin) => !origins.has(origin) && !tunnels.has(origin));
    const site = valuesOf(request, "sec-fetch-site");
    if (foreign || site.some((value) => !OWN_SITES.has(value)))
      return refuse("ORIGIN_REFUSED", "Pages of other sites may not use this server.");
    const malformed = checkForm(request);
    if (malformed !== undefined || pages === undefined) return malformed ?? checkToken(request, token);
    if (isPagePath(request)) return undefined;
    if (request.method === "POST" && request.url === OPEN_PAGE)
      return given.length === 1
        ? undefined
        : refuse("ORIGIN_REFUSED", "Only a page of this server may do this.");
    const refusal = checkToken(request, token);
    return refusal === undefined ? undefined : checkPage(request, pages, refusal);
  };
}

const NONE: ReadonlySet<string> = new Set();

/** True for what a browser asks for to show the page, before it has a key: files that hold no data. */
export function isPagePath({ method, url = "" }: IncomingMessage): boolean {
  const path = pathOf(url);
  const isData = /^\/api(?:\/|$)/i.test(path) || path === "/openapi.json";
  return (method === "GET" || method === "HEAD") && !isData;
}

/** A page's key opens the routes of the table that are not for the user's own programs, and nothing else. */
function checkPage(request: IncomingMessage, pages: PageBook, otherwise: Refusal): Refusal | undefined {
  const given = valuesOf(request, "authorization");
  try {
    const page = given.length === 1 ? pages.find(given[0]!.replace(/^Bearer /, "")) : undefined;
    if (page === undefined) return otherwise;
    const asked = `${request.method} ${pathOf(request.url!)}`;
    if (!FOR_PAGES.some((pattern) => pattern.test(asked)))
      return refuse("PAGE_REFUSED", "A page may not use this address. Nothing was done.");
    notePage(request, page);
    return undefined;
  } catch (error) {
    if (error instanceof ContractError) return refuse(error.code as ApiErrorName, error.message);
    throw error;
  }
}

const FOR_PAGES = (Object.entries(ROUTES) as [string, Route][])
  .filter(([, route]) => route.ownProgramsOnly !== true)
  .map(([name]) => new RegExp(`^${name.replaceAll(/:\w+/g, "[^/]+")}$`));

/** For the socket in the user's private directory: only the user can open it. */
export function createSocketGuard(): Guard {
  return checkForm;
}

function checkForm(request: IncomingMessage): Refusal | undefined {
  const { method = "", url = "", httpVersion } = request;
  if (httpVersion !== "1.1") return refuse("BAD_REQUEST", "Only HTTP/1.1 is supported.");
  if (!url.startsWith("/") || url.startsWith("//"))
    return refuse("BAD_REQUEST", "The request must name a path.");
  if (/%00|%2f|%5c|[\0\\]/i.test(pathOf(url)) || !isAsRouted(url))
    return refuse("BAD_REQUEST", "The path is not well formed.");
  if (!METHODS.has(method)) return refuse("METHOD_REFUSED", "This method is not supported.");
  if (request.headers.upgrade !== undefined) return refuse("BAD_REQUEST", "Upgrades are not supported.");
  return checkBody(request);
}

/** The application reads addresses as browsers do. One that it would read otherwise than this guard does, `/./api`, is none. */
function isAsRouted(url: string): boolean {
  const parsed = URL.parse(url, "http://127.0.0.1");
  return parsed?.pathname === pathOf(url) && parsed.hash === "";
}

function checkBody(request: IncomingMessage): Refusal | undefined {
  const length = Number(request.headers["content-length"] ?? 0);
  const coding = request.headers["transfer-encoding"];
  const hasBody = length > 0 || coding !== undefined;
  if (coding !== undefined && coding !== "chunked")
    return refuse("BAD_REQUEST", "This transfer encoding is not supported.");
  if (length > BODY_LIMIT_BYTES) return refuse("BODY_TOO_LARGE", "The body is larger than 1 MiB.");
  const types = valuesOf(request, "content-type");
  const isJson = types.length === 1 && /^application\/json(?:;\s*charset=utf-8)?$/i.test(types[0]!);
  if ((hasBody || types.length > 0) && !isJson)
    return refuse("NOT_JSON", "The body must be application/json.");
  return undefined;
}

function checkToken(request: IncomingMessage, token: string): Refusal | undefined {
  const given = valuesOf(request, "authorization");
  const expected = Buffer.from(`Bearer ${token}`);
  const bytes = Buffer.from(given[0] ?? "");
  const same = given.length === 1 && bytes.length === expected.length && timingSafeEqual(bytes, expected);
  return same
    ? undefined
    : refuse("TOKEN_REQUIRED", "The token is missing or wrong; `belay start --json` shows it.");
}

function valuesOf(request: IncomingMessage, name: string): string[] {
  const raw = request.rawHeaders;
  return raw.filter((_, index) => index % 2 === 1 && raw[index - 1]!.toLowerCase() === name);
}

function pathOf(url: string): string {
  return url.split("?", 1)[0]!;
}

function refuse(code: ApiErrorName, message: string): Refusal {
  return { code, message };
}

/** Sent with every answer. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/** Refuses before anything of the request was used. */
export function answerRefusal(response: ServerResponse, { code, message }: Refusal): void {
  const { status, hint } = ERRORS[code];
  const body = JSON.stringify(errorJson({ code, message, hint, facts: {} }));
  // an unread body must not be taken for the next request
  const headers = { ...SAFE_HEADERS, "content-type": "application/json", connection: "close" };
  response.writeHead(status, headers).end(body);
}
