/** The engine is handed its clock and its surroundings; it reads neither by itself. */
import { enginePath, isCode, type Check } from "./repository.ts";
import { importsOf, lineAt, walk, type SyntaxNode } from "./syntax.ts";

const WORLD = new Set(["Date", "process", "console"]);
const WORLD_FILE = "fs/system.ts";
const VALUES_IN_TYPES_SYNTAX = new Set([
  "TSAsExpression",
  "TSInstantiationExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
]);

/** Nothing in the engine but `system.ts` uses `Date`, `process` or `console`. */
export const checkWorld: Check = (files) =>
  files.flatMap((file) => {
    const path = enginePath(file);
    if (path === undefined || path === WORLD_FILE || !isCode(file)) return [];
    const complaints = importsOf(file)
      .filter(({ specifier }) => /^(node:)?(process|console)$/.test(specifier))
      .map(({ specifier, line }) => `${file.path}:${line}: imports ${specifier}`);
    walk(file, (node, parent) => {
      const name = node["name"];
      if (node.type !== "Identifier" || typeof name !== "string" || !WORLD.has(name)) return;
      if (isValue(node, parent)) complaints.push(`${file.path}:${lineAt(file, node.start)}: uses ${name}`);
    });
    return complaints;
  });

/** False where the identifier only names a property or a type. */
function isValue(node: SyntaxNode, parent: SyntaxNode): boolean {
  if (parent.type === "MemberExpression" && parent["property"] === node && parent["computed"] !== true) {
    return isGlobalThis(parent["object"]);
  }
  if (parent["key"] === node && parent["computed"] !== true) return false;
  if (parent.type.startsWith("TS")) return VALUES_IN_TYPES_SYNTAX.has(parent.type);
  return !parent.type.startsWith("Import") && !parent.type.startsWith("Export");
}

function isGlobalThis(object: unknown): boolean {
  return (object as SyntaxNode)["name"] === "globalThis";
}
