/** The size of what the rules leave out: the user should know what is not protected. */
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { kindOf, statNode } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";

/** Fills in sizes until the time is up; what was not measured keeps null. Hard excludes are left out of the list. */
export function measureExcluded(
  root: AbsolutePath,
  excluded: readonly ExcludedRoot[],
  isTimeUp: () => boolean,
): ExcludedRoot[] {
  return excluded
    .filter(({ path }) => !isOwn(path))
    .map((each) => ({ ...each, bytes: each.bytes ?? sizeOf(below(root, each.path), isTimeUp) }));
}

function isOwn(path: string): boolean {
  return /(?:^|\/)(?:\.git$|\.belay-stage-)/.test(path);
}

function sizeOf(path: AbsolutePath, isTimeUp: () => boolean): number | null {
  let bytes = 0;
  const queue = [path];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (isTimeUp()) return null;
    try {
      const stat = statNode(next);
      if (stat === undefined) continue;
      if (kindOf(stat) === "directory") for (const name of listDirectory(next)) queue.push(below(next, name));
      else bytes += Number(stat.size);
    } catch {
      // unreadable: it is left out anyway, and a size is only an indication
      continue;
    }
  }
  return bytes;
}
