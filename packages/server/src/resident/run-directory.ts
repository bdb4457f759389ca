/** Where the resident process leaves what its clients need to find it: private to the user. */
import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/** What a running process says about itself. */
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

export class RunDirectory {
  readonly path: string;

  constructor(home: string) {
    this.path = join(home, "run");
  }

  get lock(): string {
    return join(this.path, "resident.lock");
  }

  get log(): string {
    return join(this.path, "resident.log");
  }

  /** Beside the rest; a home whose path is too long for a socket has it in a private directory elsewhere. */
  get socket(): string {
    const near = join(this.path, "resident.sock");
    if (Buffer.byteLength(near) < LONGEST_SOCKET_PATH) return near;
    // loaded here because every hook comes past this file, and hardly any has a home of such a length
    const { hash } = process.getBuiltinModule("node:crypto");
    const name = hash("sha256", this.path).slice(0, 16);
    return join(tmpdir(), `belay-${userInfo().uid}`, `${name}.sock`);
  }

  create(): void {
    makePrivate(this.path);
    const socketDirectory = join(this.socket, "..");
    if (socketDirectory !== this.path) makePrivate(socketDirectory);
  }

  /** undefined when nobody has left a word; the process may still be gone. */
  read(): ResidentFacts | undefined {
    try {
      return JSON.parse(readFileSync(this.#facts, "utf8")) as ResidentFacts;
    } catch {
      return undefined;
    }
  }

  write(facts: ResidentFacts): void {
    const temporary = `${this.#facts}.new`;
    rmSync(temporary, { force: true });
    writeFileSync(temporary, JSON.stringify(facts), { mode: 0o600, flag: "wx" });
    renameSync(temporary, this.#facts);
  }

  clear(): void {
    rmSync(this.#facts, { force: true });
    rmSync(this.socket, { force: true });
  }

  get #facts(): string {
    return join(this.path, "resident.json");
  }
}

/** A directory that others own, or a link to one, is not private. */
function makePrivate(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stat = lstatSync(path);
  if (!stat.isDirectory() || stat.uid !== userInfo().uid)
    throw new Error(`${path} is not a directory of this user: the resident process does not start.`);
  chmodSync(path, 0o700);
}
