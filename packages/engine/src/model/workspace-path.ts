/** Paths as callers write them: text, relative to the root. Anything that could lead elsewhere is refused. */
import { pathFromText, ROOT_PATH, type BytePath } from "./byte-path.ts";
import { EngineError, isEngineError } from "./errors.ts";
import { isSafeName } from "./tree.ts";

export function parsePath(text: string): BytePath {
  const path = pathFromText(text.replace(/^\.\//, "").replace(/\/+$/, ""));
  if (text !== "" && !text.startsWith("/") && (path === "" || path === ".")) return ROOT_PATH;
  if (!text.startsWith("/") && path.split("/").every(isSafeName)) return path;
  throw new EngineError(
    "PATH_OUTSIDE",
    `${JSON.stringify(text)} is not a path inside the workspace. Nothing was changed.`,
    { path: text },
  );
}

/** A path as tools name it, absolute ones included; undefined when it is outside. */
export function pathInside(root: string, text: string): BytePath | undefined {
  try {
    return parsePath(text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text);
  } catch (error) {
    if (isEngineError(error, "PATH_OUTSIDE")) return undefined;
    throw error;
  }
}

/** undefined = everything, as is the root itself */
export function parsePaths(texts: readonly string[] | undefined): BytePath[] | undefined {
  const paths = texts?.map(parsePath) ?? [];
  return paths.length === 0 || paths.includes(ROOT_PATH) ? undefined : paths;
}
