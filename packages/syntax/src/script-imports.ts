/** The files that a script imports by a relative path. */
import { posix } from "node:path";
import type { Import } from "./language.ts";
import type { LineAt } from "./line-counter.ts";
import { isNode, type TreeNode } from "./tree-node.ts";

const EXTENSIONS = "ts tsx mts cts d.ts js jsx mjs cjs json vue svelte".split(" ");

/** What a JavaScript or TypeScript program imports. */
export function scriptImports(path: string, program: TreeNode, lineAt: LineAt): Import[] {
  const found: Import[] = [];
  visit(program, (source) => {
    const specifier = String(source["value"]);
    if (/^\.\.?(\/|$)/.test(specifier))
      found.push({ specifier, line: lineAt(source.start), candidates: candidatesOf(path, specifier) });
  });
  return found;
}

function visit(value: unknown, found: (source: TreeNode) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, found);
  if (!isNode(value)) return;
  const source = sourceOf(value);
  if (isNode(source) && source.type === "Literal" && typeof source["value"] === "string") found(source);
  for (const key of Object.keys(value)) visit(value[key], found);
}

function sourceOf(node: TreeNode): unknown {
  if (/^(Import|Export)\w*(Declaration|Expression)$/.test(node.type)) return node["source"];
  const callee = node["callee"];
  const isRequire = node.type === "CallExpression" && isNode(callee) && callee["name"] === "require";
  return isRequire ? (node["arguments"] as unknown[])[0] : undefined;
}

function candidatesOf(path: string, specifier: string): string[] {
  const target = posix.join(posix.dirname(path), specifier.replace(/[?#].*$/, ""));
  if (target === ".." || target.startsWith("../")) return [];
  // `./a.js` is what TypeScript's `a.ts` is imported as
  const source = target.replace(/\.([mc]?)js(x?)$/, ".$1ts$2");
  return [
    target,
    ...(source === target ? [] : [source, source.replace(/\.ts$/, ".tsx")]),
    ...EXTENSIONS.map((extension) => `${target}.${extension}`),
    ...EXTENSIONS.map((extension) => posix.join(target, `index.${extension}`)),
  ];
}
