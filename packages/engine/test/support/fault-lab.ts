/**
 * A small workspace on which operations are killed or made to fail, call by call. The same directories are put
 * back into the same state before each run: the registry knows the root by its inode.
 */
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { copyTree } from "./copy-tree.ts";
import { makeDirectory } from "./place.ts";

const SHIM = new URL("./fault-shim.c", import.meta.url).pathname;
const CHILD = new URL("./fault-child.ts", import.meta.url).pathname;

/** Without a C compiler there are no faults to inject. */
export const hasCompiler = spawnSync("cc", ["--version"], { stdio: "ignore" }).status === 0;
if (!hasCompiler) console.log("No C compiler is installed: tests that make file calls fail are skipped.");

export interface Fault {
  /** Which call, from 1. */
  readonly at: number;
  /** Before the call, in the middle of a write, half of a write, or an error number. */
  readonly how: "kill" | "stop" | "torn" | "half" | number;
  /** Every later call fails as well. */
  readonly lasting?: boolean;
}

export interface Report {
  readonly signal: NodeJS.Signals | null;
  /** undefined when the process did not live to say. */
  readonly said:
    | { done: boolean; outcome?: string; name?: string; code?: string; message?: string }
    | undefined;
  /** The calls that were counted, "function path". */
  readonly calls: readonly string[];
}

/** Compiles the shim into a directory and says where it is. */
export function buildShim(directory: string): string {
  const shim = join(directory, "shim.so");
  if (!existsSync(shim)) execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", shim, SHIM, "-ldl"]);
  return shim;
}

/** Faults as the shim reads them. */
export function describeFaults(faults: readonly Fault[]): string {
  return faults.map(({ at, how, lasting }) => `${at} ${how}${lasting === true ? "+" : ""}`).join();
}

export class FaultLab {
  readonly #base: string;
  readonly #kept: string;
  readonly #shim: string;
  readonly root: string;
  readonly home: string;
  /** Where the forks of the workspace are made. */
  readonly forks: string;
  /** Where calls are counted; those in the store depend on who else has it open. */
  counted: string[];

  /** `kept` is where states are kept; it may be on another file system. */
  constructor(base = makeDirectory("belay-fault-"), kept = join(base, "kept")) {
    this.#base = base;
    this.#kept = kept;
    this.#shim = buildShim(base);
    this.root = join(base, "root");
    this.home = join(base, "home");
    this.forks = join(base, ".belay-forks");
    this.counted = [this.root, this.home, this.forks];
    for (const path of this.counted) {
      rmSync(path, { recursive: true, force: true });
      mkdirSync(path, { mode: 0o700 });
    }
  }

  get #directories(): readonly (readonly [string, string])[] {
    return [
      ["root", this.root],
      ["home", this.home],
      ["forks", this.forks],
    ];
  }

  /** Keeps the state of root, home and forks under a name. */
  keep(name: string): void {
    const place = join(this.#kept, name);
    rmSync(place, { recursive: true, force: true });
    for (const [part, directory] of this.#directories) {
      mkdirSync(join(place, part), { recursive: true });
      if (existsSync(directory)) copyTree(directory, join(place, part));
    }
  }

  /** Puts root, home and forks back as they were kept; root and home stay the same directories. */
  putBack(name: string): void {
    for (const [, directory] of this.#directories) {
      // the directory of all forks goes with the last of them
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      for (const entry of readdirSync(directory, "buffer"))
        rmSync(Buffer.concat([Buffer.from(`${directory}/`), entry]), { recursive: true, force: true });
    }
    for (const [part, directory] of this.#directories) copyTree(join(this.#kept, name, part), directory);
  }

  /** Runs an operation with faults. */
  run(operation: string, ...faults: Fault[]): Promise<Report> {
    return this.start(operation, ...faults).ended;
  }

  /** Starts an operation with faults; a stopped process has to be continued. */
  start(operation: string, ...faults: Fault[]): { child: ChildProcess; ended: Promise<Report> } {
    // this process may run under the shim itself, with a log that it holds open
    const log = join(this.#base, "calls-apart.log");
    rmSync(log, { force: true });
    const child = spawn(process.execPath, this.#words(operation), {
      stdio: ["ignore", "pipe", "inherit"],
      env: this.#environment(faults, log),
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
    const ended = new Promise<Report>((resolve) => {
      child.on("close", (_code, signal) => {
        const calls = existsSync(log) ? readFileSync(log, "latin1").trimEnd().split("\n") : [];
        resolve({ signal, said: output === "" ? undefined : (JSON.parse(output) as Report["said"]), calls });
      });
    });
    return { child, ended };
  }

  /** Runs an operation below a process that never takes notice of its end: what is left of it is a zombie, until the caller kills that process. */
  async runUnreaped(operation: string, ...faults: Fault[]): Promise<ChildProcess> {
    const { LD_PRELOAD, ...env } = this.#environment(faults, join(this.#base, "calls-apart.log"));
    const words = [`LD_PRELOAD=${LD_PRELOAD}`, process.execPath, ...this.#words(operation)];
    const parent = spawn("sh", ["-c", 'env "$@" & exec sleep 600', "sh", ...words], { stdio: "ignore", env });
    const child = () => readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, "latin1").trim();
    // its first thread may be gone before the others are: until then it counts as running
    const isZombie = (pid: string) => {
      const status = readFileSync(`/proc/${pid}/status`, "latin1");
      return /^State:\s+Z/m.test(status) && /^Threads:\s+[01]$/m.test(status);
    };
    while (child() === "" || !isZombie(child())) await sleep(5);
    return parent;
  }

  #words(operation: string): string[] {
    return ["--disable-warning=ExperimentalWarning", CHILD, operation, this.root, this.home];
  }

  #environment(faults: readonly Fault[], log: string): NodeJS.ProcessEnv {
    return {
      PATH: process.env["PATH"],
      LD_PRELOAD: this.#shim,
      BELAY_FAULT_BELOW: this.counted.join(":"),
      BELAY_FAULTS: describeFaults(faults),
      BELAY_FAULT_LOG: log,
      NODE_COMPILE_CACHE: join(this.#base, "compiled"),
      UV_USE_IO_URING: "0",
    };
  }

  remove(): void {
    rmSync(this.#base, { recursive: true, force: true });
  }
}
