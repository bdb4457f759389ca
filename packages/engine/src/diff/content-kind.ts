/** Whether content can be shown line by line. */

/** Only this much of a file's beginning decides whether it is binary. */
const BINARY_HEAD_BYTES = 8 * 1024;

/**
 * A diff names a larger file as "too large" without loading it. 1 MiB is some 25,000 lines of code, more than
 * people read. It is also the largest file stored as a single object, so that showing a diff never assembles
 * chunks.
 */
export const TEXT_DIFF_LIMIT_BYTES = 1024 * 1024;

/** True when the beginning of a file contains NUL (git's rule); UTF-16 is binary too. */
export function isBinary(head: Buffer): boolean {
  return head.subarray(0, BINARY_HEAD_BYTES).includes(0);
}
