/** What is known about one programming language. */
export interface Language {
  /** True when the text is free of syntax errors. */
  parses(text: string): boolean;
  /** True when two texts differ only in layout. Comments and strings count word for word. */
  sameSyntax(a: string, b: string): boolean;
  /** The names that a text declares and uses; undefined where they are not told apart. */
  names(text: string): Names | undefined;
  /** The files of the same project that a text imports; undefined where that is not known. */
  imports(path: string, text: string): Import[] | undefined;
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
  /** Where the file may be, best first, relative to the root of the project. */
  readonly candidates: readonly string[];
}
