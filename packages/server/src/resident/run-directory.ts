/** Where the resident process leaves what its clients need to find it: private to the user. */
import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isPrivateDirectory, isPrivateSocket, makePrivateDirectory } from "./private-place.ts";

/** What a running process records about itself. */
export interface ResidentFacts {
  readonly pid: number;
  readonly version: string;
  readonly url: string;
  readonly token: string;
  readonly startedAt: string;
  readonly foreground: boolean;
}

/** The kernel's limit for the path of a socket, with its final NUL. */
const LONGEST_SOCKET_PATH = 104;
/** How many crashes are remembered. */
const DEATHS_KEPT = 20;

/** The files by which clients find the process. */
export class RunDirectory {
  readonly path: string;

  constructor(home: string) {
    // templates: `join` looks at every letter, and each command comes through here
    this.path = `${home}/run`;
  }

  get lock(): string {
    return `${this.path}/resident.lock`;
  }

  get log(): string {
    return `${this.path}/resident.log`;
  }

  /**
   * The path of the socket. If the home's path is too long for a socket, it is in a private directory
   * elsewhere.
   */
  get socket(): string {
    const near = `${this.path}/resident.sock`;
    if (Buffer.byteLength(near) < LONGEST_SOCKET_PATH) return near;
    // loaded here: every hook loads this file, and hardly any has such a long home
    const { hash } = process.getBuiltinModule("node:crypto");
    const name = hash("sha256", this.path).slice(0, 16);
    return join(tmpdir(), `belay-${process.getuid?.() ?? "user"}`, `${name}.sock`);
  }

  /** [R142] True when no other user can have made the socket: only then is anything written to it. */
  get hasPrivateSocket(): boolean {
    const { socket } = this;
    return isPrivateDirectory(dirname(socket)) && isPrivateSocket(socket);
  }

  create(): void {
    for (const path of new Set([this.path, dirname(this.socket)])) {
      makePrivateDirectory(path);
      if (!isPrivateDirectory(path))
        throw new Error(`${path} is not this user's own directory: the resident process does not start.`);
    }
  }

  /** What the last process recorded; it may be gone. */
  read(): ResidentFacts | undefined {
    return readJson<ResidentFacts>(this.#facts);
  }

  write(facts: ResidentFacts, port: number): void {
    writeJson(this.#facts, facts);
    writeJson(this.#port, port);
  }

  clear(): void {
    rmSync(this.#facts, { force: true });
    rmSync(this.socket, { force: true });
  }

  /** Call at the start, holding the lock: a mark that is still there means that the last process crashed. */
  noteStart(now: number): void {
    if (lstatSync(this.#mark, { throwIfNoEntry: false }) !== undefined)
      writeJson(this.#deaths, [...this.deaths(), now].slice(-DEATHS_KEPT));
    writeJson(this.#mark, { pid: process.pid, at: now });
  }

  /** Call at an orderly end. */
  noteEnd(): void {
    rmSync(this.#mark, { force: true });
  }

  /** When crashes were noticed, oldest first. */
  deaths(): number[] {
    return readJson<number[]>(this.#deaths) ?? [];
  }

  /** The port of the last process: a page that stays open finds the next one there. */
  get lastPort(): number | undefined {
    return readJson<number>(this.#port);
  }

  get #port(): string {
    return `${this.path}/resident.port`;
  }

  get #facts(): string {
    return `${this.path}/resident.json`;
  }

  get #mark(): string {
    return `${this.path}/resident.began`;
  }

  get #deaths(): string {
    return `${this.path}/resident.deaths`;
  }
}

function readJson<Value>(path: string): Value | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Value;
  } catch {
    return undefined;
  }
}

function writeJson(path: string, value: unknown): void {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600, flag: "wx" });
  renameSync(temporary, path);
}
