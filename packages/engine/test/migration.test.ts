/** Stores that an earlier version wrote. */
import { rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { OLD_FORMATS, putOldStore, type OldFormat } from "./support/old-store.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

async function withOldStore(temp: TempWorkspace, format: OldFormat = 1): Promise<void> {
  await temp.workspace.close();
  putOldStore(temp.workspace, format);
  await temp.reopen();
}

test(
  "[R37] [A62] a store of format 1 is brought up to date: checkpoints, steps and names stay, threads get a session",
  inWorkspace({ x: "1\n", y: "0\n" }, async (temp) => {
    await withOldStore(temp);
    const { workspace } = temp;
    expect((await workspace.list()).map(({ description }) => description).reverse()).toEqual([
      "Initial checkpoint",
      "Before: t1",
      "After: t1",
      "Manual checkpoint",
      "Before: t2",
      "After: t2",
      "kept",
      "Before undo",
      "Undid: t2",
    ]);
    expect(await workspace.resolve("stable")).toMatchObject({ name: "kept", note: "a note" });
    expect(await workspace.resolve("m-2")).toMatchObject({ kind: "message", session: "session_1" });
    const { id: thread } = await workspace.threads.get("s-1");
    expect(await workspace.threads.get("s-1")).toMatchObject({
      title: "Old",
      session: "session_1",
      messages: 0,
    });
    expect(await workspace.threads.get("never used")).toMatchObject({ initialCheckpoint: null });

    // what the first turn did is pending, what was undone is not
    const { changedFiles } = await workspace.approvals.session(thread);
    expect(changedFiles.map(({ path }) => path)).toEqual(["x"]);
    expect(await workspace.redo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "t2" }] });
    expect(temp.read("y")).toBe("2\n");
    expect(await workspace.approvals.reset(thread)).toMatchObject({
      outcome: "applied",
      newSession: "session_2",
    });
    expect([temp.read("x"), temp.read("y")]).toEqual(["0\n", "0\n"]);
    await temp.reopen();
    expect(await temp.workspace.approvals.sessions(thread)).toMatchObject([
      { status: "abandoned" },
      { status: "active" },
    ]);
  }),
);

test(
  "[R37] a store of format 2 is brought up to date: what was undone can be redone, what was open can be undone",
  inWorkspace({ x: "1\n", y: "0\n", z: "1\n" }, async (temp) => {
    await withOldStore(temp, 2);
    const { workspace } = temp;
    expect((await workspace.list()).map(({ description }) => description).slice(0, 3)).toEqual([
      "Manual checkpoint",
      "Before Bash: echo 1 > z",
      "Before user message: change z",
    ]);
    expect(await workspace.threads.get("s-1")).toMatchObject({ title: "change x", messages: 2 });
    expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "change z" }] });
    expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "change x" }] });
    expect([temp.read("x"), temp.read("y"), temp.read("z")]).toEqual(["0\n", "0\n", "0\n"]);
    expect(await workspace.redo({ count: 3 })).toMatchObject({ outcome: "applied" });
    expect([temp.read("x"), temp.read("y"), temp.read("z")]).toEqual(["1\n", "1\n", "1\n"]);
  }),
);

test(
  "[R37] a store of format 3 is brought up to date: approvals, named paths and what an open tool did stay",
  inWorkspace({ x: "1\n", y: "0\n", z: "1\n", ".gitignore": "ignored/\n" }, async (temp) => {
    await withOldStore(temp, 3);
    const { workspace } = temp;
    expect((await workspace.list()).map(({ description }) => description).slice(0, 4)).toEqual([
      "Manual checkpoint",
      "Before Bash: echo 1 > z",
      "Before user message: change z",
      "Restored to kept",
    ]);
    expect(await workspace.resolve("stable")).toMatchObject({ name: "kept", note: "a note" });
    const { id: thread } = await workspace.threads.get("s-1");
    expect(await workspace.approvals.sessions(thread)).toMatchObject([
      { status: "merged", message: "good" },
      { status: "active" },
    ]);
    expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "change z" }] });
    expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ kind: "restore" }] });
    expect([temp.read("x"), temp.read("z")]).toEqual(["1\n", "by hand\n"]);
    expect(await workspace.redo({ count: 3 })).toMatchObject({ outcome: "applied" });
    expect([temp.read("y"), temp.read("z")]).toEqual(["1\n", "1\n"]);
    // it was absent when the tool named it, so it is taken out although git ignores it
    expect(temp.read("ignored/deep")).toBe("made by a tool\n");
    expect(await workspace.undo({ thread })).toMatchObject({ steps: [{ prompt: "change y" }] });
    expect(temp.tree().has("ignored/deep")).toBe(false);
  }),
);

test.each(OLD_FORMATS)("[R37] a store of format %i has everything on main, in the root", (format) =>
  inWorkspace({ x: "1\n", y: "0\n", z: "1\n" }, async (temp) => {
    await withOldStore(temp, format);
    const { workspace } = temp;
    const listed = await workspace.list();
    expect(new Set(listed.map(({ branch }) => branch))).toEqual(new Set(["main"]));
    expect(new Set(listed.map(({ fork }) => fork))).toEqual(new Set([null]));
    expect(await workspace.resolve("@")).toMatchObject({ id: listed[0]!.id });
    const { checkpoint } = await workspace.checkpoint();
    expect(checkpoint).toMatchObject({ branch: "main", parents: [listed[0]!.id] });
    // where its root is, a lost registry learns from the store
    await workspace.close();
    for (const end of ["", "-wal", "-shm"]) rmSync(join(temp.home, `registry.db${end}`), { force: true });
    await temp.reopen();
    expect(await temp.workspace.resolve("@")).toMatchObject({ id: checkpoint.id });
  })(),
);

test(
  "[R26] what a seal covers since format 2 is noticed when it is altered; an old seal is checked as it was made",
  inWorkspace({ x: "0\n" }, async (temp) => {
    await temp.workspace.checkpoint({ name: "one", messageId: "m-1", toolUseId: "u-1" });
    const alter = (sql: string) => {
      const db = new DatabaseSync(join(temp.workspace.store, "store.db"));
      db.exec(sql);
      db.close();
    };
    for (const column of ["message_id", "tool_use_id"]) {
      alter(`UPDATE checkpoint SET ${column} = ${column} || '!' WHERE name = 'one'`);
      await expect(temp.workspace.resolve("one")).rejects.toMatchObject({ code: "OBJECT_CORRUPT" });
      alter(`UPDATE checkpoint SET ${column} = rtrim(${column}, '!') WHERE name = 'one'`);
    }
    expect(await temp.workspace.resolve("one")).toMatchObject({ messageId: "m-1" });
  }),
);

test(
  "[R20] [R145] a process that stays notices before each write that a newer program has taken over the store",
  inWorkspace({ x: "1\n" }, async (temp) => {
    const { workspace } = temp;
    await workspace.watch();
    const thread = await temp.openThread("a");
    await temp.turn("a turn", () => temp.write("y", "1\n"));
    temp.write("x", "2\n");
    // as young as can be, however long the capture takes
    utimesSync(join(temp.root, "x"), 2 ** 32, 2 ** 32);
    const { id } = await workspace.checkpoint();
    temp.write("x", "3\n");
    const db = new DatabaseSync(join(workspace.store, "store.db"));
    const { user_version: format } = db.prepare("PRAGMA user_version").get() as { user_version: number };
    db.exec("PRAGMA user_version = 99");
    const counts = () =>
      ["checkpoint", "operation", "event", "object", "message", "lease", "pack"].map(
        (table) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()!["n"],
      );
    const before = counts();
    const newer = { code: "STORE_NEWER", facts: { version: 99, supported: format } };
    for (const write of [
      () => workspace.checkpoint(),
      () => workspace.turns.prompt(thread, { content: "go" }),
      () => workspace.threads.addMessage(thread, { role: "assistant", content: "no" }),
      () => workspace.restoreTo(id),
      () => workspace.undo(),
      () => workspace.note(id, "x"),
      () => workspace.upkeep.gc(),
      () => workspace.upkeep.forget(id),
      () => workspace.pause({ since: 0, until: 1e15 }),
    ])
      await expect(write()).rejects.toMatchObject(newer);
    expect([counts(), temp.read("x")]).toEqual([before, "3\n"]);
    // the second reading of "x", which changed right after the capture, waits with what it found
    await sleep(200);
    // what was read stays readable
    expect((await workspace.show(id)).doubts).toEqual([]);
    db.exec(`PRAGMA user_version = ${format}`);
    db.close();
    expect((await workspace.checkpoint()).unchanged).toBe(false);
    await temp.reopen();
    expect((await temp.workspace.show(id)).doubts).toMatchObject([{ path: "x", reason: "unstable" }]);
  }),
);
