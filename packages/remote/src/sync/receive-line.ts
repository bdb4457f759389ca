/**
 * Brings a whole line into a store that is being built: its records, and every object that they need. Each parcel is
 * authenticated before it is decompressed, each object hashed before it is stored [T9].
 */
import type { ObjectHash, Receiver } from "@belay/engine";
import { LIMIT } from "../parcel/limits.ts";
import { OpenParcel } from "../parcel/parcel.ts";
import { DamageError, NewerFormatError } from "../parcel/damage.ts";
import { secretFor, type Space } from "../space/space.ts";
import { RemoteFailure } from "../stores/remote-store.ts";
import { Garbage } from "./garbage.ts";
import type { Surroundings } from "./surroundings.ts";
import { addToMirror, type KnownLine, type Mirror } from "./mirror.ts";
import { newestSweep } from "./look-at-sweeps.ts";
import { LineDamage, readLine, type Cover } from "./read-line.ts";
import { readUses } from "./read-uses.ts";

/** What was received. */
export interface ReceivedLine {
  readonly last: KnownLine;
  readonly parcels: number;
  readonly bytes: number;
}

/** Each is in memory, twice while it is put together. */
const PARCELS_IN_FLIGHT = 2;

/** What is compressed in a parcel has about so many times its bytes. */
const RAW_TIMES = 4;

/** Receives a whole line into a store. */
export async function receiveLine(
  space: Space,
  line: string,
  into: {
    readonly receiver: Omit<Receiver, "addRemote">;
    readonly mirror: Mirror;
    readonly progress?: ((done: number, total: number) => void) | undefined;
    readonly around?: Pick<Surroundings, "collectGarbage">;
  },
): Promise<ReceivedLine> {
  const { receiver, mirror, progress } = into;
  let needed: ReadonlySet<string> = new Set();
  let [last, bytes]: [KnownLine | undefined, number] = [undefined, 0];
  const seen = mirror.seen(line);
  const listed = new Set<string>();
  const there = async () => {
    for await (const { key } of space.store.list(space.names.parcels)) listed.add(key);
    return listed;
  };
  let unclaimed = 0;
  const isUnclaimed = async (newest: Cover) => {
    if (!(await namesWhatWasSwept(space, line, newest, listed))) return false;
    unclaimed = newest.to;
    return true;
  };
  const reading = { there, isUnclaimed };
  for await (const { key, segment, bytes: read } of readLine(space, line, undefined, reading)) {
    // [T15] what this home saw is still there, and the same
    if ((seen.get(segment.head.number) ?? segment.hash) !== segment.hash)
      throw new LineDamage("rolled-back", key, "another segment was here before");
    takeIn(key, () => {
      receiver.putRecords(segment.records);
      putFrames(segment.parcel, read, receiver);
    });
    // [T5] the newest list counts: what was repaired is elsewhere now
    needed = new Set(segment.uses);
    last = { number: segment.head.number, hash: segment.hash };
    addToMirror(mirror, line, segment);
    bytes += read.length;
  }
  if (last === undefined) {
    const reason =
      unclaimed === 0
        ? "there is no such line in the space"
        : "the line has nothing yet that its machine knows to be stored";
    throw new LineDamage("missing", space.names.segmentsOf(line), reason);
  }
  const furthest = Math.max(0, ...seen.keys());
  if (furthest > Math.max(last.number, unclaimed))
    throw new LineDamage("rolled-back", space.names.segment(line, furthest), "the line was longer before");
  // [R1514] where a base that names lost parcels was passed over, what it let go is still needed
  const named = mirror.parcels(line).filter((id) => listed.has(space.names.parcel(id)));
  needed = new Set([...needed, ...named]);
  receiver.withhold(mirror.withheld(line));
  const ids = [...needed];
  let done = 0;
  const garbage = new Garbage(into.around ?? {});
  const work = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      // not `bytes += await`: that adds to what there was before the wait
      const length = await receiveParcel(space, id, receiver);
      bytes += length;
      garbage.add(length * RAW_TIMES);
      progress?.(++done, needed.size);
    }
  };
  await Promise.all(Array.from({ length: PARCELS_IN_FLIGHT }, work));
  return { last, parcels: needed.size, bytes };
}

/**
 * [R2000] Whether a segment names parcels that a sweep deleted. It reached the server so late that they had been taken for the
 * rest of a push that never ended. Its machine has claimed nothing of it, and sends nothing else before it has repaired it. What is
 * missing for another reason is damage.
 */
async function namesWhatWasSwept(
  space: Space,
  line: string,
  { key, at, from, to }: Cover,
  there: ReadonlySet<string>,
): Promise<boolean> {
  const named = await readUses(space, { key, modified: at }, { line, from, to }).catch((error: unknown) => {
    // reading the line will say so
    if (error instanceof LineDamage || error instanceof DamageError) return undefined;
    throw error;
  });
  const missing =
    named?.uses.map((id) => space.names.parcel(id)).filter((parcel) => !there.has(parcel)) ?? [];
  if (named?.isTrue !== true || missing.length === 0) return false;
  const { deleting } = await newestSweep(space);
  return missing.every((parcel) => Object.hasOwn(deleting, parcel));
}

async function receiveParcel(space: Space, id: string, receiver: Pick<Receiver, "putPack">): Promise<number> {
  const key = space.names.parcel(id);
  // what arrived cut off or altered is asked for once more
  for (let isAgain = false; ; isAgain = true) {
    const got = await space.store.get(key);
    if (got === undefined) throw new LineDamage("missing", key, "a parcel that the line names is gone");
    try {
      takeIn(key, () => {
        const parcel = openContent(space, key, got.bytes);
        putFrames(parcel, got.bytes, receiver);
      });
      return got.bytes.length;
    } catch (error) {
      if (isAgain || !(error instanceof LineDamage)) throw error;
    }
  }
}

/** Opens a content parcel that is all here; throws when it is longer or shorter than it says. */
export function openContent(space: Space, key: string, bytes: Buffer): OpenParcel {
  const parcel = new OpenParcel(bytes, { key, kind: "content", secret: secretFor(space, bytes) });
  if (bytes.length !== parcel.length || bytes.length > LIMIT.parcelBytes)
    throw new LineDamage("damaged", key, "the parcel has another length than its directory says");
  return parcel;
}

function putFrames(parcel: OpenParcel, bytes: Buffer, receiver: Pick<Receiver, "putPack">): void {
  for (const [n, { kind, rawBytes, objects }] of parcel.frames.entries()) {
    if (kind !== "content") continue;
    const data = parcel.openFrame(n, parcel.ciphertextOf(n, bytes));
    receiver.putPack({
      data,
      rawBytes,
      objects: objects.map((one) => ({ ...one, hash: one.hash as ObjectHash })),
    });
  }
}

/** Whatever a parcel turns out to be: it is the parcel that is damaged, not this machine. */
function takeIn(key: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (error instanceof LineDamage || error instanceof NewerFormatError || error instanceof RemoteFailure)
      throw error;
    if (
      (error as { code?: string }).code === "DISK_FULL" ||
      (error as { code?: string }).code === "STORE_FULL"
    )
      throw error;
    throw new LineDamage("damaged", key, (error as Error).message, error);
  }
}
