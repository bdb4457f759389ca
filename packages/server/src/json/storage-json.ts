/** How much the store takes, in the contract's shape. */
import type { Stats } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { optionalTime } from "./thread-json.ts";

/** The figures of a store; `bytes` is what it takes on disk. */
export function storageJson(stats: Stats): Json<typeof shapes.storage> {
  const { oldest, newest } = stats;
  return { ...stats, bytes: stats.diskBytes, oldest: optionalTime(oldest), newest: optionalTime(newest) };
}
