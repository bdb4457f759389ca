/** The names and imports of Python. */
import { posix } from "node:path";
import type { Node } from "web-tree-sitter";
import type { Import, Names } from "./language.ts";
import { NameBook } from "./name-book.ts";

/** Where an identifier declares a name: the type of its parent, and the field it is in, if that matters. */
const BINDINGS: Readonly<Record<string, string | true>> = {
  function_definition: "name",
  class_definition: "name",
  parameters: true,
  lambda_parameters: true,
  default_parameter: "name",
  typed_parameter: true,
  typed_default_parameter: "name",
  list_splat_pattern: true,
  dictionary_splat_pattern: true,
  pattern_list: true,
  tuple_pattern: true,
  list_pattern: true,
  assignment: "left",
  for_statement: "left",
  for_in_clause: "left",
  named_expression: "name",
  as_pattern_target: true,
  aliased_import: "alias",
  global_statement: true,
  nonlocal_statement: true,
  case_pattern: true,
  type_alias_statement: "left",
};

/** The names that a Python module uses and declares. */
export function pythonNames(root: Node): Names {
  const book = new NameBook();
  const visit = (node: Node, field: string | null) => {
    if (node.type === "identifier") return readIdentifier(book, node, field);
    if (/^import_(from_)?statement$|^future_import_statement$/.test(node.type)) return readImport(book, node);
    node.children.forEach((child, at) => {
      if (child !== null) visit(child, node.fieldNameForChild(at));
    });
  };
  visit(root, null);
  return book;
}

function readIdentifier(book: NameBook, node: Node, field: string | null): void {
  const { parent } = node;
  if (parent?.type === "attribute" && field === "attribute") return;
  if (parent?.type === "keyword_argument" && field === "name") return;
  const binding = parent === null ? undefined : BINDINGS[parent.type];
  if (binding === true || (binding !== undefined && binding === field)) book.declare(node.text);
  else book.use(node.text, node.startPosition.row + 1);
}

/** `import a.b` declares `a`; `from a import b` and `as b` declare `b`. */
function readImport(book: NameBook, statement: Node): void {
  for (const name of statement.childrenForFieldName("name")) {
    if (name === null) continue;
    const alias = name.childForFieldName("alias");
    const words = (alias ?? name).text.split(".");
    book.declare(statement.type === "import_statement" ? words[0]! : words.at(-1)!);
  }
}

/** Reads the imports of a module. */
export function pythonImports(path: string, root: Node): Import[] {
  return root.descendantsOfType(["import_statement", "import_from_statement"]).flatMap((statement) => {
    if (statement === null) return [];
    const line = statement.startPosition.row + 1;
    const from = statement.childForFieldName("module_name")?.text;
    const names = statement
      .childrenForFieldName("name")
      .flatMap((name) => (name === null ? [] : (name.childForFieldName("name") ?? name).text));
    const modules =
      from === undefined ? names : /^\.+$/.test(from) ? names.map((name) => from + name) : [from];
    return modules.map((specifier) => ({ specifier, line, candidates: candidatesOf(path, specifier) }));
  });
}

function candidatesOf(path: string, specifier: string): string[] {
  const [, dots, name] = /^(\.*)(.*)$/.exec(specifier)!;
  const below = name!.replaceAll(".", "/");
  const start =
    dots === "" ? [".", "src"] : [posix.join(posix.dirname(path), "../".repeat(dots!.length - 1))];
  return start
    .map((directory) => posix.join(directory, below))
    .filter((target) => !target.startsWith(".."))
    .flatMap((target) => [`${target}.py`, `${target}.pyi`, posix.join(target, "__init__.py")]);
}
