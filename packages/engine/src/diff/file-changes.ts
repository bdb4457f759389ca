/** Turns edits into changed files: finds renames, counts lines, makes diffs and patches. */
import type { BytePath } from "../model/byte-path.ts";
import { isDamage } from "../model/errors.ts";
import type { DiffDetail, FileChange } from "../model/file-change.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { changeRows, gapOf, largestOf, typeOf, type ChangeRow, type Leaf } from "./change-rows.ts";
import { isBinary, TEXT_DIFF_LIMIT_BYTES } from "./content-kind.ts";
import {
  binaryDiff,
  countLines,
  unifiedDiff,
  type FileChange as PatchedFile,
  type PatchMode,
} from "./unified.ts";

type AttributionOf = (path: BytePath) => FileChange["attribution"];

interface DescribeOptions {
  readonly detail: DiffDetail;
  readonly attributionOf?: AttributionOf;
  /** A list says which file has lost its content; otherwise that is an error. */
  readonly marksDamage?: boolean;
}

/** One row per changed file, in path order. Directories are not files; gaps are changes without content. */
export function fileChanges(
  objects: ObjectSource,
  edits: readonly Edit[],
  options: DescribeOptions,
): FileChange[] {
  const rows = changeRows(edits);
  const describe = new ChangeDescriber(objects, options);
  return rows
    .map((row) => ({ ...describe.row(row), attribution: options.attributionOf?.(row.path) ?? null }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

class ChangeDescriber {
  readonly #objects: ObjectSource;
  readonly #detail: DiffDetail;
  readonly #marksDamage: boolean;

  constructor(objects: ObjectSource, { detail, marksDamage = false }: DescribeOptions) {
    this.#objects = objects;
    this.#detail = detail;
    this.#marksDamage = marksDamage;
  }

  row(row: ChangeRow): Omit<FileChange, "attribution"> {
    const gap = gapOf(row);
    const head = {
      path: row.path,
      ...(row.formerPath === undefined ? {} : { from: row.formerPath }),
      type: typeOf(row),
      ...(gap === undefined ? {} : { gap }),
    };
    const tooLarge = gap === undefined && largestOf(row) > TEXT_DIFF_LIMIT_BYTES;
    const without = { ...head, linesAdded: null, linesDeleted: null, tooLarge };
    if (this.#detail === "names") return { ...without, binary: false };
    if (tooLarge || gap !== undefined) return { ...without, binary: false, ...this.#withoutText(row) };
    const contents = this.#contents(row);
    if (contents === undefined) return { ...without, binary: false, damaged: true };
    const [before, after] = contents;
    if (isBinary(before) || isBinary(after)) return { ...without, binary: true, ...this.#withoutText(row) };
    return { ...head, tooLarge, binary: false, ...this.#compare(row, before, after) };
  }

  /** The patch is made on demand: its content may be large. */
  #withoutText(row: ChangeRow): Partial<FileChange> {
    if (this.#detail !== "text") return {};
    const patch = () => {
      if (gapOf(row) !== undefined) return Buffer.alloc(0);
      const isOnlyMoved =
        row.from !== undefined && row.to !== undefined && hashOf(row.from) === hashOf(row.to);
      if (isOnlyMoved) return unifiedDiff(patchOf(row, NO_CONTENT, NO_CONTENT)).bytes;
      const contents = [this.#content(row.from), this.#content(row.to)] as const;
      return Buffer.concat(patchesOf(row, ...contents).map(binaryDiff));
    };
    return { diff: null, patch, ...lackOf(row) };
  }

  /** undefined where the store has lost one of them and a list is wanted: the other files are in it too. */
  #contents({ from, to }: ChangeRow): readonly [Buffer, Buffer] | undefined {
    try {
      return [this.#content(from), this.#content(to)];
    } catch (error) {
      if (this.#marksDamage && isDamage(error)) return undefined;
      throw error;
    }
  }

  #content(entry: Leaf | undefined): Buffer {
    return entry === undefined || entry.kind === "gap" ? NO_CONTENT : this.#objects.read(entry.hash);
  }

  #compare(row: ChangeRow, before: Buffer, after: Buffer) {
    if (this.#detail === "counts") return countLines(before, after);
    const parts = patchesOf(row, before, after).map(unifiedDiff);
    const sum = (key: "linesAdded" | "linesDeleted") => parts.reduce((total, part) => total + part[key], 0);
    return {
      linesAdded: sum("linesAdded"),
      linesDeleted: sum("linesDeleted"),
      diff: parts.map(({ text }) => text).join(""),
      patch: () => Buffer.concat(parts.map(({ bytes }) => bytes)),
      ...lackOf(row),
    };
  }
}

const NO_CONTENT = Buffer.alloc(0);

/**
 * A file that became a link, or the reverse, is a deletion and an addition: a patch has no other way to
 * express it.
 */
function patchesOf(row: ChangeRow, before: Buffer, after: Buffer): PatchedFile[] {
  if (row.from === undefined || row.to === undefined || row.from.kind === row.to.kind)
    return [patchOf(row, before, after)];
  return [
    patchOf({ ...row, to: undefined }, before, NO_CONTENT),
    patchOf({ ...row, from: undefined }, NO_CONTENT, after),
  ];
}

function patchOf(row: ChangeRow, oldContent: Buffer, newContent: Buffer): PatchedFile {
  return {
    oldPath: row.from === undefined ? null : (row.formerPath ?? row.path),
    newPath: row.to === undefined ? null : row.path,
    oldContent,
    newContent,
    ...(row.from === undefined ? {} : { oldMode: patchMode(row.from) }),
    ...(row.to === undefined ? {} : { newMode: patchMode(row.to) }),
  };
}

/** What a patch leaves out of this change. */
function lackOf({ from, to }: ChangeRow): Pick<FileChange, "notInPatch"> {
  if (from?.kind === "gap" || to?.kind === "gap") return { notInPatch: "its content was not captured" };
  if (from?.kind !== "file" || to?.kind !== "file" || from.mode === to.mode) return {};
  if (patchMode(from) !== patchMode(to)) return {};
  const [before, after] = [from.mode.toString(8), to.mode.toString(8)];
  return {
    notInPatch: `permissions ${before} → ${after}: git knows only whether a file is executable`,
  };
}

function hashOf(entry: Leaf): ObjectHash | undefined {
  return entry.kind === "gap" ? undefined : entry.hash;
}

function patchMode(entry: Leaf): PatchMode {
  if (entry.kind === "symlink") return "120000";
  return entry.kind === "file" && (entry.mode & 0o100) !== 0 ? "100755" : "100644";
}
