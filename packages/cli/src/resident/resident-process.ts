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
/** It lives for hours, and what requests leave behind is to be cleared away early: that halves its memory. */
const SMALL_NURSERY = "--max-semi-space-size=4";
/** One that died so often in so short a time is not started with every command: to start it costs more than it gives. */
const MANY_DEATHS = 3;
const DYING_MS = 60_000;

export class ResidentProcess {
  readonly #run: RunDirectory;
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
    this.#run = new RunDirectory(home);
  }

  /** A client of the running process; undefined when none has been there, it is of another build, or not this user's. */
  client(timeoutMs: number): BelayClient | undefined {
    return this.#run.read()?.version === readBuild() ? this.#clientOfAnyBuild(timeoutMs) : undefined;
  }

  #clientOfAnyBuild(timeoutMs: number): BelayClient | undefined {
    if (!this.#run.hasPrivateSocket) return undefined;
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

  /** When it turned out that one had died without a word, oldest first. */
  get deaths(): number[] {
    return this.#run.deaths();
  }

  /** True when starting it again at once would end as the last times. */
  get keepsDying(): boolean {
    return this.deaths.filter((at) => Date.now() - at < DYING_MS).length >= MANY_DEATHS;
  }

  /** Starts it without waiting; one of this build that is there already wins. */
  launch(options: readonly string[] = []): void {
    this.#run.create();
    // loaded here: every hook would wait for it
    const log = openSync(`${this.#run.log}.out`, "a", 0o600);
    try {
      const { spawn } = process.getBuiltinModule("node:child_process");
      const words = [SMALL_NURSERY, launcher(), "--home", this.#home, "resident", ...options];
      const child = spawn(process.execPath, words, {
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
    const running = await this.#answering();
    if (running !== undefined) return running;
    if (this.isAlive() && !(await this.stop())) return undefined;
    this.launch(options);
    return waitFor(() => this.#answering(), START_MS);
  }

  /** [R141] What a process of this build says of itself when it is asked: files may be a dead one's. */
  async #answering(): Promise<ResidentFacts | undefined> {
    const said = await this.client(START_MS)
      ?.call("GET /api/resident")
      .catch(() => undefined);
    const facts = this.#run.read();
    return said !== undefined && said.pid === facts?.pid ? facts : undefined;
  }

  /** True when none is running any more. */
  async stop(): Promise<boolean> {
    if (!this.isAlive()) return true;
    await this.#clientOfAnyBuild(STOP_MS)
      ?.call("POST /api/resident/stop")
      .catch(() => undefined);
    return (await waitFor(async () => (this.isAlive() ? undefined : true), STOP_MS)) ?? false;
  }
}

/** The file that was started: the shell's name for it may be a link. */
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
