/**
 * Git's index, read from its file: the tracked paths below the workspace root, and the stat and content git
 * last recorded for them. Versions 2 to 4, SHA-1 and SHA-256, sparse. A split index consists of two files
 * that only git can combine, so git lists it. (Like any git command, that refreshes the time of the shared
 * file, which keeps git from cleaning it up. Nothing else under `.git` changes.)
 */
import type { BytePath } from "../model/byte-path.ts";
import { below } from "../fs/absolute-path.ts";
import type { FileStat } from "../fs/file-stat.ts";
import { askGit, type GitCommandOptions } from "./git-command.ts";
import { readGitFileWithStat, statGitFile } from "./git-file.ts";
import type { IndexEntries } from "./git-index-entries.ts";
import { decodeIndexFile } from "./git-index-file.ts";
import { decodeIndexListing, LISTING_ARGUMENTS } from "./git-index-listing.ts";
import type { Repository } from "./git-repository.ts";

/** The tracked paths and what git recorded about them. */
export interface GitIndex {
  /** Changes when the index does. */
  readonly key: string;
  /** When the index was written. A file's stat is proof only if the file is older. */
  readonly writtenNs: bigint;
  /** The tracked files and links relative to the workspace root, sorted, without duplicates. */
  readonly paths: readonly BytePath[];
  /** Git's entries for them and for submodules. An unmerged path has one entry per side. */
  readonly entries: IndexEntries;
}

const INDEX_LIMIT = 2 ** 31 - 1;

/** The index, empty where there is none; null when it cannot be read. */
export function readGitIndex(repository: Repository, options: GitCommandOptions = {}): GitIndex | null {
  const path = below(repository.gitDir, "index");
  const file = readGitFileWithStat(path, INDEX_LIMIT);
  if (file === undefined && statGitFile(path) !== undefined) return null;
  const entries = readEntries(repository, file?.bytes, options);
  if (entries === undefined) return null;
  return { key: keyOf(file?.stat), writtenNs: file?.stat.mtimeNs ?? 0n, paths: entries.files(), entries };
}

/** A key that changes whenever the index does. */
export function indexKey(repository: Repository): string {
  return keyOf(statGitFile(below(repository.gitDir, "index")));
}

function keyOf(stat: FileStat | undefined): string {
  return stat === undefined ? "no index" : `${stat.mtimeNs} ${stat.ctimeNs} ${stat.size} ${stat.ino}`;
}

function readEntries(
  repository: Repository,
  bytes: Buffer | undefined,
  options: GitCommandOptions,
): IndexEntries | undefined {
  const layout = { objectBytes: repository.objectFormat === "sha1" ? 20 : 32, prefix: repository.prefix };
  if (bytes === undefined) return decodeIndexListing(Buffer.alloc(0), layout);
  const entries = decodeIndexFile(bytes, layout);
  if (entries !== undefined) return entries;
  const listing = askGit(repository, LISTING_ARGUMENTS, options);
  return listing && decodeIndexListing(listing, layout);
}
