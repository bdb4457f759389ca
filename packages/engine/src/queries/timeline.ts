/** What happened here? The timeline, page by page. */
import { asSeen, type Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { provenChanges } from "../capture/proven-changes.ts";
import { countChanges } from "../diff/count-changes.ts";
import { readBranchMarks } from "../history/branch-marks.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import { findHappening } from "../history/find-happening.ts";
import { readCaptures, readHappenings, type Happening } from "../history/happenings.ts";
import {
  listCaptureChanges,
  listStepChanges,
  readStepFacts,
  type ListedChange,
} from "../history/timeline-facts.ts";
import { threadsOf } from "../history/threads.ts";
import { turnNumbers } from "../history/turn-numbers.ts";
import { failingSince, listUncaptured } from "../history/uncaptured.ts";
import { displayPath } from "../model/byte-path.ts";
import type { UncapturedTurn } from "../model/conversation.ts";
import { EngineError, isDamage } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import type { FileDiff } from "../model/file-diff.ts";
import type {
  TimelineNow,
  TimelineOptions,
  TimelinePage,
  TimelineRow,
  TimelineStep,
} from "../model/timeline.ts";
import { isRootThere } from "../scan/root.ts";
import type { Database } from "../store/database.ts";
import type { Diff, DiffOptions } from "./answers.ts";
import { describeEdits } from "./compare-states.ts";
import { DayCounter, type Census } from "./census.ts";
import { compareIn, type OneFileOptions } from "./compare-file.ts";
import { netChanges, type ChangeCounter } from "./net-changes.ts";
import { filterHappenings } from "./timeline-filter.ts";
import { rowsOf } from "./timeline-row.ts";
import { stepsOf } from "./timeline-steps.ts";
import { threadsWorking } from "./threads-working.ts";

const PAGE = 100;

/** What is remembered from one question to the next. */
export interface TimelineMemory {
  readonly lines: ChangeCounter;
  readonly census: Census;
}

/** One page of the timeline. */
export function readTimeline(
  context: Context,
  options: TimelineOptions,
  { lines, census }: TimelineMemory,
): TimelinePage {
  const seen = options.look === true ? lookAtDisk(context) : undefined;
  const isAnywhere = options.before === undefined && options.after === undefined;
  const isFirst = isAnywhere && options.skip === undefined && options.around === undefined;
  const { thread, agent, since, q, all, flat } = options;
  // what the disk is like may be part of the question
  const asked = isFirst
    ? census.find(JSON.stringify([thread, agent, since, q, all, flat, q && seen?.present]))
    : null;
  const counter = new DayCounter(context.system);
  const page: Happening[] = [];
  let next: number | null = null;
  const limit = Math.max(1, Math.trunc(options.limit ?? PAGE));
  const meant = placed(context, options, meantBy(context, options, seen?.present));
  let [above, before] = [0, options.before];
  for (const happening of meant.happenings) {
    counter.add(happening);
    if (above < meant.skip) {
      above += 1;
      before = happening.seq;
      continue;
    }
    if (page.length < limit || page.at(-1)!.seq === happening.seq) page.push(happening);
    else next ??= lowestSeq(page.at(-1)!);
    if (next !== null && (!isFirst || asked?.counts !== undefined)) break;
  }
  const counts = isFirst ? (asked?.counts ?? counter.counts()) : undefined;
  if (counts !== undefined) asked?.keep(counts);
  const stretch = before === undefined ? options : { ...options, before };
  const uncaptured = uncapturedAmong(context.store.db, stretch, next);
  const rows = rowsOf(context, page, { lines, present: seen?.present }).flatMap((row) => row ?? []);
  const marked = isFirst && seen?.now.changed === 0 ? withNewestMarked(rows, options) : rows;
  return {
    rows: withBranches(context.store.db, marked, stretch),
    next,
    skipped: isAnywhere ? above : null,
    total: counts?.total ?? null,
    days: counts?.days ?? null,
    now: seen?.now ?? null,
    uncaptured,
  };
}

/** [R2343] A turn that no capture has ended yet is the present one, as far as it came, if nothing happened since and no row is. */
function withNewestMarked(rows: readonly TimelineRow[], options: TimelineOptions): readonly TimelineRow[] {
  const [newest, ...older] = rows;
  if (newest?.kind !== "turn" || newest.after !== null || isSelection(options)) return rows;
  if (older.some(({ sameAsNow }) => sameAsNow === true)) return rows;
  return [{ ...newest, sameAsNow: true }, ...older];
}

/** Whether the options leave out some of what happened, at whatever time. */
function isSelection({ thread, agent, since, q }: TimelineOptions): boolean {
  return [thread, agent, since].some((each) => each !== undefined) || (q?.trim() ?? "") !== "";
}

/** How many rows above a requested row come with it. */
const ABOVE = 30;

/** What happened, and how much of it is above the page. */
function placed(
  context: Context,
  { skip = 0, around, flat }: TimelineOptions,
  happenings: Iterable<Happening>,
): { readonly happenings: Iterable<Happening>; readonly skip: number } {
  if (around === undefined) return { happenings, skip };
  const all = [...happenings];
  const { seq, step } = findHappening(context, around, "row");
  const at = all.findIndex((each) => each.seq === seq && (flat === true || each.step === step));
  return { happenings: all, skip: at < 0 ? all.length : Math.max(0, at - ABOVE) };
}

/** Rows with the branches they are on and those that began there; a selection of rows has no place for the latter. */
function withBranches(db: Database, rows: readonly TimelineRow[], options: TimelineOptions): TimelineRow[] {
  const marks = readBranchMarks(
    db,
    rows.map(({ seq }) => seq),
  );
  if (marks === undefined) return [...rows];
  const isPart = isSelection(options);
  let above = options.before ?? Number.MAX_SAFE_INTEGER;
  return rows.map((row) => {
    const branch = marks.elsewhere.get(row.seq);
    const begun = marks.begun.filter(({ seq }) => seq >= row.seq && seq < above);
    above = row.seq;
    return {
      ...row,
      ...(branch !== undefined && { branch }),
      ...(begun.length > 0 && !isPart && { begun: begun.map(({ name }) => name) }),
    };
  });
}

/** The turns without a capture that belong to a page; `next` is where the page after it begins. */
function uncapturedAmong(db: Database, options: TimelineOptions, next: number | null): UncapturedTurn[] {
  const { before = Number.MAX_SAFE_INTEGER, after = 0, since = 0, q = "" } = options;
  if (q.trim() !== "") return [];
  const among = threadsAmong(db, options);
  const from = Math.max(after, next ?? 0);
  return listUncaptured(db, undefined).filter(
    (turn) =>
      turn.after >= from &&
      turn.after < before &&
      turn.at >= since &&
      (among === null || among.includes(turn.thread)),
  );
}

/** What happened, as far as the options ask for it. */
function* meantBy(
  context: Context,
  options: TimelineOptions,
  present: string | undefined,
): Generator<Happening> {
  const { db } = context.store;
  const within = {
    before: options.before ?? Number.MAX_SAFE_INTEGER,
    after: options.after ?? 0,
    threads: threadsAmong(db, options),
  };
  const all =
    options.flat === true
      ? readCaptures(db, within)
      : readHappenings(db, { ...within, all: options.all ?? false });
  const q = options.q?.trim() ?? "";
  const meant = q === "" ? all : filterHappenings(context, { q, present }, all);
  for (const happening of meant) if (happening.at >= (options.since ?? 0)) yield happening;
}

/** The next page begins below this: changes by hand reach down to their oldest capture. */
function lowestSeq({ seq, captures }: Happening): number {
  return captures.at(-1) ?? seq;
}

/** The threads that the options name; null where they name none. */
function threadsAmong(db: Database, { thread, agent }: TimelineOptions): ThreadId[] | null {
  if (thread === undefined && agent === undefined) return null;
  return threadsOf(db, { thread: thread ?? null, agent: agent ?? null });
}

/** The row of the timeline of something that happened. */
export function readRow(context: Context, happening: Happening, lines: ChangeCounter): TimelineRow {
  const [row] = rowsOf(context, [happening], { lines, present: undefined });
  if (row !== undefined) return row;
  const { kind, seq, step } = happening;
  const name = kind === "turn" ? `T${turnNumbers(context.store.db, [step]).get(step)}` : String(seq);
  throw new EngineError(
    "CHECKPOINT_NOT_FOUND",
    `The checkpoints of ${name} were dropped. Nothing was changed.`,
    {
      checkpoint: name,
    },
  );
}

/** A part of what a row changed: all of it, or what the capture of one of its tool calls found. */
export interface ChangePart {
  /** The seq of a `TimelineStep` of the row. */
  readonly step?: number | undefined;
}

/** What a row itself changed, file by file: not what lies between the states around it. */
export function readOwnChanges(
  { store: { db, objects } }: Context,
  happening: Happening,
  { step, ...options }: Pick<DiffOptions, "paths" | "detail"> & ChangePart,
): Pick<Diff, "files" | "summary"> {
  return describeEdits(objects, netChanges(changesOf(db, happening, step)), options);
}

/** One file of what a row itself changed, line by line; null where it did not change the file. */
export function readOwnFile(
  { store: { db, objects } }: Context,
  happening: Happening,
  { step, ...options }: OneFileOptions & ChangePart,
): FileDiff | null {
  return compareIn({ edits: netChanges(changesOf(db, happening, step)), objects }, options);
}

function changesOf(db: Database, happening: Happening, step: number | undefined): ListedChange[] {
  const all = allChangesOf(db, happening);
  return step === undefined ? all : all.filter(({ checkpoint }) => checkpoint === step);
}

function allChangesOf(db: Database, { kind, seq, step, captures }: Happening): ListedChange[] {
  if (kind === "turn") {
    const facts = readStepFacts(db, [step]).get(step);
    return facts === undefined ? [] : (listStepChanges(db, [facts.id]).get(facts.id) ?? []);
  }
  const found = listCaptureChanges(
    db,
    kind === "hand" ? captures : [seq],
    kind === "back" ? "belay" : "outside",
  );
  return [...found.keys()].toSorted((a, b) => a - b).flatMap((capture) => found.get(capture)!);
}

/** The tool calls behind a row of the timeline. */
export function readSteps(db: Database, happening: Happening, lines: ChangeCounter): TimelineStep[] {
  const step =
    happening.kind === "turn" ? readStepFacts(db, [happening.step]).get(happening.step) : undefined;
  return step === undefined ? [] : stepsOf(db, step.id, lines);
}

/** The disk, and what it is compared with. */
function lookAtDisk(context: Context): { present: string | undefined; now: TimelineNow } {
  const { store, workingCopy, system } = context;
  const newest = headCheckpoint(store.db);
  const present = isRootThere(workingCopy.root) ? lookNow(context) : undefined;
  const now = {
    at: system.now(),
    since: newest?.seq ?? null,
    working: threadsWorking(context),
    failing: failingSince(store.db, { newest: newest?.seq ?? 0, unrecorded: context.unrecorded() }),
  };
  if (newest === undefined || present === undefined)
    return { present: present?.snapshot, now: { ...now, changed: null, first: null } };
  try {
    const edits = provenChanges(present.objects, asSeen(context, newest), present);
    const { added, modified, deleted } = countChanges(edits);
    const first = edits.find(({ from, to }) => (to ?? from)?.kind !== "directory");
    const changed = added + modified + deleted;
    return {
      // an empty directory changes the snapshot, but the row is still the present one
      present: changed === 0 ? newest.snapshot : present.snapshot,
      now: { ...now, changed, first: first ? displayPath(first.path) : null },
    };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { present: present.snapshot, now: { ...now, changed: null, first: null } };
  }
}
