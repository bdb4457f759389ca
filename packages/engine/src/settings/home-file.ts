/** Small JSON files in `$BELAY_HOME` that people may edit: one object each. */
import { absolutePath, below, type AbsolutePath } from "../fs/absolute-path.ts";
import { makePrivateDirectory, replaceFile } from "../fs/durable-file.ts";
import { statNode } from "../fs/file-stat.ts";
import { readSmallFile } from "../fs/read-file.ts";

const LARGEST_BYTES = 1024 * 1024;

/** The path of a file in the home directory of Belay. */
export function homeFile(home: string, name: string): AbsolutePath {
  return below(absolutePath(home), name);
}

/** The object in a file, `{}` without the file, undefined when the file holds anything but an object. */
export function readObject(path: AbsolutePath): Record<string, unknown> | undefined {
  if (statNode(path) === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(readSmallFile(path, LARGEST_BYTES)?.toString("utf8") ?? "");
    return isObject(parsed) ? parsed : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Replaces a file durably, creating the home directory if needed. */
export function writeObject(home: string, name: string, value: Record<string, unknown>): void {
  makePrivateDirectory(absolutePath(home));
  const text = `${JSON.stringify(value, undefined, 2)}\n`;
  replaceFile(homeFile(home, name), [Buffer.from(text)], { durable: true });
}

/** True for an object that is not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
