/** Blocks of ports that nothing listens on. */
import { createRequire } from "node:module";
import type * as Net from "node:net";

const load = createRequire(import.meta.url);

/** How many ports a block has. */
const PORT_BLOCK = 10;
const FIRST_PORT = 20_000;
const LAST_PORT = 60_000;

/** The first port of the lowest block that is not taken and whose ports can all be listened on; null when there is none. */
export async function freePortBlock(taken: ReadonlySet<number>): Promise<number | null> {
  for (let first = FIRST_PORT; first < LAST_PORT; first += PORT_BLOCK) {
    if (taken.has(first)) continue;
    const ports = Array.from({ length: PORT_BLOCK }, (_, at) => first + at);
    const free = await Promise.all(ports.map(isFree));
    if (free.every(Boolean)) return first;
  }
  return null;
}

function isFree(port: number): Promise<boolean> {
  const { createServer } = load("node:net") as typeof Net;
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
