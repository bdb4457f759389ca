/** Reads something from small files once, and again when they are others. */
import type { AbsolutePath } from "./absolute-path.ts";
import { readFileClock } from "./file-clock.ts";
import { statNode } from "./file-stat.ts";

/** So young, a file may change again without a trace in its times. */
const YOUNG_NS = 50_000_000n;

/** The value that `read` gives for the files as they are now. */
export function whileFilesStand<Value>(paths: readonly AbsolutePath[], read: () => Value): () => Value {
  let known: { key: string; value: Value } | undefined;
  return () => {
    const key = keyOf(paths);
    if (key === undefined || known?.key !== key) known = { key: key ?? "", value: read() };
    return known.value;
  };
}

/** Undefined when the files are too young to be known by it. */
function keyOf(paths: readonly AbsolutePath[]): string | undefined {
  const young = readFileClock() - YOUNG_NS;
  const stats = paths
    .map((path) => ({ path, stat: statNode(path) }))
    // a database's log is there and empty while a process only reads
    .map(({ path, stat }) => (stat?.size === 0n && path.endsWith("-wal") ? undefined : stat));
  if (stats.some((stat) => stat !== undefined && stat.mtimeNs >= young)) return undefined;
  return stats
    .map((stat) => (stat === undefined ? "-" : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`))
    .join();
}
