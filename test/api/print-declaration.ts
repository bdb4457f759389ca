/** A declaration in a form that changes only when its meaning may: one line a member, comments and private members left out. */
import { isNode, type SyntaxNode } from "../tidy/syntax.ts";
import type { Declaration } from "./declarations.ts";

/** Text that is longer than this is broken at its top level. */
const WIDTH = 110;

/** Shapes that have a name, so that others can be printed in terms of them: the text of each, and its name. */
export type NamedShapes = readonly (readonly [text: string, name: string])[];

/** A shape that is shorter than this says more than its name. */
const SHORTEST_SHAPE = 60;

/** The constants among declarations whose type is worth a name, longest first. */
export function namedShapes(declarations: readonly Declaration[]): NamedShapes {
  return declarations
    .flatMap(({ file, name, nodes }) => {
      const type = nodes[0]!.type === "VariableDeclaration" ? annotationOf(nodes[0]!) : undefined;
      return isNode(type) ? [[tidy(file.text.slice(type.start, type.end)), name] as const] : [];
    })
    .filter(([text]) => text.length >= SHORTEST_SHAPE)
    .sort(([a], [b]) => b.length - a.length);
}

/** The lines of a declaration. */
export function printDeclaration({ file, name, nodes }: Declaration, shapes: NamedShapes): string {
  const others = shapes.filter(([, shape]) => shape !== name);
  const print = (text: string) =>
    others.reduce((line, [shape, called]) => line.replaceAll(shape, called), tidy(text));
  return nodes.map((node) => printNode(node, file.text, print)).join("\n");
}

function printNode(node: SyntaxNode, text: string, print: (text: string) => string): string {
  const body = membersOf(node);
  if (body === undefined) return breakUnion(print(text.slice(node.start, node.end)));
  const head = print(text.slice(node.start, body.start));
  const lines = body.members.map((member) => `  ${print(text.slice(member.start, member.end))}`);
  const tail = print(text.slice(body.end, node.end));
  return [`${head}${head.endsWith("<") ? "" : " "}{`, ...lines, `}${tail}`].join("\n");
}

interface Body {
  readonly start: number;
  readonly end: number;
  readonly members: readonly SyntaxNode[];
}

/** The members of an interface, a class, an object type or a constant of one; undefined for anything else. */
function membersOf(node: SyntaxNode): Body | undefined {
  const outer =
    node.type === "VariableDeclaration" ? annotationOf(node) : (node["typeAnnotation"] ?? node["body"]);
  const type = isNode(outer) && outer.type === "TSTypeReference" ? firstArgument(outer) : outer;
  if (!isNode(type)) return undefined;
  const members = type["members"] ?? type["body"];
  if (!Array.isArray(members)) return undefined;
  return { start: type.start, end: type.end, members: (members as SyntaxNode[]).filter(isPublic) };
}

/** `{ … }` of `ZodObject<{ … }, …>`. */
function firstArgument({ typeArguments }: SyntaxNode): unknown {
  return isNode(typeArguments) ? (typeArguments["params"] as SyntaxNode[])[0] : undefined;
}

function annotationOf(node: SyntaxNode): unknown {
  const [first] = node["declarations"] as SyntaxNode[];
  const annotation = (first?.["id"] as SyntaxNode | undefined)?.["typeAnnotation"];
  return isNode(annotation) ? annotation["typeAnnotation"] : undefined;
}

function isPublic({ accessibility, key }: SyntaxNode): boolean {
  return accessibility !== "private" && !(isNode(key) && key.type === "PrivateIdentifier");
}

/** One line, and zod's types without the words that each of them has. */
function tidy(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\bz\.core\.\$(\w+)/g, "$1")
    .replaceAll(/\bz\.Zod(\w+)/g, "$1")
    .replaceAll(", strip>", ">")
    .replace(/^(export |declare )+/, "")
    .trim();
}

function breakUnion(line: string): string {
  if (line.length <= WIDTH) return line;
  // without its end, so that a part that comes at the end changes no other line
  const type = line.replace(/;$/, "");
  const parts: string[] = [];
  let [depth, from] = [0, 0];
  for (let at = 0; at < type.length; at += 1) {
    if ("({[<".includes(type[at]!)) depth += 1;
    if (")}]".includes(type[at]!) || (type[at] === ">" && type[at - 1] !== "=")) depth -= 1;
    if (depth === 0 && type.startsWith(" | ", at)) {
      parts.push(type.slice(from, at));
      from = at;
    }
  }
  return [...parts, type.slice(from)].join("\n ");
}
