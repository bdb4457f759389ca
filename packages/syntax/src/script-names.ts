/** The names of a script: which are declared anywhere in it, and which are used. Scopes are not told apart. */
import type { Names } from "./language.ts";
import type { LineAt } from "./line-counter.ts";
import { NameBook } from "./name-book.ts";
import { isNode, type TreeNode } from "./tree-node.ts";

/** The names that a JavaScript or TypeScript program uses and declares. */
export function scriptNames(program: TreeNode, lineAt: LineAt): Names {
  const book = new NameBook();
  new NameReader(book, lineAt).read(program);
  return book;
}

/** Properties of a node that hold a declaration. */
const BINDINGS: Readonly<Record<string, readonly string[]>> = {
  VariableDeclarator: ["id"],
  FunctionDeclaration: ["id", "params"],
  FunctionExpression: ["id", "params"],
  ArrowFunctionExpression: ["params"],
  TSDeclareFunction: ["id", "params"],
  TSEmptyBodyFunctionExpression: ["id", "params"],
  TSFunctionType: ["params"],
  TSConstructorType: ["params"],
  TSCallSignatureDeclaration: ["params"],
  TSConstructSignatureDeclaration: ["params"],
  TSMethodSignature: ["params"],
  TSIndexSignature: ["parameters"],
  ClassDeclaration: ["id"],
  ClassExpression: ["id"],
  CatchClause: ["param"],
  ImportSpecifier: ["local"],
  ImportDefaultSpecifier: ["local"],
  ImportNamespaceSpecifier: ["local"],
  TSTypeAliasDeclaration: ["id"],
  TSInterfaceDeclaration: ["id"],
  TSEnumDeclaration: ["id"],
  TSModuleDeclaration: ["id"],
  TSImportEqualsDeclaration: ["id"],
  TSTypeParameter: ["name"],
  TSMappedType: ["key"],
  TSTypePredicate: ["parameterName"],
};

/** Properties of a node that name something which is not a variable. */
const LABELS: Readonly<Record<string, readonly string[]>> = {
  LabeledStatement: ["label"],
  BreakStatement: ["label"],
  ContinueStatement: ["label"],
  ImportSpecifier: ["imported"],
  ExportSpecifier: ["exported"],
  ExportAllDeclaration: ["exported"],
  MetaProperty: ["meta", "property"],
  TSQualifiedName: ["right"],
  TSEnumMember: ["id"],
  TSNamedTupleMember: ["label"],
  TSImportType: ["qualifier"],
};

/** Nodes whose `key` or `property` is a name only when it is computed. */
const MEMBERS = new Set([
  "Property",
  "MethodDefinition",
  "PropertyDefinition",
  "AccessorProperty",
  "TSAbstractMethodDefinition",
  "TSAbstractPropertyDefinition",
  "TSAbstractAccessorProperty",
  "TSPropertySignature",
  "TSMethodSignature",
  "MemberExpression",
]);

class NameReader {
  readonly #book: NameBook;
  readonly #lineAt: LineAt;

  constructor(book: NameBook, lineAt: LineAt) {
    this.#book = book;
    this.#lineAt = lineAt;
  }

  read(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.read(each);
    if (!isNode(value)) return;
    if (value.type === "Identifier") this.#use(value);
    if (value.type.startsWith("JSX") && this.#readJsx(value)) return;
    // `export { a } from "b"` names what is elsewhere
    if (value.type === "ExportNamedDeclaration" && value["source"] !== null) return;
    for (const key of Object.keys(value)) this.#readProperty(value, key);
  }

  #readProperty(node: TreeNode, key: string): void {
    if (LABELS[node.type]?.includes(key) === true) return;
    if (BINDINGS[node.type]?.includes(key) === true) return this.#bind(node[key]);
    const isMember = key === "key" || key === "property";
    if (isMember && MEMBERS.has(node.type) && node["computed"] !== true) return;
    this.read(node[key]);
  }

  /** True when nothing is left to read. */
  #readJsx(node: TreeNode): boolean {
    if (node.type === "JSXIdentifier") {
      if (/^[A-Z_$]/.test(String(node["name"]))) this.#use(node);
      return true;
    }
    if (node.type === "JSXMemberExpression") {
      const object = node["object"] as TreeNode;
      if (object.type === "JSXIdentifier") this.#use(object);
      else this.read(object);
      return true;
    }
    if (node.type !== "JSXAttribute") return false;
    this.read(node["value"]);
    return true;
  }

  /** A pattern that declares names; its defaults and types use some. */
  #bind(value: unknown): void {
    if (Array.isArray(value)) for (const each of value) this.#bind(each);
    if (typeof value === "string") this.#book.declare(value);
    if (!isNode(value)) return;
    if (value.type === "Identifier") this.#book.declare(String(value["name"]));
    if (value.type === "Property" && value["computed"] === true) this.read(value["key"]);
    for (const key of ["value", "elements", "properties", "left", "argument", "parameter"])
      if (value.type !== "Literal") this.#bind(value[key]);
    for (const key of ["right", "typeAnnotation", "decorators"]) this.read(value[key]);
  }

  #use(node: TreeNode): void {
    this.#book.use(String(node["name"]), this.#lineAt(node.start));
  }
}
