/** The root directory itself. Without it there is nothing to capture, and only a restore creates it again. */
import { displayAbsolute, type AbsolutePath } from "../fs/absolute-path.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { createDirectories } from "../fs/mutate.ts";
import { EngineError } from "../model/errors.ts";

/** True when the workspace's root is a directory. */
export function isRootThere(root: AbsolutePath): boolean {
  const stat = statNode(root);
  return stat !== undefined && kindOf(stat) === "directory";
}

/** What every command reports first when the root is missing. */
export function rootGone(root: AbsolutePath): string {
  return `The directory no longer exists; ${comesBackBy(root)} brings its files back.`;
}

/** The command that brings a directory back, from any current directory. */
export function comesBackBy(root: AbsolutePath): string {
  const path = displayAbsolute(root);
  const word = /^[\w./:=@%+,-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
  return `\`belay -C ${word} restore @\``;
}

/** True when nothing stands at the root's path. */
export function isRootGone(root: AbsolutePath): boolean {
  return statNode(root) === undefined;
}

/**
 * [N1] Throws when the root is gone: that is not a project whose files were all deleted, so nothing is
 * recorded.
 */
export function assertRootThere(root: AbsolutePath): void {
  if (isRootThere(root)) return;
  const path = displayAbsolute(root);
  const what = isRootGone(root) ? "no longer exists" : "is no longer a directory";
  throw new EngineError(
    "WORKSPACE_EMPTIED",
    `${path} ${what}. Nothing was changed; the checkpoints still have its files.`,
    { path },
  );
}

/** Creates the root again if nothing stands in its place. */
export function ensureRoot(root: AbsolutePath): void {
  if (isRootGone(root)) createDirectories(root);
  assertRootThere(root);
}
