/** The rows of files outside the workspace. */
import { EngineError } from "../model/errors.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import type { OutsideFile } from "../model/outside.ts";
import { decodeEntry, encodeEntry, isSafeName } from "../model/tree.ts";
import type { Database, Row } from "../store/database.ts";

/** Adds files to a checkpoint; of a path that it has already the first stays. */
export function insertOutside(db: Database, seq: number, files: readonly OutsideFile[]): void {
  for (const { path, entry } of files)
    db.run(
      "INSERT OR IGNORE INTO outside_file (checkpoint, path, entry) VALUES (?, ?, ?)",
      seq,
      path,
      entry === undefined ? null : encodeEntry(entry),
    );
}

/** The files outside that a checkpoint holds, sorted by path. */
export function readOutside(db: Database, seq: number): OutsideFile[] {
  return db.all("SELECT path, entry FROM outside_file WHERE checkpoint = ? ORDER BY path", seq).map(fileOf);
}

/** The contents that files outside refer to, of one checkpoint or of all. */
export function outsideContents(db: Database, seq?: number): ObjectHash[] {
  const of = seq === undefined ? "" : "WHERE checkpoint = ?";
  return db
    .all(`SELECT path, entry FROM outside_file ${of}`, ...(seq === undefined ? [] : [seq]))
    .flatMap((row) => fileOf(row).entry?.hash ?? []);
}

/** Every path outside that a checkpoint holds, newest checkpoint first. */
export function listOutside(db: Database): (OutsideFile & { readonly seq: number })[] {
  return db
    .all("SELECT checkpoint, path, entry FROM outside_file ORDER BY checkpoint DESC, path")
    .map((row) => ({ ...fileOf(row), seq: Number(row["checkpoint"]) }));
}

/** Takes a file outside out of a checkpoint. */
export function removeOutside(db: Database, seq: number, path: string): void {
  db.run("DELETE FROM outside_file WHERE checkpoint = ? AND path = ?", seq, path);
}

/** [R27] No path of a row is used that a capture could not have written. */
function fileOf(row: Row): OutsideFile {
  const [path, bytes] = [row["path"], row["entry"]];
  const entry = bytes === null ? undefined : decodeEntry(bytes as Uint8Array);
  const isPath =
    typeof path === "string" && path.startsWith("/") && path.slice(1).split("/").every(isSafeName);
  if (isPath && (entry === undefined || entry.kind === "file")) return { path, entry };
  throw new EngineError(
    "OBJECT_CORRUPT",
    "The store names a file outside that none can be. It was not used.",
    {
      object: "",
      checkpoints: [],
    },
  );
}
