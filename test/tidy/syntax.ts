/** Source text as a syntax tree: what counts is what the parser sees, not what a line looks like. */
import { parseSync } from "oxc-parser";
import type { RepositoryFile } from "./repository.ts";

export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Nothing of it is loaded. */
  readonly isType: boolean;
}

/** Calls `visit` for every node, outer ones first. */
export function walk(file: RepositoryFile, visit: (node: SyntaxNode, parent: SyntaxNode) => void): void {
  visitBelow(parsedOf(file).program, visit);
}

/** The comments of a file, in order. */
export function commentsOf(file: RepositoryFile): readonly SyntaxNode[] {
  return parsedOf(file).comments;
}

interface Parsed {
  readonly program: SyntaxNode;
  readonly comments: readonly SyntaxNode[];
}

const parsed = new WeakMap<RepositoryFile, Parsed>();

function parsedOf(file: RepositoryFile): Parsed {
  let result = parsed.get(file);
  if (result === undefined) parsed.set(file, (result = parse(file)));
  return result;
}

function parse(file: RepositoryFile): Parsed {
  const { program, comments, errors } = parseSync(file.path, file.text);
  if (errors.length > 0) throw new Error(`${file.path} does not parse: ${errors[0]!.message}`);
  return {
    program: program as unknown as SyntaxNode,
    comments: comments as unknown as readonly SyntaxNode[],
  };
}

function visitBelow(parent: SyntaxNode, visit: (node: SyntaxNode, parent: SyntaxNode) => void): void {
  for (const value of Object.values(parent)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (!isNode(child)) continue;
      visit(child, parent);
      visitBelow(child, visit);
    }
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as SyntaxNode).type === "string";
}

/** Every module a file names: imports, re-exports, types, `import()` of a literal. */
export function importsOf(file: RepositoryFile): Import[] {
  const imports: Import[] = [];
  walk(file, (node) => {
    const source = node["source"];
    if (!/^(Import|Export|TSImportType)/.test(node.type) || !isNode(source)) return;
    if (typeof source["value"] !== "string") return;
    const isType = [node["importKind"], node["exportKind"]].includes("type") || node.type === "TSImportType";
    imports.push({ specifier: source["value"], line: lineAt(file, node.start), isType });
  });
  return imports;
}

export function lineAt(file: RepositoryFile, offset: number): number {
  let line = 1;
  for (let at = file.text.indexOf("\n"); at >= 0 && at < offset; at = file.text.indexOf("\n", at + 1))
    line += 1;
  return line;
}
