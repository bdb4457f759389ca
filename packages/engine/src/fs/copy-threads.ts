/**
 * Copies of many files at once, by the threads of `native/copy.c`. They share blocks where the file system can, follow no
 * link, and leave out whatever is not, before and after, the file that was asked for.
 */
import { baseName, parentPath, type BytePath } from "../model/byte-path.ts";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";
import { nativeLook, type NativeLook } from "./on-demand.ts";

/** A file as it has to be for a copy of it to be one. */
export interface ExpectedFile {
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
}

/** What was made. */
export interface CopiedFile {
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
}

/** Where files are copied from and to. */
export interface CopyPlace {
  readonly from: AbsolutePath;
  /** A real directory. */
  readonly to: AbsolutePath;
  readonly clone: boolean;
}

/** Files to be copied. */
export class CopyThreads {
  readonly #native: NativeLook;
  /** Each run of files of one directory is copied by one thread. */
  readonly #paths: BytePath[] = [];
  readonly #firsts: number[] = [];
  readonly #files: { readonly path: BytePath; readonly expected: ExpectedFile; readonly mode: number }[] = [];
  readonly #isAsItIs: boolean;
  #columns: Columns | undefined;

  /** With `asItIs` files are copied as they are, times and mode included, and none is expected to be a certain one. */
  private constructor(native: NativeLook, isAsItIs: boolean) {
    this.#native = native;
    this.#isAsItIs = isAsItIs;
  }

  /** Undefined where files have to be copied one by one. */
  static create({ asItIs = false }: { asItIs?: boolean } = {}): CopyThreads | undefined {
    const native = nativeLook();
    return native?.beginCopies === undefined ? undefined : new CopyThreads(native, asItIs);
  }

  /** The number of the file. */
  add(path: BytePath, expected: ExpectedFile = ANY, mode = 0): number {
    const directory = parentPath(path);
    const first = this.#firsts.at(-1) ?? 0;
    if (this.#paths.at(-1) !== directory || this.#files.length - first >= FILES_AT_ONCE) {
      this.#paths.push(directory);
      this.#firsts.push(this.#files.length);
    }
    return this.#files.push({ path, expected, mode }) - 1;
  }

  /** Copies; what is yielded is to be waited for. */
  *run({ from, to, clone }: CopyPlace): Generator<Promise<void>> {
    if (this.#files.length === 0) return;
    const columns = this.#makeColumns();
    const copies = this.#native.beginCopies!(
      this.#files.length,
      (clone ? CLONE : 0) | (this.#isAsItIs ? AS_IT_IS : 0),
      Buffer.from(forSystem(from)),
      Buffer.from(forSystem(to)),
      Buffer.from(this.#paths.join("\0"), "latin1"),
      Buffer.from(this.#files.map(({ path }) => baseName(path)).join("\0"), "latin1"),
      Uint32Array.from(this.#firsts),
      Uint32Array.from(this.#firsts, (first, at) => (this.#firsts[at + 1] ?? this.#files.length) - first),
      columns.mode,
      columns.size,
      columns.mtimeNs,
      columns.ctimeNs,
      columns.ino,
      columns.verdict,
    );
    if (copies === undefined) return;
    try {
      while (!this.#native.areCopied!(copies)) yield new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    } finally {
      this.#native.endCopies!(copies);
    }
    this.#columns = columns;
  }

  /** What was made of a file; undefined when it was not copied, and nothing was left of it. */
  copied(number: number): CopiedFile | undefined {
    const columns = this.#columns;
    if (columns?.verdict[number] !== COPIED) return undefined;
    return {
      mtimeNs: columns.mtimeNs[number]!,
      ctimeNs: columns.ctimeNs[number]!,
      ino: columns.ino[number]!,
    };
  }

  /** The files that were not copied. */
  *left(): Generator<{ readonly number: number; readonly path: BytePath }> {
    for (const [number, { path }] of this.#files.entries())
      if (this.#columns?.verdict[number] !== COPIED) yield { number, path };
  }

  #makeColumns(): Columns {
    const files = this.#files;
    return {
      mode: Uint16Array.from(files, ({ mode }) => mode),
      size: Float64Array.from(files, ({ expected }) => expected.size),
      mtimeNs: BigInt64Array.from(files, ({ expected }) => expected.mtimeNs),
      ctimeNs: BigInt64Array.from(files, ({ expected }) => expected.ctimeNs),
      ino: BigUint64Array.from(files, ({ expected }) => expected.ino),
      verdict: new Uint8Array(files.length),
    };
  }
}

/** What the threads read and write. */
interface Columns {
  readonly mode: Uint16Array;
  readonly size: Float64Array;
  readonly mtimeNs: BigInt64Array;
  readonly ctimeNs: BigInt64Array;
  readonly ino: BigUint64Array;
  readonly verdict: Uint8Array;
}

const ANY: ExpectedFile = { size: 0, mtimeNs: 0n, ctimeNs: 0n, ino: 0n };
/** As in `native/copy.c`. */
const CLONE = 1;
const AS_IT_IS = 2;
const COPIED = 1;
/** Splits a large directory between several threads. */
const FILES_AT_ONCE = 256;
const WAIT_MS = 4;
