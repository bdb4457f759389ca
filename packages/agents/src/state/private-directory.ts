/** Directories below `$BELAY_HOME`: for the user alone. */
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** Creates a directory and its missing parents, each 0700 whatever the umask. */
export function makePrivateDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    makePrivateDirectory(dirname(path));
    return makePrivateDirectory(path);
  }
  chmodSync(path, 0o700);
}
