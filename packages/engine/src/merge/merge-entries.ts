/** Merges three entries of one file: its mode and its content. */
import type { BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import type { ChangeSet } from "./change-set.ts";
import { mergeFile } from "./merge-file.ts";
import { BOTH_FILES, contested, type Contested, type Taken } from "./verdict.ts";

/** An entry that is a file. */
export type FileEntry = Entry & { readonly kind: "file" };

/** The three entries of a file; without a base, both sides added it. */
export interface EntryVersions {
  readonly base: FileEntry | undefined;
  readonly ours: FileEntry;
  readonly theirs: FileEntry;
}

/** Larger files are not merged by lines. */
const MERGE_LIMIT_BYTES = 16 * 1024 * 1024;

/** The entry that both sides come to, or what has to be decided. Notes in the set how it was merged. */
export function mergeEntries(
  set: ChangeSet,
  path: BytePath,
  versions: EntryVersions,
): { readonly entry: FileEntry; readonly conflict?: undefined } | { readonly conflict: Contested } {
  const { base, ours, theirs } = versions;
  const mode = mergeModes(set, path, versions);
  if (ours.hash === theirs.hash || base?.hash === theirs.hash) return { entry: { ...ours, mode } };
  if (base?.hash === ours.hash) return { entry: { ...theirs, mode } };
  const verdict = mergeContents(set, path, versions);
  if (!verdict.taken) return { conflict: verdict };
  for (const reason of verdict.dropped ?? []) set.leave(path, reason);
  const { content } = verdict;
  const entry: FileEntry = { kind: "file", mode, size: content.length, hash: set.input.put(content) };
  set.merged(path, verdict, { otherPath: undefined, ...versions, result: entry });
  return { entry };
}

/** Merges the contents of three different entries. */
export function mergeContents(
  { input }: ChangeSet,
  path: BytePath,
  { base, ours, theirs }: EntryVersions,
): Taken | Contested {
  if (Math.max(base?.size ?? 0, ours.size, theirs.size) > MERGE_LIMIT_BYTES) {
    const fact = "both sides changed a file that is too large to merge";
    return contested({ kind: "binary", code: "too-large", fact, options: BOTH_FILES });
  }
  return mergeFile(
    {
      path,
      base: base === undefined ? undefined : input.read(base),
      ours: input.read(ours),
      theirs: input.read(theirs),
      isGenerated: input.isGenerated?.(path) === true,
    },
    input.syntax,
  );
}

/** The mode of the side that changed it; where both did, ours. */
export function mergeModes(
  set: ChangeSet,
  path: BytePath,
  { base, ours, theirs }: { base: Moded | undefined; ours: Moded; theirs: Moded },
): number {
  if (ours.mode === theirs.mode || base?.mode === theirs.mode) return ours.mode;
  if (base?.mode === ours.mode) return theirs.mode;
  set.leave(path, `both sides changed its mode; ours stays (${ours.mode.toString(8)})`);
  return ours.mode;
}

interface Moded {
  readonly mode: number;
}
