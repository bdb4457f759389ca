/** Which parts of two lines differ, by words: shown underlined, so that they show without colour. */

/** A stretch of a line. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

const WORDS = /\w+|\s+|[^\w\s]/gu;
/** Beyond this, lines are compared by their beginnings and ends only. */
const MOST_WORDS = 200;
/** Lines with less in common are two lines, not one that changed. */
const LEAST_COMMON = 0.3;

/** The stretches of the old and the new line that differ; undefined when the lines have too little in common. */
export function changedWords(before: string, after: string): [Stretch[], Stretch[]] | undefined {
  const [a, b] = [before.match(WORDS) ?? [], after.match(WORDS) ?? []];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [middleA, middleB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const common =
    middleA.length > MOST_WORDS || middleB.length > MOST_WORDS ? [] : commonWords(middleA, middleB);
  const isCommon = (word: string) => word.trim() !== "";
  const shared = [...a.slice(0, start), ...common.map(([at]) => middleA[at]!), ...a.slice(a.length - end)];
  const weight = (words: readonly string[]) => words.filter(isCommon).join("").length;
  if (weight(shared) < LEAST_COMMON * Math.max(weight(a), weight(b))) return undefined;
  return [
    stretches(a, start, middleA.length, new Set(common.map(([at]) => at))),
    stretches(b, start, middleB.length, new Set(common.map(([, at]) => at))),
  ];
}

/** The longest common sequence, as pairs of places. */
function commonWords(a: readonly string[], b: readonly string[]): [number, number][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i]![j] =
        a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  const pairs: [number, number][] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i += 1;
    else j += 1;
  }
  return pairs;
}

function stretches(
  words: readonly string[],
  start: number,
  count: number,
  common: ReadonlySet<number>,
): Stretch[] {
  const found: Stretch[] = [];
  let at = words.slice(0, start).join("").length;
  for (let index = 0; index < count; index += 1) {
    const { length } = words[start + index]!;
    const last = found.at(-1);
    if (!common.has(index)) {
      if (last?.to === at) found[found.length - 1] = { from: last.from, to: at + length };
      else found.push({ from: at, to: at + length });
    }
    at += length;
  }
  return found;
}
