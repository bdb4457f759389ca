/** Turns offsets into a text into lines, counted from 1. */
export type LineAt = (offset: number) => number;

/** Counts the lines of a text once. */
export function lineCounter(text: string): LineAt {
  const breaks: number[] = [];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) breaks.push(at);
  return (offset) => {
    let [low, high] = [0, breaks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (breaks[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
