/** English as docs/glossary.md wants it: no words to avoid, and a sentence for every exported name. */
import { isCode, isTest, type Check, type RepositoryFile } from "./repository.ts";
import { commentsOf, lineAt, walk, type SyntaxNode } from "./syntax.ts";

export const GLOSSARY = "docs/glossary.md";

/** Quote the words to avoid on purpose. */
const QUOTES_WORDS = new Set([GLOSSARY, "test/tidy.test.ts"]);
/** What the page says word for word: the user too is one of those who cannot bring it back. */
const AS_IT_IS = "Nobody, Belay included,";

/** No comment, text or document uses a word that the glossary lists under "Words to avoid". */
export const checkWords: Check = (files) => {
  const words = wordsToAvoid(files.find(({ path }) => path === GLOSSARY));
  if (words.length === 0) return [];
  const pattern = new RegExp(`\\b(?:${words.join("|").replaceAll(" ", "\\s+(?:[*/]+\\s+)?")})\\b`, "gi");
  return files
    .filter(({ path }) => !QUOTES_WORDS.has(path))
    .flatMap((file) =>
      proseOf(file).flatMap(({ start, text }) =>
        [...text.replaceAll(AS_IT_IS, (quoted) => " ".repeat(quoted.length)).matchAll(pattern)].map(
          (match) => `${file.path}:${lineAt(file, start + match.index)}: "${match[0]}" (see ${GLOSSARY})`,
        ),
      ),
    );
};

/** The first column of the table under the heading "Words to avoid", split at commas. */
function wordsToAvoid(glossary: RepositoryFile | undefined): string[] {
  const section = glossary?.text.split(/^## /m).find((part) => part.startsWith("Words to avoid"));
  const rows = (section ?? "").split("\n").filter((line) => /^\| (?!word|-)/.test(line));
  return rows.flatMap((row) => row.split("|")[1]!.split(",")).map((word) => word.trim());
}

interface Prose {
  readonly start: number;
  readonly text: string;
}

/** What people read in a file: comments and texts of code, all of a document. */
function proseOf(file: RepositoryFile): Prose[] {
  if (file.path.endsWith(".md") || /\.[ch]$/.test(file.path)) return [{ start: 0, text: file.text }];
  if (!isCode(file)) return [];
  const prose = commentsOf(file).map((comment) => textOf(file, comment));
  walk(file, (node) => {
    const isText = node.type === "Literal" && typeof node["value"] === "string";
    if (isText || node.type === "TemplateElement") prose.push(textOf(file, node));
  });
  return prose;
}

function textOf(file: RepositoryFile, { start, end }: SyntaxNode): Prose {
  return { start, text: file.text.slice(start, end) };
}

/** Every name that a package's source exports by its declaration has a doc comment right before it. */
export const checkSentences: Check = (files) =>
  files
    .filter((file) => /^packages\/[^/]+\/src\//.test(file.path) && isCode(file) && !isTest(file))
    .flatMap((file) => {
      const said = new Set<string>();
      const complaints: string[] = [];
      walk(file, (node, parent) => {
        const name = parent.type === "Program" ? exportedName(node) : undefined;
        if (name === undefined || said.has(name)) return;
        // of a function with overloads, the first declaration carries the sentence
        said.add(name);
        if (hasSentence(file, node)) return;
        complaints.push(`${file.path}:${lineAt(file, node.start)}: ${name} has no sentence`);
      });
      return complaints;
    });

function exportedName(node: SyntaxNode): string | undefined {
  const declaration = node["declaration"] as SyntaxNode | null | undefined;
  if (node.type !== "ExportNamedDeclaration" || !declaration) return undefined;
  const named = (declaration["declarations"] as SyntaxNode[] | undefined)?.[0] ?? declaration;
  return String((named["id"] as SyntaxNode)["name"]);
}

function hasSentence(file: RepositoryFile, { start }: SyntaxNode): boolean {
  return commentsOf(file).some(
    (comment) =>
      comment.end <= start &&
      file.text.startsWith("/**", comment.start) &&
      file.text.slice(comment.end, start).trim() === "",
  );
}
