/** Commands as they must be typed here, about a directory that may be elsewhere. */
import { relative, sep } from "node:path";
import { shellWords } from "./shell-words.ts";

/** `belay <words>`, with `-C <path>` where the shell does not stand in that directory. */
export function belayAt(path: string, ...words: string[]): string {
  return shellWords(["belay", ...(standsIn(path) ? [] : ["-C", path]), ...words]);
}

function standsIn(path: string): boolean {
  const way = relative(path, currentDirectory());
  return way !== ".." && !way.startsWith(`..${sep}`);
}

/** An agent may have deleted the very directory this shell stands in: its name is still known. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const name = process.env["PWD"];
    if (name === undefined) throw error;
    return name;
  }
}
