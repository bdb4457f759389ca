/**
 * What a fork's first capture may know from the original's last one: which tracked files the rules left out, and what was
 * staged. It holds only where git's index still is the one that was read then: the fork's index has the same paths. Whether
 * the ignore files are the same, that capture sees for itself.
 */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import { indexKey } from "../git/git-index.ts";
import { findRepository, type Repository } from "../git/git-repository.ts";
import { gitKey } from "../git/git-state.ts";
import type { CacheFacts } from "../scan/stat-cache.ts";

/** The facts of a stat cache that depend on rules and on git. */
type RuleFacts = Pick<CacheFacts, "gitIndexKey" | "rulesKey" | "tracked" | "gitStateKey" | "gitState">;

/** Rules and git are read again. */
export const NOT_KNOWN: RuleFacts = {
  gitIndexKey: "",
  rulesKey: "",
  tracked: [],
  gitStateKey: "",
  gitState: null,
};

/** The facts of a fork, from those of the original's last scan. */
export function handedOver(original: AbsolutePath, fork: AbsolutePath, last: RuleFacts): RuleFacts {
  const [from, to] = [findRepository(original), findRepository(fork)];
  const { rulesKey, tracked } = last;
  if (keyOf(from) !== last.gitIndexKey || (from === undefined) !== (to === undefined)) return NOT_KNOWN;
  const known = { ...NOT_KNOWN, gitIndexKey: keyOf(to), rulesKey, tracked };
  if (to === undefined || last.gitState === null) return known;
  const gitStateKey = gitKey(to);
  return commitOf(gitStateKey) === commitOf(last.gitStateKey)
    ? { ...known, gitStateKey, gitState: last.gitState }
    : known;
}

function keyOf(repository: Repository | undefined): string {
  return repository === undefined ? "" : indexKey(repository);
}

/** What a key of git's state begins with. */
function commitOf(key: string): string {
  return key.split(" ", 1)[0]!;
}
