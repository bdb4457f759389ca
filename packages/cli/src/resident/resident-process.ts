/**
 * The resident process from the outside: find it, start it, stop it. No command depends on it: if anything
 * fails here, the command works alone.
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
import { isThisBuild } from "../version.ts";
import { ownEnvironment } from "./own-environment.ts";

const START_MS = 5000;
const STOP_MS = 10_000;
const POLL_MS = 20;
/** It lives for hours, and collecting the garbage of requests early halves its memory. */
const SMALL_NURSERY = "--max-semi-space-size=4";
/**
 * A process that crashed this often in this time is not started with every command: starting it costs more
 * than it saves.
 */
const MANY_DEATHS = 3;
const DYING_MS = 60_000;

/** The resident process of one home. */
export class ResidentProcess {
  readonly #run: RunDirectory;
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
    this.#run = new RunDirectory(home);
  }

  /**
   * A client of the running process; undefined when there is none, or it is another build's or another
   * user's.
   */
  client(timeoutMs: number): BelayClient | undefined {
    const build = String(this.#run.read()?.version);
    return isThisBuild(build) ? this.#clientOfAnyBuild(timeoutMs) : undefined;
  }

  #clientOfAnyBuild(timeoutMs: number): BelayClient | undefined {
    if (!this.#run.hasPrivateSocket) return undefined;
    return new BelayClient(createSocketTransport(this.#run.socket, timeoutMs));
  }

  /** What the process recorded about itself, if it is alive. */
  facts(): ResidentFacts | undefined {
    return this.isAlive() ? this.#run.read() : undefined;
  }

  /** The port of the last process; 0 when there was none. */
  get lastPort(): number {
    return this.#run.lastPort ?? 0;
  }

  /** The lock decides: a file may outlive its process, a lock cannot. */
  isAlive(): boolean {
    if (!existsSync(this.#run.lock)) return false;
    const lock = ExclusiveLock.take(this.#run.lock);
    lock?.[Symbol.dispose]();
    return lock === undefined;
  }

  /** When crashes were noticed, oldest first. */
  get deaths(): number[] {
    return this.#run.deaths();
  }

  /** True when restarting it would probably crash again. */
  get keepsDying(): boolean {
    return this.deaths.filter((at) => Date.now() - at < DYING_MS).length >= MANY_DEATHS;
  }

  /** Starts it without waiting; if one of this build is running already, that one stays. */
  launch(options: readonly string[] = []): void {
    this.#run.create();
    // loaded here: otherwise every hook would wait for it
    const log = openSync(`${this.#run.log}.out`, "a", 0o600);
    try {
      const { spawn } = process.getBuiltinModule("node:child_process");
      const words = [SMALL_NURSERY, launcher(), "--home", this.#home, "resident", ...options];
      const child = spawn(process.execPath, words, {
        detached: true,
        cwd: "/",
        stdio: ["ignore", log, log],
        env: ownEnvironment({ BELAY_RESIDENT: "off" }),
      });
      child.on("error", () => undefined);
      child.unref();
    } finally {
      closeSync(log);
    }
  }

  /** Makes sure that a process of this build is running. */
  async start(options: readonly string[] = []): Promise<ResidentFacts | undefined> {
    const running = (await this.#answering()) ?? (await this.#starting());
    if (running !== undefined) return running;
    if (this.isAlive() && !(await this.stop())) return undefined;
    this.launch(options);
    return waitFor(() => this.#answering(), START_MS);
  }

  /** One that another command has just started does not answer yet. It stays; one of another build does not. */
  async #starting(): Promise<ResidentFacts | undefined> {
    const started = await waitFor(async () => {
      if (!this.isAlive()) return null;
      const said = await this.#clientOfAnyBuild(START_MS)
        ?.call("GET /api/resident")
        .catch(() => undefined);
      if (said !== undefined && !isThisBuild(said.version)) return null;
      return this.#answering();
    }, START_MS);
    return started ?? undefined;
  }

  /** [R141] What a process of this build answers about itself: files may be a dead one's. */
  async #answering(): Promise<ResidentFacts | undefined> {
    const said = await this.client(START_MS)
      ?.call("GET /api/resident")
      .catch(() => undefined);
    const facts = this.#run.read();
    return said !== undefined && said.pid === facts?.pid ? facts : undefined;
  }

  /** Ends it; true when none is running any more. */
  async stop(): Promise<boolean> {
    if (!this.isAlive()) return true;
    await this.#clientOfAnyBuild(STOP_MS)
      ?.call("POST /api/resident/stop")
      .catch(() => undefined);
    return (await waitFor(async () => (this.isAlive() ? undefined : true), STOP_MS)) ?? false;
  }
}

/** The started file; the shell's name for it may be a link. */
function launcher(): string {
  return process.argv[1]!;
}

async function waitFor<Value>(
  look: () => Promise<Value | undefined>,
  patienceMs: number,
): Promise<Value | undefined> {
  for (let waited = 0; waited < patienceMs; waited += POLL_MS) {
    const found = await look();
    if (found !== undefined) return found;
    await pause(POLL_MS);
  }
  return undefined;
}
