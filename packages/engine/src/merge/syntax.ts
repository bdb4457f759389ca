/**
 * What a merge asks about code. The engine knows no language: `@belay/syntax` answers, or another parser. `undefined`
 * always means that the language is unknown, and then only lines count.
 */
export interface Syntax {
  /** Loads what the languages of these files need. The other methods do not wait. */
  load(paths: readonly string[]): Promise<void>;
  /** True when the text is free of syntax errors. */
  parses(path: string, text: string): boolean | undefined;
  /** True when two texts differ only in layout. Comments and strings count word for word. */
  sameSyntax(path: string, a: string, b: string): boolean | undefined;
  /** The names that a text declares and uses. */
  names(path: string, text: string): Names | undefined;
  /** The modules that a text imports by a path relative to itself. */
  imports(path: string, text: string): readonly Import[] | undefined;
}

/** The names of a text, without regard to scopes. */
export interface Names {
  readonly declared: ReadonlySet<string>;
  /** With the first line that uses it, counted from 1. */
  readonly used: ReadonlyMap<string, number>;
}

/** One import of another file of the project. */
export interface Import {
  readonly specifier: string;
  /** Counted from 1. */
  readonly line: number;
  /** Where the module may be, best first, relative to the root. */
  readonly candidates: readonly string[];
}
