/**
 * Keeps the cap: frees in a fixed order until the store is well below it. Unreachable objects first; then what was
 * fetched from other lines, which have it; then old tool checkpoints; then messages and turns; then safety checkpoints older than a week beyond the last
 * twenty. Protected checkpoints stay even if nothing more fits, and so do the open turns and the last
 * complete one [R160].
 */
import { endsOfBranches } from "../history/branches.ts";
import { listCheckpoints } from "../history/list-checkpoints.ts";
import { checkpointsOfNewestSteps } from "../history/step-rows.ts";
import { versionSeqs } from "../history/versions.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { remoteOrigin } from "../model/origin.ts";
import type { StepSummary } from "../model/plan.ts";
import type { System } from "../model/system.ts";
import { storeBytes, type Store } from "../store/store.ts";
import { collectGarbage } from "./gc.ts";
import { pruneCheckpoints } from "./prune.ts";

/** Frees enough for a while, so that not every checkpoint has to clean up. */
const TARGET_SHARE = 0.9;
const BATCH_SHARE = 4;
const SAFETY_AGE_MS = 7 * 24 * 60 * 60 * 1000;
const SAFETY_COUNT = 20;

/** How much room is needed. */
export interface RoomRequest {
  readonly capBytes: number;
  /** How many bytes are needed beyond the present room. */
  readonly missingBytes: number;
  /** The seq of a checkpoint that is about to be restored: it is dropped last. */
  readonly keep: number | undefined;
}

/** Frees room and returns the steps that can no longer be undone. */
export function makeRoom(
  store: Store,
  system: System,
  { capBytes, missingBytes, keep }: RoomRequest,
): StepSummary[] {
  const before = storeBytes(store);
  const target = Math.min(capBytes * TARGET_SHARE, before - missingBytes);
  // an object larger than the cap does not fit an empty store either
  if (target < 0) return [];
  const dropped: StepSummary[] = [];
  const collect = () => {
    const request = { dropPrunedBefore: Infinity, dryRun: false };
    dropped.push(...collectGarbage(store, system, request).stepsDropped);
  };
  collect();
  for (const next of [fetched, oldTools, oldTurns, oldSafeties]) {
    while (storeBytes(store) > target) {
      const spared = checkpointsOfNewestSteps(store.db, "any");
      const ends = endsOfBranches(store.db);
      // [R356] a person put them on a branch, whatever kind of checkpoint they were
      const versions = versionSeqs(store.db);
      const all = listCheckpoints(store.db, { branch: "all" });
      const candidates = next(all, system.now()).filter(
        ({ seq }) => seq !== keep && !spared.has(seq) && !ends.has(seq) && !versions.has(seq),
      );
      if (candidates.length === 0) break;
      // oldest first, in batches: nothing is dropped needlessly
      pruneCheckpoints(store, system, candidates.slice(-Math.ceil(candidates.length / BATCH_SHARE)));
      collect();
    }
  }
  return dropped;
}

type Selection = (all: readonly Checkpoint[], now: number) => Checkpoint[];

/** [R701] Those that were used longest ago are last, and go first. */
const fetched: Selection = (all) =>
  all
    .filter(({ origin, tags }) => remoteOrigin(origin) !== undefined && tags.length === 0)
    .sort((a, b) => (b.arrivedAt ?? 0) - (a.arrivedAt ?? 0));

/** Everything except the newest and the first checkpoint and those a person named or made. */
function ordinary(all: readonly Checkpoint[]): Checkpoint[] {
  const newest = all.find(({ origin }) => origin === null);
  return all
    .filter((each) => each !== newest)
    .filter(
      ({ kind, name, tags, origin }) =>
        remoteOrigin(origin) === undefined &&
        kind !== "manual" &&
        kind !== "initial" &&
        kind !== "approve" &&
        name === null &&
        tags.length === 0,
    );
}

const oldTools: Selection = (all) =>
  ordinary(all).filter(({ kind }) => kind === "tool" || kind === "agent" || kind === "timer");

const oldTurns: Selection = (all) =>
  ordinary(all).filter(
    ({ kind }) =>
      kind === "message" ||
      kind === "turn" ||
      kind === "restore" ||
      kind === "reset" ||
      kind === "switch" ||
      kind === "merge",
  );

const oldSafeties: Selection = (all, now) =>
  ordinary(all)
    .filter(({ kind }) => kind === "safety")
    .slice(SAFETY_COUNT)
    .filter(({ createdAt }) => now - createdAt > SAFETY_AGE_MS);
