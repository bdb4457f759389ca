/** Decides when packs are worth rewriting and in which order, for gc and its estimate. */
import { endsOfBranches } from "../history/branches.ts";
import { readLeases } from "../store/lease.ts";
import type { Store } from "../store/store.ts";
import type { Use } from "./reachable.ts";

/** The bytes in packs. */
export interface PackFigures {
  readonly stored: number;
  /** The part in packs as captures wrote them. */
  readonly warm: number;
  readonly raw: number;
  /** The part that objects still use. */
  readonly live: number;
}

/** Regroup when this share of the stored bytes is in packs as captures wrote them, or dead in live packs. */
const REGROUP_SHARE = 0.2;

/** True when regrouping saves enough. */
export function isWorthRegrouping({ stored, warm, raw, live }: PackFigures): boolean {
  return warm > stored * REGROUP_SHARE || raw - live > raw * REGROUP_SHARE;
}

/** Orders files by path, versions of one file newest first; then trees in the same way. */
export function compareUses(a: Use, b: Use): number {
  if (a.isTree !== b.isTree) return a.isTree ? 1 : -1;
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.age - b.age;
}

/** The first pack that running captures may have stored ahead of their checkpoint; gc leaves these alone. */
export function firstPackUnderWay({ db }: Pick<Store, "db">): number {
  return Math.min(...readLeases(db, "capture").map(({ firstPack }) => firstPack), Number.MAX_SAFE_INTEGER);
}

/**
 * The seqs of checkpoints whose grace time is over, except where branches begin and end: the next capture is compared with
 * a branch's head.
 */
export function findDroppable({ db }: Pick<Store, "db">, prunedBefore: number): number[] {
  return db
    .all(
      "SELECT seq FROM checkpoint WHERE pruned_at < ? AND seq NOT IN (SELECT value FROM json_each(?)) ORDER BY seq",
      prunedBefore,
      JSON.stringify([...endsOfBranches(db)]),
    )
    .map(({ seq }) => Number(seq));
}
