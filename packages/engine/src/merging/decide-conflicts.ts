/** Decides conflicts, takes decisions back, and gives merges up. Each is one transaction; no file is touched. */
import type { Context } from "../capture/context.ts";
import { appendEvent } from "../history/events.ts";
import {
  conflictAt,
  findMerge,
  listConflicts,
  putConflict,
  setMergeState,
  type ConflictRecord,
} from "../history/merge-rows.ts";
import { branchHere } from "../history/line.ts";
import { appendOperation } from "../history/operations.ts";
import { branchAt } from "../history/branches.ts";
import { checkResolution } from "../merge/check-resolution.ts";
import type { Syntax } from "../merge/syntax.ts";
import { displayPath, pathFromText } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import { isIdPrefix, type OperationId } from "../model/ids.ts";
import type { DroppedLine, MergeTake, ResolutionProblem, ResolvedBy } from "../model/merge.ts";
import type { Database } from "../store/database.ts";
import type { ObjectSource } from "../store/object-store.ts";
import { ObjectWriter } from "../store/object-writer.ts";
import { describeConflict } from "./describe-merge.ts";
import { takenNames } from "./planned-source.ts";
import { resultOf, type Choice } from "./resolution-result.ts";

/** Who decided, and what is said about it. */
export interface DecisionFacts {
  readonly by?: ResolvedBy;
  /** How other content came about. */
  readonly take?: MergeTake;
  readonly explanation?: string;
  readonly dropped?: readonly DroppedLine[];
  /** What knows the languages of the files, for warnings. */
  readonly syntax?: Syntax | undefined;
}

/** A decision that was recorded, and what it does not keep to. */
export interface Decided {
  readonly conflict: ConflictRecord;
  readonly warnings: readonly ResolutionProblem[];
  /** How many conflicts of the merge are left. */
  readonly open: number;
}

/** A shorter beginning of an id means nothing. */
const SHORTEST_PREFIX = 4;

/**
 * The conflict with this id or beginning of one, or the open one at this path. A path means the files here: a merge into
 * another branch has other sides. Throws `CONFLICT_NOT_FOUND`, and `CONFLICT_AMBIGUOUS` where several match.
 */
export function findConflict({ store: { db } }: Context, ref: string): ConflictRecord {
  const byId = conflictAt(db, ref);
  if (byId !== undefined) return byId;
  const path = pathFromText(ref);
  const here = branchHere(db);
  const isOfHere = ({ merge }: ConflictRecord) => findMerge(db, merge).into === here;
  const isPrefix = ref.length >= SHORTEST_PREFIX && isIdPrefix(ref);
  const matching = listConflicts(db).filter(
    (each) => each.path === path || (isPrefix && each.id.startsWith(ref)),
  );
  const there = matching.filter((each) => each.path !== path || isOfHere(each));
  const open = there.filter(({ state }) => state === "open");
  const [found, ...more] = open.length > 0 ? open : there;
  if (found === undefined) throw notFound(db, ref, matching[0]);
  if (more.length === 0) return found;
  const candidates = [found, ...more].map((each) => ({
    id: each.id,
    source: branchAt(db, each.sourceBranch).name,
    path: displayPath(each.path),
  }));
  const names = candidates.map(({ id, source }) => `${id} (${source})`).join(", ");
  const message = `"${ref}" means ${candidates.length} conflicts: ${names}. Nothing was changed.`;
  throw new EngineError("CONFLICT_AMBIGUOUS", message, { conflict: ref, candidates });
}

function notFound(
  db: Database,
  ref: string,
  elsewhere: ConflictRecord | undefined,
): EngineError<"CONFLICT_NOT_FOUND"> {
  const message =
    elsewhere === undefined
      ? `There is no conflict "${ref}".`
      : `The conflict of "${ref}" is one of a merge into "${branchAt(db, findMerge(db, elsewhere.merge).into).name}", and the files here are on "${branchAt(db, branchHere(db)).name}".`;
  return new EngineError("CONFLICT_NOT_FOUND", `${message} Nothing was changed.`, { conflict: ref });
}

/** Decides a conflict, or one region of it. */
export function decide(context: Context, ref: string, choice: Choice & DecisionFacts): Decided {
  const { store, system } = context;
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  return writer.commit(() => {
    const conflict = findConflict(context, ref);
    refuseOver(context, conflict);
    const { result, chosen } = resultOf(conflict, choice, {
      read: (hash) => store.objects.read(hash),
      put: (content) => writer.put(content),
      isTaken: takenNames(context, conflict),
    });
    writer.storeNow();
    const next = decided(conflict, { choice, result, chosen, now: system.now() });
    putConflict(store.db, next);
    note(context, next, next.state === "resolved" ? "conflict_resolved" : undefined);
    const warnings = warningsOf(context, next, { ...choice, choice, objects: store.objects });
    return { conflict: next, warnings, open: countOpen(context, next) };
  });
}

function decided(
  conflict: ConflictRecord,
  {
    choice,
    result,
    chosen,
    now,
  }: { choice: Choice & DecisionFacts; now: number } & ReturnType<typeof resultOf>,
): ConflictRecord {
  if (result === undefined) return { ...conflict, note: { chosen } };
  const merger = "take" in choice && choice.take === "merger" ? conflict.facts.merger : undefined;
  const isByRegion = "region" in choice && choice.region !== undefined;
  return {
    ...conflict,
    state: "resolved",
    result,
    by: choice.by ?? "user",
    note: {
      take: isByRegion ? "regions" : (choice.take ?? "edit"),
      explanation: choice.explanation ?? merger?.explanation ?? null,
      dropped: choice.dropped ?? merger?.dropped ?? [],
      chosen,
    },
    at: now,
  };
}

/** One version whole: there is nothing in it that was put together. */
const AS_THEY_ARE: ReadonlySet<string> = new Set(["ours", "theirs", "base", "delete", "keep"]);

/** What a text that replaces a conflict does not keep to; a side taken as it is needs no check. */
export function warningsOf(
  context: Context,
  conflict: ConflictRecord,
  {
    choice,
    objects,
    dropped = [],
    syntax,
  }: Pick<DecisionFacts, "dropped" | "syntax"> & {
    readonly choice: Choice;
    readonly objects: Pick<ObjectSource, "read">;
  },
): ResolutionProblem[] {
  if (conflict.state !== "resolved" || conflict.kind !== "content") return [];
  if (!("content" in choice) && choice.region === undefined && AS_THEY_ARE.has(choice.take)) return [];
  const file = conflict.result?.find(([path]) => path === conflict.path)?.[1];
  if (file?.kind !== "file") return [];
  const described = describeConflict(context, conflict, (hash) => objects.read(hash));
  const resolution = { content: objects.read(file.hash), dropped };
  const problems = checkResolution(described, resolution, syntax);
  // a person may drop lines and need not say so; of what was merged by lines, no line is beside a conflict
  const hasRegions = conflict.facts.regions.length > 0;
  return problems.filter(
    ({ check }) => check !== "lost" && check !== "back" && (check !== "outside" || hasRegions),
  );
}

/** What a merger made of a conflict, for a person to take. */
export interface Offer {
  readonly content: Buffer;
  readonly explanation: string;
  readonly dropped: readonly DroppedLine[];
}

/** Keeps what a merger made as one more option; nothing is decided. */
export function offer(
  context: Context,
  ref: string,
  { content, explanation, dropped }: Offer,
): ConflictRecord {
  const { store, system } = context;
  const writer = new ObjectWriter(store.db, store.objects, system.owner);
  return writer.commit(() => {
    const conflict = findConflict(context, ref);
    refuseOver(context, conflict);
    const merger = { hash: writer.put(content), size: content.length, explanation, dropped };
    writer.storeNow();
    const next = { ...conflict, facts: { ...conflict.facts, merger } };
    putConflict(store.db, next);
    note(context, next, undefined);
    return next;
  });
}

/** Takes the decision of a conflict back. */
export function reopen(context: Context, ref: string): ConflictRecord {
  const { db } = context.store;
  return db.transaction(() => {
    const conflict = findConflict(context, ref);
    refuseOver(context, conflict);
    const next: ConflictRecord = { ...conflict, state: "open", result: null, by: null, note: {}, at: null };
    putConflict(db, next);
    note(context, next, "conflict_opened");
    return next;
  });
}

/** Gives a merge up: what came in stays, and what was held back is open as if it had not been tried. */
export function abandonMerge(context: Context, id: string): void {
  const { db } = context.store;
  db.transaction(() => {
    const { state, sources } = findMerge(db, id);
    if (state !== "open")
      throw new EngineError("MERGE_NOT_FOUND", `The merge "${id}" is not open. Nothing was changed.`, {
        merge: id,
      });
    const now = context.system.now();
    setMergeState(db, id, "abandoned", now);
    const held = sources.filter(({ outcome }) => outcome === "held");
    const names = held.map(({ branch }) => branchAt(db, branch).name);
    const newId = context.system.newId() as OperationId;
    appendOperation(db, { id: newId, kind: "merge", at: now, detail: { abandoned: id } });
    const data = { merge: id, sources: names, open: listConflicts(db, id).length };
    appendEvent(db, { type: "merge_abandoned", thread: null, at: now, data });
  });
}

/** What is applied or given up is decided for good: undo takes it out. */
function refuseOver({ store: { db } }: Context, conflict: ConflictRecord): void {
  const { state } = findMerge(db, conflict.merge);
  if (state === "open") return;
  throw new EngineError(
    "CONFLICT_NOT_FOUND",
    `The merge of this conflict is ${state === "applied" ? "applied" : "given up"}. Nothing was changed.`,
    { conflict: conflict.id },
  );
}

function countOpen({ store: { db } }: Context, { merge }: ConflictRecord): number {
  return listConflicts(db, merge).filter(({ state }) => state === "open").length;
}

function note(
  { store: { db }, system }: Context,
  { id, merge, path, note: said }: ConflictRecord,
  type: "conflict_opened" | "conflict_resolved" | undefined,
): void {
  const at = system.now();
  const detail = { merge, conflict: id, take: said.take ?? null };
  appendOperation(db, { id: system.newId() as OperationId, kind: "resolve", at, detail });
  if (type !== undefined)
    appendEvent(db, { type, thread: null, at, data: { merge, conflict: id, path: displayPath(path) } });
}
