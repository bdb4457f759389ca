/** How much a space holds, and how much of it each member's lines need: what several need counts for each of them. */
import { writerOfLine } from "../space/writer-rights.ts";
import type { Space } from "../space/space.ts";
import { listLines } from "./read-line.ts";
import { newestUses } from "./read-uses.ts";

/** What a space holds. */
export interface SpaceUsage {
  readonly bytes: number;
  readonly members: readonly { readonly member: string; readonly name: string; readonly bytes: number }[];
}

/** Asks the server for everything that a space has: one listing, and the newest list of each line. */
export async function readUsage(space: Space): Promise<SpaceUsage> {
  const { store, names, members } = space;
  const sizes = new Map<string, number>();
  for await (const { key, size } of store.list(`${space.id}/`)) sizes.set(key, size);
  const bytesBy = new Map<string, number>();
  for (const line of await listLines(space)) {
    const writer = writerOfLine(space, { line, member: line });
    const own = [...sizes].filter(([key]) => key.startsWith(names.segmentsOf(line)));
    const used = [...(await newestUses(space, line))].map((id) => sizes.get(names.parcel(id)) ?? 0);
    const bytes = [...own.map(([, size]) => size), ...used].reduce((sum, size) => sum + size, 0);
    bytesBy.set(writer, (bytesBy.get(writer) ?? 0) + bytes);
  }
  return {
    bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    members: [...bytesBy].map(([member, bytes]) => ({
      member,
      name: members.get(member)?.name ?? member.slice(0, 8),
      bytes,
    })),
  };
}
