/**
 * Whether the working copy differs from git's index, without refreshing the index as git would. As in git, an
 * equal stat means unchanged unless the file is as young as the index, a different size means changed, and
 * otherwise the content decides. Limits: content is compared with the bytes git stores, so a file that
 * filters or line-ending settings convert counts as changed once its time was touched. Only the commit of a
 * submodule is compared, not its files. After `CONTENT_LIMIT` bytes, files that would have to be read count
 * as changed.
 */
import { createHash } from "node:crypto";
import type { BytePath } from "../model/byte-path.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { statNode, type FileStat } from "../fs/file-stat.ts";
import { readHead } from "./git-head.ts";
import { SUBMODULE_MODE } from "./git-index-entries.ts";
import type { GitIndex } from "./git-index.ts";
import { findRepository, type Repository } from "./git-repository.ts";
import { readLink, readSmallFile } from "../fs/read-file.ts";

/** What a scan knows about a file. A `mode` without type bits is a regular file's. */
export interface ScannedStat {
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly mode?: number;
}

/** The scanned stat of a path below the workspace root; undefined = not scanned, so stat it. */
export type StatOf = (path: BytePath) => ScannedStat | undefined;

/** What a dirty check compares. */
export interface DirtyCheckInput {
  readonly repository: Repository;
  readonly index: GitIndex;
  readonly statOf: StatOf;
  /** Files that were read and found equal, by path, so that they are not read again. The check extends it. */
  readonly verified: Map<BytePath, string>;
}

const CONTENT_LIMIT = 128 * 1024 * 1024;

const NANOSECONDS = 1_000_000_000n;
const TYPE_BITS = 0o170000;
const REGULAR = 0o100000;
const SYMLINK = 0o120000;
const OWNER_EXECUTES = 0o100;

/** Compares index entries with the working copy. */
export class DirtyCheck {
  readonly #input: DirtyCheckInput;
  #contentLeft = CONTENT_LIMIT;

  constructor(input: DirtyCheckInput) {
    this.#input = input;
  }

  /** True when the working copy differs from the index's entry at this place. */
  differs(at: number): boolean {
    const { entries } = this.#input.index;
    if (entries.isTrusted(at)) return false;
    if (entries.isUnmerged(at) || entries.isIntendedOnly(at)) return true;
    if (entries.mode(at) === SUBMODULE_MODE) return this.#submoduleDiffers(at);
    const stat = this.#stat(entries.paths[at]!);
    if (stat === undefined || this.#modeDiffers(at, stat.mode)) return true;
    const hasSameSize = stat.size % 2 ** 32 === entries.size(at);
    // git writes size 0 where the stat was too young to prove anything
    if (!hasSameSize && entries.size(at) !== 0) return true;
    return !(hasSameSize && this.#hasProvenTime(at, stat.mtimeNs)) && this.#contentDiffers(at, stat);
  }

  #stat(path: BytePath): ScannedStat | undefined {
    const scanned = this.#input.statOf(path);
    if (scanned !== undefined) return scanned;
    const stat = statIfAny(this.#absolute(path));
    return stat && { size: Number(stat.size), mtimeNs: stat.mtimeNs, mode: Number(stat.mode) };
  }

  #absolute(path: BytePath): AbsolutePath {
    const { topLevel, prefix } = this.#input.repository;
    return below(below(topLevel, prefix), path);
  }

  #modeDiffers(at: number, mode: number | undefined): boolean {
    if (mode === undefined) return false;
    const wanted = this.#input.index.entries.mode(at);
    const type = mode & TYPE_BITS || REGULAR;
    if (type !== (wanted & TYPE_BITS)) return true;
    if (type !== REGULAR || !this.#input.repository.trustsFileMode) return false;
    return (mode & OWNER_EXECUTES) !== (wanted & OWNER_EXECUTES);
  }

  /**
   * True when the time equals the index's and is older than the index: a later change would have another
   * time.
   */
  #hasProvenTime(at: number, mtimeNs: bigint): boolean {
    const { entries, writtenNs } = this.#input.index;
    if (mtimeNs >= writtenNs) return false;
    const seconds = entries.mtimeSeconds(at);
    const nanoseconds = entries.mtimeNanoseconds(at);
    // some git implementations keep whole seconds only
    if (nanoseconds === 0) return mtimeNs / NANOSECONDS === BigInt(seconds);
    return isTime(mtimeNs, seconds, nanoseconds);
  }

  #contentDiffers(at: number, stat: ScannedStat): boolean {
    const { index, verified } = this.#input;
    const path = index.entries.paths[at]!;
    const object = index.entries.object(at);
    const seen = `${object} ${stat.size} ${stat.mtimeNs}`;
    if (verified.get(path) === seen) return false;
    if (this.#objectName(at) !== object) return true;
    verified.set(path, seen);
    return false;
  }

  /** The object name git would give the content; undefined when it cannot be read or the limit is used up. */
  #objectName(at: number): string | undefined {
    const { entries } = this.#input.index;
    const path = this.#absolute(entries.paths[at]!);
    const content = entries.mode(at) === SYMLINK ? linkTarget(path) : readSmallFile(path, this.#contentLeft);
    if (content === undefined) return undefined;
    this.#contentLeft -= content.length;
    const hash = createHash(this.#input.repository.objectFormat);
    return hash.update(`blob ${content.length}\0`).update(content).digest("hex");
  }

  /** A submodule that is not checked out counts as unchanged. */
  #submoduleDiffers(at: number): boolean {
    const { entries } = this.#input.index;
    const path = this.#absolute(entries.paths[at]!);
    const submodule = findRepository(path);
    if (submodule === undefined || submodule.topLevel !== path) return statIfAny(path) === undefined;
    return readHead(submodule)?.commit !== entries.object(at);
  }
}

/**
 * Exact without a big product: the lower 32 bits are compared directly. The rest differs by more than four
 * seconds, which shows in the rounded numbers.
 */
function isTime(timeNs: bigint, seconds: number, nanoseconds: number): boolean {
  const lowBits = Number(BigInt.asUintN(32, timeNs));
  if (lowBits !== (Math.imul(seconds, 1e9) + nanoseconds) >>> 0) return false;
  return Math.abs(Number(timeNs) - (seconds * 1e9 + nanoseconds)) < 1e6;
}

/** A path that cannot be stat'ed counts as missing. */
function statIfAny(path: AbsolutePath): FileStat | undefined {
  try {
    return statNode(path);
  } catch {
    return undefined;
  }
}

function linkTarget(path: AbsolutePath): Buffer | undefined {
  try {
    return readLink(path);
  } catch {
    return undefined;
  }
}
