/**
 * One file with some of its hunks: the old content in which only the chosen changes are made. Hunks are counted from 0,
 * as a diff with three lines around each change shows them.
 */
import { isBinary, TEXT_DIFF_LIMIT_BYTES } from "./content-kind.ts";
import { groupIntoHunks, type Hunk } from "./hunks.ts";
import { diffLines, joinLines, splitLines, type Lines } from "./lines.ts";

/** Unchanged lines around each change; changes closer than twice this are one hunk. */
const HUNK_CONTEXT = 3;

/** Two versions of a file as hunks; undefined where they have no lines to choose from. */
export function hunksBetween(before: Buffer, after: Buffer): FileHunks | undefined {
  if (Math.max(before.length, after.length) > TEXT_DIFF_LIMIT_BYTES) return undefined;
  if (isBinary(before) || isBinary(after)) return undefined;
  return new FileHunks(splitLines(before), splitLines(after));
}

/** The hunks between two versions of a file. */
export class FileHunks {
  readonly #before: Lines;
  readonly #after: Lines;
  readonly #hunks: readonly Hunk[];

  constructor(before: Lines, after: Lines) {
    this.#before = before;
    this.#after = after;
    const options = { context: HUNK_CONTEXT, oldLength: before.length };
    this.#hunks = groupIntoHunks(diffLines(before, after), options);
  }

  get count(): number {
    return this.#hunks.length;
  }

  /** The old version with only these hunks in it. */
  with(chosen: ReadonlySet<number>): Buffer {
    const lines: string[] = [];
    let copied = 0;
    const copy = (source: Lines, from: number, to: number) => {
      for (let at = from; at < to; at += 1) lines.push(source[at]!);
    };
    this.#hunks.forEach(({ changes }, number) => {
      for (const [oldStart, oldEnd, newStart, newEnd] of chosen.has(number) ? changes : []) {
        copy(this.#before, copied, oldStart);
        copy(this.#after, newStart, newEnd);
        copied = oldEnd;
      }
    });
    copy(this.#before, copied, this.#before.length);
    return joinLines(lines);
  }
}
