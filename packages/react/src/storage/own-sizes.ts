/** How much each checkpoint was the first to hold: counted in another process, so at most every so often. */
import { useCallback, useEffect, useMemo, useState } from "react";
import { useBelay } from "../data/belay.tsx";
import { useLoaded } from "../data/loaded.ts";

/** The own size of a checkpoint; undefined while it is not known. */
export type OwnSize = (checkpoint: { readonly id: string; readonly seq: number }) => number | undefined;

const AGAIN_MS = 10_000;

/** Own sizes; where checkpoints come, or go, they are counted again. */
export function useOwnSizes(newest: number, changes: number): OwnSize {
  const { client, workspace } = useBelay();
  // a filter may show older ones only
  const [seen, setSeen] = useState(newest);
  if (newest > seen) setSeen(newest);
  const counted = useSlowly(seen);
  const { value } = useLoaded(
    counted === 0 ? null : `own ${workspace} ${counted} ${changes} !`,
    async () => ({
      newest: counted,
      usage: await client.call("GET /api/storage/usage", { query: { workspace, by: "checkpoint" } }),
    }),
  );
  const sizes = useMemo(
    () => new Map(value?.usage.groups.map(({ key, storedBytes }) => [key, storedBytes])),
    [value],
  );
  return useCallback(
    ({ id, seq }) => (value === undefined || seq > value.newest ? undefined : (sizes.get(id) ?? 0)),
    [value, sizes],
  );
}

/** A number that follows another at once from 0, and then no faster than it can be counted. */
function useSlowly(value: number): number {
  const [shown, setShown] = useState(value);
  useEffect(() => {
    if (shown === value) return;
    const timer = setTimeout(() => setShown(value), shown === 0 ? 0 : AGAIN_MS);
    return () => clearTimeout(timer);
    // a value that comes while the timer runs is taken when it ends
  }, [shown === value]);
  return shown;
}
