/**
 * The parsers that a plan of going back asks about texts it merged. They are opened when the first such text is of a
 * language that one may know: most commands never need them. Plans do not wait, so a plan that lacks a parser ends with
 * `ParsersNeeded`; the runner loads them and makes the plan again. A parser that fails never stands in the way of
 * an undo: without its answer, lines alone count.
 */
import type { Syntax } from "./syntax.ts";

/** Opens what knows languages; undefined where nothing does. */
export type OpenSyntax = () => Promise<Syntax | undefined>;

/** A plan merged texts whose parsers are not loaded yet. Nothing was changed. */
export class ParsersNeeded extends Error {
  readonly paths: readonly string[];

  constructor(paths: readonly string[]) {
    super(`Parsers are needed for ${paths.length} files`);
    this.paths = paths;
  }
}

/** What the plans of a workspace ask about code. */
export class Parsers {
  #open: OpenSyntax | undefined;
  #syntax: Syntax | undefined;
  readonly #loaded = new Set<string>();

  /** From now on these parsers are asked; undefined = none. */
  use(open: OpenSyntax | undefined): void {
    this.#open = open;
    this.#syntax = undefined;
    this.#loaded.clear();
  }

  /** False where a parser may know the file and is not loaded yet. */
  areLoadedFor(path: string): boolean {
    return this.#open === undefined || endingOf(path) === "" || this.#loaded.has(endingOf(path));
  }

  /** Loads what these files need. */
  async load(paths: readonly string[]): Promise<void> {
    // noted first: what cannot be loaded is not asked for again
    for (const path of paths) this.#loaded.add(endingOf(path));
    try {
      this.#syntax ??= await this.#open?.();
      await this.#syntax?.load(paths);
    } catch {
      // its answers stay undefined
    }
  }

  /** True when the text is free of syntax errors; undefined when that is not known. */
  parses(path: string, text: string): boolean | undefined {
    try {
      return this.#syntax?.parses(path, text);
    } catch {
      return undefined;
    }
  }
}

/** From the first dot of the name on: it decides the language. */
function endingOf(path: string): string {
  return /\.[^/]*$/.exec(path.slice(path.lastIndexOf("/") + 1))?.[0] ?? "";
}
