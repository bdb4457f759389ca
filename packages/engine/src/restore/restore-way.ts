/** The way back of a restore: from the present to a checkpoint, whole or in part. */
import { attachesSince } from "../history/attaches.ts";
import type { Finish } from "../history/journal.ts";
import { readDoubts, readGaps } from "../history/gaps-and-doubts.ts";
import { ancestorPaths, displayPath, type BytePath } from "../model/byte-path.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import { isDamage } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import { ALL_RECORDED, unrecordedIn, type Unrecorded } from "../capture/unrecorded.ts";
import { hashBytes, type ObjectHash } from "../model/object-hash.ts";
import { EMPTY_PLAN, type ChosenHunks, type Edit, type Plan } from "../model/plan.ts";
import { coversOnlyNamed, decodeRules, type RecordedRules } from "../model/rules.ts";
import { encodeTree } from "../model/tree.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { lookUp, walkTree } from "../diff/compare-trees.ts";
import { asSeen, type Context } from "../capture/context.ts";
import { Overlay } from "../capture/overlay.ts";
import type { PlanDraft, WayBack } from "./go-back.ts";
import { OthersWork, type ExceptThreads } from "./others-work.ts";
import { planOutside, restoreOutside } from "./restore-outside.ts";
import { pathNotIn } from "./path-not-in.ts";
import { planRestoreEdits, type Edits } from "./plan-restore.ts";
import { absenceProof } from "../capture/proven-changes.ts";
import { ChosenPaths } from "../rules/chosen-paths.ts";
import { createRecordedMatcher } from "../rules/recorded-rules.ts";
import { spareIgnored } from "../rules/spare-ignored.ts";
import { widenForTargets } from "./widen-look.ts";
import { planWarnings } from "./plan-warnings.ts";
import type { Present } from "../capture/look.ts";

/** What to restore. */
export interface RestoreRequest {
  readonly target: Checkpoint;
  readonly paths: readonly BytePath[] | undefined;
  readonly hunks?: readonly ChosenHunks[] | undefined;
  readonly keepNew: boolean;
  readonly thread: ThreadId | null;
  readonly scope: "files" | "conversation" | "both";
  /** What the restore is called; undefined: by what it brings back. */
  readonly description?: string | undefined;
  /** More files, each from a target of its own. What they name is not the main target's business. */
  readonly also?: readonly { readonly target: Checkpoint; readonly paths: readonly BytePath[] }[];
  /** Files outside the workspace go back too. */
  readonly outside?: boolean;
  /** Whose work stays as it is; undefined: what any thread changed goes back. */
  readonly except?: ExceptThreads;
}

/** From the present to a checkpoint, whole or in part. */
export function restoreWay(request: RestoreRequest): WayBack {
  const { target, scope } = request;
  return {
    safety: { description: `Before restoring ${whatOf(request)}` },
    hunks: request.hunks,
    planWithoutRoot: (context) =>
      draftPlan(context, { ...emptyRoot(context), unrecorded: ALL_RECORDED }, request),
    look: () => ({
      spared: target.seq,
      widen: (present) =>
        widenForTargets(present, [target, ...(request.also ?? []).map(({ target: other }) => other)]),
    }),
    plan: (context, { present, isRecorded }) => {
      const unrecorded = isRecorded ? ALL_RECORDED : knownUnrecorded(context, present, request);
      return draftPlan(context, { ...present, unrecorded }, request);
    },
    // a conversation goes back even where no file has to
    isWorthDoing: ({ edits, conflicts }, bestEffort) =>
      (edits.length > 0 || scope !== "files") && (conflicts.length === 0 || bestEffort),
    finish: (context, plan) => finishOf(context, request, plan),
    ...(request.outside === true ? { end: restoreOutside } : {}),
  };
}

/**
 * [R26] What no checkpoint has yet. Where the newest checkpoint is damaged that is not known, and keeps no other from
 * being restored, unless work of other threads is to stay: then it must be known.
 */
function knownUnrecorded(context: Context, present: Present, { except }: RestoreRequest): Unrecorded {
  try {
    return unrecordedIn(context, present);
  } catch (error) {
    if (except !== undefined || !isDamage(error)) throw error;
    return ALL_RECORDED;
  }
}

/** What a plan is made on. */
type PlannedOn = Pick<Present, "snapshot" | "objects" | "excludedRoots" | "git"> & {
  /** undefined where there is nothing to judge. */
  readonly recordedRules?: RecordedRules;
  /** What no checkpoint has yet. */
  readonly unrecorded: Unrecorded;
};

/** The present where even the root is missing. */
function emptyRoot({ store, workingCopy }: Context): Omit<PlannedOn, "unrecorded"> {
  const objects = new Overlay(store.objects, workingCopy.root);
  const empty = encodeTree([]);
  const snapshot = hashBytes(empty);
  objects.small(snapshot, empty);
  return { snapshot, objects, excludedRoots: [], git: null };
}

/** What a restore brings back, as it follows the word "restored": `src/a.ts from checkpoint 12 (…)`, or `to checkpoint 12 (…)`. */
function whatOf({ paths, target, also = [] }: RestoreRequest): string {
  const main = paths === undefined ? `to ${nameOf(target)}` : `${listPaths(paths)} from ${nameOf(target)}`;
  const named = also.flatMap((one) => one.paths);
  return named.length === 0 ? main : `${main}, and ${listPaths(named)} from other checkpoints`;
}

/** The first paths by name, the rest by their number. */
export function listPaths(paths: readonly BytePath[]): string {
  const named = paths.slice(0, NAMED_PATHS).map(displayPath).join(", ");
  return paths.length > NAMED_PATHS ? `${named} and ${paths.length - NAMED_PATHS} more` : named;
}

const NAMED_PATHS = 2;

/** How a checkpoint is called in sentences. */
export function nameOf(checkpoint: Checkpoint): string {
  // "Restored to checkpoint 3 (…)" names its own target: without this, descriptions would nest with every restore
  const description = checkpoint.description.replace(
    /^((?:Restored|Before restoring) .*?\bcheckpoint \d+) \(.*$/s,
    "$1",
  );
  return checkpoint.name ?? `checkpoint ${checkpoint.seq} (${description})`;
}

function draftPlan(context: Context, present: PlannedOn, request: RestoreRequest): PlanDraft {
  const { target } = request;
  const chosen = choose(context, present, request);
  const { recordedRules, unrecorded } = present;
  // [R211] where everything is gone, everything comes back: nothing of another thread's is in place
  const except = recordedRules === undefined ? undefined : request.except;
  const others = new OthersWork(context, { ...request, except, named: chosen?.names ?? [], unrecorded });
  const part = (from: Checkpoint, paths: ChosenPaths | undefined) =>
    planPart(context, present, { target: from, chosen: paths, others, keepNew: request.keepNew });
  const also = (request.also ?? []).map(({ target: other, paths }) => ({
    target: other,
    chosen: new ChosenPaths(paths, () => true),
  }));
  const { edits, kept, conflicts, left } =
    request.scope === "conversation"
      ? NO_EDITS
      : withAlso(
          context.store.objects,
          part(target, chosen),
          also.map((one) => ({ ...one, plan: part(one.target, one.chosen) })),
        );
  const isChosen = ({ path }: { path: BytePath }) => chosen === undefined || chosen.includes(path);
  return {
    ...EMPTY_PLAN,
    kind: "restore",
    description: request.description ?? `Restored ${whatOf(request)}`,
    checkpoint: target.id,
    paths: request.paths ?? null,
    thread: request.thread,
    base: present.snapshot,
    edits,
    ...spareIgnored({ kept, conflicts }, recordedRules),
    gaps: readGaps(context.store.db, target.seq).filter(isChosen),
    doubts: readDoubts(context.store.db, target.seq).filter(isChosen),
    outside: request.scope === "conversation" ? [] : planOutside(context, target),
    writesOutside: request.outside === true,
    otherThreads: others.takenOut(edits),
    leftAlone: others.byLastAuthor(left),
    git: { target: target.git, now: present.git },
    warnings: planWarnings(context, { present, target, edits }),
  };
}

/** What one target makes of the present, or of some of its paths. */
function planPart(
  context: Context,
  present: PlannedOn,
  part: { target: Checkpoint; chosen: ChosenPaths | undefined; others: OthersWork; keepNew: boolean },
): Edits {
  const { target, chosen, others, keepNew } = part;
  const { objects } = context.store;
  const targetRules = decodeRules(objects.read(target.rules), target.rules);
  return planRestoreEdits({
    objects: present.objects,
    present: present.snapshot,
    target: target.snapshot,
    wasAbsent: absenceProof(objects, asSeen(context, target)),
    isIgnored: ignoredBy([present.recordedRules, targetRules]),
    wasHere: hereBefore(context, present, target),
    excluded: present.excludedRoots,
    chosen,
    keepNew,
    isOfFiles: coversOnlyNamed(targetRules),
    isLeftAlone: (edit) => others.isLeftAlone(edit),
  });
}

/** [R1782] A file that is named with a target of its own comes from there alone, and the directories above it stay. */
function withAlso(
  objects: ObjectSource,
  main: Edits,
  also: readonly { target: Checkpoint; chosen: ChosenPaths; plan: Edits }[],
): Edits {
  if (also.length === 0) return main;
  const isOwn = ({ path }: { path: BytePath }) => also.some(({ chosen }) => chosen.includes(path));
  const edits = also.flatMap(({ plan }) => plan.edits);
  const above = new Set(
    also.flatMap(({ target, chosen }) =>
      chosen.names
        .filter((name) => lookUp(objects, target.snapshot, name).entry !== undefined)
        .flatMap(ancestorPaths),
    ),
  );
  const endsDirectory = ({ path, to }: Edit) => above.has(path) && to?.kind !== "directory";
  const inTheWay = edits.find(endsDirectory);
  if (inTheWay !== undefined)
    throw new RangeError(
      `\`also\` names ${displayPath(inTheWay.path)} and a file below it, from checkpoints that cannot both be had.`,
    );
  const own = new Set(edits.map(({ path }) => path));
  const rest = main.edits.filter((edit) => !isOwn(edit) && !own.has(edit.path) && !endsDirectory(edit));
  const all = [...rest, ...new Map(edits.map((edit) => [edit.path, edit])).values()];
  return {
    edits: all.sort((a, b) => (a.path < b.path ? -1 : 1)),
    kept: [...main.kept.filter((one) => !isOwn(one)), ...also.flatMap(({ plan }) => plan.kept)],
    conflicts: [
      ...main.conflicts.filter((one) => !isOwn(one)),
      ...also.flatMap(({ plan }) => plan.conflicts),
    ],
    left: [...main.left.filter((one) => !isOwn(one)), ...also.flatMap(({ plan }) => plan.left)],
  };
}

/** [I02] Whether git ignores a path by the rules of the present or of the target: git would not have touched it either. */
function ignoredBy(rules: readonly (RecordedRules | undefined)[]) {
  const matchers = rules.map((each) => each && createRecordedMatcher(each));
  return (path: BytePath) => matchers.some((matcher) => matcher?.isIgnored(path) === true);
}

/** [N6] Whether a path was found by the first look after an attach and unknown before it: it is older than the store here. */
function hereBefore({ store }: Context, { objects, snapshot }: PlannedOn, target: Checkpoint) {
  const attaches = attachesSince(store.db, target.seq);
  const isIn = (tree: ObjectHash | undefined, path: BytePath) =>
    tree !== undefined && lookUp(objects, tree, path).entry !== undefined;
  return (path: BytePath) =>
    attaches.some(({ before, after }) => isIn(after ?? snapshot, path) && !isIn(before, path));
}

const NO_EDITS: Edits = { edits: [], kept: [], conflicts: [], left: [] };

/** [R199] The chosen paths. One that neither the disk nor the target has is a typing error. */
function choose(
  { store }: Context,
  present: PlannedOn,
  { paths, target }: RestoreRequest,
): ChosenPaths | undefined {
  if (paths === undefined) return undefined;
  const isKnown = (path: BytePath) =>
    lookUp(present.objects, present.snapshot, path).entry !== undefined ||
    lookUp(store.objects, target.snapshot, path).entry !== undefined;
  const chosen = new ChosenPaths(paths, isKnown);
  for (const path of chosen.names)
    if (!isKnown(path)) throw pathNotIn(target, path, `is neither on disk nor in ${nameOf(target)}`);
  if (chosen.names.length === paths.length) return chosen;
  const [unmatched] = chosen.missing(pathsOf(present, target));
  if (unmatched === undefined) return chosen;
  throw pathNotIn(target, unmatched, `matches nothing on disk or in ${nameOf(target)}`);
}

function* pathsOf({ objects, snapshot }: PlannedOn, target: Checkpoint): Generator<BytePath> {
  for (const root of [snapshot, target.snapshot]) for (const { path } of walkTree(objects, root)) yield path;
}

function finishOf({ system }: Context, { scope }: RestoreRequest, plan: Plan): Finish {
  const isWhole = plan.paths === null && plan.hunks === null;
  // [R34] where only a part of the files goes back, the messages are taken back all the same, and no checkpoint is
  const conversation = scope === "files" ? undefined : isWhole ? scope : "conversation";
  return {
    kind: "restore",
    description: plan.description,
    thread: plan.thread,
    target: isWhole || conversation !== undefined ? plan.checkpoint : null,
    ...(conversation === undefined ? {} : { scope: conversation }),
    step: { id: system.newId(), kind: "restore" },
    moved: [],
  };
}
