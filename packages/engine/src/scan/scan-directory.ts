/**
 * What a scan finds out about one directory: whether its names are unchanged, and what its ignore files say.
 */
import { byLayer } from "../rules/ignore-stack.ts";
import { below, type AbsolutePath } from "../fs/absolute-path.ts";
import { statNode, type FileStat } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { readSmallFile } from "../fs/read-file.ts";
import { joinPath, type BytePath } from "../model/byte-path.ts";
import type { RecordedIgnoreFile } from "../model/rules.ts";
import { DIRECTORY, type FileTable } from "./file-table.ts";
import { IGNORE_FILE_LIMIT, type DirectoryRules } from "../rules/ignore-rules.ts";
import { whyLeftOut } from "../rules/ignored-budget.ts";
import { databaseSet, isMapped } from "./database-names.ts";
import type { OpenVisit } from "./scan-visit.ts";
import { RACY } from "./stat-columns.ts";
import type { IgnoredLimits } from "../rules/ignored-budget.ts";

/** True when a directory at rest has its previous times, and therefore its previous names. */
export function isListingKnown(table: FileTable | undefined, own: number, stat: FileStat): boolean {
  return (
    table !== undefined &&
    own >= 0 &&
    table.kind[own] === DIRECTORY &&
    table.flags[own] !== RACY &&
    table.mtimeNs[own] === stat.mtimeNs &&
    table.ctimeNs[own] === stat.ctimeNs &&
    table.ino[own] === stat.ino
  );
}

/** True when an entry of the previous scan is the directory that stands there now. */
export function isSameDirectory(previous: FileTable, own: number, stat: FileStat): boolean {
  return own >= 0 && previous.kind[own] === DIRECTORY && previous.ino[own] === stat.ino;
}

/** Lists a directory; undefined when its names are still those of the previous scan. */
export function listAgain(table: FileTable, ownEntry: number, path: AbsolutePath): string[] | undefined {
  const stat = statNode(path);
  if (stat !== undefined && isListingKnown(table, ownEntry, stat)) return undefined;
  try {
    return listDirectory(path);
  } catch {
    // it is disappearing; the watch above it reports that
    return [];
  }
}

/** True when an entry may change again without a trace in its times. */
export function isRacy({ mtimeNs, ctimeNs }: FileStat, racySinceNs: bigint): boolean {
  return mtimeNs >= racySinceNs || ctimeNs >= racySinceNs;
}

/** The ignore files of a directory that has names. */
export function readIgnoreFiles(
  root: AbsolutePath,
  path: BytePath,
  has: (name: string) => boolean,
): RecordedIgnoreFile[] {
  return (["gitignore", "belayignore"] as const).flatMap((layer) => {
    const own = joinPath(path, `.${layer}`);
    const content = has(`.${layer}`) ? readSmallFile(below(root, own), IGNORE_FILE_LIMIT) : undefined;
    return content === undefined ? [] : [{ path: own, layer, content }];
  });
}

/** The rules in a directory, read on the way. */
export function childRules(rules: DirectoryRules, name: string, root: AbsolutePath): DirectoryRules {
  return rules.child(name, byLayer(readIgnoreFiles(root, joinPath(rules.path, name), () => true)));
}

type StatOf = (name: string) => FileStat | undefined;

/** The size that decides about a file of a database: the largest of its set. */
export function setSize(name: string, statOf: StatOf): number {
  return Math.max(...databaseSet(name).map((each) => Number(lookUp(each, statOf)?.size ?? 0)));
}

/** The name whose verdict counts: a log follows its database. */
export function judgedAs(name: string, statOf: StatOf): string {
  const [database] = isMapped(name) ? databaseSet(name) : [name];
  return database === name || lookUp(database, statOf) === undefined ? name : database;
}

/** Why a git-ignored file is left out; undefined when it is captured, or not ignored. */
export function whyTooLarge(
  { rules, statOf }: Pick<OpenVisit, "rules" | "statOf">,
  name: string,
  { size, limits }: { size: number; limits: IgnoredLimits },
): string | undefined {
  const limit = isMapped(name) ? limits.bytes : limits.fileBytes;
  if (size <= limit && limits.files > 0) return undefined;
  const judged = judgedAs(name, statOf);
  const isIgnored = rules().verdict(judged, false) === "ignored";
  return isIgnored ? `${rules().ignoredBy(judged, false)}, ${whyLeftOut(limits, limit)}` : undefined;
}

function lookUp(name: string, statOf: StatOf): FileStat | undefined {
  try {
    return statOf(name);
  } catch {
    // a file that cannot be stat'ed has no say
    return undefined;
  }
}

/** Stands in for a stat that the system refused. */
export const UNKNOWN_STAT = { mode: 0n, size: 0n, mtimeNs: 0n, ctimeNs: 0n, ino: 0n } as FileStat;

/** The index of each directory of a table. */
export function directoryIndex(table: FileTable | undefined): Map<BytePath, number> {
  return new Map(table?.directories.map((path, index) => [path, index]));
}

/** The times of a directory as a text. */
export function timesOf({ mtimeNs, ctimeNs }: FileStat): string {
  return `${mtimeNs} ${ctimeNs}`;
}

/** Creates a value on first use. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
