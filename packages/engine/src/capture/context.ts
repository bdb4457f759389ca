/** The context of operations on a workspace. */
import type { AbsolutePath } from "../fs/absolute-path.ts";
import type { ReportedEnd } from "../history/reported-ends.ts";
import { headCheckpointRules } from "../history/checkpoints.ts";
import { KEPT_OUT_RULE, keptOutPaths } from "../history/kept-out.ts";
import { listNamedPaths, pathsAbsentFrom } from "../history/named-paths.ts";
import { hasOpenStep } from "../history/step-rows.ts";
import type { Parsers } from "../merge/parsers.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Pause } from "../model/pause.ts";
import type { Interrupt, RestoreProgress, StepSummary } from "../model/plan.ts";
import type { CheckpointPolicy } from "../model/policy.ts";
import type { CaptureFailure } from "../model/timeline.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { decodeRules, type ExcludedDirectory } from "../model/rules.ts";
import type { System } from "../model/system.ts";
import type { Store } from "../store/store.ts";
import type { RuledSnapshot } from "./proven-changes.ts";
import type { RulesRequest } from "../scan/rules-reader.ts";
import type { WorkingCopy } from "./working-copy.ts";

/** A workspace as its operations see it: store, working copy, policy and limits. */
export interface Context {
  readonly system: System;
  readonly store: Store;
  readonly workingCopy: WorkingCopy;
  /** Which events cause automatic checkpoints. */
  readonly policy: CheckpointPolicy;
  /** The pause in which nothing is captured automatically; `set` begins or ends one. */
  readonly pauses: {
    readonly current: Pause | null;
    set(pause: Pause | null, scope: "workspace" | "all"): void;
  };
  /** The store never grows beyond this. */
  readonly capBytes: number;
  /** Directories inside the root that are other workspaces, or the store itself. */
  excludedDirectories(): readonly ExcludedDirectory[];
  /** Stops a long operation, if its caller can; undefined otherwise. */
  interrupt: Interrupt | undefined;
  /** Receives how far a restore is, between two files; must not throw. */
  progress: ((at: RestoreProgress) => void) | undefined;
  /** Reported ends that have no checkpoint yet and are not written down: plans and captures take them into account. */
  readonly ended: ReportedEnd[];
  /** Turns here that could be neither captured nor recorded yet, as the host keeps them; oldest first. */
  unrecorded: () => readonly CaptureFailure[];
  /** What of the files outside the root is captured, and whose they may not be. */
  readonly outside: {
    readonly isCaptured: boolean;
    /** `$BELAY_HOME`; undefined for a store in memory. */
    readonly home: AbsolutePath | undefined;
    /** The roots of other workspaces and of forks. */
    otherRoots(): readonly AbsolutePath[];
  };
  /** Whether captures see only what was named; `coverAll` ends that for good. */
  readonly coverage: { readonly isNamed: boolean; coverAll(): void };
  /** What plans ask about merged texts. */
  readonly parsers: Parsers;
  /** Frees room in a full store, but never by dropping checkpoint `keep`. */
  makeRoom(missingBytes: number, keep: number | undefined): void;
  /** Steps that were dropped to make room, until the user has been told. */
  readonly dropped: StepSummary[];
}

/** What every look includes: named paths in, and what an open turn ignored; other workspaces out. */
export function everyLook(
  context: Pick<Context, "store" | "excludedDirectories"> & Pick<RulesRequest, "ignore" | "onlyNamed">,
): RulesRequest {
  return {
    ignore: context.ignore,
    onlyNamed: context.onlyNamed,
    named: listNamedPaths(context.store.db),
    included: carriedPaths(context.store),
    excluded: leftOutAnyway(context),
  };
}

/** In the order in which rules are recorded. */
function leftOutAnyway(context: Pick<Context, "store" | "excludedDirectories">): ExcludedDirectory[] {
  const keptOut = keptOutPaths(context.store.db).map((path) => ({ path, reason: KEPT_OUT_RULE }));
  return [...context.excludedDirectories(), ...keptOut].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Paths that the newest checkpoint has only by name: until the open turn ends it may still change them. */
function carriedPaths(store: Store): readonly BytePath[] {
  const { db } = store;
  if (!hasOpenStep(db)) return [];
  const rules = headCheckpointRules(db);
  return rules === undefined ? [] : includedBy(store, rules);
}

/** By the hash of the rules, so an entry is never wrong. The last few are enough. */
const included = new Map<ObjectHash, readonly BytePath[]>();

/** The paths that a snapshot with these rules holds regardless of ignore files. */
function includedBy({ objects }: Store, rules: ObjectHash): readonly BytePath[] {
  const known = included.get(rules);
  if (known !== undefined) return known;
  if (included.size >= 8) included.clear();
  const paths = decodeRules(objects.read(rules), rules).included;
  included.set(rules, paths);
  return paths;
}

/** A checkpoint as something to compare with. */
export function asSeen(
  { store }: Context,
  { snapshot, rules, excluded, seq }: Pick<Checkpoint, "snapshot" | "rules" | "excluded" | "seq">,
): RuledSnapshot {
  return { snapshot, rules, excluded, absent: pathsAbsentFrom(store.db, seq) };
}
