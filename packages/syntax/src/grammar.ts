/** Languages for which there is a tree-sitter grammar. */
import { createRequire } from "node:module";
import { Language as Grammar, Parser, type Node } from "web-tree-sitter";
import { goNames } from "./go.ts";
import type { Language } from "./language.ts";
import { pythonImports, pythonNames } from "./python.ts";

const require = createRequire(import.meta.url);
let ready: Promise<void> | undefined;

/** Loads a grammar by its name. */
export async function openGrammar(name: string): Promise<Language> {
  await (ready ??= Parser.init());
  const parser = new Parser();
  const file = require.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${name}.wasm`);
  parser.setLanguage(await Grammar.load(file));
  const parse = <Result>(text: string, read: (root: Node) => Result): Result => {
    const tree = parser.parse(text)!;
    try {
      return read(tree.rootNode);
    } finally {
      tree.delete();
    }
  };
  return {
    parses: (text) => parse(text, (root) => !root.hasError),
    sameSyntax(a, b) {
      const [left, right] = [a, b].map((text) =>
        parse(text, (root) => (root.hasError ? undefined : shapeOf(root))),
      );
      return left !== undefined && left === right;
    },
    names: (text) =>
      name === "python" ? parse(text, pythonNames) : name === "go" ? parse(text, goNames) : undefined,
    imports: (path, text) =>
      name === "python" ? parse(text, (root) => pythonImports(path, root)) : undefined,
  };
}

/** Nodes that count word for word, white space included. */
const VERBATIM = /string|template|heredoc|comment|text|regex|char|raw|quoted/;

/** The tree without its layout: blocks, tokens, and what no token covers. */
function shapeOf(root: Node): string {
  const parts: string[] = [];
  const add = (node: Node) => {
    if (node.childCount === 0 || VERBATIM.test(node.type)) {
      if (node.text.trim() !== "") parts.push(JSON.stringify(node.text));
      return;
    }
    parts.push("(", node.type);
    let at = node.startIndex;
    for (const child of node.children) {
      if (child === null) continue;
      addBetween(node, at, child.startIndex);
      add(child);
      at = child.endIndex;
    }
    addBetween(node, at, node.endIndex);
    parts.push(")");
  };
  const addBetween = (node: Node, from: number, to: number) => {
    const text = node.text.slice(from - node.startIndex, to - node.startIndex).trim();
    if (text !== "") parts.push(JSON.stringify(text));
  };
  add(root);
  // a comma before a closing bracket says nothing
  return parts.join(" ").replaceAll(/ "," (?="[)\]}]")/g, " ");
}
