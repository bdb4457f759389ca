/**
 * What happened in a workspace, newest first, from four sources: turns, ways back, checkpoints that people make, and
 * captures that found changes of no tool. Each source is read in batches, so that a page costs what it shows.
 */
import type { ThreadId } from "../model/ids.ts";
import type { Database, Row } from "../store/database.ts";

/** Something that happened, by the rows that tell of it. */
export interface Happening {
  readonly kind: "turn" | "back" | "point" | "hand";
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
}

/** Changes by hand that follow each other this closely are one. */
const NEIGHBOURS_MS = 10 * 60 * 1000;

/** Everything that happened, newest first. */
export function* readHappenings(db: Database, request: HappeningsRequest): Generator<Happening> {
  let run: Happening[] = [];
  for (const each of merge(SOURCES.map((source) => readSource(db, source, request)))) {
    if (each.kind === "hand" && run.length > 0 && run.at(-1)!.at - each.at <= NEIGHBOURS_MS) {
      run.push(each);
      continue;
    }
    if (each.seq <= request.after) break;
    yield* asOne(run);
    run = each.kind === "hand" ? [each] : [];
    if (each.kind !== "hand") yield each;
  }
  yield* asOne(run);
}

/** The turns that changed something or are under way, newest first. */
export function readTurns(db: Database): Generator<Happening> {
  const everything = { before: Number.MAX_SAFE_INTEGER, after: 0, threads: null, all: false };
  return readSource(db, { kind: "turn", sql: TURNS }, everything);
}

/** Changes by hand without anything between them, in the place of the newest. */
function asOne(run: readonly Happening[]): Happening[] {
  const [newest] = run;
  return newest === undefined ? [] : [{ ...newest, captures: run.map(({ seq }) => seq) }];
}

/** The newest first. Where two share a checkpoint, a turn began there: it is the newer one. */
function* merge(sources: Generator<Happening>[]): Generator<Happening> {
  const heads = sources.map((source) => source.next());
  for (;;) {
    let newest = -1;
    heads.forEach((head, index) => {
      if (head.done !== true && (newest === -1 || isNewer(head.value, heads[newest]!.value as Happening)))
        newest = index;
    });
    if (newest === -1) return;
    yield heads[newest]!.value as Happening;
    heads[newest] = sources[newest]!.next();
  }
}

function isNewer(a: Happening, b: Happening): boolean {
  if (a.seq !== b.seq) return a.seq > b.seq;
  return a.kind === "turn" && (b.kind !== "turn" || a.step > b.step);
}

interface Source {
  readonly kind: Happening["kind"];
  /** Selects seq, step and at of what comes before (?1, ?2), after ?3, of the threads ?4, everything if ?5, at most ?6. */
  readonly sql: string;
}

const BATCH = 128;

function* readSource(
  db: Database,
  { kind, sql }: Source,
  { before, after, threads, all }: HappeningsRequest,
): Generator<Happening> {
  let [seq, step] = [before, 0];
  // a run of changes by hand may have begun earlier
  const earliest = kind === "hand" ? 0 : after;
  const among = threads === null ? null : JSON.stringify(threads);
  for (;;) {
    const rows = db.all(sql, seq, step, earliest, among, all ? 1 : 0, BATCH);
    for (const row of rows) yield toHappening(kind, row);
    if (rows.length < BATCH) return;
    [seq, step] = [Number(rows.at(-1)!["seq"]), Number(rows.at(-1)!["step"])];
  }
}

function toHappening(kind: Happening["kind"], row: Row): Happening {
  const seq = Number(row["seq"]);
  const facts = { kind, seq, step: Number(row["step"]), at: Number(row["at"]) };
  return { ...facts, captures: kind === "hand" ? [seq] : [] };
}

const KEPT = (column: string) =>
  `EXISTS (SELECT 1 FROM checkpoint c WHERE c.seq = ${column} AND c.pruned_at IS NULL)`;

const AMONG = (column: string) => `(?4 IS NULL OR ${column} IN (SELECT value FROM json_each(?4)))`;

/** Of a turn at least one end is kept, or it has not ended. */
const TURNS = `SELECT s.before AS seq, s.seq AS step, s.opened_at AS at FROM step s
  WHERE s.kind = 'turn' AND (s.before < ?1 OR (s.before = ?1 AND s.seq < ?2)) AND s.before > ?3
    AND ${AMONG("s.thread")} AND (?5 = 1 OR s.state <> 'empty')
    AND (s.state = 'open' OR ${KEPT("s.before")} OR ${KEPT("s.after")})
  ORDER BY s.before DESC, s.seq DESC LIMIT ?6`;

const BACKS = `SELECT s.after AS seq, s.seq AS step, s.closed_at AS at FROM step s
  WHERE s.kind <> 'turn' AND (s.after < ?1 OR (s.after = ?1 AND s.seq < ?2)) AND s.after > ?3
    AND ${AMONG("s.thread")} AND (?5 = 1 OR s.state <> 'empty') AND ${KEPT("s.after")}
  ORDER BY s.after DESC, s.seq DESC LIMIT ?6`;

/** What people ask for, and the beginning; with everything, also safety checkpoints and the first ones of threads. */
const OWN_ROW = "(c.kind IN ('manual', 'approve') OR (c.kind = 'initial' AND c.thread IS NULL))";

const POINTS = `SELECT c.seq AS seq, 0 AS step, c.created_at AS at FROM checkpoint c
  WHERE c.pruned_at IS NULL AND c.seq < ?1 AND ?2 = ?2 AND c.seq > ?3 AND ${AMONG("c.thread")}
    AND (${OWN_ROW} OR (?5 = 1 AND c.kind IN ('safety', 'initial') AND NOT ${hasOutsideChanges()}))
  ORDER BY c.seq DESC LIMIT ?6`;

/** Changes by hand belong to no thread. */
const HANDS = `SELECT c.seq AS seq, 0 AS step, c.created_at AS at FROM checkpoint c
  WHERE c.pruned_at IS NULL AND c.seq < ?1 AND ?2 = ?2 AND c.seq > ?3 AND ?4 IS NULL AND ?5 = ?5
    AND NOT ${OWN_ROW} AND c.kind NOT IN ('restore', 'reset') AND ${hasOutsideChanges()}
  ORDER BY c.seq DESC LIMIT ?6`;

function hasOutsideChanges(): string {
  return `(c.added + c.modified + c.deleted > 0
    AND EXISTS (SELECT 1 FROM change g WHERE g.checkpoint = c.seq AND g.attribution = 'outside'))`;
}

const SOURCES: readonly Source[] = [
  { kind: "turn", sql: TURNS },
  { kind: "back", sql: BACKS },
  { kind: "point", sql: POINTS },
  { kind: "hand", sql: HANDS },
];
