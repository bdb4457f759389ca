/** A program that commits to a SQLite database without a break, and a look at what a checkpoint has of it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TempWorkspace } from "./temp-workspace.ts";

/** How the program writes: SQLite's journal mode, and the milliseconds between two commits. */
export interface Writing {
  readonly mode: "WAL" | "DELETE";
  readonly pause: number;
}

/** Commits one row after the other; each names its predecessor, and a page of filling makes logs turn over. */
const WRITER = `
  import { DatabaseSync } from "node:sqlite";
  const [path, mode, pause] = process.argv.slice(1);
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode=" + mode + "; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=40; PRAGMA busy_timeout=5000");
  db.exec("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, filling BLOB); CREATE INDEX IF NOT EXISTS i ON t (filling)");
  const insert = db.prepare("INSERT INTO t VALUES (?, randomblob(900))");
  process.stdout.write("ready");
  for (let n = 1; ; n += 1) {
    db.exec("BEGIN");
    insert.run(2 * n - 1);
    insert.run(2 * n);
    db.exec("COMMIT");
    if (n > 300) { db.exec("DELETE FROM t"); n = 0; }
    await new Promise((resolve) => setTimeout(resolve, Number(pause)));
  }`;

/** Does `work` while the program writes to `data/app.sqlite`. */
export async function whileWriting(
  temp: TempWorkspace,
  { mode, pause }: Writing,
  work: () => Promise<void>,
): Promise<void> {
  mkdirSync(join(temp.root, "data"), { recursive: true });
  const args = ["--input-type=module", "-e", WRITER, join(temp.root, "data/app.sqlite"), mode, String(pause)];
  const writer = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(writer.stdout, "data");
    await work();
  } finally {
    writer.kill("SIGKILL");
    await once(writer, "exit");
  }
}

/** Throws unless SQLite opens the database of a checkpoint and finds whole commits without a hole in it. */
export async function checkCaptured({ workspace, root }: TempWorkspace, id: string): Promise<void> {
  const place = mkdtempSync(join(root, "..", "captured-"));
  try {
    for await (const { path, kind, content } of workspace.files(id)) {
      if (kind !== "file" || !path.startsWith("data/")) continue;
      mkdirSync(dirname(join(place, path)), { recursive: true });
      writeFileSync(join(place, path), Buffer.concat([...content()]));
    }
    using db = new DatabaseSync(join(place, "data/app.sqlite"));
    assert.deepEqual(
      db
        .prepare("PRAGMA integrity_check")
        .all()
        .map((row) => row["integrity_check"]),
      ["ok"],
    );
    const rows = db
      .prepare("SELECT n FROM t ORDER BY n")
      .all()
      .map((row) => Number(row["n"]));
    assert.equal(rows.length % 2, 0, "one of the two rows of a commit is missing");
    assert.deepEqual(
      rows,
      rows.map((_, at) => at + 1),
      "a commit is there without those before it",
    );
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
