/** Whether it is time to restate a whole line: weekly, or when it has many folds. One listing of the line tells. */
import { spanIn } from "../line/keys-of-space.ts";
import type { Space } from "../space/space.ts";

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** So many folds are restated whether or not something is let go. */
const MANY_FOLDS = 64;

/** How much a base of a line is wanted: `never` yet, `dropping` if it lets something go, `always` because there are many folds. */
export async function wantsBase(
  { store, names }: Space,
  line: string,
  now: number,
): Promise<"never" | "dropping" | "always"> {
  let [folds, first, base] = [0, now, 0];
  for await (const { key, modified } of store.list(names.segmentsOf(line))) {
    const span = spanIn(key);
    if (span === undefined) continue;
    first = Math.min(first, modified);
    if (span.to === span.from) continue;
    folds++;
    if (span.from === 1) base = Math.max(base, modified);
  }
  if (folds > MANY_FOLDS) return "always";
  return now - (base === 0 ? first : base) >= WEEK_MS ? "dropping" : "never";
}
