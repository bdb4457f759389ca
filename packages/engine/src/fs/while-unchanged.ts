/** A value read from small files, cached while the files stay the same. */
import type { AbsolutePath } from "./absolute-path.ts";
import { readFileClock } from "./file-clock.ts";
import { statNode } from "./file-stat.ts";

/** A file this young may change again without its times showing it. */
const YOUNG_NS = 50_000_000n;

/** The value of `read` for the files as they are now. */
export function whileUnchanged<Value>(paths: readonly AbsolutePath[], read: () => Value): () => Value {
  let known: { key: string; value: Value } | undefined;
  return () => {
    const key = keyOf(paths);
    if (key === undefined || known?.key !== key) known = { key: key ?? "", value: read() };
    return known.value;
  };
}

/** Undefined when the files are too young for their times to identify them. */
function keyOf(paths: readonly AbsolutePath[]): string | undefined {
  const young = readFileClock() - YOUNG_NS;
  const stats = paths
    .map((path) => ({ path, stat: statNode(path) }))
    // a database's log exists and is empty while a process only reads
    .map(({ path, stat }) => (stat?.size === 0n && path.endsWith("-wal") ? undefined : stat));
  if (stats.some((stat) => stat !== undefined && stat.mtimeNs >= young)) return undefined;
  return stats
    .map((stat) => (stat === undefined ? "-" : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`))
    .join();
}
