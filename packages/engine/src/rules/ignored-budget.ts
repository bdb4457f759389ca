/**
 * How much of a directory that git ignores is captured: all of it, or, above the budget, nothing. The count is taken
 * while a scan goes through the directory, and kept by difference where the table is kept up to date.
 */
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";

/** How much of what git ignores is captured: of one file, and of one directory that is ignored as a whole. */
export interface IgnoredLimits {
  readonly fileBytes: number;
  readonly files: number;
  readonly bytes: number;
}

/** So many names may be looked at for each file that may be captured: noise is not free either. */
const NAMES_A_FILE = 10;

export interface IgnoredCount {
  files: number;
  bytes: number;
  names: number;
}

/** Why this is too much; undefined when it is not. */
function whyOver({ files, bytes, names }: IgnoredCount, limits: IgnoredLimits): string | undefined {
  if (files > limits.files) return `more than ${limits.files} files`;
  if (bytes > limits.bytes) return `more than ${sizeText(limits.bytes)}`;
  return names > limits.files * NAMES_A_FILE ? `more than ${limits.files * NAMES_A_FILE} names` : undefined;
}

/** Why a file that git ignores is not captured. */
export function whyLeftOut({ files }: IgnoredLimits, limitBytes: number): string {
  return files === 0 ? "limits.ignoredFiles is 0" : `larger than ${sizeText(limitBytes)}`;
}

function sizeText(bytes: number): string {
  const mebibytes = bytes / 2 ** 20;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`;
}

/** An ignored directory turns out to be too large while it is scanned. */
export class OverBudget extends Error {
  readonly root: BytePath;
  readonly reason: string;

  constructor(root: BytePath, reason: string) {
    super(reason);
    this.root = root;
    this.reason = reason;
  }
}

/** What a scan has seen of one ignored directory. */
export class IgnoredBudget {
  readonly #root: BytePath;
  readonly #limits: IgnoredLimits;
  readonly #count: IgnoredCount = { files: 0, bytes: 0, names: 0 };

  constructor(root: BytePath, limits: IgnoredLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  addFile(bytes: number): void {
    this.#count.files += 1;
    this.#count.bytes += bytes;
    this.#check();
  }

  addNames(names: number): void {
    this.#count.names += names;
    this.#check();
  }

  #check(): void {
    const reason = whyOver(this.#count, this.#limits);
    if (reason !== undefined) throw new OverBudget(this.#root, reason);
  }
}

/** What each ignored directory holds, kept by difference. */
export class IgnoredUse {
  readonly #roots: ReadonlySet<BytePath>;
  readonly #counts = new Map<BytePath, IgnoredCount>();
  #last: { directory: BytePath; count: IgnoredCount | undefined } | undefined;

  /** `roots` may grow; tell of that by `rootsChanged`. */
  constructor(roots: ReadonlySet<BytePath>) {
    this.#roots = roots;
  }

  rootsChanged(): void {
    this.#last = undefined;
  }

  /** Counts an entry of a directory in or out; `bytes` is undefined for what has no content. */
  add(directory: BytePath, bytes: number | undefined, sign: 1 | -1): void {
    if (this.#roots.size === 0) return;
    if (this.#last?.directory !== directory) this.#last = { directory, count: this.#countOf(directory) };
    const { count } = this.#last;
    if (count === undefined) return;
    count.names += sign;
    if (bytes === undefined) return;
    count.files += sign;
    count.bytes += sign * bytes;
  }

  isOver(limits: IgnoredLimits): boolean {
    return [...this.#counts.values()].some((count) => whyOver(count, limits) !== undefined);
  }

  #countOf(directory: BytePath): IgnoredCount | undefined {
    const root = [directory, ...ancestorPaths(directory)].find((path) => this.#roots.has(path));
    if (root === undefined) return undefined;
    const known = this.#counts.get(root) ?? { files: 0, bytes: 0, names: 0 };
    this.#counts.set(root, known);
    return known;
  }
}
