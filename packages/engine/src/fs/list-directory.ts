/** Directory listings as bytes. */
import { readdirSync } from "node:fs";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";

/** The names in a directory, in byte order. */
export function listDirectory(path: AbsolutePath): string[] {
  return readdirSync(forSystem(path), "latin1").sort();
}
