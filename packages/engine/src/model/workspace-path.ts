/** Paths as callers write them: text, relative to the root. A path that could lead outside is refused. */
import { pathFromText, ROOT_PATH, type BytePath } from "./byte-path.ts";
import { EngineError, isEngineError } from "./errors.ts";
import { isSafeName } from "./tree.ts";

/** Parses a path relative to the root; throws `PATH_OUTSIDE` when it could lead out. */
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

/** Parses a path from a tool's input, which may be absolute; undefined when it is outside the workspace. */
export function pathInside(root: string, text: string): BytePath | undefined {
  try {
    return parsePath(text.startsWith(`${root}/`) ? text.slice(root.length + 1) : text);
  } catch (error) {
    if (isEngineError(error, "PATH_OUTSIDE")) return undefined;
    throw error;
  }
}

/** Parses a list of paths; undefined = the whole workspace. */
export function parsePaths(texts: readonly string[] | undefined): BytePath[] | undefined {
  const paths = texts?.map(parsePath) ?? [];
  return paths.length === 0 || paths.includes(ROOT_PATH) ? undefined : paths;
}
