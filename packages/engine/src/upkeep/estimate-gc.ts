/**
 * The dry run of gc: counts the same checkpoints, steps, objects and packs without freeing them. The size on
 * disk is unknown until the rest has been packed.
 */
import { stepsHeldBy } from "../history/step-rows.ts";
import { hashFromBytes, type ObjectHash } from "../model/object-hash.ts";
import type { StepSummary } from "../model/plan.ts";
import type { GcReport } from "../model/reports.ts";
import { COLD_PACK_BYTES } from "../store/pack.ts";
import { storeBytes, type Store } from "../store/store.ts";
import { Reachable, type Use } from "./reachable.ts";
import { compareUses, findDroppable, firstPackUnderWay, isWorthRegrouping } from "./regroup.ts";

/** Counts what gc would free. */
export function estimateGc(store: Store, dropPrunedBefore: number): Omit<GcReport, "dryRun"> {
  const dropped = findDroppable(store, dropPrunedBefore);
  const live = new Reachable(store, new Set(dropped))
    .addSnapshots()
    .addChanges()
    .addJournal()
    .addConflicts().uses;
  const limit = firstPackUnderWay(store);
  const kept = new Map<ObjectHash, PackedSize>();
  const freed = { objects: 0, content: 0, stored: 0 };
  for (const row of store.db.iterate(
    `SELECT o.hash, o.pack, o.size, CAST(length(p.data) AS REAL) / max(p.raw_bytes, 1) AS share
       FROM object o JOIN pack p ON p.id = o.pack`,
  )) {
    const name = hashFromBytes(row["hash"] as Uint8Array);
    const object = { pack: Number(row["pack"]), size: Number(row["size"]) };
    if (live.has(name) || object.pack >= limit) {
      kept.set(name, object);
      continue;
    }
    freed.objects += 1;
    freed.content += object.size;
    freed.stored += object.size * Number(row["share"]);
  }
  return {
    objectsFreed: freed.objects,
    contentFreed: freed.content,
    storedFreed: Math.round(freed.stored),
    ...estimatePacks(store, { live, kept, limit }),
    bytesBefore: storeBytes(store),
    bytesAfter: null,
    checkpointsDropped: dropped.length,
    stepsDropped: stepsOf(store, dropped),
  };
}

interface PackedSize {
  readonly pack: number;
  readonly size: number;
}

interface Objects {
  readonly live: ReadonlyMap<ObjectHash, Use>;
  readonly kept: ReadonlyMap<ObjectHash, PackedSize>;
  readonly limit: number;
}

function estimatePacks({ db }: Store, objects: Objects): { packsFreed: number; packsRewritten: number } {
  const used = new Set([...objects.kept.values()].map(({ pack }) => pack));
  const figures = { stored: 0, warm: 0, raw: 0, live: 0 };
  let packsFreed = 0;
  for (const row of db.iterate("SELECT id, raw_bytes AS raw, cold, length(data) AS stored FROM pack")) {
    if (!used.has(Number(row["id"]))) {
      packsFreed += 1;
      continue;
    }
    figures.raw += Number(row["raw"]);
    figures.stored += Number(row["stored"]);
    if (row["cold"] === 0) figures.warm += Number(row["stored"]);
  }
  for (const { size } of objects.kept.values()) figures.live += size;
  return { packsFreed, packsRewritten: isWorthRegrouping(figures) ? countNewPacks(objects) : 0 };
}

/** Packs are filled in order of use and closed when they are large enough. */
function countNewPacks({ live, kept, limit }: Objects): number {
  let [packs, bytes, isEmpty] = [0, 0, true];
  for (const [name] of [...live].sort(([, a], [, b]) => compareUses(a, b))) {
    const object = kept.get(name);
    if (object === undefined || object.pack >= limit) continue;
    [bytes, isEmpty] = [bytes + object.size, false];
    if (bytes >= COLD_PACK_BYTES) [packs, bytes, isEmpty] = [packs + 1, 0, true];
  }
  return isEmpty ? packs : packs + 1;
}

function stepsOf({ db }: Store, dropped: readonly number[]): StepSummary[] {
  const steps = dropped.flatMap((seq) => stepsHeldBy(db, seq));
  return [...new Map(steps.map((step) => [step.id, step])).values()];
}
