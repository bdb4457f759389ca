/** How much the store takes, in the contract's shape. */
import type { BytePath, SpaceUsage, Stats, UsageBy } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { pathJson } from "./path-json.ts";
import { optionalTime } from "./thread-json.ts";

/** The figures of a store; `bytes` is what it takes on disk. */
export function storageJson(stats: Stats): Json<typeof shapes.storage> {
  const { oldest, newest } = stats;
  return { ...stats, bytes: stats.diskBytes, oldest: optionalTime(oldest), newest: optionalTime(newest) };
}

/** Who takes the space of a store. */
export function usageJson(by: UsageBy, { groups, shared, rest }: SpaceUsage): Json<typeof shapes.spaceUsage> {
  return {
    by,
    groups: groups.map(({ key, ...use }) => ({
      ...(by === "directory" ? directoryJson(key) : { key }),
      ...use,
    })),
    shared,
    rest,
  };
}

function directoryJson(key: string | null) {
  const { path, pathBase64 } = pathJson((key ?? "") as BytePath);
  return { key: path, ...(pathBase64 === undefined ? {} : { keyBase64: pathBase64 }) };
}
