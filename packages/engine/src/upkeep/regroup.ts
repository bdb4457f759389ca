/** When packs are worth writing anew, and in which order: for gc, and for the estimate of what it would do. */
import { readLeases } from "../store/lease.ts";
import type { Store } from "../store/store.ts";
import type { Use } from "./reachable.ts";

/** What lies in packs, in bytes. */
export interface PackFigures {
  readonly stored: number;
  /** Of it: in packs as captures wrote them. */
  readonly warm: number;
  readonly raw: number;
  /** Of it: what objects still use. */
  readonly live: number;
}

/** Regroup when this share of the stored bytes lies in packs as captures wrote them, or is dead in packs that live on. */
const REGROUP_SHARE = 0.2;

export function isWorthRegrouping({ stored, warm, raw, live }: PackFigures): boolean {
  return warm > stored * REGROUP_SHARE || raw - live > raw * REGROUP_SHARE;
}

/** Files by path, versions of one file newest first; then trees in the same way. */
export function compareUses(a: Use, b: Use): number {
  if (a.isTree !== b.isTree) return a.isTree ? 1 : -1;
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.age - b.age;
}

/** What captures under way have stored ahead of their checkpoint is not for gc to judge. */
export function firstPackUnderWay({ db }: Pick<Store, "db">): number {
  return Math.min(...readLeases(db, "capture").map(({ firstPack }) => firstPack), Number.MAX_SAFE_INTEGER);
}

/** seqs of checkpoints whose grace time is over; the newest is the state that the next capture is compared with. */
export function findDroppable({ db }: Pick<Store, "db">, prunedBefore: number): number[] {
  return db
    .all(
      "SELECT seq FROM checkpoint WHERE pruned_at < ? AND seq < (SELECT max(seq) FROM checkpoint)",
      prunedBefore,
    )
    .map(({ seq }) => Number(seq));
}
