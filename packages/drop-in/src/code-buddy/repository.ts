/** Whether a directory is in a git repository. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The top level of the repository that a directory is in; undefined when it is in none. */
export function repositoryOf(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (at === dirname(at)) return undefined;
  }
}
