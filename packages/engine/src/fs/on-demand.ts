/** Modules that few commands need and that take milliseconds to load. */
import type * as ChildProcesses from "node:child_process";
import { createRequire } from "node:module";
import type * as WorkerThreads from "node:worker_threads";

const load = createRequire(import.meta.url);

/** What `native/look.c` offers. It reads the arrays where they lie until the end. */
export interface NativeLook {
  begin(
    entries: number,
    root: Uint8Array,
    /** Paths and names as bytes, with a zero byte between two. */
    paths: Uint8Array,
    names: Uint8Array,
    firstEntry: Uint32Array,
    entryCount: Uint32Array,
    kind: Uint8Array,
    flags: Uint8Array,
    mode: Uint16Array,
    size: Float64Array,
    mtimeNs: BigInt64Array,
    ctimeNs: BigInt64Array,
    ino: BigUint64Array,
  ): object | undefined;
  isAsBefore(look: object, directory: number): boolean;
  end(look: object): void;
  /** Interrupts are counted until they are released; the third ends the process. */
  catchSignals(): void;
  signalsCaught(): number;
  releaseSignals(): void;
  /** Whether any process has the file open for writing: 1, 0, or -1 where that is not known. */
  openForWriting(descriptor: number): number;
}

/** What was loaded, or null where that failed: not tried for each file. */
let native: NativeLook | null | undefined;

/** undefined where it was not compiled. */
export function nativeLook(): NativeLook | undefined {
  if (native === undefined) native = loadNative();
  return native ?? undefined;
}

function loadNative(): NativeLook | null {
  try {
    return load("@belay/engine/look.node") as NativeLook;
  } catch {
    return null;
  }
}

export function childProcesses(): typeof ChildProcesses {
  return load("node:child_process") as typeof ChildProcesses;
}

export function workerThreads(): typeof WorkerThreads {
  return load("node:worker_threads") as typeof WorkerThreads;
}
