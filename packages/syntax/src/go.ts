/** The names of Go. */
import type { Node } from "web-tree-sitter";
import type { Names } from "./language.ts";
import { NameBook } from "./name-book.ts";

/** The fields that declare names, by the type of their node. */
const BINDINGS: Readonly<Record<string, string>> = {
  function_declaration: "name",
  type_spec: "name",
  type_alias: "name",
  type_parameter_declaration: "name",
  var_spec: "name",
  const_spec: "name",
  parameter_declaration: "name",
  variadic_parameter_declaration: "name",
  short_var_declaration: "left",
  range_clause: "left",
  receive_statement: "left",
  type_switch_statement: "alias",
};

const NAMES = new Set(["identifier", "type_identifier", "package_identifier"]);

/** The names that a file of Go declares and uses. */
export function goNames(root: Node): Names {
  const book = new NameBook();
  const visit = (node: Node, isBinding: boolean) => {
    if (NAMES.has(node.type)) {
      if (isBinding) book.declare(node.text);
      else book.use(node.text, node.startPosition.row + 1);
      return;
    }
    if (node.type === "import_spec") return readImport(book, node);
    // labels, and the keys of composite literals, are not variables
    if (/^(package_clause|label_name|labeled_statement_label)$/.test(node.type)) return;
    const binding = BINDINGS[node.type];
    node.children.forEach((child, at) => {
      if (child === null || isKey(node, at)) return;
      const isBound = binding !== undefined && node.fieldNameForChild(at) === binding;
      visit(child, isBound || (isBinding && node.type === "expression_list"));
    });
  };
  visit(root, false);
  return book;
}

function isKey(node: Node, at: number): boolean {
  return node.type === "keyed_element" && node.fieldNameForChild(at) === "key";
}

/** Without an alias a package has the last word of its path, versions aside. */
function readImport(book: NameBook, spec: Node): void {
  const path = spec.childForFieldName("path")!.text.replaceAll(/["`]/g, "");
  const last = path
    .replace(/\/v\d+$/, "")
    .split("/")
    .at(-1)!;
  book.declare(spec.childForFieldName("name")?.text ?? last.replace(/\.v\d+$/, ""));
}
