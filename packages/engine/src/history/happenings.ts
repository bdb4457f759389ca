/**
 * What happened in a workspace, newest first, from two sources: steps (turns and ways back) and checkpoints (those that
 * people make, and those that found changes of no tool). Both are read downwards in pieces, so that a page costs what it
 * shows, not what the store holds.
 */
import type { ThreadId } from "../model/ids.ts";
import type { Database, Row } from "../store/database.ts";
import { branchHere, headSeq, onLine, STEP_PLACE } from "./line.ts";

/** Something that happened, by the rows that tell of it. */
export interface Happening {
  readonly kind: "turn" | "back" | "point" | "hand" | "capture";
  /** The seq of the checkpoint that opened it. */
  readonly seq: number;
  /** The seq of its step; 0 where it has none. */
  readonly step: number;
  readonly at: number;
  /** The captures of changes by hand, newest first. */
  readonly captures: readonly number[];
}

/** Which of them to read. */
export interface HappeningsRequest {
  /** Only with a smaller seq. */
  readonly before: number;
  /** Only with a larger seq. */
  readonly after: number;
  /** Only those of these threads; null = of all, and those of none. */
  readonly threads: readonly ThreadId[] | null;
  /** Also turns and ways back that changed nothing, and safety checkpoints. */
  readonly all: boolean;
  /** The id of the branch whose line is read; defaults to the one here. */
  readonly branch?: number | undefined;
}

/** Changes by hand that follow each other this closely are one. */
const NEIGHBOURS_MS = 10 * 60 * 1000;

/** Everything that happened, newest first. */
export function* readHappenings(db: Database, request: HappeningsRequest): Generator<Happening> {
  let run: Happening[] = [];
  for (const each of merge(readSteps(db, request), readCheckpoints(db, request))) {
    if (each.kind === "hand" && run.length > 0 && run.at(-1)!.at - each.at <= NEIGHBOURS_MS) {
      run.push(each);
      continue;
    }
    // a run of changes by hand may have begun earlier than what was asked for
    if (each.seq <= request.after) break;
    yield* asOne(run);
    run = each.kind === "hand" ? [each] : [];
    if (each.kind !== "hand") yield each;
  }
  yield* asOne(run);
}

/** Every checkpoint for itself, newest first. */
export function* readCaptures(
  db: Database,
  { after, ...request }: Omit<HappeningsRequest, "all">,
): Generator<Happening> {
  for (const row of checkpointRows(db, request, selectCaptures)) {
    const seq = Number(row["seq"]);
    if (seq <= after) return;
    yield { kind: "capture", seq, step: 0, at: Number(row["at"]), captures: [seq] };
  }
}

/** The turns that changed something or are under way, newest first. */
export function* readTurns(db: Database): Generator<Happening> {
  const everything = { before: Number.MAX_SAFE_INTEGER, after: 0, threads: null, all: false };
  for (const step of readSteps(db, everything)) if (step.kind === "turn") yield step;
}

/** Changes by hand without anything between them, in the place of the newest. */
function asOne(run: readonly Happening[]): Happening[] {
  const [newest] = run;
  return newest === undefined ? [] : [{ ...newest, captures: run.map(({ seq }) => seq) }];
}

/** Where both have the same checkpoint, the step began there: it is the newer one. */
function* merge(steps: Generator<Happening>, checkpoints: Generator<Happening>): Generator<Happening> {
  let [step, checkpoint] = [steps.next(), checkpoints.next()];
  while (step.done !== true || checkpoint.done !== true) {
    if (checkpoint.done === true || (step.done !== true && step.value.seq >= checkpoint.value.seq)) {
      yield step.value as Happening;
      step = steps.next();
    } else {
      yield checkpoint.value;
      checkpoint = checkpoints.next();
    }
  }
}

/** How many steps are read at once. */
const STEPS = 128;
/**
 * A restore that another process overtook records its steps after those that began later. The order of steps is that of
 * their checkpoints but for a few places.
 */
const OUT_OF_PLACE = 32;

function* readSteps(db: Database, request: HappeningsRequest): Generator<Happening> {
  const { before, after, threads, all, branch = branchHere(db) } = request;
  const among = threads === null ? null : JSON.stringify(threads);
  const select = selectSteps(onLine(db, STEP_PLACE, branch));
  let waiting: Happening[] = [];
  for (let next = Number.MAX_SAFE_INTEGER; ;) {
    const rows = db.all(select, next, before, after, among, all ? 1 : 0, STEPS);
    waiting = [...waiting, ...rows.map(toStep)].sort((a, b) => b.seq - a.seq || b.step - a.step);
    const isLast = rows.length < STEPS;
    const ready = isLast ? waiting.length : waiting.length - OUT_OF_PLACE;
    yield* waiting.slice(0, ready);
    waiting = waiting.slice(ready);
    if (isLast) return;
    next = Number(rows.at(-1)!["step"]);
  }
}

function toStep(row: Row): Happening {
  const kind = row["kind"] === "turn" ? "turn" : "back";
  return { kind, seq: Number(row["seq"]), step: Number(row["step"]), at: Number(row["at"]), captures: [] };
}

const KEPT = (column: string) =>
  `EXISTS (SELECT 1 FROM checkpoint c WHERE c.seq = ${column} AND c.pruned_at IS NULL)`;

const AMONG = (column: string) => `(?4 IS NULL OR ${column} IN (SELECT value FROM json_each(?4)))`;

/** Of a turn at least one end is kept, or it has not ended. A way back is where it ended. */
const selectSteps = (
  isOnLine: string,
) => `SELECT s.kind AS kind, s.seq AS step, CASE s.kind WHEN 'turn' THEN s.before ELSE s.after END AS seq,
    CASE s.kind WHEN 'turn' THEN s.opened_at ELSE s.closed_at END AS at FROM step s
  WHERE s.seq < ?1 AND CASE s.kind WHEN 'turn' THEN s.before ELSE s.after END < ?2
    AND CASE s.kind WHEN 'turn' THEN s.before ELSE s.after END > ?3 AND ${AMONG("s.thread")}
    AND (?5 = 1 OR s.state <> 'empty') AND ${isOnLine}
    AND (${KEPT("s.after")} OR (s.kind = 'turn' AND (s.state = 'open' OR ${KEPT("s.before")})))
  ORDER BY s.seq DESC LIMIT ?6`;

/** How many seqs of checkpoints are looked at at once. */
const CHECKPOINTS = 512;

function* readCheckpoints(db: Database, request: HappeningsRequest): Generator<Happening> {
  for (const row of checkpointRows(db, request, selectCheckpoints)) yield toCheckpoint(row);
}

function* checkpointRows(
  db: Database,
  request: Pick<HappeningsRequest, "before" | "threads" | "branch"> & { readonly all?: boolean },
  selectOn: (isOnLine: string) => string,
): Generator<Row> {
  const { before, threads, all = true, branch = branchHere(db) } = request;
  const among = threads === null ? null : JSON.stringify(threads);
  const select = selectOn(onLine(db, { seq: "c.seq", branch: "c.branch" }, branch));
  for (let until = Math.min(before, headSeq(db, branch) + 1); until > 1; until -= CHECKPOINTS) {
    const from = Math.max(1, until - CHECKPOINTS);
    yield* db.all(select, from, until, all ? 1 : 0, among);
  }
}

const selectCaptures = (isOnLine: string) => `SELECT c.seq AS seq, c.created_at AS at FROM checkpoint c
  WHERE c.seq >= ?1 AND c.seq < ?2 AND ?3 = 1 AND c.pruned_at IS NULL AND ${isOnLine} AND ${AMONG("c.thread")}
  ORDER BY c.seq DESC`;

function toCheckpoint(row: Row): Happening {
  const seq = Number(row["seq"]);
  const isPoint = row["point"] === 1;
  return {
    kind: isPoint ? "point" : "hand",
    seq,
    step: 0,
    at: Number(row["at"]),
    captures: isPoint ? [] : [seq],
  };
}

/** What people ask for, and the beginning. Changes by hand in them are theirs. */
const OWN_ROW = "(c.kind IN ('manual', 'approve') OR (c.kind = 'initial' AND c.thread IS NULL))";

const HAS_OUTSIDE = `(c.added + c.modified + c.deleted > 0
  AND EXISTS (SELECT 1 FROM change g WHERE g.checkpoint = c.seq AND g.attribution = 'outside'))`;

/** Changes by hand belong to no thread. With everything come safety checkpoints and the first ones of threads. */
const selectCheckpoints = (
  isOnLine: string,
) => `SELECT * FROM (SELECT c.seq AS seq, c.created_at AS at, c.thread AS thread,
    CASE WHEN ${OWN_ROW} THEN 1 WHEN c.kind IN ('restore', 'reset', 'switch', 'merge') THEN NULL WHEN ${HAS_OUTSIDE} THEN 0
      WHEN ?3 = 1 AND c.kind IN ('safety', 'initial') THEN 1 END AS point
  FROM checkpoint c WHERE c.seq >= ?1 AND c.seq < ?2 AND c.pruned_at IS NULL AND ${isOnLine})
  WHERE point IS NOT NULL AND (?4 IS NULL OR (point = 1 AND ${AMONG("thread")})) ORDER BY seq DESC`;
