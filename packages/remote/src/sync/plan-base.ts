/**
 * What a base of a line holds: the newest record of everything that retention keeps, and where its objects are. It is
 * planned only where this store has every checkpoint that is kept, because only then it knows which objects they need.
 */
import type { Exchange, NeededObject, ObjectHash } from "@belay/engine";
import { MergedLine } from "../line/merged-line.ts";
import { WITHHELD, type Place } from "../line/object-index.ts";
import type { LineRecord } from "../line/segment.ts";
import type { Space } from "../space/space.ts";
import { arrivalsOf } from "./fold-line.ts";
import { readLine } from "./read-line.ts";

/** How long a space keeps checkpoints, by the server's clock. */
export interface Retention {
  /** Everything. */
  readonly allDays: number;
  /** Turns and messages. */
  readonly turnDays: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Kinds that are kept for good, and those that are kept longer than others. */
const PROTECTED = new Set(["manual", "initial", "approve"]);
const TURNS = new Set(["turn", "message"]);
/** Hashes in a record, in hexadecimal. */
const NAMES = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g;

/** What a base is made of. */
export interface BasePlan {
  readonly records: readonly LineRecord[];
  /** Objects that stay where they are. */
  readonly index: ReadonlyMap<string, Place>;
  /** Objects that move into new parcels: they rode inside segments, or most of their parcel is let go. */
  readonly needed: readonly NeededObject[];
}

/** What planning needs. */
export interface BasePlanning {
  readonly space: Space;
  readonly exchange: Exchange;
  readonly retention: Retention;
  /** The server's time. */
  readonly now: number;
}

/** Plans a base of a line up to its last segment; undefined when this store does not have all that is kept. */
export async function planBase(
  { space, exchange, retention, now }: BasePlanning,
  line: string,
  last: number,
): Promise<BasePlan | undefined> {
  const arrivals = await arrivalsOf(space, line);
  const merged = new MergedLine();
  let number = 0;
  for await (const { key, segment } of readLine(space, line)) {
    merged.add(segment, arrivals.get(key) ?? now);
    number = segment.head.number;
  }
  if (number !== last) return undefined;
  const dropped = letGo(merged, retention, now);
  merged.drop(dropped);
  const local = new Set(exchange.checkpoints());
  const kept = merged.checkpoints().map(({ record }) => record.id);
  if (!kept.every((id) => local.has(id))) return undefined;
  const records = merged.records();
  const needed = neededBy(exchange, kept);
  for (const record of records)
    for (const [name] of JSON.stringify(record).matchAll(NAMES))
      if (merged.objects.has(name) && !needed.has(name))
        needed.set(name, { hash: name as ObjectHash, isTree: false });
  return { records, ...placesOf(merged, needed) };
}

/** The checkpoints that are old enough to go. The newest one stays, and what is named, tagged or protected. */
function letGo(merged: MergedLine, { allDays, turnDays }: Retention, now: number): Set<string> {
  const all = merged.checkpoints();
  const tagged = merged.tagged();
  const gone = all.filter(({ record: { id, row }, arrivedAt }) => {
    if (PROTECTED.has(String(row["kind"])) || tagged.has(id) || (row["name"] ?? null) !== null) return false;
    const days = TURNS.has(String(row["kind"])) ? turnDays : allDays;
    return now - arrivedAt > days * DAY_MS && id !== all.at(-1)!.record.id;
  });
  return new Set(gone.map(({ record }) => record.id));
}

function neededBy(exchange: Exchange, checkpoints: readonly string[]): Map<string, NeededObject> {
  const needed = new Map<string, NeededObject>();
  for (const id of checkpoints)
    for (const object of exchange.needed(id, (hash) => needed.has(hash))) needed.set(object.hash, object);
  return needed;
}

/** Parcels of which less than half is needed are given up, and so is what rode inside segments. */
function placesOf(
  merged: MergedLine,
  needed: ReadonlyMap<string, NeededObject>,
): { index: Map<string, Place>; needed: NeededObject[] } {
  const total = new Map<string, number>();
  const live = new Map<string, number>();
  for (const [name, { parcel }] of merged.index) {
    total.set(parcel, (total.get(parcel) ?? 0) + 1);
    if (needed.has(name)) live.set(parcel, (live.get(parcel) ?? 0) + 1);
  }
  const isKept = (parcel: string) => parcel === WITHHELD || (live.get(parcel) ?? 0) * 2 >= total.get(parcel)!;
  const index = new Map([...merged.index].filter(([name, { parcel }]) => needed.has(name) && isKept(parcel)));
  const moving = [...needed.values()].filter(({ hash }) => merged.objects.has(hash) && !index.has(hash));
  return { index, needed: moving };
}
