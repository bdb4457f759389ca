/** Modules that take milliseconds to load and that few commands need. */
import type * as ChildProcesses from "node:child_process";
import { createRequire } from "node:module";
import type * as WorkerThreads from "node:worker_threads";

const load = createRequire(import.meta.url);

/** The functions of `native/look.c` and `native/copy.c`. They read the passed arrays in place until they return. */
export interface NativeLook {
  begin(
    entries: number,
    /** A file that has another name somewhere counts as changed. */
    onlySingle: boolean,
    root: Uint8Array,
    /** Paths and names as bytes, separated by NUL. */
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
  /** Copies of `native/copy.c`, on Linux; they read and write the passed arrays until they are ended. */
  beginCopies?(
    entries: number,
    options: number,
    from: Uint8Array,
    to: Uint8Array,
    paths: Uint8Array,
    names: Uint8Array,
    firstEntry: Uint32Array,
    entryCount: Uint32Array,
    mode: Uint16Array,
    size: Float64Array,
    mtimeNs: BigInt64Array,
    ctimeNs: BigInt64Array,
    ino: BigUint64Array,
    verdict: Uint8Array,
  ): object | undefined;
  areCopied?(copies: object): boolean;
  endCopies?(copies: object): void;
  isAsBefore(look: object, directory: number): boolean;
  end(look: object): void;
  /** Counts interrupts until `releaseSignals`; the third one ends the process. */
  catchSignals(): void;
  signalsCaught(): number;
  releaseSignals(): void;
  /** Whether any process has the file open for writing: 1, 0, or -1 when unknown. */
  openForWriting(descriptor: number): number;
}

/** The loaded module, or null after a failed load, so that it is not retried for each file. */
let native: NativeLook | null | undefined;

/** The native module; undefined where it was not compiled. */
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

/** Loads `node:child_process` when it is first needed. */
export function childProcesses(): typeof ChildProcesses {
  return load("node:child_process") as typeof ChildProcesses;
}

/** Loads `node:worker_threads` when it is first needed. */
export function workerThreads(): typeof WorkerThreads {
  return load("node:worker_threads") as typeof WorkerThreads;
}
