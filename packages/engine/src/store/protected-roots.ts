/**
 * `$BELAY_HOME/roots`: the protected directories once more, in a form that the hook's shell script can read, so
 * that in all others it starts nothing. Each is its inode, a space and its path, ended by a NUL. The file may name a
 * directory too many, never one too few: without it the script asks. [R170]
 */
import { below, forSystem, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeFile, replaceFile, syncDirectory } from "../fs/durable-file.ts";
import { statNode } from "../fs/file-stat.ts";
import { explainSystemError } from "../fs/system-error.ts";

export interface ProtectedRoot {
  readonly path: AbsolutePath;
  readonly ino: string;
}

/** Replaces the list; an error means that the one before is still there, or may be after a power cut. */
export function writeRoots(home: AbsolutePath, roots: readonly ProtectedRoot[]): void {
  const lines = new Set(roots.map(({ ino, path }) => `${ino} ${path}\0`));
  try {
    replaceFile(fileIn(home), [Buffer.from([...lines].join(""), "latin1")], { durable: true, mode: 0o600 });
  } catch (error) {
    // no space, perhaps: a list that may lack a directory must not stay
    removeRoots(home, error);
  }
}

function removeRoots(home: AbsolutePath, reason: unknown): void {
  try {
    removeFile(fileIn(home));
    syncDirectory(home);
  } catch {
    const path = String(forSystem(fileIn(home)));
    const what = `The list of protected directories can be neither written nor removed: ${path}`;
    throw explainSystemError(reason, { what, path, operation: "store" });
  }
}

export function hasRoots(home: AbsolutePath): boolean {
  return statNode(fileIn(home)) !== undefined;
}

function fileIn(home: AbsolutePath): AbsolutePath {
  return below(home, "roots");
}
