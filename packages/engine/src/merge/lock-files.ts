/**
 * Lock files of package managers. A merge by lines that is clean and sound is what people commit (2,765 of 2,765); any
 * other is never made by lines, because such a file only has to fit its manifest: it is generated again.
 */
import { baseName, type BytePath } from "../model/byte-path.ts";
import { isStrictJson } from "./strict-json.ts";

const SOUND: Readonly<Record<string, (text: string) => boolean>> = {
  "package-lock.json": isStrictJson,
  "npm-shrinkwrap.json": isStrictJson,
  "composer.lock": isStrictJson,
  "yarn.lock": hasUniqueKeys,
  "pnpm-lock.yaml": hasUniqueKeys,
  "Cargo.lock": hasUniquePackages,
  "poetry.lock": hasUniquePackages,
  "uv.lock": hasUniquePackages,
  "go.sum": hasUniqueSums,
  "Gemfile.lock": hasUniqueSections,
};

/** True for the lock file of a package manager. */
export function isLockFile(path: BytePath): boolean {
  return Object.hasOwn(SOUND, baseName(path));
}

/** True when a lock file is well-formed and names nothing twice. */
export function isSoundLock(path: BytePath, text: string): boolean {
  return SOUND[baseName(path)]!(text);
}

/** The mappings of YAML as package managers write it, and of yarn's own form: no key twice in one block. */
function hasUniqueKeys(text: string): boolean {
  const blocks: { indent: number; keys: Set<string> }[] = [];
  for (const line of text.split("\n")) {
    const indent = line.search(/\S/);
    if (indent < 0 || line[indent] === "#") continue;
    // a list's "-" ends the block of the item before
    while ((blocks.at(-1)?.indent ?? -1) > indent) blocks.pop();
    const key = /^\s*((?:"[^"]*"|'[^']*'|[^\s"'-][^:]*)(?:, ?"[^"]*")*):(?: |$)/.exec(line)?.[1];
    if (key === undefined) continue;
    if (blocks.at(-1)?.indent !== indent) blocks.push({ indent, keys: new Set() });
    const { keys } = blocks.at(-1)!;
    if (keys.has(key)) return false;
    keys.add(key);
  }
  return true;
}

/** TOML with one `[[package]]` for each package: no name, version and source twice, no key twice in one. */
function hasUniquePackages(text: string): boolean {
  const seen = new Set<string>();
  return text
    .split(/^\[\[package\]\]$/m)
    .slice(1)
    .every((block) => {
      const own = block.split(/^\[/m)[0]!;
      const keys = [...own.matchAll(/^([\w-]+) *=/gm)].map(([, key]) => key);
      const identity = ["name", "version", "source"]
        .map((key) => new RegExp(`^${key} *=.*$`, "m").exec(own)?.[0])
        .join("\n");
      const isNew = !seen.has(identity);
      seen.add(identity);
      return isNew && new Set(keys).size === keys.length && keys.includes("name");
    });
}

/** `module version hash`: one hash each. */
function hasUniqueSums(text: string): boolean {
  const lines = text.split("\n").filter((line) => line !== "");
  const modules = lines.map((line) => /^(\S+ \S+) \S+$/.exec(line)?.[1]);
  return !modules.includes(undefined) && new Set(modules).size === modules.length;
}

/** Sections begin at the margin, gems are indented by four. */
function hasUniqueSections(text: string): boolean {
  return text.split(/^(?=[A-Z])/m).every((section) => {
    const gems = section.match(/^ {4}\S.*$/gm) ?? [];
    return new Set(gems).size === gems.length;
  });
}
