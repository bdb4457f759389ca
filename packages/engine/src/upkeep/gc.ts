/**
 * Frees unreachable objects and regroups the rest. Dead packs go first, so that the rest finds room in their
 * pages. Cold objects are then repacked by path, newest version first, where successive versions compress
 * like deltas. Each pack has its own transaction: every checkpoint can be restored at every moment, and no
 * second copy of the store is needed.
 */
import { leaveHead, letDeletedGo } from "../history/branches.ts";
import { appendEvent } from "../history/events.ts";
import { appendOperation } from "../history/operations.ts";
import { dropStepsOf } from "../history/step-rows.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { OperationId } from "../model/ids.ts";
import { hashFromBytes, hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import type { StepSummary } from "../model/plan.ts";
import type { GcReport } from "../model/reports.ts";
import type { System } from "../model/system.ts";
import { releaseQuietly, readLeases, releaseLease, takeLease } from "../store/lease.ts";
import { PackBuilder, storePackAgain } from "../store/object-writer.ts";
import { CAPTURE_LEVEL, COLD_LEVEL, COLD_PACK_BYTES } from "../store/pack.ts";
import { pageBytes, readMeta, storeBytes, writeMeta, type Store } from "../store/store.ts";
import { estimateGc } from "./estimate-gc.ts";
import { Reachable, type Use } from "./reachable.ts";
import {
  compareUses,
  findDroppable,
  firstPackUnderWay,
  isWorthRegrouping,
  type PackFigures,
} from "./regroup.ts";
import { isNearlyFull, withReserve } from "../store/reserve.ts";

/** What gc may free, and how. */
export interface GcRequest {
  /** Checkpoints pruned before this time are dropped permanently. */
  readonly dropPrunedBefore: number;
  readonly dryRun: boolean;
  /** Repack everything, so that no trace of a freed object stays in a shared pack. */
  readonly rewriteAll?: boolean;
  /** Receives how many objects are in their new pack, and how many there are; must not throw. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

type GcResult = Omit<GcReport, "dryRun">;

const DELETES_PER_TRANSACTION = 200;
const VACUUM_PAGES = 2048;
const FEWEST_VACUUM_PAGES = 32;

/** Runs gc, or estimates it in a dry run. */
export function collectGarbage(store: Store, system: System, request: GcRequest): GcResult {
  if (request.dryRun) return estimateGc(store, request.dropPrunedBefore);
  return withReserve(store, () => {
    const lease = claim(store, system);
    try {
      return new Collector(store, system).run(request);
    } finally {
      releaseQuietly(() => store.db.transaction(() => releaseLease(store.db, lease)));
    }
  });
}

/** Takes the lease: one collector at a time. The lease of a dead process is void. */
function claim({ db }: Store, system: System): string {
  return db.transaction(() => {
    for (const other of readLeases(db)) {
      if (!system.isAlive(other.owner)) releaseLease(db, other.id);
      else if (other.kind === "gc")
        throw new EngineError(
          "STORE_BUSY",
          `Another gc is running (process ${other.owner.pid}). Nothing was changed.`,
          { store: "" },
        );
    }
    return takeLease(db, "gc", system.owner, system.now());
  });
}

class Collector {
  readonly #store: Store;
  readonly #system: System;

  constructor(store: Store, system: System) {
    this.#store = store;
    this.#system = system;
  }

  run(request: GcRequest): GcResult {
    const bytesBefore = storeBytes(this.#store);
    const dropped = this.#dropPruned(request.dropPrunedBefore);
    const live = new Reachable(this.#store).addSnapshots().addChanges().addJournal().addConflicts();
    const freed = this.#freeDead(live);
    // regrouping needs room, which a full disk has only now
    this.#giveBack();
    const packsRewritten =
      request.rewriteAll === true ? this.#rewritePacks(request) : this.#regroup(live.uses, request);
    this.#giveBack();
    this.#store.db.all("PRAGMA wal_checkpoint(TRUNCATE)");
    const result = {
      ...freed,
      packsRewritten,
      bytesBefore,
      bytesAfter: storeBytes(this.#store),
      checkpointsDropped: dropped.checkpoints,
    };
    this.#log(result);
    return { ...result, stepsDropped: dropped.steps };
  }

  #dropPruned(before: number): { checkpoints: number; steps: StepSummary[] } {
    const { db } = this.#store;
    return db.transaction(() => {
      letDeletedGo(db, this.#system.now());
      const dropped = findDroppable(this.#store, before);
      const steps = dropped.flatMap((seq) => dropCheckpoint(this.#store, seq));
      emitStepsDropped(this.#store, this.#system, steps);
      return { checkpoints: dropped.length, steps };
    });
  }

  #freeDead(live: Reachable): Pick<GcResult, "objectsFreed" | "contentFreed" | "packsFreed"> {
    const { db } = this.#store;
    const suspects: ObjectHash[] = [];
    for (const row of db.iterate("SELECT hash FROM object")) {
      const name = hashFromBytes(row["hash"] as Uint8Array);
      if (!live.uses.has(name)) suspects.push(name);
    }
    let [objectsFreed, contentFreed] = [0, 0];
    for (let at = 0; at < suspects.length; at += DELETES_PER_TRANSACTION * 10) {
      this.#sweep(() => {
        // [R25] a checkpoint recorded meanwhile may use objects that were dead before
        live.addSnapshots().addChanges().addJournal().addConflicts();
        const limit = firstPackUnderWay(this.#store);
        for (const name of suspects.slice(at, at + DELETES_PER_TRANSACTION * 10)) {
          if (live.uses.has(name)) continue;
          const freed = db.get(
            "DELETE FROM object WHERE hash = ? AND pack < ? RETURNING size",
            hashToBytes(name),
            limit,
          );
          if (freed === undefined) continue;
          objectsFreed += 1;
          contentFreed += Number(freed["size"]);
        }
      });
    }
    return { objectsFreed, contentFreed, packsFreed: this.#freeEmptyPacks() };
  }

  /**
   * Every transaction that removes objects increments the generation: running captures check theirs again.
   */
  #sweep(work: () => void): void {
    const { db } = this.#store;
    db.transaction(() => {
      work();
      writeMeta(db, "gc_generation", Number(readMeta(db, "gc_generation") ?? 0) + 1);
    });
    this.#store.objects.forgetCache();
  }

  #freeEmptyPacks(): number {
    let freed = 0;
    while (this.#emptyPacks().length > 0) {
      this.#sweep(() => {
        // queried again inside the transaction: a pack stored just now looks empty to an older query
        for (const id of this.#emptyPacks().slice(0, DELETES_PER_TRANSACTION))
          freed += this.#store.db.run("DELETE FROM pack WHERE id = ?", id).changes;
      });
    }
    return freed;
  }

  #emptyPacks(): number[] {
    const { db } = this.#store;
    const used = new Set(db.all("SELECT DISTINCT pack FROM object").map((row) => Number(row["pack"])));
    return db
      .all("SELECT id FROM pack")
      .map((row) => Number(row["id"]))
      .filter((id) => !used.has(id));
  }

  /**
   * Repacks live objects, grouped by use, except those of running captures. Better packs are not worth the
   * space that the next command needs.
   */
  #regroup(live: ReadonlyMap<ObjectHash, Use>, { progress }: GcRequest): number {
    if (!isWorthRegrouping(this.#figures())) return 0;
    const limit = firstPackUnderWay(this.#store);
    const order = [...live].sort(([, a], [, b]) => compareUses(a, b)).map(([name]) => name);
    let builder = new PackBuilder();
    let packs = 0;
    const flush = () => {
      if (builder.isEmpty) return;
      this.#sweep(() => storePackAgain(this.#store.db, builder.build(COLD_LEVEL), true));
      packs += 1;
      builder = new PackBuilder();
      // old packs empty one after the other, because captures also wrote them in path order
      this.#freeEmptyPacks();
    };
    for (const [done, name] of order.entries()) {
      progress?.(done, order.length);
      if (builder.isEmpty && isNearlyFull(this.#store.directory)) return packs;
      if (this.#packOf(name) >= limit) continue;
      const { bytes, form } = this.#store.objects.stored(name);
      builder.add(name, bytes, form);
      if (builder.rawBytes >= COLD_PACK_BYTES) flush();
    }
    flush();
    return packs;
  }

  /**
   * Rewrites every pack with its live objects, one transaction each, which takes no more room than one pack.
   */
  #rewritePacks({ progress }: GcRequest): number {
    const { db, objects, directory } = this.#store;
    const limit = firstPackUnderWay(this.#store);
    let packs = 0;
    let done = 0;
    const byPack = this.#namesByPack();
    const total = byPack.values().reduce((sum, names) => sum + names.length, 0);
    for (const [id, names] of byPack) {
      if (id >= limit) continue;
      const isCold = db.get("SELECT cold FROM pack WHERE id = ?", id)?.["cold"] === 1;
      const builder = new PackBuilder();
      for (const name of names) {
        const { bytes, form } = objects.stored(name);
        builder.add(name, bytes, form);
      }
      this.#sweep(() => {
        storePackAgain(db, builder.build(isCold ? COLD_LEVEL : CAPTURE_LEVEL), isCold);
        db.run("DELETE FROM pack WHERE id = ?", id);
      });
      if (isNearlyFull(directory)) this.#emptyLog();
      packs += 1;
      progress?.((done += names.length), total);
    }
    return packs;
  }

  #namesByPack(): Map<number, ObjectHash[]> {
    const packs = new Map<number, ObjectHash[]>();
    for (const row of this.#store.db.iterate("SELECT hash, pack FROM object ORDER BY pack, offset")) {
      const names = packs.get(Number(row["pack"])) ?? [];
      packs.set(Number(row["pack"]), names);
      names.push(hashFromBytes(row["hash"] as Uint8Array));
    }
    return packs;
  }

  #packOf(name: ObjectHash): number {
    return Number(
      this.#store.db.get("SELECT pack FROM object WHERE hash = ?", hashToBytes(name))?.["pack"] ?? Infinity,
    );
  }

  #figures(): PackFigures {
    const row = this.#store.db.get(
      `SELECT coalesce(sum(length(data)), 0) AS stored, coalesce(sum(length(data) * (1 - cold)), 0) AS warm,
         coalesce(sum(raw_bytes), 0) AS raw, (SELECT coalesce(sum(size), 0) FROM object) AS live FROM pack`,
    );
    const figure = (name: keyof PackFigures) => Number(row?.[name]);
    return { stored: figure("stored"), warm: figure("warm"), raw: figure("raw"), live: figure("live") };
  }

  /** Returns free pages to the file system, fewer at a time when there is little room for the log. */
  #giveBack(): void {
    const { db } = this.#store;
    this.#emptyLog();
    for (let free = pageBytes(db).free, pages = VACUUM_PAGES; free > 0;) {
      try {
        db.exec(`PRAGMA incremental_vacuum(${pages})`);
        this.#emptyLog();
        const left = pageBytes(db).free;
        if (left >= free) return;
        free = left;
      } catch (error) {
        if (pages <= FEWEST_VACUUM_PAGES || !isEngineError(error, "DISK_FULL")) throw error;
        this.#emptyLog();
        pages = Math.max(FEWEST_VACUUM_PAGES, pages / 8);
      }
    }
  }

  /** Restarts the log once all of it is in the database. Does not wait for readers. */
  #emptyLog(): void {
    this.#store.db.all("PRAGMA wal_checkpoint(PASSIVE)");
  }

  #log(result: Omit<GcResult, "stepsDropped">): void {
    const { db } = this.#store;
    db.transaction(() => {
      appendOperation(db, {
        id: this.#system.newId() as OperationId,
        kind: "gc",
        at: this.#system.now(),
        detail: { ...result },
      });
    });
  }
}

/** Removes a checkpoint's rows and returns the steps that can no longer be undone without it. */
export function dropCheckpoint({ db }: Store, seq: number): StepSummary[] {
  const steps = dropStepsOf(db, seq);
  db.run("DELETE FROM ref WHERE checkpoint = ?", seq);
  db.run("DELETE FROM checkpoint WHERE seq = ?", seq);
  leaveHead(db, seq);
  return steps;
}

/** [R160] Emits an event for steps that leave the undo list. Call inside the transaction that drops them. */
export function emitStepsDropped({ db }: Store, system: System, steps: readonly StepSummary[]): void {
  if (steps.length === 0) return;
  const data = { steps: steps.map(({ id }) => id) };
  appendEvent(db, { type: "steps_dropped", thread: null, at: system.now(), data });
}
