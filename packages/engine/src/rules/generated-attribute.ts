/** Which files a project's `.gitattributes` call generated: `linguist-generated`, the attribute that code hosts go by. */
import { ancestorPaths, baseName, joinPath, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import { parseIgnoreLine, type PatternTest } from "./ignore-pattern.ts";

/** True for a path that the attributes call generated. `read` gives the content of a `.gitattributes`, if there is one. */
export function createGeneratedAttribute(
  read: (path: BytePath) => Buffer | undefined,
): (path: BytePath) => boolean {
  const known = new Map<BytePath, readonly AttributeLine[]>();
  const linesOf = (directory: BytePath) => {
    if (!known.has(directory)) known.set(directory, parseLines(read(joinPath(directory, ".gitattributes"))));
    return known.get(directory)!;
  };
  return (path) => {
    // the last line of the nearest file decides
    for (const directory of [ROOT_PATH, ...ancestorPaths(path)].reverse()) {
      const below = (directory === ROOT_PATH ? path : path.slice(directory.length + 1)) as BytePath;
      const line = linesOf(directory).findLast(({ test }) => matches(test, below));
      if (line !== undefined) return line.isGenerated;
    }
    return false;
  };
}

interface AttributeLine {
  readonly test: PatternTest;
  readonly isGenerated: boolean;
}

function parseLines(content: Buffer | undefined): AttributeLine[] {
  return (content?.toString("latin1") ?? "").split("\n").flatMap((line) => {
    const [pattern = "", ...attributes] = line.trim().split(/[ \t]+/);
    const attribute = attributes.findLast((each) => /^-?linguist-generated(=|$)/.test(each));
    const test = pattern.startsWith("!") ? undefined : parseIgnoreLine(pattern)?.test;
    if (attribute === undefined || test === undefined) return [];
    return [{ test, isGenerated: !/^-|=false$/.test(attribute) }];
  });
}

function matches(test: PatternTest, path: BytePath): boolean {
  if (test.kind !== "name") return test.glob.matches(test.kind === "path" ? path : baseName(path));
  if (test.name !== baseName(path)) return false;
  return (
    test.within === undefined || path === (test.within === "" ? test.name : `${test.within}/${test.name}`)
  );
}
