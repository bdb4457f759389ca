/** How much a line has on the server. One listing of the parcels and one of the lines tell. */
import type { Space } from "../space/space.ts";
import { newestUses } from "./read-uses.ts";

/** The size of a line. */
export interface LineSize {
  /** Its segments, folds and parcels. */
  readonly objects: number;
  readonly bytes: number;
  /** How many other lines the space has. */
  readonly others: number;
}

/** The size of a line, with what it borrows. */
export async function sizeOf(space: Space, line: string): Promise<LineSize> {
  const { store, names } = space;
  const lines = new Set<string>();
  let [objects, bytes] = [0, 0];
  for await (const { key, size } of store.list(names.lines)) {
    const [, , of = ""] = key.split("/");
    lines.add(of);
    if (of === line) [objects, bytes] = [objects + 1, bytes + size];
  }
  const used = new Set([...(await newestUses(space, line))].map((id) => names.parcel(id)));
  for await (const { key, size } of store.list(names.parcels))
    if (used.has(key)) [objects, bytes] = [objects + 1, bytes + size];
  lines.delete(line);
  return { objects, bytes, others: lines.size };
}
