/** Absolute paths as bytes, and the form in which system calls take them. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { isAscii, isAtOrBelow, pathFromText, type BytePath } from "../model/byte-path.ts";

declare const absoluteBrand: unique symbol;
/** An absolute path, one byte per character (see `BytePath`). */
export type AbsolutePath = string & { readonly [absoluteBrand]: true };

/** The form `node:fs` needs: it encodes strings as UTF-8, so anything beyond ASCII goes as bytes. */
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

/** The real path of as much as exists, and the rest as it was written. */
export function realPathAsFarAsPossible(path: AbsolutePath): AbsolutePath {
  try {
    return realPath(path);
  } catch {
    return path === "/"
      ? path
      : below(realPathAsFarAsPossible(parentOf(path)), path.slice(path.lastIndexOf("/") + 1));
  }
}

/** The directory that holds this path; the root holds itself. */
export function parentOf(path: AbsolutePath): AbsolutePath {
  return (path.slice(0, path.lastIndexOf("/")) || "/") as AbsolutePath;
}

/** A directory and all directories that hold it, the nearest first. */
export function* upwards(start: AbsolutePath): Generator<AbsolutePath> {
  for (let path = start; ; path = parentOf(path)) {
    yield path;
    if (path === "/") return;
  }
}

/** Whether a path is this directory or lies inside it. */
export function isInside(path: AbsolutePath, directory: AbsolutePath): boolean {
  return isAtOrBelow(path as string as BytePath, (directory === "/" ? "" : directory) as string as BytePath);
}

/** The absolute path of `path` in `directory`. */
export function below(directory: AbsolutePath, path: BytePath | string): AbsolutePath {
  if (path === "") return directory;
  return (directory === "/" ? `/${path}` : `${directory}/${path}`) as AbsolutePath;
}

/** An absolute path in the form for people. */
export function displayAbsolute(path: AbsolutePath): string {
  return isAscii(path) ? path : Buffer.from(path, "latin1").toString("utf8");
}
