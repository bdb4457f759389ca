/** What happened here? The timeline, page by page. */
import { asSeen, type Context } from "../capture/context.ts";
import { lookNow } from "../capture/look-now.ts";
import { provenChanges } from "../capture/proven-changes.ts";
import { countChanges } from "../diff/count-changes.ts";
import { newestCheckpoint } from "../history/checkpoints.ts";
import { readHappenings, type Happening } from "../history/happenings.ts";
import { openSteps } from "../history/step-rows.ts";
import { readStepFacts } from "../history/timeline-facts.ts";
import { threadsOf } from "../history/threads.ts";
import { turnNumbers } from "../history/turn-numbers.ts";
import { EngineError, isEngineError } from "../model/errors.ts";
import type { ThreadId } from "../model/ids.ts";
import type {
  TimelineDay,
  TimelineNow,
  TimelineOptions,
  TimelinePage,
  TimelineRow,
  TimelineStep,
} from "../model/timeline.ts";
import type { System } from "../model/system.ts";
import { isRootThere } from "../scan/root.ts";
import type { Database } from "../store/database.ts";
import { NO_LINES, type ChangeCounter } from "./net-changes.ts";
import { parseFilter } from "./timeline-filter.ts";
import { rowOf } from "./timeline-row.ts";
import { stepsOf } from "./timeline-steps.ts";

const PAGE = 100;

/** One page of the timeline. */
export function readTimeline(context: Context, options: TimelineOptions, lines: ChangeCounter): TimelinePage {
  const { db } = context.store;
  const seen = options.look === true ? lookAtDisk(context) : undefined;
  const limit = Math.max(1, Math.trunc(options.limit ?? PAGE));
  const isFirst = options.before === undefined && options.after === undefined;
  const request = {
    before: options.before ?? Number.MAX_SAFE_INTEGER,
    after: options.after ?? 0,
    threads: threadsAmong(db, options),
    all: options.all ?? false,
  };
  const filter = parseFilter(context, options.q ?? "");
  const rowFor = (happening: Happening) => () =>
    rowOf(context, happening, { lines: NO_LINES, numbers: new Map(), present: seen?.present });
  const page: Happening[] = [];
  const days = new Map<string, number>();
  let [total, next] = [0, null as number | null];
  for (const happening of readHappenings(db, request)) {
    if (happening.at < (options.since ?? 0)) continue;
    if (filter?.(happening, rowFor(happening)) === false) continue;
    total += 1;
    const day = dayOf(context.system, happening.at);
    days.set(day, (days.get(day) ?? 0) + 1);
    if (page.length < limit || page.at(-1)!.seq === happening.seq) page.push(happening);
    else next ??= lowestSeq(page.at(-1)!);
    if (next !== null && !isFirst) break;
  }
  const numbers = turnNumbers(
    db,
    page.flatMap(({ kind, step }) => (kind === "turn" ? [step] : [])),
  );
  const rows = { lines, numbers, present: seen?.present };
  return {
    rows: page.flatMap((happening) => rowOf(context, happening, rows) ?? []),
    next,
    total: isFirst ? total : null,
    days: isFirst ? [...days].map(([day, count]): TimelineDay => ({ day, count })) : null,
    now: seen?.now ?? null,
  };
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

/** The row of something that happened. */
export function readRow(context: Context, happening: Happening, lines: ChangeCounter): TimelineRow {
  const numbers = turnNumbers(context.store.db, happening.kind === "turn" ? [happening.step] : []);
  const row = rowOf(context, happening, { lines, numbers, present: undefined });
  if (row !== undefined) return row;
  const name = happening.kind === "turn" ? `T${numbers.get(happening.step)}` : String(happening.seq);
  throw new EngineError(
    "CHECKPOINT_NOT_FOUND",
    `The checkpoints of ${name} were dropped. Nothing was changed.`,
    {
      checkpoint: name,
    },
  );
}

/** The tool calls behind a row. */
export function readSteps(db: Database, happening: Happening, lines: ChangeCounter): TimelineStep[] {
  const step = happening.kind === "turn" ? readStepFacts(db, happening.step) : undefined;
  return step === undefined ? [] : stepsOf(db, step.id, lines);
}

/** The disk, and what it is compared with. */
function lookAtDisk(context: Context): { present: string | undefined; now: TimelineNow } {
  const { store, worktree, system } = context;
  const newest = newestCheckpoint(store.db);
  const present = isRootThere(worktree.root) ? lookNow(context) : undefined;
  const now = {
    at: system.now(),
    since: newest?.seq ?? null,
    working: openSteps(store.db).flatMap(({ thread }) => thread ?? []),
  };
  if (newest === undefined || present === undefined)
    return { present: present?.snapshot, now: { ...now, changed: null } };
  try {
    const { added, modified, deleted } = countChanges(
      provenChanges(present.objects, asSeen(context, newest), present),
    );
    return { present: present.snapshot, now: { ...now, changed: added + modified + deleted } };
  } catch (error) {
    if (!isEngineError(error, "OBJECT_CORRUPT") && !isEngineError(error, "OBJECT_MISSING")) throw error;
    return { present: present.snapshot, now: { ...now, changed: null } };
  }
}

function dayOf({ toLocal }: System, at: number): string {
  const { year, month, day } = toLocal(at);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${year}-${two(month)}-${two(day)}`;
}
