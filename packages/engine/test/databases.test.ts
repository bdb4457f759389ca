/** A real SQLite database that a program is writing to: what is captured can be opened, and is the state after a commit. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { writeSetting } from "../src/index.ts";
import { checkCaptured, whileWriting } from "./support/database-writer.ts";
import { inWorkspace } from "./support/temp-workspace.ts";

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
          for (const { id } of sure) await checkCaptured(temp, id);
          expect(taken).toHaveLength(ROUNDS);
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

  test(
    "where one file of a set is over a limit, the whole set is left out",
    inWorkspace({ ".gitignore": "data/\n" }, async ({ home, workspace, write }) => {
      writeSetting(home, "limits.fileBytes", "1000");
      for (const place of ["", "data/"]) {
        write(`${place}app.db`, "p".repeat(100));
        write(`${place}app.db-wal`, "f".repeat(2000));
        write(`${place}small.db`, "p".repeat(100));
        write(`${place}small.db-wal`, "f".repeat(100));
      }
      const { id, gaps } = await workspace.checkpoint();
      const over = (path: string) => ({ path, reason: "too-large" });
      expect(gaps).toEqual(
        ["app.db", "app.db-wal", "data/app.db", "data/app.db-wal"].map((path) =>
          expect.objectContaining(over(path)),
        ),
      );
      const files = await Array.fromAsync(workspace.files(id), ({ path }) => path);
      expect(files.filter((path) => path.includes("small"))).toHaveLength(4);
    }),
  );

  test(
    "[R213] the preview of an undo names the process that has it open",
    inWorkspace({ ".gitignore": "data/\n", a: "a" }, async (temp) => {
      const { workspace } = temp;
      await whileWriting(temp, { mode: "WAL", pause: 2 }, async () => {
        const { checkpoint } = await workspace.checkpoint();
        await sleep(50);
        const { warnings } = await workspace.planRestore(checkpoint.id);
        expect(warnings).toEqual([
          expect.stringMatching(/^data\/app\.sqlite is open in process \d+: stop it first/),
        ]);
      });
      const { checkpoint } = await workspace.checkpoint();
      temp.remove("data");
      expect((await workspace.planRestore(checkpoint.id)).warnings).toEqual([]);
    }),
  );
});
