/**
 * Paths and names as the file system has them: bytes. A `BytePath` holds one byte per character
 * (latin1), so that names that are not UTF-8 survive, string comparison is byte order, and a path
 * is a cheap Map key. It is relative to the workspace root, "/"-separated, "" is the root itself.
 * Convert only at the edges: people and JSON see `displayPath`, system calls get bytes.
 */
declare const bytePathBrand: unique symbol;
/** A path relative to the workspace root, one byte per character. */
export type BytePath = string & { readonly [bytePathBrand]: true };

/** The workspace root itself. */
export const ROOT_PATH = "" as BytePath;

/** Turns raw bytes into a path. */
export function pathFromBytes(bytes: Uint8Array): BytePath {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1") as BytePath;
}

/** Turns ordinary text, such as a command-line argument, into a path. */
export function pathFromText(text: string): BytePath {
  return (isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1")) as BytePath;
}

/** The bytes that system calls take. */
export function pathToBytes(path: BytePath): Buffer {
  return Buffer.from(path, "latin1");
}

/** The form for people and JSON: UTF-8, with U+FFFD where the bytes are not UTF-8. */
export function displayPath(path: BytePath): string {
  return isAscii(path) ? path : pathToBytes(path).toString("utf8");
}

/** True when `displayPath` can be turned back into the same bytes. */
export function isUtf8Path(path: BytePath): boolean {
  return isAscii(path) || pathFromText(displayPath(path)) === path;
}

/** The path of `name` in `directory`. */
export function joinPath(directory: BytePath, name: string): BytePath {
  return (directory === "" ? name : `${directory}/${name}`) as BytePath;
}

/** The directory that holds a path; the root is its own parent. */
export function parentPath(path: BytePath): BytePath {
  const slash = path.lastIndexOf("/");
  return (slash < 0 ? "" : path.slice(0, slash)) as BytePath;
}

/** The last component of a path. */
export function baseName(path: BytePath): BytePath {
  return path.slice(path.lastIndexOf("/") + 1) as BytePath;
}

/** True for `directory` itself and for everything below it. */
export function isAtOrBelow(path: BytePath, directory: BytePath): boolean {
  return directory === "" || path === directory || path.startsWith(`${directory}/`);
}

/** `a/b/c` → `a`, `a/b`: every directory above a path, shallowest first, without the root. */
export function ancestorPaths(path: BytePath): BytePath[] {
  const ancestors: BytePath[] = [];
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    ancestors.push(path.slice(0, slash) as BytePath);
  }
  return ancestors;
}

// oxlint-disable-next-line no-control-regex -- the ASCII range starts at NUL
const ASCII = /^[\x00-\x7f]*$/;

/** True when every character is below U+0080, so that text and bytes are the same. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}
