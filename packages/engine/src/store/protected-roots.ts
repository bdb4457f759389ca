/**
 * `$BELAY_HOME/roots`: the protected directories once more, in a form that the hook's shell script can read, so
 * that in all others it starts nothing. Each is its inode, a space and its path, ended by a NUL. The file may name a
 * directory too many, never one too few: without it the script asks. [R170]
 */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { removeFile, replaceFile } from "../fs/durable-file.ts";
import { statNode } from "../fs/file-stat.ts";

export interface ProtectedRoot {
  readonly path: AbsolutePath;
  readonly ino: string;
}

export function writeRoots(home: AbsolutePath, roots: readonly ProtectedRoot[]): void {
  const lines = new Set(roots.map(({ ino, path }) => `${ino} ${path}\0`));
  try {
    replaceFile(fileIn(home), [Buffer.from([...lines].join(""), "latin1")], { durable: true, mode: 0o600 });
  } catch {
    // no space, perhaps: a list that may lack a directory must not stay
    removeFile(fileIn(home));
  }
}

export function hasRoots(home: AbsolutePath): boolean {
  return statNode(fileIn(home)) !== undefined;
}

function fileIn(home: AbsolutePath): AbsolutePath {
  return below(home, "roots");
}
