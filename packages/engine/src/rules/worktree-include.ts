/** `.worktreeinclude`: ignored files that a project wants in every fork, in the syntax of `.gitignore`. */
import type { BytePath } from "../model/byte-path.ts";
import { createPatternList } from "./ignore-pattern-list.ts";
import { createPathMatch } from "./match-path.ts";

/** A function that says whether the file names a path, or a directory above it. */
export function createWorktreeInclude(content: Buffer): (path: BytePath) => boolean {
  return createPathMatch(
    createPatternList({
      layer: "gitignore",
      content,
      directory: "",
      label: (line) => `.worktreeinclude:${line}`,
    }),
  );
}
