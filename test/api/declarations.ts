/** The declarations of a package as the compiler wrote them, found by name across its files. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";
import { isNode, type SyntaxNode } from "../tidy/syntax.ts";

/** One declaration in one file. */
export interface Declaration {
  readonly file: DeclarationFile;
  readonly name: string;
  /** Several for a function with overloads. */
  readonly nodes: readonly SyntaxNode[];
}

/** Where a name of a file comes from: another file of the package, another package, or all of a file. */
interface Origin {
  readonly specifier: string;
  /** The name there; "*" for all of it. */
  readonly name: string;
}

/** Reads the files of a package, each once. */
export class Declarations {
  readonly #files = new Map<string, DeclarationFile>();

  file(path: string): DeclarationFile {
    let file = this.#files.get(path);
    if (file === undefined) this.#files.set(path, (file = new DeclarationFile(path)));
    return file;
  }

  /** What a file exports, by name; a name that stands for a whole file gives what that file exports. */
  exportsOf(file: DeclarationFile): Map<string, Declaration[]> {
    const found = new Map<string, Declaration[]>();
    for (const [name, local] of file.exported)
      found.set(name, typeof local === "string" ? this.find(file, local) : this.#at(file, local));
    return found;
  }

  /** What a name means in a file; nothing when it is of another package, or of the language. */
  find(file: DeclarationFile, name: string): Declaration[] {
    const nodes = file.declared.get(name);
    if (nodes !== undefined) return [{ file, name, nodes }];
    const origin = file.imported.get(name);
    return origin === undefined ? [] : this.#at(file, origin);
  }

  #at(from: DeclarationFile, { specifier, name }: Origin): Declaration[] {
    if (!specifier.startsWith(".")) return [];
    const path = join(dirname(from.path), specifier).replace(/\.[jt]sx?$/, ".d.ts");
    const exported = this.exportsOf(this.file(path));
    return name === "*" ? [...exported.values()].flat() : (exported.get(name) ?? []);
  }
}

/** One `.d.ts` file. */
export class DeclarationFile {
  readonly path: string;
  /** Without comments, which are not part of the interface; places are as they were. */
  readonly text: string;
  readonly declared = new Map<string, SyntaxNode[]>();
  readonly imported = new Map<string, Origin>();
  /** The name outside, and the name inside or the file it is handed on from. */
  readonly exported = new Map<string, string | Origin>();

  constructor(path: string) {
    this.path = path;
    const source = readFileSync(path, "utf8");
    const { program, comments, errors } = parseSync(path, source);
    if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]!.message}`);
    this.text = comments.reduce(
      (text, { start, end }) => text.slice(0, start) + " ".repeat(end - start) + text.slice(end),
      source,
    );
    for (const statement of program.body as unknown as SyntaxNode[]) this.#read(statement);
  }

  #read(statement: SyntaxNode): void {
    if (statement.type === "ImportDeclaration") this.#readImport(statement);
    else if (statement.type === "ExportNamedDeclaration") this.#readExport(statement);
    else this.#declare(statement);
  }

  #readExport({ declaration, source, specifiers }: SyntaxNode): void {
    if (isNode(declaration)) for (const name of this.#declare(declaration)) this.exported.set(name, name);
    for (const { local, exported } of specifiers as Record<string, SyntaxNode>[]) {
      const [inside, outside] = [nameOf(local), nameOf(exported)];
      const origin = isNode(source) ? { specifier: String(source["value"]), name: inside } : inside;
      this.exported.set(outside, origin);
    }
  }

  #readImport({ specifiers, source }: SyntaxNode): void {
    const specifier = String((source as SyntaxNode)["value"]);
    for (const each of specifiers as SyntaxNode[]) {
      const name = each.type === "ImportNamespaceSpecifier" ? "*" : nameOf(each["imported"] ?? each["local"]);
      this.imported.set(nameOf(each["local"]), { specifier, name });
    }
  }

  #declare(node: SyntaxNode): string[] {
    const named = node.type === "VariableDeclaration" ? (node["declarations"] as SyntaxNode[]) : [node];
    const names = named.flatMap(({ id }) => (isNode(id) ? [nameOf(id)] : []));
    for (const name of names) this.declared.set(name, [...(this.declared.get(name) ?? []), node]);
    return names;
  }
}

function nameOf(node: unknown): string {
  return String((node as SyntaxNode)["name"] ?? (node as SyntaxNode)["value"]);
}
