/** A value read from small files, cached while the files stay the same. */
import type { AbsolutePath } from "./absolute-path.ts";
import { readFileClock } from "./file-clock.ts";
import { statNode, type FileStat } from "./file-stat.ts";

/** A file this young may change again without its times showing it. */
const YOUNG_NS = 50_000_000n;

/** The value of `read` for the files as they are now. */
export function whileUnchanged<Value>(paths: readonly AbsolutePath[], read: () => Value): () => Value {
  let known: { key: string; value: Value } | undefined;
  return () => {
    const stats = paths.map(statOf);
    const key = stats.map(keyOf).join();
    // what was old when it was read cannot change any more without its times showing it
    if (known?.key === key) return known.value;
    const young = readFileClock() - YOUNG_NS;
    const isYoung = stats.some((stat) => stat !== undefined && stat.mtimeNs >= young);
    const value = read();
    known = isYoung ? undefined : { key, value };
    return value;
  };
}

/** A database's log exists and is empty while a process only reads. */
function statOf(path: AbsolutePath): FileStat | undefined {
  const stat = statNode(path);
  return stat?.size === 0n && path.endsWith("-wal") ? undefined : stat;
}

function keyOf(stat: FileStat | undefined): string {
  return stat === undefined ? "-" : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}
