/** Whether a content is worth showing line by line. */

/** How much of a file's beginning decides whether it is binary. */
const BINARY_HEAD_BYTES = 8 * 1024;

/**
 * A larger file is named in a diff as "too large", without being loaded. 1 MiB is some 25,000 lines of code, more
 * than anyone reads; it is also the largest file that is a single object of the store, so that showing a diff never
 * puts chunks together.
 */
export const TEXT_DIFF_LIMIT_BYTES = 1024 * 1024;

/** True when there is a NUL in the beginning of a file (git's rule); UTF-16 is binary too. */
export function isBinary(head: Buffer): boolean {
  return head.subarray(0, BINARY_HEAD_BYTES).includes(0);
}
