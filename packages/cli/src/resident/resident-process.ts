/**
 * The resident process from the outside: is it there, start it, stop it. Every command can do without it:
 * whatever goes wrong here means that the command works alone.
 */
import { closeSync, existsSync, openSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { BelayClient } from "@belay/protocol/client";
import {
  createSocketTransport,
  ExclusiveLock,
  RunDirectory,
  type ResidentFacts,
} from "@belay/server/resident";
import { readBuild } from "../version.ts";

const START_MS = 5000;
const STOP_MS = 10_000;
const POLL_MS = 20;

export class ResidentProcess {
  readonly #run: RunDirectory;
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
    this.#run = new RunDirectory(home);
  }

  /** A client of the running process; undefined when there is none, or it is of another build. */
  client(timeoutMs: number): BelayClient | undefined {
    if (this.#run.read()?.version !== readBuild() || !existsSync(this.#run.socket)) return undefined;
    return new BelayClient(createSocketTransport(this.#run.socket, timeoutMs));
  }

  /** What the process says of itself, if it is alive. */
  facts(): ResidentFacts | undefined {
    return this.isAlive() ? this.#run.read() : undefined;
  }

  /** The lock tells: a file may outlive its process, a lock cannot. */
  isAlive(): boolean {
    if (!existsSync(this.#run.lock)) return false;
    const lock = ExclusiveLock.take(this.#run.lock);
    lock?.[Symbol.dispose]();
    return lock === undefined;
  }

  /** Starts it without waiting; one of this build that is there already wins. */
  launch(options: readonly string[] = []): void {
    this.#run.create();
    // loaded here: every hook would wait for it
    const log = openSync(`${this.#run.log}.out`, "a", 0o600);
    try {
      const { spawn } = process.getBuiltinModule("node:child_process");
      const child = spawn(process.execPath, [launcher(), "--home", this.#home, "resident", ...options], {
        detached: true,
        cwd: "/",
        stdio: ["ignore", log, log],
        env: { ...process.env, BELAY_RESIDENT: "off" },
      });
      child.on("error", () => undefined);
      child.unref();
    } finally {
      closeSync(log);
    }
  }

  /** Makes sure that a process of this build is running. */
  async start(options: readonly string[] = []): Promise<ResidentFacts | undefined> {
    const running = this.facts();
    if (running?.version === readBuild()) return running;
    if (running !== undefined && !(await this.stop())) return undefined;
    this.launch(options);
    return waitFor(() => (this.client(START_MS) === undefined ? undefined : this.#run.read()), START_MS);
  }

  /** True when none is running any more. */
  async stop(): Promise<boolean> {
    if (!this.isAlive()) return true;
    const client = new BelayClient(createSocketTransport(this.#run.socket, STOP_MS));
    await client.call("POST /api/resident/stop").catch(() => undefined);
    return (await waitFor(() => (this.isAlive() ? undefined : true), STOP_MS)) ?? false;
  }
}

/** The file that was started: the shell's name for it may be a link. */
function launcher(): string {
  return process.argv[1]!;
}

async function waitFor<Value>(look: () => Value | undefined, patienceMs: number): Promise<Value | undefined> {
  for (let waited = 0; waited < patienceMs; waited += POLL_MS) {
    const found = look();
    if (found !== undefined) return found;
    await pause(POLL_MS);
  }
  return undefined;
}
