/**
 * How much of a git-ignored directory is captured: all of it, or nothing when it is over the budget. A scan
 * counts while it visits the directory; where the file table is updated in place, the count is updated by
 * difference.
 */
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";

/** The limits for what git ignores: per file, and per directory that is ignored as a whole. */
export interface IgnoredLimits {
  readonly fileBytes: number;
  readonly files: number;
  readonly bytes: number;
}

/** This many names may be visited per file that may be captured: noise has a cost too. */
const NAMES_A_FILE = 10;

/** What an ignored directory holds. */
export interface IgnoredCount {
  files: number;
  bytes: number;
  names: number;
}

/** Why the directory is over the budget; undefined when it is not. */
function whyOver({ files, bytes, names }: IgnoredCount, limits: IgnoredLimits): string | undefined {
  if (files > limits.files) return `more than ${limits.files} files`;
  if (bytes > limits.bytes) return `more than ${sizeText(limits.bytes)}`;
  return names > limits.files * NAMES_A_FILE ? `more than ${limits.files * NAMES_A_FILE} names` : undefined;
}

/** Why a git-ignored file is not captured. */
export function whyLeftOut({ files }: IgnoredLimits, limitBytes: number): string {
  return files === 0 ? "limits.ignoredFiles is 0" : `larger than ${sizeText(limitBytes)}`;
}

function sizeText(bytes: number): string {
  const mebibytes = bytes / 2 ** 20;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes} bytes`;
}

/** Thrown when an ignored directory turns out to be too large during a scan. */
export class OverBudget extends Error {
  readonly root: BytePath;
  readonly reason: string;

  constructor(root: BytePath, reason: string) {
    super(reason);
    this.root = root;
    this.reason = reason;
  }
}

/** Counts one ignored directory during a scan. */
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

/** What each ignored directory holds, updated by difference. */
export class IgnoredUse {
  readonly #roots: ReadonlySet<BytePath>;
  readonly #counts = new Map<BytePath, IgnoredCount>();
  #last: { directory: BytePath; count: IgnoredCount | undefined } | undefined;

  /** `roots` may grow; call `rootsChanged` then. */
  constructor(roots: ReadonlySet<BytePath>) {
    this.#roots = roots;
  }

  rootsChanged(): void {
    this.#last = undefined;
  }

  /** Adds or subtracts an entry of a directory; `bytes` is undefined for entries without content. */
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
