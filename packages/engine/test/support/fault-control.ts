/**
 * The shim under which this process itself runs: faults without a process for each. A call that fails, and every one
 * after it, leaves on disk what a killed process leaves.
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { buildShim, describeFaults, type Fault } from "./fault-lab.ts";

const COUNT_BYTES = 8;
const PAGE_BYTES = 4096;
const LOG = "calls.log";
const CONTROL = "control";

/** The variables of a process that is to run under the shim, with its laboratory in `base`. */
export function underShim(base: string): Record<string, string> {
  const control = join(base, CONTROL);
  const descriptor = openSync(control, "w");
  writeSync(descriptor, Buffer.alloc(PAGE_BYTES));
  closeSync(descriptor);
  return {
    LD_PRELOAD: buildShim(base),
    BELAY_FAULT_BASE: base,
    BELAY_FAULT_BELOW: ["root", "home", ".belay-forks"].map((name) => join(base, name)).join(":"),
    BELAY_FAULT_LOG: join(base, LOG),
    BELAY_FAULT_CONTROL: control,
    UV_USE_IO_URING: "0",
  };
}

/** Where this process's laboratory is; undefined when it does not run under the shim. */
export const shimBase = process.env["BELAY_FAULT_BASE"];

export class FaultControl {
  readonly #descriptor: number;
  readonly #log: string;

  constructor(base: string) {
    this.#descriptor = openSync(join(base, CONTROL), "r+");
    this.#log = join(base, LOG);
  }

  /** Starts to count, with these faults. */
  arm(...faults: Fault[]): void {
    if (existsSync(this.#log)) truncateSync(this.#log);
    this.#write(describeFaults(faults));
  }

  /** No more faults; says which calls there were. */
  disarm(): string[] {
    const calls = readFileSync(this.#log, "latin1").split("\n").slice(0, -1);
    this.#write("");
    return calls;
  }

  /** How many calls were counted since `arm`. */
  get count(): number {
    const bytes = Buffer.alloc(COUNT_BYTES);
    readSync(this.#descriptor, bytes, 0, COUNT_BYTES, 0);
    return Number(bytes.readBigInt64LE());
  }

  #write(faults: string): void {
    const page = Buffer.alloc(PAGE_BYTES);
    page.write(faults, COUNT_BYTES, "latin1");
    writeSync(this.#descriptor, page, 0, PAGE_BYTES, 0);
  }
}
