/** For those who start a process to look at a big tree: an entry of its own, because it comes before everything else. */
import { absolutePath } from "./fs/absolute-path.ts";
import { isInLargeTree } from "./worktree/large-trees.ts";
import { SecondLook } from "./worktree/second-look.ts";

export type { SecondLook };

/** Starts a thread that helps with the first look at the files, where that is worth it. Pass it on with the engine's options. */
export function startSecondLook(home: string, directory: string): SecondLook | undefined {
  return isInLargeTree(absolutePath(home), absolutePath(directory)) ? new SecondLook() : undefined;
}
