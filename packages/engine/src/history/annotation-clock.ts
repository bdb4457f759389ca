/**
 * [T11] What people wrote on checkpoints, with a clock, so that of two machines the later one wins everywhere. It is kept
 * only while the workspace has a remote: before that no other machine could disagree. The clock is the greater of this
 * machine's and of all that were seen, plus one: what was written after something was seen counts as later.
 */
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Annotation, AnnotatedField, Review } from "../model/exchange.ts";
import { originText, remoteOrigin } from "../model/origin.ts";
import type { Database } from "../store/database.ts";
import { readMeta } from "../store/store.ts";
import { aliasedSeq } from "./aliases.ts";
import { TAG_PREFIX } from "./checkpoints.ts";
import { parseJson } from "./row-json.ts";
import { appendEvent } from "./events.ts";

/** Notes what changed on a checkpoint. Call inside the transaction that changes it. */
export function noteAnnotations(
  db: Database,
  { before, after }: { readonly before: Checkpoint; readonly after: Checkpoint },
  now: number,
): void {
  if (db.get("SELECT 1 FROM remote LIMIT 1") === undefined) return;
  const { line, checkpoint } = placeOf(db, after);
  const device = readMeta(db, "store_id") ?? "";
  let clock = Math.max(now, newestClock(db) + 1);
  for (const [field, value] of changedFields(before, after)) {
    putAnnotation(db, { line, checkpoint, field, value, clock, device });
    clock += 1;
  }
}

/** [R1843] Notes that this machine approves of a thread of another line, as it was at a checkpoint. */
export function noteReview(
  db: Database,
  review: { readonly line: string; readonly checkpoint: string; readonly message: string | null },
  now: number,
): void {
  const { line, checkpoint, message } = review;
  const device = readMeta(db, "store_id") ?? "";
  const clock = Math.max(now, newestClock(db) + 1);
  const value = JSON.stringify({ message });
  db.transaction(() => putAnnotation(db, { line, checkpoint, field: "review", value, clock, device }));
}

/** Of a fetched checkpoint its line and its id there; this line's own are on the line "". */
function placeOf(db: Database, { seq, id, origin }: Checkpoint): { line: string; checkpoint: string } {
  const from = remoteOrigin(origin);
  if (from === undefined) return { line: "", checkpoint: id };
  const name = db.get("SELECT name FROM alias WHERE origin = ? AND checkpoint = ?", origin, seq);
  return { line: from.line, checkpoint: String(name?.["name"] ?? id) };
}

function changedFields(before: Checkpoint, after: Checkpoint): [AnnotatedField, string | null][] {
  const fields: [AnnotatedField, string | null][] = [];
  if (before.name !== after.name) fields.push(["name", after.name]);
  if (before.note !== after.note) fields.push(["note", after.note]);
  for (const tag of after.tags) if (!before.tags.includes(tag)) fields.push([`tag/${tag}`, tag]);
  for (const tag of before.tags) if (!after.tags.includes(tag)) fields.push([`tag/${tag}`, null]);
  return fields;
}

function newestClock(db: Database): number {
  return Number(db.get("SELECT max(clock) AS clock FROM annotation")?.["clock"] ?? 0);
}

/** Takes over what others wrote where it is newer, on checkpoints that are here. Returns how many fields changed. */
export function takeAnnotations(db: Database, annotations: readonly Annotation[], now: number): number {
  return db.transaction(() => annotations.filter((one) => takeAnnotation(db, one, now)).length);
}

function takeAnnotation(db: Database, annotation: Annotation, now: number): boolean {
  const { line, checkpoint, field } = annotation;
  const known = db.get(
    "SELECT clock, device FROM annotation WHERE line = ? AND checkpoint = ? AND field = ?",
    line,
    checkpoint,
    field,
  );
  if (known !== undefined && !isNewer(annotation, Number(known["clock"]), String(known["device"])))
    return false;
  const seq = seqAt(db, annotation);
  if (seq === undefined) return false;
  if (field === "review") return takeReview(db, annotation, { seq, now });
  const own = valueSetHere(db, seq, annotation);
  if (annotation.value === null && own !== null) return keepOwn(db, { ...annotation, value: own });
  putAnnotation(db, annotation);
  applyField(db, seq, annotation);
  const { id, thread } = db.get("SELECT id, thread FROM checkpoint WHERE seq = ?", seq) ?? {};
  appendEvent(db, {
    type: "checkpoint_updated",
    thread: thread === null ? null : (String(thread) as Checkpoint["thread"]),
    at: now,
    data: { checkpoint: id },
  });
  return true;
}

/** [R1843] What others approve of is told, and changes nothing. */
function takeReview(
  db: Database,
  annotation: Annotation,
  { seq, now }: { readonly seq: number; readonly now: number },
): boolean {
  if (annotation.line !== "") return false;
  putAnnotation(db, annotation);
  const review = readReviews(db).find(({ checkpoint }) => checkpoint === annotation.checkpoint);
  if (review === undefined) return false;
  const { thread, at: _, ...data } = review;
  appendEvent(db, { type: "review", thread, at: now, data });
  return seq > 0;
}

/** What members of spaces approve of and was not approved here since, the newest first. */
export function readReviews(db: Database): Review[] {
  return db
    .all(
      `SELECT a.value, a.clock, c.id, c.thread FROM annotation a JOIN checkpoint c ON c.id = a.checkpoint AND c.origin IS NULL
       WHERE a.line = '' AND a.field = 'review' AND a.value IS NOT NULL AND c.thread IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM session s WHERE s.thread = c.thread AND s.approved >= c.seq)
       ORDER BY a.clock DESC`,
    )
    .map((row) => {
      const { by, message } = (parseJson(row["value"]) ?? {}) as { by?: unknown; message?: unknown };
      return {
        thread: String(row["thread"]) as Review["thread"],
        checkpoint: String(row["id"]) as Review["checkpoint"],
        by: typeof by === "string" ? by : "",
        message: typeof message === "string" ? message : null,
        at: Number(row["clock"]),
      };
    });
}

/** What a checkpoint of this line says, where this store said it; else null. */
function valueSetHere(db: Database, seq: number, { line, checkpoint, field }: Annotation): string | null {
  if (line !== "") return null;
  const last = db.get(
    "SELECT device FROM annotation WHERE line = '' AND checkpoint = ? AND field = ?",
    checkpoint,
    field,
  );
  if (last !== undefined && last["device"] !== readMeta(db, "store_id")) return null;
  if (field === "name" || field === "note") {
    const value = db.get(`SELECT ${field} AS value FROM checkpoint WHERE seq = ?`, seq)?.["value"] ?? null;
    return value === null ? null : String(value);
  }
  const tag = field.slice("tag/".length);
  const ref = db.get("SELECT 1 FROM ref WHERE name = ? AND checkpoint = ?", TAG_PREFIX + tag, seq);
  return ref === undefined ? null : tag;
}

/** [R1503] What was set here is taken off here. It is said again, so that every machine agrees that it stays. */
function keepOwn(db: Database, annotation: Annotation): false {
  const device = readMeta(db, "store_id") ?? "";
  const clock = Math.max(annotation.clock, newestClock(db)) + 1;
  putAnnotation(db, { ...annotation, clock, device });
  return false;
}

/** [T11] By clock, then by device. */
function isNewer({ clock, device }: Annotation, knownClock: number, knownDevice: string): boolean {
  return clock > knownClock || (clock === knownClock && device > knownDevice);
}

function seqAt(db: Database, { line, checkpoint }: Annotation): number | undefined {
  if (line === "") {
    const own = db.get("SELECT seq FROM checkpoint WHERE id = ? AND origin IS NULL", checkpoint);
    return own === undefined ? undefined : Number(own["seq"]);
  }
  for (const { name } of db.all("SELECT name FROM remote")) {
    const seq = aliasedSeq(db, { origin: originText({ remote: String(name), line }), name: checkpoint });
    if (seq !== undefined) return seq;
  }
  return undefined;
}

function applyField(db: Database, seq: number, { field, value }: Annotation): void {
  if (field === "name" || field === "note")
    return void db.run(`UPDATE checkpoint SET ${field} = ? WHERE seq = ?`, value, seq);
  const name = TAG_PREFIX + field.slice("tag/".length);
  if (value === null) db.run("DELETE FROM ref WHERE name = ? AND checkpoint = ?", name, seq);
  // a tag that is on another checkpoint here stays there: the own line comes first
  else db.run("INSERT OR IGNORE INTO ref (name, checkpoint) VALUES (?, ?)", name, seq);
}

function putAnnotation(db: Database, { line, checkpoint, field, value, clock, device }: Annotation): void {
  db.run(
    "INSERT OR REPLACE INTO annotation (line, checkpoint, field, value, clock, device) VALUES (?, ?, ?, ?, ?, ?)",
    line,
    checkpoint,
    field,
    value,
    clock,
    device,
  );
}
