/**
 * What a ghost's commit has that its base lacks, path by path. A path that git calls unmodified keeps the index's blob,
 * so that filters and line endings look as git has them; anything else is the bytes that were captured.
 */
import { asSeen, type Context } from "../capture/context.ts";
import { absenceProof, type AbsenceProof } from "../capture/proven-changes.ts";
import { compareTrees, lookUp, walkTree } from "../diff/compare-trees.ts";
import { below } from "../fs/absolute-path.ts";
import { DirtyCheck } from "../git/git-dirty.ts";
import { statGitFile } from "../git/git-file.ts";
import { SUBMODULE_MODE } from "../git/git-index-entries.ts";
import type { CommitEntry } from "../git/git-ghosts.ts";
import type { GitIndex } from "../git/git-index.ts";
import type { Repository } from "../git/git-repository.ts";
import { ancestorPaths, baseName, ROOT_PATH, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { isLeaf, sameEntry, type Entry } from "../model/entry.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { decodeRules } from "../model/rules.ts";
import { firstAtOrAfter } from "../model/sorted-paths.ts";
import { createRecordedMatcher, type RecordedMatcher } from "../rules/recorded-rules.ts";
import type { ObjectSource } from "../store/object-store.ts";

/** A path that the commit gets: a blob that git has, or bytes of the store. */
export interface GhostWrite {
  readonly path: BytePath;
  readonly mode: number;
  readonly from: { readonly object: string } | { readonly hash: ObjectHash; readonly size: number };
}

/** The difference between a commit's base and the snapshot. */
export interface GhostChanges {
  readonly deletes: readonly BytePath[];
  readonly writes: readonly GhostWrite[];
  /** Captured paths that the commit does not have. */
  readonly leftOut: readonly BytePath[];
}

/** What the judgement of each path rests on. */
export interface GhostFacts {
  readonly repository: Repository;
  readonly index: GitIndex;
  readonly checkpoint: Checkpoint;
  /** The disk as it is now. */
  readonly present: { readonly snapshot: ObjectHash; readonly objects: ObjectSource };
}

const [FILE, EXECUTABLE, SYMLINK] = [0o100644, 0o100755, 0o120000];
const OWNER_EXECUTES = 0o100;

/** What leads from HEAD's files to the snapshot. */
export function changesFromHead(
  context: Context,
  facts: GhostFacts,
  head: ReadonlyMap<BytePath, CommitEntry>,
): GhostChanges {
  const { objects } = context.store;
  const judge = new GhostJudge(context, facts, head);
  const seen = new Set<BytePath>();
  const [writes, leftOut]: [GhostWrite[], BytePath[]] = [[], []];
  for (const { path, entry } of walkTree(objects, facts.checkpoint.snapshot)) {
    if (!isLeaf(entry)) continue;
    seen.add(path);
    const write = judge.write(path, entry);
    if (write === undefined) leftOut.push(path);
    else if (!isAlready(write, head.get(path))) writes.push(write);
  }
  const deletes: BytePath[] = [];
  for (const [path, { mode }] of head) {
    if (seen.has(path) || mode === SUBMODULE_MODE) continue;
    if (judge.isGone(path)) deletes.push(path);
    else leftOut.push(path);
  }
  return { deletes, writes, leftOut };
}

/** What leads from the tree of an earlier ghost to the snapshot; undefined when only HEAD's files can tell. */
export function changesFromGhost(
  context: Context,
  facts: GhostFacts,
  last: { readonly snapshot: ObjectHash; readonly leftOut: readonly BytePath[] },
): GhostChanges | undefined {
  const judge = new GhostJudge(context, facts);
  const leftOut = new Set(last.leftOut);
  const [writes, deletes]: [GhostWrite[], BytePath[]] = [[], []];
  for (const { path, from, to } of compareTrees(
    context.store.objects,
    last.snapshot,
    facts.checkpoint.snapshot,
  )) {
    if (from?.kind === "gap" || to?.kind === "gap") return undefined;
    const wasThere = isLeaf(from) && !leftOut.delete(path);
    const write = isLeaf(to) ? judge.write(path, to!) : undefined;
    if (write !== undefined) writes.push(write);
    else if (isLeaf(to) && wasThere) return undefined;
    else if (isLeaf(to)) leftOut.add(path);
    else if (wasThere && judge.isGone(path)) deletes.push(path);
    else if (wasThere) return undefined;
  }
  return { deletes, writes, leftOut: [...leftOut] };
}

function isAlready({ mode, from }: GhostWrite, entry: CommitEntry | undefined): boolean {
  return entry !== undefined && entry.mode === mode && "object" in from && from.object === entry.object;
}

/** Decides what becomes of one path. */
class GhostJudge {
  readonly #context: Context;
  readonly #facts: GhostFacts;
  readonly #head: ReadonlyMap<BytePath, CommitEntry>;
  readonly #dirty: DirtyCheck;
  /** Made when they are first asked: most ghosts have only changes of tracked files. */
  #matcher: RecordedMatcher | undefined;
  #absence: AbsenceProof | undefined;
  readonly #foreign = new Map<BytePath, boolean>();

  constructor(context: Context, facts: GhostFacts, head: ReadonlyMap<BytePath, CommitEntry> = new Map()) {
    const { repository, index } = facts;
    this.#context = context;
    this.#facts = facts;
    this.#head = head;
    this.#dirty = new DirtyCheck({ repository, index, statOf: () => undefined, verified: new Map() });
  }

  /** What the commit gets at a captured path; undefined when it is left out. */
  write(path: BytePath, entry: Entry): GhostWrite | undefined {
    if (entry.kind === "gap" || entry.kind === "directory" || this.#isOfAnother(path)) return undefined;
    const at = this.#placeOf(path);
    const isTracked = at !== undefined || this.#head.has(path);
    if (!isTracked && (baseName(path).startsWith(".env") || this.#isIgnored(path))) return undefined;
    if (at !== undefined && this.#isClean(at, entry)) {
      const { entries } = this.#facts.index;
      return { path, mode: entries.mode(at), from: { object: entries.object(at) } };
    }
    return { path, mode: this.#modeOf(path, at, entry), from: { hash: entry.hash, size: entry.size } };
  }

  /** Whether a path that the snapshot lacks was really deleted, and not merely left out of it. */
  isGone(path: BytePath): boolean {
    const at = this.#placeOf(path);
    if (at !== undefined && this.#facts.index.entries.isSkipped(at)) return false;
    if (this.#isOfAnother(path)) return false;
    const { entry, gapAbove } = lookUp(this.#context.store.objects, this.#facts.checkpoint.snapshot, path);
    return !gapAbove && entry?.kind !== "gap" && this.#isAbsent(path);
  }

  #isIgnored(path: BytePath): boolean {
    const { rules } = this.#facts.checkpoint;
    this.#matcher ??= createRecordedMatcher(decodeRules(this.#context.store.objects.read(rules), rules));
    return this.#matcher.isIgnored(path);
  }

  #isAbsent(path: BytePath): boolean {
    const seen = () => asSeen(this.#context, this.#facts.checkpoint);
    this.#absence ??= absenceProof(this.#context.store.objects, seen());
    return this.#absence(path, undefined);
  }

  /** The place of a path in the index; of an unmerged one, the last of its sides. */
  #placeOf(path: BytePath): number | undefined {
    const { paths } = this.#facts.index.entries;
    let at = firstAtOrAfter(paths, path);
    if (paths[at] !== path) return undefined;
    while (paths[at + 1] === path) at += 1;
    return at;
  }

  /** Git calls it unmodified, and the snapshot has what is on disk now. */
  #isClean(at: number, entry: Entry): boolean {
    const { index, checkpoint, present } = this.#facts;
    const { entries } = index;
    if (entries.isTrusted(at) || this.#dirty.differs(at)) return false;
    return (
      checkpoint.snapshot === present.snapshot ||
      sameEntry(entry, lookUp(present.objects, present.snapshot, entries.paths[at]!).entry)
    );
  }

  #modeOf(path: BytePath, at: number | undefined, entry: Entry): number {
    if (entry.kind !== "file") return SYMLINK;
    if (this.#facts.repository.trustsFileMode) return (entry.mode & OWNER_EXECUTES) === 0 ? FILE : EXECUTABLE;
    const known = at === undefined ? this.#head.get(path)?.mode : this.#facts.index.entries.mode(at);
    return known === EXECUTABLE ? EXECUTABLE : FILE;
  }

  /** At or below a gitlink, or in a repository of its own. */
  #isOfAnother(path: BytePath): boolean {
    return this.#isGitlink(path) || ancestorPaths(path).some((above) => this.#isForeign(above));
  }

  #isForeign(directory: BytePath): boolean {
    let isForeign = this.#foreign.get(directory);
    if (isForeign === undefined) {
      const root = below(this.#facts.repository.topLevel, this.#facts.repository.prefix);
      isForeign =
        this.#isGitlink(directory) ||
        (directory !== ROOT_PATH && statGitFile(below(below(root, directory), ".git")) !== undefined);
      this.#foreign.set(directory, isForeign);
    }
    return isForeign;
  }

  #isGitlink(path: BytePath): boolean {
    const at = this.#placeOf(path);
    if (at !== undefined && this.#facts.index.entries.mode(at) === SUBMODULE_MODE) return true;
    return this.#head.get(path)?.mode === SUBMODULE_MODE;
  }
}
