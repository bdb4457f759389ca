/** Brings what this home knows of its own line up to the line itself. */
import type { RemoteEntry } from "@belay/engine";
import { LineTaken } from "./line-taken.ts";
import { addToMirror } from "./mirror.ts";
import type { PushTarget } from "./push-target.ts";
import { LineDamage, listParcels, readLine } from "./read-line.ts";
import type { SweepsSeen } from "./sweeps-seen.ts";

/** The mirror may be lost or behind: the line itself says what it holds. */
export async function catchUpMirror(
  { mirror, space }: Pick<PushTarget, "mirror" | "space">,
  { line, segment, segmentHash: hash }: RemoteEntry,
  sweeps: SweepsSeen,
): Promise<void> {
  const known = mirror.last(line);
  if (segment === 0 || (known?.number === segment && known.hash === hash)) return;
  const isThere = await sweeps.presentParcels();
  const reading = { there: () => listParcels(space) };
  for await (const { segment: read, key } of readLine(space, line, undefined, reading)) {
    // [T4] a copy of this store is further, and has restated the line
    if (read.head.number > segment) throw new LineTaken(key);
    if (read.head.number === segment && read.hash !== hash) break;
    addToMirror(mirror, line, read, isThere);
    if (read.head.number === segment) return;
  }
  // [T15]
  throw new LineDamage(
    "rolled-back",
    space.names.segment(line, segment),
    "the segment that this store wrote last is not there any more",
  );
}
