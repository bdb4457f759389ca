/** Two ways in, one application: loopback for pages and programs, a socket for the user's own commands. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Admission, MOST_WAITING } from "./admission.ts";
import {
  answerRefusal,
  createNetworkGuard,
  createSocketGuard,
  SAFE_HEADERS,
  type Guard,
  type Secrets,
} from "./guard.ts";

/** Handles one request. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => void;

const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  // how often the limits above are looked at; by default twice a minute
  connectionsCheckingInterval: 1_000,
};
/** Of clients that have shown a valid request. */
const MOST_CONNECTIONS = 256;
const MOST_HEADER_BYTES = 16 * 1024;

/** The literal addresses: with only a port, a server listens on every interface. */
const LOOPBACK = ["127.0.0.1", "::1"] as const;

/** A server that listens: its port, and how to end it. */
export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on IPv4 loopback, and on the same port of IPv6 loopback where there is one. */
export async function listenOnLoopback(
  port: number,
  secrets: Secrets,
  listener: Listener,
): Promise<Listening> {
  const guards: { guard?: Guard } = {};
  const admission = new Admission();
  const guard: Guard = (request) => {
    const refusal = guards.guard!(request);
    if (refusal === undefined) admission.admitted(request.socket);
    return refusal;
  };
  const servers = LOOPBACK.map(() => guarded(guard, listener));
  for (const server of servers) {
    server.maxConnections = MOST_CONNECTIONS + MOST_WAITING;
    server.on("connection", (socket) => admission.arrived(socket));
  }
  await listen(servers[0]!, { host: LOOPBACK[0], port });
  const { port: chosen } = servers[0]!.address() as AddressInfo;
  guards.guard = createNetworkGuard(chosen, secrets);
  try {
    await listen(servers[1]!, { host: LOOPBACK[1], port: chosen });
  } catch {
    servers.pop();
  }
  return { port: chosen, close: () => closeAll(servers) };
}

/** Listens on a Unix socket that only this user can open. */
export async function listenOnSocket(path: string, listener: Listener): Promise<Listening> {
  const server = guarded(createSocketGuard(), listener);
  const umask = process.umask(0o177);
  try {
    await listen(server, { path });
  } finally {
    process.umask(umask);
  }
  return { port: 0, close: () => closeAll([server]) };
}

function guarded(guard: Guard, listener: Listener): Server {
  const server = createServer({ maxHeaderSize: MOST_HEADER_BYTES, ...LIMITS }, (request, response) => {
    const refusal = guard(request);
    if (refusal !== undefined) {
      answerRefusal(response, refusal);
      return;
    }
    if (!isTerse(request.url))
      for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value);
    listener(request, response);
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.on("upgrade", (_, socket) => socket.destroy());
  server.on("connect", (_, socket) => socket.destroy());
  return server;
}

/** Answers to hooks, which no browser sees: without headers for browsers. */
function isTerse(url: string | undefined): boolean {
  return url?.startsWith("/api/hooks/") === true;
}

function listen(server: Server, where: { host: string; port: number } | { path: string }): Promise<void> {
  return new Promise((done, fail) => {
    server.once("error", fail);
    server.listen(where, () => {
      server.off("error", fail);
      done();
    });
  });
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((done) => {
          server.close(() => done());
          server.closeAllConnections();
        }),
    ),
  );
}
