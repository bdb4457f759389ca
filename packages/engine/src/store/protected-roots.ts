/**
 * `$BELAY_HOME/roots`: the protected directories in a form that the hook's shell script can read, so that it
 * starts nothing in any other directory. Each entry is the inode, a space and the path, ended by NUL. The
 * file may list a directory too many, never one too few. Without the file the script runs `belay hook`.
 * [R170]
 */
import { below, forSystem, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeFile, replaceFile, syncDirectory } from "../fs/durable-file.ts";
import { statNode } from "../fs/file-stat.ts";
import { explainSystemError } from "../fs/system-error.ts";

/** One protected directory. */
export interface ProtectedRoot {
  readonly path: AbsolutePath;
  readonly ino: string;
}

/** Replaces the list of protected roots. On an error the previous list is still there, or may be after a power cut. */
export function writeRoots(home: AbsolutePath, roots: readonly ProtectedRoot[]): void {
  const lines = new Set(roots.map(({ ino, path }) => `${ino} ${path}\0`));
  try {
    replaceFile(fileIn(home), [Buffer.from([...lines].join(""), "latin1")], { durable: true, mode: 0o600 });
  } catch (error) {
    // the disk may be full: a list that may lack a directory must not stay
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

/** True when the list of protected roots exists. */
export function hasRoots(home: AbsolutePath): boolean {
  return statNode(fileIn(home)) !== undefined;
}

function fileIn(home: AbsolutePath): AbsolutePath {
  return below(home, "roots");
}
