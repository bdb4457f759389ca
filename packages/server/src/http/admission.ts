/**
 * Which connections may stay over TCP. Every user of the machine can connect, so a connection has to show a
 * valid request soon, and few may wait to do so. Connections of other users, where the system tells them
 * apart, get a small part of the places: however many they open, this user's clients find one.
 */
import { readFileSync } from "node:fs";
import type { AddressInfo, Socket } from "node:net";

/** Our own clients send their request at once. */
const PATIENCE_MS = 2000;
/** A client that is slow to send its request must not be pushed out by hundreds that come after it. */
export const MOST_WAITING = 1024;
/** The system is queried for the users of connections at most this often. */
const LOOK_MS = 20;
const MOST_WAITING_STRANGERS = 16;

/** Limits connections that have not shown a valid request. */
export class Admission {
  /** Connections that have not shown a valid request yet, oldest first. */
  readonly #waiting = new Map<Socket, NodeJS.Timeout>();
  /** Those of them that are known to be another user's. */
  readonly #strangers = new Set<Socket>();
  /** Those that came since the last query. */
  readonly #unknown = new Set<Socket>();

  /** Call when a connection came. */
  arrived(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), PATIENCE_MS).unref();
    this.#waiting.set(socket, timer);
    socket.once("close", () => this.#leave(socket));
    // as long as there is room for all, it does not matter whose they are
    if (this.#waiting.size <= MOST_WAITING_STRANGERS) return;
    if (this.#unknown.size === 0) setTimeout(() => this.#sort(), LOOK_MS);
    this.#unknown.add(socket);
    this.#dropOldest([...this.#waiting.keys()], MOST_WAITING);
  }

  /** Call when it showed a valid request. */
  admitted(socket: Socket): void {
    this.#leave(socket);
  }

  /** Classifies all new connections with one query. */
  #sort(): void {
    const users = readUsers();
    for (const socket of this.#unknown) {
      const user = users?.get(connectionKey(socket));
      if (user !== undefined && user !== process.getuid?.()) this.#strangers.add(socket);
    }
    this.#unknown.clear();
    this.#dropOldest([...this.#strangers], MOST_WAITING_STRANGERS);
  }

  #dropOldest(sockets: readonly Socket[], most: number): void {
    for (const socket of sockets.slice(0, Math.max(0, sockets.length - most))) {
      this.#leave(socket);
      // reset: an orderly close would linger for a minute, and queries would take longer and longer
      socket.resetAndDestroy();
    }
  }

  #leave(socket: Socket): void {
    clearTimeout(this.#waiting.get(socket));
    this.#waiting.delete(socket);
    this.#strangers.delete(socket);
    this.#unknown.delete(socket);
  }
}

/** The two ports: on loopback they name a connection. */
function connectionKey(socket: Socket): string {
  const { port } = socket.address() as AddressInfo;
  return `${socket.remotePort} ${port}`;
}

/** The user at the other end of each loopback connection; undefined where the system does not tell. */
function readUsers(): Map<string, number> | undefined {
  try {
    const lines = ["tcp", "tcp6"].flatMap((name) => readFileSync(`/proc/net/${name}`, "latin1").split("\n"));
    return new Map(
      lines.flatMap((line) => {
        const found = /^\s*\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) (?:\S+\s+){4}(\d+)/.exec(line);
        if (found === null) return [];
        const [near, far] = [found[1]!, found[2]!].map((port) => Number.parseInt(port, 16));
        return [[`${near} ${far}`, Number(found[3])] as const];
      }),
    );
  } catch {
    return undefined;
  }
}
