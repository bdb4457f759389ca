/** Groups the changes of both sides of a merge into regions that must be decided as a whole. */
import type { LineChange } from "../diff/lines.ts";

/** Lines `[start, end)`, counted from 0. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** The same place in the three contents of a merge, and which side changed it. */
export interface MergeRegion {
  readonly base: LineRange;
  readonly ours: LineRange;
  readonly theirs: LineRange;
  readonly changedBy: "ours" | "theirs" | "both";
}

/**
 * The changed regions of base in order. Between two of them is at least one line that neither side changed.
 */
export function touchingChanges(ours: readonly LineChange[], theirs: readonly LineChange[]): MergeRegion[] {
  const regions: MergeRegion[] = [];
  const [oursCursor, theirsCursor] = [new SideCursor(ours), new SideCursor(theirs)];
  for (;;) {
    const start = Math.min(oursCursor.nextStart, theirsCursor.nextStart);
    if (start === Infinity) return regions;
    let end = start;
    let reached = start;
    do {
      end = reached;
      reached = Math.max(end, oursCursor.takeTouching(end), theirsCursor.takeTouching(end));
    } while (reached > end);
    const [oursPart, theirsPart] = [oursCursor.cut({ start, end }), theirsCursor.cut({ start, end })];
    const changedBy = !theirsPart.changed ? "ours" : !oursPart.changed ? "theirs" : "both";
    regions.push({ base: { start, end }, ours: oursPart.range, theirs: theirsPart.range, changedBy });
  }
}

/** Walks one side's changes and tracks how far its lines are shifted against base. */
class SideCursor {
  readonly #changes: readonly LineChange[];
  #next = 0;
  #cutFrom = 0;

  constructor(changes: readonly LineChange[]) {
    this.#changes = changes;
  }

  get nextStart(): number {
    return this.#changes[this.#next]?.[0] ?? Infinity;
  }

  /**
   * Takes the changes that begin at or before a line of base (touching is enough) and returns where the last
   * one ends.
   */
  takeTouching(end: number): number {
    while (this.nextStart <= end) this.#next++;
    return this.#changes[this.#next - 1]?.[1] ?? 0;
  }

  /** This side's lines for a region of base, once all its changes were taken. */
  cut(base: LineRange): { range: LineRange; changed: boolean } {
    const changed = this.#next > this.#cutFrom;
    const range = { start: base.start + this.#shift(this.#cutFrom), end: base.end + this.#shift(this.#next) };
    this.#cutFrom = this.#next;
    return { range, changed };
  }

  #shift(changesBefore: number): number {
    const last = this.#changes[changesBefore - 1];
    return last === undefined ? 0 : last[3] - last[1];
  }
}
