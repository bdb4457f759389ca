/** What a reference means, and names, notes, tags and search. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createSystem, type Workspace } from "../src/index.ts";
import { inProject, inProtected } from "./support/project.ts";

const seqs = async (list: ReturnType<Workspace["list"]>) => (await list).map(({ seq }) => seq);

describe("references", () => {
  test(
    "[R19] id, prefix, name, tag, number, @ and @-n",
    inProtected({ x: "x" }, async (_, workspace) => {
      const { checkpoint } = await workspace.checkpoint({ name: "before the merge", tags: ["v1"] });
      await workspace.checkpoint();
      for (const ref of [checkpoint.id, checkpoint.id.slice(0, 8), "before the merge", "v1", "2", "@-1"]) {
        expect((await workspace.resolve(ref)).seq).toBe(2);
      }
      expect((await workspace.resolve("@")).seq).toBe(3);
      expect((await workspace.resolve("@-2")).seq).toBe(1);
    }),
  );

  test(
    "[R19] the first letters that only one id has are enough; fewer name the candidates",
    inProtected({ x: "x" }, async (_, workspace) => {
      for (let taken = 0; taken < 30; taken += 1) await workspace.checkpoint();
      const ids = (await workspace.list()).map(({ id }) => id as string);
      for (const id of ids) {
        for (let letters = 1; letters <= 16; letters += 1) {
          const ref = id.slice(0, letters);
          const meant = ids.filter((other) => other.startsWith(ref));
          if (meant.length === 1) expect((await workspace.resolve(ref)).id).toBe(id);
          else
            await expect(workspace.resolve(ref)).rejects.toMatchObject({
              code: "CHECKPOINT_AMBIGUOUS",
              message: `The ids of ${meant.length} checkpoints begin with "${ref}". Nothing was changed.`,
              facts: { candidates: meant.map((other) => expect.objectContaining({ id: other })) },
            });
        }
      }
      const [first = ""] = ids[0]!;
      await workspace.tag("1", first);
      expect((await workspace.resolve(first)).seq).toBe(1);
    }),
  );

  test(
    "a message or tool-use id means the checkpoint before it",
    inProtected({ x: "1" }, async (project, workspace) => {
      const { checkpoint: before } = await workspace.checkpoint({
        kind: "tool",
        phase: "before",
        toolUseId: "toolu_01",
        messageId: "msg-1",
      });
      project.write("x", "2");
      await workspace.checkpoint({ kind: "tool", phase: "after", toolUseId: "toolu_01", messageId: "msg-1" });
      const { checkpoint: only } = await workspace.checkpoint({
        kind: "tool",
        phase: "after",
        toolUseId: "toolu_02",
      });
      expect((await workspace.resolve("toolu_01")).id).toBe(before.id);
      expect((await workspace.resolve("msg-1")).id).toBe(before.id);
      expect((await workspace.resolve("toolu_02")).id).toBe(only.id);
    }),
  );

  test(
    "[R19] what is not there is not found; what means several lists them",
    inProtected({ x: "x" }, async (_, workspace) => {
      for (const ref of ["nope", "99", "@-9", "@x", "", "kkkkkkkkkkkkkkkk", "%", "_"]) {
        await expect(workspace.resolve(ref)).rejects.toMatchObject({
          code: "CHECKPOINT_NOT_FOUND",
          facts: { checkpoint: ref },
        });
      }
      await workspace.checkpoint({ name: "twice" });
      await workspace.checkpoint({ name: "twice" });
      const candidates = [expect.objectContaining({ seq: 3 }), expect.objectContaining({ seq: 2 })];
      await expect(workspace.resolve("twice")).rejects.toMatchObject({
        code: "CHECKPOINT_AMBIGUOUS",
        facts: { candidates },
      });
    }),
  );

  test(
    "names that could be mistaken for something else are refused, and nothing is recorded",
    inProtected({ x: "x" }, async (_, workspace) => {
      for (const name of ["@", "@home", "12", "", "  ", "klmnopqrstuvwxyz", "n".repeat(201)]) {
        await expect(workspace.checkpoint({ name })).rejects.toMatchObject({ code: "NAME_INVALID" });
        await expect(workspace.tag("1", name)).rejects.toMatchObject({ code: "NAME_INVALID" });
      }
      expect(await workspace.list()).toHaveLength(1);
      for (const name of ["v1.0", "a/b", "2 eggs", "naïve ☃", "k".repeat(15)])
        await workspace.checkpoint({ name });
      expect((await workspace.resolve("naïve ☃")).name).toBe("naïve ☃");
    }),
  );
});

describe("names, notes and tags", () => {
  test(
    "[Y26] are put on any checkpoint, changed and taken away",
    inProtected({ x: "x" }, async (_, workspace) => {
      expect(await workspace.note("1", "first\nnote")).toMatchObject({ seq: 1, note: "first\nnote" });
      expect(await workspace.note("1", "")).toMatchObject({ note: null });
      expect(await workspace.rename("1", "start")).toMatchObject({ name: "start" });
      expect(await workspace.rename("start", "")).toMatchObject({ name: null });
      expect(await workspace.tag("1", "a")).toMatchObject({ tags: ["a"] });
      expect(await workspace.tag("1", "a")).toMatchObject({ tags: ["a"] });
      expect((await workspace.tag("1", "b")).tags).toEqual(["a", "b"]);
      await workspace.checkpoint();
      await expect(workspace.tag("2", "a")).rejects.toMatchObject({ code: "NAME_TAKEN" });
      await expect(workspace.checkpoint({ tags: ["b"] })).rejects.toMatchObject({ code: "NAME_TAKEN" });
      expect(await workspace.untag("a")).toMatchObject({ seq: 1, tags: ["b"] });
      await expect(workspace.untag("a")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
      expect(await workspace.tag("2", "a")).toMatchObject({ tags: ["a"] });
    }),
  );

  test(
    "[Y27] search finds names, notes, tags, descriptions, prompts and paths, and takes signs for what they are",
    inProtected({ x: "x" }, async (project, workspace) => {
      await workspace.checkpoint({ name: "Alpha release" });
      await workspace.note("2", "tastes of 100% cinnamon");
      await workspace.tag("2", "spice_rack");
      const turn = await workspace.turns.run({ prompt: "rename the walrus" }, async () =>
        project.write("docs/penguin.md", "p"),
      );
      const find = (search: string) => seqs(workspace.list({ search }));
      expect(await find("alpha")).toEqual([2]);
      expect(await find("100%")).toEqual([2]);
      expect(await find("spice_")).toEqual([2]);
      expect(await find("1%0")).toEqual([]);
      expect(await find("spice.")).toEqual([]);
      expect(await find("walrus")).toEqual([turn.after.seq, turn.before.seq]);
      expect(await find("penguin.md")).toEqual([turn.after.seq]);
      expect(await find("'; DROP TABLE checkpoint; --")).toEqual([]);
      expect(await seqs(workspace.list({ search: "walrus", limit: 1 }))).toEqual([turn.after.seq]);
    }),
  );

  test(
    "lists by thread and kind, newest first, as many as asked for",
    inProtected({ x: "x" }, async (_, workspace) => {
      const thread = await workspace.threads.open({ agent: "claude", externalId: "s-1", title: "T" });
      expect((await workspace.threads.open({ agent: "claude", externalId: "s-1" })).id).toBe(thread.id);
      await workspace.checkpoint({ kind: "message", thread: thread.id, messageId: "m" });
      await workspace.checkpoint({ kind: "tool" });
      expect(await seqs(workspace.list({ thread: thread.id }))).toEqual([2]);
      expect(await seqs(workspace.list({ kind: "tool" }))).toEqual([3]);
      expect(await seqs(workspace.list({ limit: 2 }))).toEqual([3, 2]);
      expect(await workspace.threads.get("s-1")).toMatchObject(thread);
      expect(await workspace.threads.get(thread.id.slice(0, 6))).toMatchObject(thread);
      await expect(workspace.threads.get("unknown")).rejects.toMatchObject({ code: "THREAD_NOT_FOUND" });
      expect(await workspace.threads.list()).toMatchObject([thread]);
    }),
  );

  test(
    "a thread that was never opened cannot be recorded",
    inProtected({ x: "x" }, async (_, workspace) => {
      const thread = "klmnopqrstuvwxyz" as never;
      await expect(workspace.checkpoint({ thread })).rejects.toMatchObject({ code: "THREAD_NOT_FOUND" });
      await expect(workspace.turns.run({ thread }, async () => undefined)).rejects.toMatchObject({
        code: "THREAD_NOT_FOUND",
      });
      expect(await workspace.list()).toHaveLength(1);
    }),
  );
});

describe("turns and times", () => {
  const HOUR_MS = 3_600_000;

  test(
    "[R215] T3, @turn and @turn-1 mean the state before that turn; numbers stay when turns are dropped or empty",
    inProject({ x: "0" }, async (project) => {
      const workspace = await project.open();
      const { id: thread } = await workspace.threads.open({ agent: "a", externalId: "a" });
      const turn = (name: string, content: string) =>
        workspace.turns.run({ prompt: name, thread }, async () => project.write("x", content));
      await turn("one", "1");
      await turn("changes nothing", "1");
      await turn("three", "3");
      const before = (ref: string) => workspace.resolve(ref).then(({ description }) => description);
      expect(await before("T1")).toBe("Before: one");
      expect(await before("T2")).toBe("Before: changes nothing");
      expect(await before("T3")).toBe("Before: three");
      expect(await before("@turn")).toBe("Before: three");
      expect(await before("@turn-1")).toBe("Before: one");
      for (const ref of ["T0", "T4", "T99999", "@turn-2"])
        await expect(workspace.resolve(ref)).rejects.toMatchObject({
          code: "CHECKPOINT_NOT_FOUND",
          message: `There is no turn ${ref}. Nothing was changed.`,
        });
      await turn("four", "4");
      await workspace.upkeep.deleteCheckpoint((await workspace.resolve("T3")).id);
      await expect(workspace.resolve("T3")).rejects.toMatchObject({
        message: "The checkpoint before T3 was dropped. Nothing was changed.",
      });
      expect(await before("T4")).toBe("Before: four");
      project.clockMs = 48 * HOUR_MS;
      expect(await workspace.upkeep.gc()).toMatchObject({ checkpointsDropped: 1 });
      expect(await before("T4")).toBe("Before: four");
      expect(await workspace.timeline.row("T3")).toMatchObject({ title: "three", before: null });
      await turn("five", "5");
      expect(await before("T5")).toBe("Before: five");
    }),
  );

  test(
    "[R215] revert by the name of a turn takes out that turn, also where the turn before it ended at the same checkpoint",
    inProject({ x: "0\n" }, async (project) => {
      const workspace = await project.open();
      const { id } = await workspace.threads.open({ agent: "a", externalId: "a" });
      await workspace.turns.prompt(id, { content: "one" });
      project.write("one", "1\n");
      // no stop: the next prompt ends it
      await workspace.turns.prompt(id, { content: "two" });
      project.write("two", "2\n");
      await workspace.turns.end(id);
      expect((await workspace.timeline.row("T1")).after).toBe((await workspace.timeline.row("T2")).before);
      await workspace.revert("T2");
      expect([...project.tree().keys()].toSorted()).toEqual(["one", "x"]);
    }),
  );

  test(
    "[R215] a time means the newest checkpoint at or before it; a day means its end",
    inProject({ x: "0" }, async (project) => {
      const system = createSystem();
      // noon, so that an hour more or less is the same day
      const { year, month, day } = system.toLocal(system.now());
      const noon = system.fromLocal({ year, month, day, hour: 12, minute: 0, second: 0 });
      const at = (moment: number) => (project.clockMs = moment - system.now());
      at(noon - 26 * HOUR_MS);
      const workspace = await project.open();
      for (const [name, moment] of [
        ["yesterday", noon - 23 * HOUR_MS],
        ["this morning", noon - 4 * HOUR_MS - 60_000],
        ["just now", noon - 60_000],
      ] as const) {
        at(moment);
        await workspace.checkpoint({ name });
      }
      at(noon);
      const names: Record<string, string | null> = {};
      for (const ref of ["@30s", "@10m", "@2h", "@1d", "@11:00", "@08:00", "@13:30", "@yesterday", "@today"])
        names[ref] = (await workspace.resolve(ref)).name;
      expect(names).toEqual({
        "@30s": "just now",
        "@10m": "this morning",
        "@2h": "this morning",
        "@1d": null,
        "@11:00": "this morning",
        "@08:00": "this morning",
        // half past one has not come yet today
        "@13:30": "yesterday",
        "@yesterday": "yesterday",
        "@today": "just now",
      });
      const { year: y, month: m, day: d } = system.toLocal(noon - 24 * HOUR_MS);
      const date = [y, m, d].map((part) => String(part).padStart(2, "0")).join("-");
      expect((await workspace.resolve(`@${date}`)).name).toBe("yesterday");
      expect((await workspace.resolve(`@${date} 12:30`)).name).toBeNull();
      expect((await workspace.resolve("@yesterday 13:30")).name).toBe("yesterday");
      for (const ref of ["@3d", "@2020-01-01"])
        await expect(workspace.resolve(ref)).rejects.toMatchObject({
          code: "CHECKPOINT_NOT_FOUND",
          message: `There is no checkpoint from "${ref.slice(1)}" or before. Nothing was changed.`,
        });
      for (const ref of ["@25:00", "@nonsense", "@10", "@2026-02-30", "@10m ago"])
        await expect(workspace.resolve(ref)).rejects.toMatchObject({
          code: "CHECKPOINT_NOT_FOUND",
          message: expect.stringContaining("is neither a checkpoint nor a time"),
        });
    }),
  );

  test(
    "[R215] nothing is called like a turn; where an older store has such a name, it is ambiguous",
    inProject({ x: "0" }, async (project) => {
      const workspace = await project.open();
      await workspace.turns.run({ prompt: "one" }, async () => project.write("x", "1"));
      await expect(workspace.tag("1", "T1")).rejects.toMatchObject({ code: "NAME_INVALID" });
      const db = new DatabaseSync(join(project.storeDirectory(), "store.db"));
      db.exec("INSERT INTO ref (name, checkpoint) VALUES ('tag/T1', 1)");
      db.close();
      await expect(workspace.resolve("T1")).rejects.toMatchObject({ code: "CHECKPOINT_AMBIGUOUS" });
    }),
  );

  test(
    "[R215] what is forgotten is named exactly: a turn or a time names a path there",
    inProject({ x: "0", T1: "mine" }, async (project) => {
      const workspace = await project.open();
      await workspace.turns.run({ prompt: "one" }, async () => project.write("x", "1"));
      // the file T1 is in all three checkpoints
      expect((await workspace.upkeep.forget("T1", { dryRun: true })).checkpoints).toHaveLength(3);
      await expect(workspace.upkeep.forget("@1d", { dryRun: true })).rejects.toMatchObject({
        code: "CHECKPOINT_NOT_FOUND",
      });
    }),
  );
});
