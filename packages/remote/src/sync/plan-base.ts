/**
 * What a base of a line holds: the newest record of everything that retention keeps, and where its objects are. It is
 * planned only where this store has every checkpoint that is kept, because only then it knows which objects they need.
 */
import type { Exchange, NeededObject, ObjectHash } from "@belay/engine";
import { MergedLine } from "../line/merged-line.ts";
import { WITHHELD, type Place } from "../line/object-index.ts";
import type { LineRecord } from "../line/segment.ts";
import type { Retention } from "../space/policy.ts";
import type { Space } from "../space/space.ts";
import { arrivalsOf } from "./fold-line.ts";
import { listParcels, readLine } from "./read-line.ts";

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
  /** Where the base forgets: the parcels that are given up because they hold something that is not needed. */
  readonly forgets: readonly string[];
  /** How many checkpoints it leaves out. */
  readonly dropped: number;
}

/** What planning needs. */
export interface BasePlanning {
  readonly space: Space;
  readonly exchange: Exchange;
  readonly retention: Retention;
  /** The server's time. */
  readonly now: number;
  /** Nothing that is not needed may stay in a parcel of the line, and what the store forgot goes too. */
  readonly isForgetting: boolean;
  /** This store has what the line has and nothing else: what is needed and has no place in the index gets one. */
  readonly isWhole?: boolean;
  /** What is to be said besides: newer than what the line says. */
  readonly changed?: readonly LineRecord[] | undefined;
  /** [T8] Whether a parcel is condemned or was deleted. */
  readonly isBanned: (parcel: string) => boolean;
}

/** Plans a base of a line up to its last segment; undefined when this store does not have all that is kept. */
export async function planBase(
  planning: BasePlanning,
  line: string,
  last: number,
): Promise<BasePlan | undefined> {
  const { space, exchange, retention, now, isForgetting, isBanned, isWhole = false } = planning;
  const { changed = [] } = planning;
  const arrivals = await arrivalsOf(space, line);
  let listed: ReadonlySet<string> = new Set();
  // [R1814] a base before counts, not the segments that it restates: they name what it gave up
  const there = async () => (listed = await listParcels(space));
  const merged = new MergedLine();
  let number = 0;
  for await (const { key, segment } of readLine(space, line, undefined, { there })) {
    merged.add(segment, arrivals.get(key) ?? now);
    number = segment.head.number;
  }
  if (number !== last) return undefined;
  merged.change(changed, now);
  const dropped = new Set([...letGo(merged, retention, now), ...(isForgetting ? merged.forgotten() : [])]);
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
  const isSafe = (parcel: string) => listed.has(space.names.parcel(parcel)) && !isBanned(parcel);
  return { records, dropped: dropped.size, ...placesOf(merged, needed, { isForgetting, isSafe, isWhole }) };
}

/** The checkpoints that are old enough to go. The newest one stays, and what is named, tagged or protected. */
function letGo(merged: MergedLine, { allDays, turnDays }: Retention, now: number): Set<string> {
  const all = merged.checkpoints();
  const tagged = merged.tagged();
  // by its number: what was forgotten in an old checkpoint sends that one again
  const seqOf = ({ record }: (typeof all)[number]) => Number(record.row["seq"]);
  const newest = all.toSorted((a, b) => seqOf(a) - seqOf(b)).at(-1);
  const gone = all.filter(({ record: { id, row }, arrivedAt }) => {
    if (PROTECTED.has(String(row["kind"])) || tagged.has(id) || (row["name"] ?? null) !== null) return false;
    const days = TURNS.has(String(row["kind"])) ? turnDays : allDays;
    return now - arrivedAt > days * DAY_MS && id !== newest?.record.id;
  });
  return new Set(gone.map(({ record }) => record.id));
}

function neededBy(exchange: Exchange, checkpoints: readonly string[]): Map<string, NeededObject> {
  const needed = new Map<string, NeededObject>();
  const { names } = exchange.keptBack(checkpoints, () => false);
  for (const id of checkpoints)
    for (const object of exchange.needed(id, (hash) => needed.has(hash), names))
      needed.set(object.hash, object);
  return needed;
}

/** Parcels of which less than half is needed are given up, and so is what rode inside segments. */
function placesOf(
  merged: MergedLine,
  needed: ReadonlyMap<string, NeededObject>,
  how: {
    readonly isForgetting: boolean;
    readonly isSafe: (parcel: string) => boolean;
    readonly isWhole: boolean;
  },
): Pick<BasePlan, "index" | "needed" | "forgets"> {
  const { isForgetting, isSafe, isWhole } = how;
  const total = new Map<string, number>();
  const live = new Map<string, number>();
  for (const [name, { parcel }] of merged.index) {
    total.set(parcel, (total.get(parcel) ?? 0) + 1);
    if (needed.has(name)) live.set(parcel, (live.get(parcel) ?? 0) + 1);
  }
  const least = isForgetting ? 1 : 0.5;
  const isKept = (parcel: string) =>
    parcel === WITHHELD || ((live.get(parcel) ?? 0) >= total.get(parcel)! * least && isSafe(parcel));
  const index = new Map([...merged.index].filter(([name, { parcel }]) => needed.has(name) && isKept(parcel)));
  const rest = [...needed.values()].filter(
    ({ hash }) => (isWhole || merged.objects.has(hash)) && !index.has(hash),
  );
  // [R2020] what was sent before it was withheld stays where it is, or goes with its parcel: it is not sent again
  const moving = rest.filter(({ isWithheld }) => isWithheld !== true);
  for (const { hash, isWithheld } of rest)
    if (isWithheld === true) index.set(hash, { parcel: WITHHELD, frame: 0 });
  const forgets = isForgetting ? [...total.keys()].filter((parcel) => !isKept(parcel)) : [];
  return { index, needed: moving, forgets };
}
