/** The belay command as a fresh process, the way a hook or a person runs it. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../packages/cli/bin/belay.js", import.meta.url));
const MEMORY = new URL("./report-memory.js", import.meta.url).href;

export interface BelayRun {
  readonly json: Record<string, unknown>;
  readonly ms: number;
}

export class Belay {
  readonly home: string;
  readonly #root: string;
  readonly #environment: NodeJS.ProcessEnv;

  /** `resident`: commands ask the resident process, once it was started. */
  constructor(home: string, root: string, { resident = false } = {}) {
    this.home = home;
    this.#root = root;
    this.#environment = { ...process.env, ...(resident ? {} : { BELAY_RESIDENT: "off" }) };
  }

  run(...args: string[]): BelayRun {
    const start = performance.now();
    const done = this.#spawn([], args);
    return { ms: performance.now() - start, json: JSON.parse(done) as Record<string, unknown> };
  }

  /** Peak resident memory of a command in bytes. */
  peakMemory(file: string, ...args: string[]): number {
    this.#spawn(["--import", MEMORY], args, { BENCH_MEMORY_FILE: file });
    return Number(readFileSync(file, "utf8")) * 1024;
  }

  #spawn(nodeArgs: string[], args: string[], env: NodeJS.ProcessEnv = {}): string {
    const argv = [...nodeArgs, LAUNCHER, "-C", this.#root, "--home", this.home, "--json", ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
      encoding: "utf8",
      env: { ...this.#environment, ...env },
      maxBuffer: 1 << 28,
    });
    if (status !== 0) throw new Error(`belay ${args.join(" ")}: exit ${status}\n${stdout}\n${stderr}`);
    return stdout;
  }
}
