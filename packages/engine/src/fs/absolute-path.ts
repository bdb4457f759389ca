/** Absolute paths as bytes, and the form in which system calls take them. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { isAscii, pathFromText, type BytePath } from "../model/byte-path.ts";

declare const absoluteBrand: unique symbol;
/** An absolute path, one byte per character (see `BytePath`). */
export type AbsolutePath = string & { readonly [absoluteBrand]: true };

/** What `node:fs` wants: a string is encoded as UTF-8, so anything beyond ASCII goes as bytes. */
export function forSystem(path: string): string | Buffer {
  return isAscii(path) ? path : Buffer.from(path, "latin1");
}

/** The absolute path of ordinary text, symbolic links unresolved. */
export function absolutePath(text: string): AbsolutePath {
  return pathFromText(resolve(text)) as string as AbsolutePath;
}

/** The path with every symbolic link resolved; throws when it does not exist. */
export function realPath(path: AbsolutePath): AbsolutePath {
  return realpathSync.native(forSystem(path), "latin1") as AbsolutePath;
}

export function below(directory: AbsolutePath, path: BytePath | string): AbsolutePath {
  if (path === "") return directory;
  return (directory === "/" ? `/${path}` : `${directory}/${path}`) as AbsolutePath;
}

/** What to show a person. */
export function displayAbsolute(path: AbsolutePath): string {
  return isAscii(path) ? path : Buffer.from(path, "latin1").toString("utf8");
}
