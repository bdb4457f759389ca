/** Binary search in lists of paths that are in byte order. */

/** The index of the first path that is not before `wanted`; the length when there is none. */
export function firstAtOrAfter(paths: readonly string[], wanted: string): number {
  let low = 0;
  let high = paths.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (paths[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
