/**
 * What each capture changed, path by path, and who made the change. A step's delta is its changes in the
 * order they happened. The rows of a checkpoint are covered by its seal, and are verified before an undo acts
 * on them.
 */
import { hash } from "node:crypto";
import { pathFromBytes, pathToBytes, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { CheckpointId, ThreadId } from "../model/ids.ts";
import { hashToBytes, type ObjectHash } from "../model/object-hash.ts";
import type { Edit } from "../model/plan.ts";
import { assertSafePath, decodeEntry, encodeEntry } from "../model/tree.ts";
import type { Database, Row } from "../store/database.ts";
import { asSeenHere, withheldNames } from "../store/withheld-names.ts";
import { insertRows } from "../store/insert-rows.ts";
import { onLine } from "./line.ts";

/** Who made a change. */
export interface Attribution {
  readonly attribution: "tool" | "shared" | "outside" | "belay" | "merge";
  readonly step: string | null;
  /** The tool that ran during the change, when it is doubtful that the tool made it. */
  readonly during: string | null;
}

/** One path's change in one capture. */
export interface Change {
  readonly checkpoint: number;
  readonly path: BytePath;
  readonly old: Entry | undefined;
  readonly new: Entry | undefined;
  readonly shared: boolean;
  /** The tool that ran meanwhile, when a person may have made the change. */
  readonly during?: string | null;
}

/** The `checkpoint` of a change that no checkpoint has yet: it comes after all that are recorded. */
export const UNRECORDED = Number.MAX_SAFE_INTEGER;

/** A change as recorded, with its attribution. */
export interface RecordedChange extends Omit<Change, "during">, Attribution {}

interface EncodedChange extends Attribution {
  readonly path: Buffer;
  readonly old: Buffer | null;
  readonly new: Buffer | null;
}

/** Encodes changes for storage, sorted by path. */
export function encodeChanges(changes: readonly (Edit & Attribution)[]): EncodedChange[] {
  const rows = changes.map(({ path, from, to, attribution, step, during }) => ({
    path: pathToBytes(path),
    old: from === undefined ? null : encodeEntry(from),
    new: to === undefined ? null : encodeEntry(to),
    attribution,
    step,
    during,
  }));
  return rows.sort((a, b) => a.path.compare(b.path));
}

/** The hash that the checkpoint's seal covers. */
export function deltaHash(rows: readonly EncodedChange[]): Buffer {
  return hashRows(rows.map((row) => ({ ...row })));
}

function hashRows(rows: readonly Row[]): Buffer {
  const lines = rows.map(
    (row) =>
      `${hex(row["path"])} ${hex(row["old"])} ${hex(row["new"])} ${String(row["attribution"])} ${String(row["step"])}${doubtOf(row)}\n`,
  );
  return hash("sha256", lines.join(""), "buffer");
}

function hex(value: unknown): string {
  if (!(value instanceof Uint8Array)) return "-";
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex");
}

/** Formats before the third had no such doubt: their rows keep their hash. */
function doubtOf(row: Row): string {
  return row["during"] === null ? "" : ` ${JSON.stringify(row["during"])}`;
}

/**
 * Stores the changes of a checkpoint. `windows`: the steps that were open together, that an undo or redo moves, or whose
 * work a merge brought.
 */
export function insertChanges(
  db: Database,
  seq: number,
  rows: readonly EncodedChange[],
  windows: readonly string[],
): void {
  insertRows(
    db,
    "INSERT INTO change (checkpoint, path, old, new, attribution, step, during)",
    rows.map(({ path, old, new: now, attribution, step, during }) => [
      seq,
      path,
      old,
      now,
      attribution,
      step,
      during,
    ]),
  );
  if (rows.every(({ step, attribution }) => step !== null && attribution !== "merge")) return;
  for (const window of windows)
    db.run("INSERT INTO shared_window (checkpoint, step) VALUES (?, ?)", seq, window);
}

/** The steps that were open together when a checkpoint's shared changes were made. */
export function readWindows(db: Database, seq: number): string[] {
  const rows = db.all("SELECT step FROM shared_window WHERE checkpoint = ?", seq);
  return rows.map((row) => String(row["step"]));
}

/** A step's delta in the order it happened, verified. */
export function readDelta(db: Database, step: string): Change[] {
  const captures = db.all(
    `SELECT checkpoint FROM change WHERE step = ?1 UNION SELECT checkpoint FROM shared_window WHERE step = ?1 ORDER BY checkpoint`,
    step,
  );
  return captures.flatMap((row) => {
    const seq = Number(row["checkpoint"]);
    const own = readRows(db, seq).filter(
      (change) => change["step"] === step || change["attribution"] === "shared",
    );
    return own.map((change) => toChange(db, seq, change));
  });
}

/** All changes of one checkpoint. */
export function readCheckpointChanges(db: Database, seq: number): Change[] {
  return readRows(db, seq).map((row) => toChange(db, seq, row));
}

/** One change that a tool made in a turn of a thread. */
export interface ThreadChange {
  readonly path: BytePath;
  readonly seq: number;
  readonly checkpoint: CheckpointId;
  readonly createdAt: number;
  /** The number of the user message whose turn it was. */
  readonly messageIndex: number | null;
}

/** What the tools of a thread's turns changed, newest first. */
export function readThreadChanges(db: Database, thread: ThreadId, limit: number): ThreadChange[] {
  return db
    .all(
      `SELECT g.path AS path, g.checkpoint AS seq, c.id AS id, c.created_at AS at,
         (SELECT max(m.number) FROM message m WHERE m.step = g.step AND m.role = 'user') AS message
       FROM step s JOIN change g ON g.step = s.id JOIN checkpoint c ON c.seq = g.checkpoint
       WHERE s.thread = ? AND s.kind = 'turn' AND g.attribution = 'tool' ORDER BY g.checkpoint DESC, g.path LIMIT ?`,
      thread,
      limit,
    )
    .map((row) => ({
      path: pathFromBytes(row["path"] as Uint8Array),
      seq: Number(row["seq"]),
      checkpoint: String(row["id"]) as CheckpointId,
      createdAt: Number(row["at"]),
      messageIndex: row["message"] === null ? null : Number(row["message"]),
    }));
}

/** All changes of one checkpoint with their attribution. */
export function readCheckpointRows(db: Database, seq: number): RecordedChange[] {
  return readRows(db, seq).map((row) => ({
    ...toChange(db, seq, row),
    attribution: row["attribution"] as Attribution["attribution"],
    step: row["step"] === null ? null : String(row["step"]),
    during: row["during"] === null ? null : String(row["during"]),
  }));
}

/** True when the rows of a checkpoint match its seal. */
export function areChangesSealed(db: Database, seq: number): boolean {
  try {
    readRows(db, seq);
    return true;
  } catch {
    return false;
  }
}

/** The hash of a checkpoint's present rows, to seal it again after `forget`. */
export function hashChanges(db: Database, seq: number): Buffer {
  return hashRows(selectRows(db, seq));
}

function selectRows(db: Database, seq: number): Row[] {
  return db.all(
    "SELECT path, old, new, attribution, step, during FROM change WHERE checkpoint = ? ORDER BY path",
    seq,
  );
}

function readRows(db: Database, seq: number): Row[] {
  const rows = selectRows(db, seq);
  const sealed = db.get("SELECT id, delta FROM checkpoint WHERE seq = ?", seq);
  const delta = sealed?.["delta"];
  if (delta instanceof Uint8Array && hashRows(rows).equals(delta)) return rows;
  throw new EngineError(
    "OBJECT_CORRUPT",
    `The changes recorded with checkpoint ${seq} are damaged. They were not used; your files are untouched.`,
    {
      object: "",
      checkpoints: [String(sealed?.["id"] ?? seq)],
    },
  );
}

/** What was withheld is a gap here: an undo neither writes it nor takes it away. */
function toChange(db: Database, checkpoint: number, row: Row): Change {
  const has = (name: ObjectHash) =>
    db.get("SELECT 1 FROM object WHERE hash = ?", hashToBytes(name)) !== undefined;
  const entry = (column: string) =>
    row[column] === null
      ? undefined
      : asSeenHere(withheldNames(db), has, decodeEntry(row[column] as Uint8Array));
  return {
    checkpoint,
    path: assertSafePath(pathFromBytes(row["path"] as Uint8Array)),
    old: entry("old"),
    new: entry("new"),
    shared: row["attribution"] === "shared",
    during: row["during"] === null ? null : String(row["during"]),
  };
}

/** Who made each change of a checkpoint, in the contract's words. */
export function readCheckpointAttributions(
  db: Database,
  seq: number,
): Map<BytePath, Exclude<Attribution["attribution"], "belay"> | null> {
  const rows = db.all("SELECT path, attribution FROM change WHERE checkpoint = ?", seq);
  return new Map(
    rows.map((row) => {
      const attribution = row["attribution"] as Attribution["attribution"];
      return [pathFromBytes(row["path"] as Uint8Array), attribution === "belay" ? null : attribution];
    }),
  );
}

/** Paths of the line here that changed after a checkpoint and that no turn changed, the first 200 by name. */
export function pathsFromOutside(db: Database, since: number): BytePath[] {
  return db
    .all(
      `SELECT DISTINCT g.path AS path FROM change g WHERE g.checkpoint > ? AND g.attribution = 'outside'
         AND ${onLine(db, { seq: "g.checkpoint" })} ORDER BY g.path LIMIT 200`,
      since,
    )
    .map((row) => pathFromBytes(row["path"] as Uint8Array));
}
