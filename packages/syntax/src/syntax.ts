/**
 * Code, asked about by file name. Parsers are loaded for the languages that are needed and no others: starting one
 * takes longer than most commands do.
 */
import type { Import, Language, Names } from "./language.ts";

/** Answers about files of known languages; undefined for the rest. */
export interface Syntax {
  /** Loads what the languages of these files need. The other methods do not wait. */
  load(paths: readonly string[]): Promise<void>;
  parses(path: string, text: string): boolean | undefined;
  sameSyntax(path: string, a: string, b: string): boolean | undefined;
  names(path: string, text: string): Names | undefined;
  imports(path: string, text: string): readonly Import[] | undefined;
}

/** The grammar of each file extension; "script" is JavaScript and TypeScript in all their forms. */
const GRAMMARS: Readonly<Record<string, string>> = {
  ...Object.fromEntries("js jsx mjs cjs ts tsx mts cts".split(" ").map((extension) => [extension, "script"])),
  py: "python",
  pyi: "python",
  go: "go",
  rs: "rust",
  java: "java",
  rb: "ruby",
  php: "php",
  cs: "c-sharp",
  css: "css",
  sh: "bash",
  bash: "bash",
  ...Object.fromEntries("c h cc cpp cxx hh hpp hxx".split(" ").map((extension) => [extension, "cpp"])),
};

/** Creates an answerer that has loaded nothing yet. */
export function createSyntax(): Syntax {
  const languages = new Map<string, Language>();
  const languageOf = (path: string) => languages.get(keyOf(path) ?? "");
  return {
    async load(paths) {
      for (const key of new Set(paths.flatMap((path) => keyOf(path) ?? [])))
        if (!languages.has(key)) languages.set(key, await loadLanguage(key));
    },
    parses: (path, text) => languageOf(path)?.parses(text),
    sameSyntax: (path, a, b) => languageOf(path)?.sameSyntax(a, b),
    names: (path, text) => languageOf(path)?.names(text),
    imports: (path, text) => languageOf(path)?.imports(path, text),
  };
}

/** A grammar, and for scripts their form, which the extension decides. */
function keyOf(path: string): string | undefined {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const grammar = Object.hasOwn(GRAMMARS, extension) ? GRAMMARS[extension] : undefined;
  if (grammar !== "script") return grammar;
  return `script ${path.endsWith(".d.ts") ? "dts" : formOf(extension)}`;
}

function formOf(extension: string): "jsx" | "ts" | "tsx" {
  if (extension === "tsx") return "tsx";
  return extension.endsWith("ts") ? "ts" : "jsx";
}

async function loadLanguage(key: string): Promise<Language> {
  const form = /^script (\w+)$/.exec(key)?.[1];
  if (form === undefined) return (await import("./grammar.ts")).openGrammar(key);
  return (await import("./script.ts")).createScript(form as "jsx" | "ts" | "tsx" | "dts");
}
