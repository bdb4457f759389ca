/** A real SQLite database that a program is writing to: what is captured can be opened, and is the state after a commit. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

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

async function whileWriting(
  temp: TempWorkspace,
  { mode, pause }: { mode: string; pause: number },
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

/** The rows of the database as a checkpoint has it, opened by SQLite itself. */
async function openCaptured({ workspace, root }: TempWorkspace, id: string): Promise<number[]> {
  const place = mkdtempSync(join(root, "..", "captured-"));
  try {
    for await (const { path, kind, content } of workspace.files(id)) {
      if (kind !== "file" || !path.startsWith("data/")) continue;
      mkdirSync(dirname(join(place, path)), { recursive: true });
      writeFileSync(join(place, path), Buffer.concat([...content()]));
    }
    using db = new DatabaseSync(join(place, "data/app.sqlite"));
    expect(db.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    return db
      .prepare("SELECT n FROM t ORDER BY n")
      .all()
      .map((row) => Number(row["n"]));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const ROUNDS = 25;

describe("[R136] a database and its logs are captured as one", () => {
  for (const watched of [false, true])
    for (const [mode, pause] of [
      ["WAL", 0],
      ["WAL", 3],
      ["DELETE", 15],
    ] as const)
      test(
        `${mode}, a commit every ${pause} ms, ${watched ? "live" : "cold"}`,
        { timeout: 120_000 },
        inWorkspace({ ".gitignore": "data/\n", a: "a" }, async (temp) => {
          const { workspace } = temp;
          if (watched) await workspace.watch();
          const taken: { id: string; isUnstable: boolean }[] = [];
          await whileWriting(temp, { mode, pause }, async () => {
            for (let round = 0; round < ROUNDS; round += 1) {
              temp.write("a", `${round}`);
              const { checkpoint } = await workspace.checkpoint();
              const isUnstable = checkpoint.doubts.some(({ path }) => path.startsWith("data/"));
              taken.push({ id: checkpoint.id, isUnstable });
              await sleep(5 + (round % 7));
            }
          });
          const sure = taken.filter(({ isUnstable }) => !isUnstable);
          // a writer that never pauses may leave no moment; a doubt says so then
          if (pause > 0) expect(sure.length).toBeGreaterThan(0);
          for (const { id } of sure) {
            const rows = await openCaptured(temp, id);
            // both rows of every commit, and no commit without those before it
            expect(rows.length % 2).toBe(0);
            expect(rows).toEqual(rows.map((_, at) => at + 1));
          }
          console.log(
            `${mode} ${pause} ${watched ? "live" : "cold"}: ${sure.length} of ${ROUNDS} without a doubt`,
          );
        }),
      );

  test(
    "a restore brings it back openable",
    inWorkspace({ ".gitignore": "data/\n", a: "a" }, async (temp) => {
      const { workspace } = temp;
      let id = "";
      await whileWriting(temp, { mode: "WAL", pause: 2 }, async () => {
        await sleep(50);
        for (;;) {
          const { checkpoint } = await workspace.checkpoint();
          id = checkpoint.id;
          if (checkpoint.doubts.length === 0) return;
        }
      });
      temp.remove("data");
      expect(await workspace.restoreTo(id)).toMatchObject({ outcome: "applied" });
      using db = new DatabaseSync(join(temp.root, "data/app.sqlite"));
      expect(db.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
      expect(db.prepare("SELECT count(*) AS n FROM t").get()!["n"]).toBeGreaterThan(0);
    }),
  );
});
