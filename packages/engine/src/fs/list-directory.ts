/** The names in a directory, as bytes, in byte order. */
import { readdirSync } from "node:fs";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";

export function listDirectory(path: AbsolutePath): string[] {
  return readdirSync(forSystem(path), "latin1").sort();
}
