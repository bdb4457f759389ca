/** The belay command as people and hooks run it: the launcher that npm links, in a process of its own. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const LAUNCHER = fileURLToPath(new URL("../packages/cli/bin/belay", import.meta.url));
/** What the launcher starts; run directly where Node needs options. */
const PROGRAM = `${LAUNCHER}.js`;
const MEMORY = new URL("./report-memory.js", import.meta.url).href;

/** One finished command. */
export interface BelayRun {
  readonly json: Record<string, unknown>;
  readonly ms: number;
}

/** The command for one project and one home. */
export class Belay {
  readonly home: string;
  readonly #root: string;
  readonly #environment: NodeJS.ProcessEnv;

  /** `resident`: commands use the resident process and start one, as they do by default. */
  constructor(home: string, root: string, { resident = false } = {}) {
    this.home = home;
    this.#root = root;
    this.#environment = { ...process.env, BELAY_RESIDENT: resident ? "" : "off" };
  }

  run(...args: string[]): BelayRun {
    const start = performance.now();
    const done = this.#spawn(LAUNCHER, [...this.#globals, "--json", ...args]);
    return { ms: performance.now() - start, json: JSON.parse(done) as Record<string, unknown> };
  }

  /** How long a command takes that prints text. */
  time(...args: string[]): number {
    const start = performance.now();
    this.#spawn(LAUNCHER, [...this.#globals, ...args]);
    return performance.now() - start;
  }

  /** Peak resident memory of a command in bytes. */
  peakMemory(file: string, ...args: string[]): number {
    const words = ["--import", MEMORY, PROGRAM, ...this.#globals, ...args];
    this.#spawn(process.execPath, words, { BENCH_MEMORY_FILE: file });
    return Number(readFileSync(file, "utf8")) * 1024;
  }

  get #globals(): string[] {
    return ["-C", this.#root, "--home", this.home];
  }

  #spawn(program: string, words: string[], env: NodeJS.ProcessEnv = {}): string {
    const { status, stdout, stderr } = spawnSync(program, words, {
      encoding: "utf8",
      env: { ...this.#environment, ...env },
      maxBuffer: 1 << 28,
    });
    if (status !== 0) throw new Error(`${words.join(" ")}: exit ${status}\n${stdout}\n${stderr}`);
    return stdout;
  }
}
