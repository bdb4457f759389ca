/** Directory listings as bytes. */
import { readdirSync } from "node:fs";
import { forSystem, type AbsolutePath } from "./absolute-path.ts";
import { isErrno } from "./file-stat.ts";

/** The names in a directory, in byte order. */
export function listDirectory(path: AbsolutePath): string[] {
  return readdirSync(forSystem(path), "latin1").sort();
}

/** The same; none when no directory stands there, or none any more. */
export function listIfThere(path: AbsolutePath): string[] {
  try {
    return listDirectory(path);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return [];
    throw error;
  }
}
