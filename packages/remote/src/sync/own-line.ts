/** Whether the server still has what this store wrote last: only its writer can tell when no other machine had read it. */
import type { RemoteEntry } from "@belay/engine";
import { spanIn } from "../line/keys-of-space.ts";
import { segmentHash } from "../line/segment.ts";
import type { Space } from "../space/space.ts";
import { LineDamage } from "./read-line.ts";

/** [R1500] Throws when the last segment of this store's line is gone or is another one, and no fold restates it. */
export async function expectOwnLine(space: Space, entry: RemoteEntry): Promise<void> {
  const { line, segment, segmentHash: hash } = entry;
  if (segment === 0 || hash === null) return;
  const { store, names } = space;
  const isOurs = async (key: string) => {
    const got = await store.get(key);
    return got !== undefined && segmentHash(got.bytes) === hash;
  };
  const plain = names.segment(line, segment);
  if (await isOurs(plain)) return;
  for await (const { key } of store.list(names.segmentsOf(line))) {
    const span = spanIn(key);
    if (span === undefined || span.from > segment || span.to < segment) continue;
    if (span.to > span.from || (key !== plain && (await isOurs(key)))) return;
  }
  throw new LineDamage(
    "rolled-back",
    plain,
    "the segment that this store wrote last is gone, or is another one",
  );
}
