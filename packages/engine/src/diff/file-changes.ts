/** Edits as changed files: renames found, lines counted, unified diffs made; binary and huge files only named. */
import type { BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import type { DiffDetail, FileChange } from "../model/file-change.ts";
import type { Edit } from "../model/plan.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { isBinary, TEXT_DIFF_LIMIT_BYTES } from "./content-kind.ts";
import { pairRenames } from "./renames.ts";
import { countLines, unifiedDiff, type PatchMode } from "./unified.ts";

type AttributionOf = (path: BytePath) => FileChange["attribution"];

/** One row per changed file, in path order. Directories are not files; gaps are changes without content. */
export function fileChanges(
  objects: ObjectSource,
  edits: readonly Edit[],
  options: { detail: DiffDetail; attributionOf?: AttributionOf },
): FileChange[] {
  const rows = pairMoved(edits.flatMap(toRows));
  const describe = new ChangeDescriber(objects, options.detail);
  return rows
    .map((row) => ({ ...describe.row(row), attribution: options.attributionOf?.(row.path) ?? null }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

interface ChangeRow {
  readonly path: BytePath;
  readonly formerPath?: BytePath;
  readonly from: Leaf | undefined;
  readonly to: Leaf | undefined;
}

type Leaf = Exclude<Entry, { kind: "directory" }>;

/** A file that became a link, or the reverse, is one deleted and one added: that is what a patch can say. */
function toRows({ path, from, to }: Edit): ChangeRow[] {
  const [before, after] = [leafOf(from), leafOf(to)];
  if (before === undefined && after === undefined) return [];
  return [{ path, from: before, to: after }];
}

function leafOf(entry: Entry | undefined): Leaf | undefined {
  return entry?.kind === "directory" ? undefined : entry;
}

function pairMoved(rows: readonly ChangeRow[]): ChangeRow[] {
  const gone = rows.filter(({ to }) => to === undefined).map(({ path, from }) => ({ path, entry: from! }));
  const come = rows.filter(({ from }) => from === undefined).map(({ path, to }) => ({ path, entry: to! }));
  const { renames } = pairRenames(gone, come);
  if (renames.length === 0) return [...rows];
  const paired = new Set(renames.flatMap(({ from, to }) => [from.path, to.path]));
  const moved = renames.map(({ from, to }): ChangeRow => ({
    path: to.path,
    formerPath: from.path,
    from: leafOf(from.entry),
    to: leafOf(to.entry),
  }));
  return [
    ...rows.filter(({ path, from, to }) => !paired.has(path) || (from !== undefined && to !== undefined)),
    ...moved,
  ];
}

class ChangeDescriber {
  readonly #objects: ObjectSource;
  readonly #detail: DiffDetail;

  constructor(objects: ObjectSource, detail: DiffDetail) {
    this.#objects = objects;
    this.#detail = detail;
  }

  row(row: ChangeRow): Omit<FileChange, "attribution"> {
    const head = {
      path: row.path,
      ...(row.formerPath === undefined ? {} : { from: row.formerPath }),
      type: typeOf(row),
    };
    const tooLarge =
      Math.max(row.from?.size ?? 0, row.to?.size ?? 0) > TEXT_DIFF_LIMIT_BYTES ||
      isGap(row.from) ||
      isGap(row.to);
    const without = { ...head, linesAdded: null, linesDeleted: null, tooLarge };
    if (this.#detail === "names") return { ...without, binary: false };
    if (tooLarge) return { ...without, binary: false, ...this.#noText() };
    const [before, after] = [this.#content(row.from), this.#content(row.to)];
    if (isBinary(before) || isBinary(after)) return { ...without, binary: true, ...this.#noText() };
    return { ...head, tooLarge, binary: false, ...this.#compare(row, before, after) };
  }

  #noText(): Pick<FileChange, "diff" | "patch"> {
    return this.#detail === "text" ? { diff: null, patch: null } : {};
  }

  #content(entry: Leaf | undefined): Buffer {
    return entry === undefined || entry.kind === "gap" ? Buffer.alloc(0) : this.#objects.read(entry.hash);
  }

  #compare(
    row: ChangeRow,
    before: Buffer,
    after: Buffer,
  ): Pick<FileChange, "linesAdded" | "linesDeleted" | "diff" | "patch"> {
    if (this.#detail === "counts") return countLines(before, after);
    const { linesAdded, linesDeleted, bytes, text } = unifiedDiff({
      oldPath: row.from === undefined ? null : (row.formerPath ?? row.path),
      newPath: row.to === undefined ? null : row.path,
      oldContent: before,
      newContent: after,
      ...(row.from === undefined ? {} : { oldMode: patchMode(row.from) }),
      ...(row.to === undefined ? {} : { newMode: patchMode(row.to) }),
    });
    return { linesAdded, linesDeleted, diff: text, patch: bytes };
  }
}

function isGap(entry: Leaf | undefined): boolean {
  return entry?.kind === "gap";
}

function typeOf({ formerPath, from, to }: ChangeRow): FileChange["type"] {
  if (formerPath !== undefined) return "renamed";
  if (from === undefined) return "added";
  if (to === undefined) return "deleted";
  const onlyMode = from.kind === "file" && to.kind === "file" && from.hash === to.hash;
  return onlyMode ? "mode" : "modified";
}

function patchMode(entry: Leaf): PatchMode {
  if (entry.kind === "symlink") return "120000";
  return entry.kind === "file" && (entry.mode & 0o100) !== 0 ? "100755" : "100644";
}
