/** Which steps and checkpoints hold a text? One scan a text, however many rows the timeline has. */
import type { Database } from "../store/database.ts";
import { TAG_PREFIX } from "./checkpoints.ts";

/** Where a text was found, by seq. */
export interface Found {
  /** Steps with the text in their words or in the paths they changed. */
  readonly steps: ReadonlySet<number>;
  /** Checkpoints with the text in their name, note or tags. */
  readonly annotated: ReadonlySet<number>;
  /** Checkpoints with the text in their description. */
  readonly described: ReadonlySet<number>;
  /** Checkpoints that found a change of no tool at such a path. */
  readonly outside: ReadonlySet<number>;
}

const NONE: ReadonlySet<number> = new Set();

/** Everything with this text in a prompt, name, note, tag or changed path. Case does not matter. */
export function findWords(db: Database, text: string): Found {
  const pattern = likePattern(text);
  return {
    steps: new Set([
      ...seqs(
        db,
        "SELECT seq FROM step WHERE prompt LIKE ?1 ESCAPE '\\' OR description LIKE ?1 ESCAPE '\\'",
        pattern,
      ),
      ...changedBy(db, "LIKE ?1 ESCAPE '\\'", pattern),
    ]),
    annotated: seqs(
      db,
      `SELECT seq FROM checkpoint WHERE name LIKE ?1 ESCAPE '\\' OR note LIKE ?1 ESCAPE '\\'
       UNION SELECT checkpoint FROM ref WHERE name GLOB '${TAG_PREFIX}*' AND substr(name, ${TAG_PREFIX.length + 1}) LIKE ?1 ESCAPE '\\'`,
      pattern,
    ),
    described: seqs(
      db,
      "SELECT seq FROM checkpoint WHERE kind IN ('manual', 'approve') AND description LIKE ?1 ESCAPE '\\'",
      pattern,
    ),
    outside: changedOutside(db, "LIKE ?1 ESCAPE '\\'", pattern),
  };
}

/** Everything that changed a path: one that matches where the text has `*` or `?`, else one with the text in it. */
export function findPaths(db: Database, text: string): Found {
  const isGlob = /[*?]/.test(text);
  // `*` of SQLite crosses slashes, as `**` does elsewhere
  const [match, pattern] = isGlob
    ? ["GLOB ?1", text.replaceAll(/\*+/g, "*").replaceAll("[", "[[]")]
    : ["LIKE ?1 ESCAPE '\\'", likePattern(text)];
  return {
    steps: changedBy(db, match, pattern),
    annotated: NONE,
    described: NONE,
    outside: changedOutside(db, match, pattern),
  };
}

/** The checkpoints with a tag that begins so. */
export function findTags(db: Database, text: string): ReadonlySet<number> {
  const beginning = likePattern(text).slice(1);
  return seqs(
    db,
    `SELECT checkpoint AS seq FROM ref WHERE name GLOB '${TAG_PREFIX}*' AND substr(name, ${TAG_PREFIX.length + 1}) LIKE ?1 ESCAPE '\\'`,
    beginning,
  );
}

function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, (special) => `\\${special}`)}%`;
}

function changedBy(db: Database, match: string, pattern: string): Set<number> {
  return seqs(
    db,
    `SELECT s.seq AS seq FROM step s WHERE s.id IN (
       SELECT g.step FROM change g WHERE g.step IS NOT NULL AND CAST(g.path AS TEXT) ${match}
       UNION SELECT w.step FROM change g JOIN shared_window w ON w.checkpoint = g.checkpoint
         WHERE g.attribution = 'shared' AND CAST(g.path AS TEXT) ${match})`,
    pattern,
  );
}

function changedOutside(db: Database, match: string, pattern: string): Set<number> {
  return seqs(
    db,
    `SELECT DISTINCT checkpoint AS seq FROM change WHERE attribution = 'outside' AND CAST(path AS TEXT) ${match}`,
    pattern,
  );
}

function seqs(db: Database, sql: string, pattern: string): Set<number> {
  return new Set(db.all(sql, pattern).map((row) => Number(row["seq"])));
}

/** The steps and checkpoints of threads. */
export function findOfThreads(db: Database, threads: Iterable<string>): Found {
  const list = JSON.stringify([...threads]);
  return {
    steps: seqs(db, "SELECT seq FROM step WHERE thread IN (SELECT value FROM json_each(?1))", list),
    annotated: NONE,
    described: seqs(
      db,
      "SELECT seq FROM checkpoint WHERE kind IN ('manual', 'approve', 'initial', 'safety') AND thread IN (SELECT value FROM json_each(?1))",
      list,
    ),
    outside: NONE,
  };
}

/** The steps in a state. */
export function findStepsIn(db: Database, state: string): ReadonlySet<number> {
  return seqs(db, "SELECT seq FROM step WHERE state = ?", state);
}

/** The checkpoints that found nothing changed since the one before. */
export function findIdleCheckpoints(db: Database): ReadonlySet<number> {
  const rows = db.all("SELECT seq FROM checkpoint WHERE added + modified + deleted = 0");
  return new Set(rows.map((row) => Number(row["seq"])));
}

/** The turns that changed nothing. */
export function findIdleTurns(db: Database): ReadonlySet<number> {
  return seqs(db, "SELECT seq FROM step WHERE kind = ? AND changed = 0", "turn");
}
