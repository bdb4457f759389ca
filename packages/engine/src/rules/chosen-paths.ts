/**
 * Paths that a caller chose, each with everything below it. A text with wildcards is a pattern only where nothing has
 * that very name: `app/[id]/page.tsx` is a file before it is a pattern. A pattern without a slash is tried against
 * every name on the way, as in an ignore file.
 */
import { ancestorPaths, baseName, type BytePath } from "../model/byte-path.ts";
import { compileGlob, type Glob } from "./ignore-glob.ts";

/** True for a text that is read as a pattern where it names nothing. */
export function isPattern(text: string): boolean {
  return /[*?[]/.test(text);
}

/** The paths that were chosen. */
export class ChosenPaths {
  readonly #names: ReadonlySet<BytePath>;
  readonly #patterns: readonly Pattern[];

  /** `isKnown` says whether something has exactly this name, or lies below it. */
  constructor(given: readonly BytePath[], isKnown: (path: BytePath) => boolean) {
    const isName = (text: BytePath) => !isPattern(text) || isKnown(text);
    this.#names = new Set(given.filter(isName));
    this.#patterns = given.filter((text) => !isName(text)).map(compile);
  }

  /** The texts that are names, not patterns. */
  get names(): readonly BytePath[] {
    return [...this.#names];
  }

  /** Whether a path, or a directory above it, was chosen. */
  includes(path: BytePath): boolean {
    if (this.#names.has(path)) return true;
    const ancestors = ancestorPaths(path);
    if (ancestors.some((above) => this.#names.has(above))) return true;
    return this.#patterns.some((pattern) => [...ancestors, path].some(pattern.matches));
  }

  /** The given texts that choose none of these paths. */
  missing(paths: Iterable<BytePath>): BytePath[] {
    const left = new Set<BytePath>(this.#names);
    const patterns = new Set(this.#patterns);
    for (const path of paths) {
      if (left.size + patterns.size === 0) break;
      const way = [...ancestorPaths(path), path];
      for (const name of way) left.delete(name);
      for (const pattern of patterns) if (way.some(pattern.matches)) patterns.delete(pattern);
    }
    return [...left, ...[...patterns].map(({ text }) => text)];
  }
}

interface Pattern {
  readonly text: BytePath;
  matches(this: void, path: BytePath): boolean;
}

function compile(text: BytePath): Pattern {
  const glob: Glob | undefined = compileGlob(text);
  const isForNames = !text.includes("/");
  return { text, matches: (path) => glob?.matches(isForNames ? baseName(path) : path) === true };
}
