/** How much did something change? Path by path from its first change to its last, in files and in lines. */
import { isBinary, TEXT_DIFF_LIMIT_BYTES } from "../diff/content-kind.ts";
import { countChanges } from "../diff/count-changes.ts";
import { pairRenames } from "../diff/renames.ts";
import { countLines } from "../diff/unified.ts";
import type { ListedChange } from "../history/timeline-facts.ts";
import type { BytePath } from "../model/byte-path.ts";
import { isLeaf, sameNode, type Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import type { TimelineCounts } from "../model/timeline.ts";
import type { ObjectSource, ObjectStore } from "../store/object-store.ts";

/** From the first entry of each path to its last; paths that ended as they began are left out. */
export function netChanges(changes: readonly ListedChange[]): Edit[] {
  const byPath = new Map<BytePath, { from: Entry | undefined; to: Entry | undefined }>();
  for (const { path, old, new: to } of changes) {
    const known = byPath.get(path);
    byPath.set(path, { from: known === undefined ? old : known.from, to });
  }
  return [...byPath]
    .map(([path, { from, to }]) => ({ path, from, to }))
    .filter(({ from, to }) => !sameNode(from, to));
}

/** Of more files than this the lines are not counted: a list must not wait for an `npm install`. */
const COUNTED_FILES = 100;
/** How many pairs of contents are remembered. */
const REMEMBERED = 20_000;

/** Counts files, and perhaps lines. */
export interface ChangeCounter {
  count(edits: readonly Edit[]): TimelineCounts;
  /** Tells what is going to be counted: the contents are then read in the order in which they are stored. */
  expect(all: Iterable<readonly Edit[]>): void;
}

/** Counts files only. */
export const NO_LINES: ChangeCounter = {
  count: (edits) => ({ ...countChanges(edits), plus: null, minus: null }),
  expect: () => {},
};

/** Contents, and in which pack each of them is. */
type PackedSource = Pick<ObjectSource, "read"> & Pick<ObjectStore, "packOf">;

/** Counts lines, each pair of contents once: what was compared never changes. */
export class LineCounter implements ChangeCounter {
  readonly #objects: PackedSource;
  readonly #known = new Map<string, { plus: number; minus: number } | null>();

  constructor(objects: PackedSource) {
    this.#objects = objects;
  }

  /**
   * After `gc` the versions of a file lie together in packs of 4 MiB, and few of them stay in memory: row by row, a page
   * of a hundred rows would decompress a pack for almost every file.
   */
  expect(all: Iterable<readonly Edit[]>): void {
    const waiting: { edit: Edit; pack: number }[] = [];
    for (const edits of all)
      for (const edit of countedIn(edits)) {
        if (this.#known.has(pairOf(edit))) continue;
        waiting.push({ edit, pack: this.#objects.packOf(contentOf(edit.to) || contentOf(edit.from)) });
      }
    for (const { edit } of waiting.sort((a, b) => a.pack - b.pack)) this.#lines(edit);
  }

  /** Files and lines. Lines are null when one of the files has none, or is not in the store. */
  count(edits: readonly Edit[]): TimelineCounts {
    const files = edits.filter(({ from, to }) => isLeaf(from) || isLeaf(to));
    let [plus, minus] = [0, 0];
    for (const edit of countedIn(edits)) {
      const lines = this.#lines(edit);
      plus += lines?.plus ?? 0;
      minus += lines?.minus ?? 0;
    }
    const counted = files.length > COUNTED_FILES ? { plus: null, minus: null } : { plus, minus };
    return { ...countChanges(edits), ...counted };
  }

  /** Null where the file is binary, too large or not in the store: it counts as a file without lines. */
  #lines({ from, to }: Edit): { plus: number; minus: number } | null {
    const [before, after] = [contentOf(from), contentOf(to)];
    if (before === after) return null;
    if (Math.max(sizeOf(from), sizeOf(to)) > TEXT_DIFF_LIMIT_BYTES) return null;
    const key = pairOf({ from, to });
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const counted = this.#compare(before, after);
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(key, counted);
    return counted;
  }

  #compare(before: string, after: string): { plus: number; minus: number } | null {
    try {
      const contents = [before, after].map((hash) =>
        hash === "" ? NO_CONTENT : this.#objects.read(hash as ObjectHash),
      );
      const [old, now] = contents as [Buffer, Buffer];
      if (isBinary(old) || isBinary(now)) return null;
      const { linesAdded, linesDeleted } = countLines(old, now);
      return { plus: linesAdded, minus: linesDeleted };
    } catch (error) {
      // damaged or forgotten content must not hide the row
      if (error instanceof EngineError) return null;
      throw error;
    }
  }
}

/** The files whose lines are counted. */
function countedIn(edits: readonly Edit[]): readonly Edit[] {
  const files = edits.filter(({ from, to }) => isLeaf(from) || isLeaf(to));
  return files.length > COUNTED_FILES ? [] : withoutMoved(files);
}

function pairOf({ from, to }: Pick<Edit, "from" | "to">): string {
  return `${contentOf(from)} ${contentOf(to)}`;
}

/** A file that only moved has no changed lines. */
function withoutMoved(edits: readonly Edit[]): readonly Edit[] {
  const side = (which: "from" | "to", other: "from" | "to") =>
    edits.flatMap((edit) =>
      edit[which] !== undefined && edit[other] === undefined ? [{ path: edit.path, entry: edit[which] }] : [],
    );
  const { renames } = pairRenames(side("from", "to"), side("to", "from"));
  if (renames.length === 0) return edits;
  const moved = new Set(renames.flatMap(({ from, to }) => [from.path, to.path]));
  return edits.filter(({ path }) => !moved.has(path));
}

const NO_CONTENT = Buffer.alloc(0);

function contentOf(entry: Entry | undefined): ObjectHash | "" {
  return entry?.kind === "file" || entry?.kind === "symlink" ? entry.hash : "";
}

function sizeOf(entry: Entry | undefined): number {
  return entry === undefined || entry.kind === "directory" ? 0 : entry.size;
}
