/**
 * The public interface of a package, in one text: for each entry of its `exports` the declaration of every name, and
 * below them what those declarations need and no entry exports. It is made of the compiled `.d.ts` files.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isNode, type SyntaxNode } from "../tidy/syntax.ts";
import { Declarations, type Declaration } from "./declarations.ts";
import { namedShapes, printDeclaration } from "./print-declaration.ts";

/** The directories of all packages that have an interface: the command line has none. */
export function packagesWithApi(): string[] {
  const packages = join(import.meta.dirname, "..", "..", "packages");
  return readdirSync(packages)
    .map((name) => join(packages, name))
    .filter((directory) => readManifest(directory).entries.length > 0);
}

/** The text that is kept beside a package; undefined when there is none yet. */
export function recordedApi(directory: string): string | undefined {
  const path = apiPath(directory);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

/** Where the text of a package is kept. */
export function apiPath(directory: string): string {
  return join(directory, "api.md");
}

/** The interface of the package in this directory, as it was last built. */
export function describeApi(directory: string): string {
  const { name, entries: files } = readManifest(directory);
  const declarations = new Declarations();
  const listed = new Set<SyntaxNode>();
  const entries = files.map(({ title, path }) => {
    const exported = declarations.exportsOf(declarations.file(path));
    return { title, names: [...exported].sort(([a], [b]) => (a < b ? -1 : 1)) };
  });
  for (const { names } of entries)
    for (const declaration of names.flatMap(([, found]) => found)) listed.add(declaration.nodes[0]!);
  const all = entries.flatMap(({ names }) => names.flatMap(([, found]) => found));
  const needed = neededBy(declarations, all, listed);
  const shapes = namedShapes([...all, ...needed]);
  const print = (declaration: Declaration) => printDeclaration(declaration, shapes);
  const sections = entries.map(({ title, names }) =>
    section(
      title,
      names.map(([called, found]) => printExport(called, found, print)),
    ),
  );
  const behind = needed.length === 0 ? [] : [section("Needed by these, and not exported", needed.map(print))];
  return `${[heading(name), ...sections, ...behind].join("\n\n")}\n`;
}

function heading(name: string): string {
  return `# The interface of \`${name}\`

Made by \`npm run api\` and checked by \`test/api.test.ts\`: a review sees here what a change does to callers.`;
}

function section(title: string, texts: readonly string[]): string {
  return `## ${title}\n\n\`\`\`ts\n${texts.join("\n\n")}\n\`\`\``;
}

interface Entry {
  /** As it is imported. */
  readonly title: string;
  /** Its declarations. */
  readonly path: string;
}

function readManifest(directory: string): { name: string; entries: Entry[] } {
  const text = readFileSync(join(directory, "package.json"), "utf8");
  const { name, exports = {} } = JSON.parse(text) as Manifest;
  const entries = Object.entries(exports).flatMap(([key, target]) =>
    typeof target === "string" || target.types === undefined
      ? []
      : [{ title: `${name}${key.slice(1)}`, path: join(directory, target.types) }],
  );
  return { name, entries };
}

interface Manifest {
  readonly name: string;
  readonly exports?: Record<string, string | { readonly types?: string }>;
}

/** A name that stands for one declaration, for all of a file, or for something of another package. */
function printExport(
  name: string,
  found: readonly Declaration[],
  print: (declaration: Declaration) => string,
): string {
  const [first] = found;
  if (first === undefined || found.length > 1)
    return `// ${name}: ${found.map((each) => each.name).join(", ") || "of another package"}`;
  return first.name === name ? print(first) : `// ${name} is ${first.name}\n${print(first)}`;
}

/** What declarations refer to, and what that refers to in turn, sorted by name. */
function neededBy(
  declarations: Declarations,
  start: readonly Declaration[],
  listed: ReadonlySet<SyntaxNode>,
): Declaration[] {
  const seen = new Set<SyntaxNode>();
  const needed: Declaration[] = [];
  const visit = (declaration: Declaration) => {
    if (seen.has(declaration.nodes[0]!)) return;
    seen.add(declaration.nodes[0]!);
    if (!listed.has(declaration.nodes[0]!)) needed.push(declaration);
    for (const name of namesIn(declaration))
      for (const found of declarations.find(declaration.file, name)) visit(found);
  };
  for (const declaration of start) visit(declaration);
  return needed.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Every name that a declaration refers to: not those of its members and parameters. */
function namesIn({ nodes }: Declaration): Set<string> {
  const names = new Set<string>();
  const collect = (node: SyntaxNode) => {
    const isBinding = isNode(node["typeAnnotation"]);
    if (node.type === "Identifier" && !isBinding) names.add(String(node["name"]));
    for (const [field, value] of Object.entries(node)) {
      if (field === "key" && node["computed"] !== true) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) collect(child);
    }
  };
  for (const node of nodes) collect(node);
  return names;
}
