/** From the options of a restore, undo, redo or revert to its request: references resolved, paths parsed. */
import { switchToMove } from "../branch/switch-steps.ts";
import { broughtBy } from "../merging/brought-by.ts";
import { resolveState } from "../history/references.ts";
import { findTurn } from "../history/turn-numbers.ts";
import type { BytePath } from "../model/byte-path.ts";
import { parsePaths } from "../model/workspace-path.ts";
import type { PartialUndoOptions, RestoreOptions, RevertOptions } from "./interface/workspace.ts";
import type { CheckpointRef } from "../model/ids.ts";
import type { Context } from "../capture/context.ts";
import type { RestoreRequest } from "../restore/restore-way.ts";
import type { StepRequest } from "../steps/select-steps.ts";
import type { WayRequest } from "./way-request.ts";

/** The chosen paths; undefined = everything. A choice of nothing is a mistake of the caller, never everything. */
function chosenPaths(texts: readonly string[] | undefined): BytePath[] | undefined {
  if (texts?.length === 0) throw new RangeError("`paths` is empty: leave it out to mean everything.");
  return parsePaths(texts);
}

/** [R844] Files outside are written as a whole or not at all: what limits a restore does not choose among them. */
function refusePartOutside(options: RestoreOptions): void {
  const { outside = false, paths, hunks, keepNew = false, scope, exceptThreads = [], also = [] } = options;
  const isPart =
    paths !== undefined || hunks !== undefined || keepNew || scope === "conversation" || also.length > 0;
  if (outside && (isPart || exceptThreads.length > 0))
    throw new RangeError(
      "`outside` goes with a whole restore of the files, which leaves no thread's work out.",
    );
}

/** The request of a restore. */
export function restoreRequest(
  context: Context,
  ref: CheckpointRef,
  options: RestoreOptions,
): RestoreRequest {
  refusePartOutside(options);
  return {
    target: resolveState(context, ref),
    paths: chosenPaths(options.paths),
    hunks: options.hunks,
    keepNew: options.keepNew ?? false,
    thread: options.thread ?? null,
    description: options.description,
    scope: options.scope ?? "files",
    outside: options.outside ?? false,
    also: (options.also ?? []).map((one) => ({
      target: resolveState(context, one.ref),
      paths: chosenPaths(one.paths)!,
    })),
    ...(options.exceptThreads === undefined ? {} : { except: options.exceptThreads }),
  };
}

/** The request of a revert. */
export function revertRequest(context: Context, ref: CheckpointRef, options: RevertOptions): StepRequest {
  const paths = chosenPaths(options.paths);
  const turn = findTurn(context.store.db, ref);
  return {
    kind: "revert",
    count: 1,
    thread: undefined,
    includeShared: options.includeShared ?? false,
    target: broughtBy(context, ref) ?? resolveState(context, ref),
    ...(turn === undefined ? {} : { turn: turn.id }),
    ...(paths === undefined ? {} : { paths }),
    ...(options.hunks === undefined ? {} : { hunks: options.hunks }),
    decisions: options.decisions,
    mergeAnyway: options.mergeAnyway ?? false,
  };
}

/** The way of an undo or a redo: of steps, or of the switch that comes first. */
export function undoWay(context: Context, kind: "undo" | "redo", options: PartialUndoOptions): WayRequest {
  const request = stepRequest(kind, options);
  const moved = switchToMove(context, request);
  return moved === undefined ? { way: "steps", request } : { way: "switch", request: moved };
}

/** The request of an undo or a redo. */
export function stepRequest(kind: "undo" | "redo", options: PartialUndoOptions): StepRequest {
  const paths = chosenPaths(options.paths);
  return {
    kind,
    mergeAnyway: options.mergeAnyway ?? false,
    count: options.count ?? 1,
    thread: options.thread,
    includeShared: options.includeShared ?? false,
    includeBackground: options.includeBackground ?? false,
    ...(paths === undefined ? {} : { paths }),
    ...(options.hunks === undefined ? {} : { hunks: options.hunks }),
    decisions: options.decisions,
  };
}
