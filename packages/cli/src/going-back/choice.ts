/** Which files of a plan go back, and which of their hunks. Everything does until it is switched off. */
import type { ChosenHunks, PlannedFile } from "@belay/engine";

/** One file and what of it was chosen. */
export interface ChosenFile {
  readonly file: PlannedFile;
  chosen: "all" | "none" | ReadonlySet<number>;
}

/** The choice among the files of one plan. */
export class Choice {
  readonly files: readonly ChosenFile[];

  constructor(files: readonly PlannedFile[]) {
    this.files = files.map((file) => ({ file, chosen: "all" }));
  }

  /** How many files would change. */
  get count(): number {
    return this.files.filter(({ chosen }) => chosen !== "none").length;
  }

  /** Switches a file off, or all of it on. */
  toggle(index: number): void {
    const file = this.files[index]!;
    file.chosen = file.chosen === "none" ? "all" : "none";
  }

  setAll(chosen: "all" | "none"): void {
    for (const file of this.files) file.chosen = chosen;
  }

  /** Of a file only these hunks, of so many. */
  setHunks(index: number, hunks: ReadonlySet<number>, of: number): void {
    this.files[index]!.chosen = hunks.size === 0 ? "none" : hunks.size === of ? "all" : hunks;
  }

  /** What limits the plan: the files of which not everything was chosen. */
  limits(): ChosenHunks[] {
    return this.files
      .filter(({ chosen }) => chosen !== "all")
      .map(({ file: { path }, chosen }) => ({
        path,
        hunks: typeof chosen === "string" ? [] : [...chosen].sort((a, b) => a - b),
      }));
  }
}

/** `1 3-5,8` as indices from 0; undefined where it is anything else, or a number that no file has. */
export function parseNumbers(text: string, count: number): number[] | undefined {
  const numbers: number[] = [];
  for (const part of text.split(/[\s,]+/).filter((each) => each !== "")) {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (first === undefined || last === undefined) return undefined;
    const [from, to] = [Number(first), Number(last)];
    if (from < 1 || to > count || from > to) return undefined;
    for (let number = from; number <= to; number += 1) numbers.push(number - 1);
  }
  return numbers.length === 0 ? undefined : numbers;
}
