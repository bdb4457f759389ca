/** What every importer does: it reads another program's data and says what is in it. */
import { lstatSync, realpathSync } from "node:fs";
import { normalize } from "node:path";
import {
  pathFromBytes,
  whyNotImported,
  type BytePath,
  type ImportedFile,
  type ImportRequest,
  type ThreadImport,
} from "@belay/engine";
import { listOf, recordOf, textOf } from "./facts.ts";
import type { OldData } from "./old-data.ts";

/** The history of one directory. */
export interface FoundHistory {
  /** The directory it is about; undefined when the data does not say. */
  readonly directory: string | undefined;
  readonly threads: readonly ThreadImport[];
  /** More names of checkpoints: `name` means what the import calls `of`. A name that is taken is left out. */
  readonly names?: readonly { readonly origin: string; readonly name: string; readonly of: string }[];
}

/** Where the data goes, as far as the person said. */
export interface Destination {
  /** `--into`. */
  readonly into: string | undefined;
  /** The checkpoints that the directory's own store has. */
  readonly here: ReadonlySet<string>;
}

/** Takes over what one program left behind. */
export interface Importer {
  readonly kind: string;
  /** Whether the data at a path is of this kind. */
  looksLike(data: OldData): boolean;
  /** What is in it; what cannot be had is noted in the data's list. */
  read(data: OldData, destination: Destination): FoundHistory[];
}

/** A checkpoint of an import. */
export type FoundCheckpoint = Omit<ImportRequest, "origin" | "thread">;

/** A path of the other program as one of the workspace; undefined, and noted, where it leads elsewhere. */
export function pathIn(data: OldData, text: string, directory?: string): BytePath | undefined {
  const inside =
    directory !== undefined && text.startsWith("/") ? nameBelow(directory, text) : text.replace(/^\.\//, "");
  if (inside === undefined) return data.skip(text, "it is elsewhere");
  return pathOf(data, Buffer.from(inside, "utf8"));
}

/** The same for a relative path in bytes, which need not be UTF-8. */
export function pathOf(data: OldData, bytes: Buffer): BytePath | undefined {
  const path = pathFromBytes(bytes);
  const why = whyNotImported(path);
  return why === undefined ? path : data.skip(bytes.toString("utf8"), why);
}

/**
 * What an absolute path is called below a directory; undefined for one elsewhere. Only the way to the directory may lead
 * through links. [R840] A link below it is a name like any other: followed, it would lend its name's content to another file.
 */
function nameBelow(directory: string, text: string): string | undefined {
  const [root, path] = [realOr(directory), normalize(text)];
  const known = [directory, root].find((each) => path.startsWith(`${each}/`));
  if (known !== undefined) return path.slice(known.length + 1);
  const names = path.split("/");
  const at = names.findIndex((_, end) => end > 1 && realOr(names.slice(0, end).join("/")) === root);
  return at < 0 ? undefined : names.slice(at).join("/");
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The entries of a checkpoint's list of files. Anything but a list is noted, and so is an entry that names no file. */
export function entriesOf(
  data: OldData,
  { of, list, name = "path" }: { of: string; list: unknown; name?: string },
): { entries: readonly Readonly<Record<string, unknown>>[]; isWhole: boolean } | undefined {
  if (!Array.isArray(list)) return data.skip(of, "it has no list of files");
  const all = listOf(list).map(recordOf);
  const entries = all.filter((entry) => textOf(entry[name]) !== undefined);
  const isWhole = entries.length === all.length;
  if (!isWhole) data.skip(of, "entries of its list of files name no file");
  return { entries, isWhole };
}

/** A file whose content cannot be had: it is never touched by a restore. */
export function lost(path: BytePath, size = 0): ImportedFile {
  return { path, kind: "gap", reason: "unreadable", size };
}

const ORDINARY = 0o644;

/** The mode of a file whose program did not keep it: as it is on disk now. */
export function modeNow(directory: string | undefined, path: BytePath): number {
  if (directory === undefined) return ORDINARY;
  const stat = lstatSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(path, "latin1")]), {
    throwIfNoEntry: false,
  });
  return stat?.isFile() === true ? stat.mode & 0o777 : ORDINARY;
}

/**
 * [R2431] What a checkpoint tells about: all paths of its import where its data is whole. Half-written data tells only about
 * the files it has; what it lacks may not have been written yet.
 */
export function coversOf(
  isWhole: boolean,
  all: readonly BytePath[],
  own: Iterable<BytePath>,
): readonly BytePath[] {
  return isWhole ? all : [...own].sort();
}

/** All paths that checkpoints have: where each saw the whole directory, one that lacks a path tells that it was absent. */
export function unionOf(lists: Iterable<Iterable<BytePath>>): BytePath[] {
  const all = new Set<BytePath>();
  for (const list of lists) for (const path of list) all.add(path);
  return [...all].sort();
}
