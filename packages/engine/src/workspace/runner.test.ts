import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inWorkspace, type TempWorkspace } from "../../test/support/temp-workspace.ts";
import { withCapture } from "../capture/with-capture.ts";
import { readEvents } from "../history/events.ts";
import type { BytePath } from "../model/byte-path.ts";
import { EngineError } from "../model/errors.ts";
import type { LocalWorkspace } from "./local-workspace.ts";
import type { Runner } from "./runner.ts";

const runnerOf = ({ workspace }: TempWorkspace): Runner => (workspace as LocalWorkspace).runner;

const stale = () => new EngineError("PLAN_STALE", "A file changed.", { plan: "none" });

describe("looking", () => {
  test(
    "is repeated while files change under it, and then the answer counts",
    inWorkspace({ x: "0" }, async (temp) => {
      let attempts = 0;
      const answer = await runnerOf(temp).look(() => {
        attempts += 1;
        if (attempts < 4) throw stale();
        return "seen";
      });
      expect([answer, attempts]).toEqual(["seen", 4]);
    }),
  );

  test(
    "is not repeated forever",
    inWorkspace({ x: "0" }, async (temp) => {
      let attempts = 0;
      const look = runnerOf(temp).look(() => {
        attempts += 1;
        throw stale();
      });
      await expect(look).rejects.toMatchObject({ code: "PLAN_STALE" });
      expect(attempts).toBe(6);
    }),
  );

  test(
    "is not repeated for any other error",
    inWorkspace({ x: "0" }, async (temp) => {
      let attempts = 0;
      const look = runnerOf(temp).look(() => {
        attempts += 1;
        throw new TypeError("a bug");
      });
      await expect(look).rejects.toThrow("a bug");
      expect(attempts).toBe(1);
    }),
  );
});

describe("[R870] the checkpoint that a capture answers with", () => {
  test(
    "is the one that the store has",
    inWorkspace({ x: "0", big: "12345" }, async (temp) => {
      temp.write("x", "1");
      const { checkpoint } = await temp.workspace.checkpoint({
        name: "first",
        note: "a note",
        tags: ["z", "a"],
        agent: { id: "a", role: "tester", status: "running", cost: null, tokens: null },
      });
      expect(checkpoint).toEqual(await temp.workspace.resolve(checkpoint.id));
      expect(checkpoint.tags).toEqual(["a", "z"]);
    }),
  );

  test(
    "has each doubt once, in the order of the store",
    inWorkspace({ x: "0" }, async (temp) => {
      const { context } = runnerOf(temp);
      const doubts = (["z", "a", "z"] as BytePath[]).map((path) => ({ path, reason: "late" as const }));
      const taken = await runnerOf(temp).take(() =>
        withCapture(context, {}, (capture) =>
          capture.record({ request: {}, description: "doubtful", doubts }),
        ),
      );
      expect(taken.checkpoint).toEqual(await temp.workspace.resolve(taken.id));
      expect(taken.checkpoint.doubtsTotal).toBe(2);
    }),
  );
});

describe("damage", () => {
  test(
    "is reported with the checkpoints that need the object",
    inWorkspace({ x: "0" }, async (temp) => {
      const { snapshot, id } = await temp.workspace.resolve("@");
      const facts = { object: snapshot, checkpoints: [] };
      const read = () =>
        runnerOf(temp).read(() => {
          throw new EngineError("OBJECT_CORRUPT", "Damaged.", facts);
        });
      expect(read).toThrow(expect.objectContaining({ facts: { object: snapshot, checkpoints: [id] } }));
    }),
  );

  test(
    "whose checkpoints are known already keeps them",
    inWorkspace({ x: "0" }, async (temp) => {
      const { snapshot } = await temp.workspace.resolve("@");
      const facts = { object: snapshot, checkpoints: ["known"] };
      const read = () =>
        runnerOf(temp).read(() => {
          throw new EngineError("OBJECT_MISSING", "Missing.", facts);
        });
      expect(read).toThrow(expect.objectContaining({ facts: { object: snapshot, checkpoints: ["known"] } }));
    }),
  );
});

describe("conflicts", () => {
  /** Two threads that changed the same line, one after the other. */
  async function bothChanged(temp: TempWorkspace) {
    const { workspace, write } = temp;
    const ids = [];
    for (const name of ["a", "b"]) {
      const { id } = await workspace.threads.create({ agent: name, externalId: name });
      await workspace.turns.run({ thread: id }, async () => write("x", `${name}\n`));
      ids.push(id);
    }
    return ids[0]!;
  }

  const told = (temp: TempWorkspace) =>
    readEvents(runnerOf(temp).db, 0, {}).filter(({ type }) => type === "restore_conflicts");

  test(
    "[N1] of a reset are told as an event, like those of an undo",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const thread = await bothChanged(temp);
      expect(await temp.workspace.approvals.reset(thread)).toMatchObject({ outcome: "conflicts" });
      expect(await temp.workspace.undo({ thread })).toMatchObject({ outcome: "conflicts" });
      expect(told(temp)).toMatchObject([
        { thread, data: { kind: "reset", files: 1 } },
        { data: { kind: "undo", files: 1 } },
      ]);
    }),
  );

  test(
    "of a plan that is only looked at are told to the caller alone",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const thread = await bothChanged(temp);
      expect((await temp.workspace.approvals.planReset(thread)).conflicts).toHaveLength(1);
      expect(told(temp)).toEqual([]);
    }),
  );
});

describe("plans", () => {
  test(
    "are carried out once",
    inWorkspace({ x: "0" }, async ({ workspace, write }) => {
      write("x", "1");
      const plan = await workspace.planRestore("@");
      expect(await workspace.restore(plan)).toMatchObject({ outcome: "applied" });
      await expect(workspace.restore(plan)).rejects.toMatchObject({
        code: "PLAN_STALE",
        facts: { plan: plan.id },
      });
    }),
  );

  test(
    "of a workspace that was closed, or of another one, are unknown",
    inWorkspace({ x: "0" }, async (temp) => {
      temp.write("x", "1");
      const plan = await temp.workspace.planRestore("@");
      await temp.reopen();
      await expect(temp.workspace.restore(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
      expect(temp.read("x")).toBe("1");
    }),
  );

  test(
    "whose files changed since are refused, and stay refused",
    inWorkspace({ x: "0" }, async ({ workspace, write, read }) => {
      write("x", "1");
      const plan = await workspace.planRestore("@");
      write("x", "2");
      await expect(workspace.restore(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
      write("x", "1");
      await expect(workspace.restore(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
      expect(read("x")).toBe("1");
    }),
  );

  test(
    "do not come from forged objects",
    inWorkspace({ x: "0" }, async ({ workspace, write, read }) => {
      write("x", "1");
      const plan = await workspace.planRestore("@");
      await expect(workspace.restore({ ...plan, id: "forged" as typeof plan.id })).rejects.toMatchObject({
        code: "PLAN_STALE",
      });
      expect(read("x")).toBe("1");
      // what counts is the plan that was made, not what the caller makes of it
      expect(await workspace.restore({ ...plan, edits: [] })).toMatchObject({ outcome: "applied", plan });
      expect(read("x")).toBe("0");
    }),
  );
});

describe("requests", () => {
  test(
    "with a path that leads outside are refused before anything is looked at",
    inWorkspace({ x: "0" }, async ({ workspace, write, read }) => {
      write("x", "1");
      const before = await workspace.list();
      for (const paths of [["../x"], ["/x"], ["x", "a/../../b"], [""]]) {
        const refused = expect.objectContaining({ code: "PATH_OUTSIDE" });
        await expect(workspace.planRestore("@", { paths })).rejects.toEqual(refused);
        await expect(workspace.restoreTo("@", { paths })).rejects.toEqual(refused);
        await expect(workspace.planRevert("@", { paths })).rejects.toEqual(refused);
        await expect(workspace.revert("@", { paths })).rejects.toEqual(refused);
        await expect(workspace.diff({ paths, detail: "names" })).rejects.toEqual(refused);
      }
      expect(read("x")).toBe("1");
      expect(await workspace.list()).toEqual(before);
    }),
  );

  test(
    "for checkpoints, threads, edits and tags that do not exist name what was asked for",
    inWorkspace({ x: "0" }, async ({ workspace }) => {
      const missing = { code: "CHECKPOINT_NOT_FOUND", facts: { checkpoint: "nope" } };
      await expect(workspace.resolve("nope")).rejects.toMatchObject(missing);
      await expect(workspace.show("nope")).rejects.toMatchObject(missing);
      await expect(workspace.diff("nope")).rejects.toMatchObject(missing);
      await expect(workspace.planRestore("nope")).rejects.toMatchObject(missing);
      await expect(workspace.revert("nope")).rejects.toMatchObject(missing);
      await expect(workspace.tag("nope", "t")).rejects.toMatchObject(missing);
      await expect(workspace.upkeep.deleteCheckpoint("nope")).rejects.toMatchObject(missing);
      await expect(workspace.upkeep.forget("nope")).rejects.toMatchObject(missing);
      const thread = { code: "THREAD_NOT_FOUND" };
      const id = "nope" as Parameters<typeof workspace.turns.end>[0];
      await expect(workspace.threads.get("nope")).rejects.toMatchObject(thread);
      await expect(workspace.threads.history(id)).rejects.toMatchObject(thread);
      await expect(workspace.threads.update(id, { title: "x" })).rejects.toMatchObject(thread);
      await expect(workspace.threads.delete(id)).rejects.toMatchObject(thread);
      await expect(workspace.turns.prompt(id, { content: "x" })).rejects.toMatchObject(thread);
      await expect(workspace.turns.end(id)).rejects.toMatchObject(thread);
      await expect(workspace.turns.beginTool(id, { tool: "t", toolUseId: "u" })).rejects.toMatchObject(
        thread,
      );
      await expect(workspace.turns.beginAgent(id, { id: "a", role: "r" })).rejects.toMatchObject(thread);
      await expect(workspace.turns.startEdit(id, { paths: ["x"] })).rejects.toMatchObject(thread);
      await expect(workspace.approvals.approve(id)).rejects.toMatchObject(thread);
      await expect(workspace.approvals.reset(id)).rejects.toMatchObject(thread);
      await expect(workspace.approvals.session(id)).rejects.toMatchObject(thread);
      expect(await workspace.list()).toHaveLength(1);
    }),
  );

  test(
    "that work on a root that is gone say so and record nothing",
    inWorkspace({ x: "0" }, async ({ workspace, root }) => {
      renameSync(root, `${root}-away`);
      writeFileSync(root, "in its place");
      for (const work of [
        () => workspace.checkpoint(),
        () => workspace.diff("@"),
        () => workspace.list({ fresh: true }),
        () => workspace.turns.run({}, async () => undefined),
      ])
        await expect(work()).rejects.toMatchObject({ code: "WORKSPACE_EMPTIED" });
      expect(await workspace.list()).toHaveLength(1);
      renameSync(root, join(`${root}-away`, "file"));
      renameSync(`${root}-away`, root);
    }),
  );
});

describe("annotations", () => {
  test(
    "change one checkpoint, and return it as it is then",
    inWorkspace({ x: "0" }, async ({ workspace }) => {
      expect(await workspace.note("@", "a note")).toMatchObject({ note: "a note" });
      expect(await workspace.rename("@", "a name")).toMatchObject({ note: "a note", name: "a name" });
      expect(await workspace.tag("a name", "t1")).toMatchObject({ tags: ["t1"] });
      expect(await workspace.tag("t1", "t2")).toMatchObject({ tags: ["t1", "t2"] });
      expect(await workspace.untag("t1")).toMatchObject({ tags: ["t2"], name: "a name" });
    }),
  );

  test(
    "an empty note or name takes the old one away",
    inWorkspace({ x: "0" }, async ({ workspace }) => {
      await workspace.note("@", "a note");
      await workspace.rename("@", "a name");
      expect(await workspace.note("@", "")).toMatchObject({ note: null, name: "a name" });
      expect(await workspace.rename("@", "")).toMatchObject({ note: null, name: null });
    }),
  );

  test(
    "that are refused change nothing, and are not told",
    inWorkspace({ x: "0" }, async (temp) => {
      const { workspace } = temp;
      await workspace.tag("@", "taken");
      await workspace.checkpoint();
      const before = readEvents(runnerOf(temp).db, 0, {}).length;
      for (const name of [" ", "@", "@-1", "7", "x".repeat(201)]) {
        await expect(workspace.rename("@", name), name).rejects.toMatchObject({ code: "NAME_INVALID" });
        await expect(workspace.tag("@", name), name).rejects.toMatchObject({ code: "NAME_INVALID" });
      }
      await expect(workspace.tag("@", "taken")).rejects.toThrow();
      await expect(workspace.untag("never set")).rejects.toThrow();
      expect(await workspace.resolve("@")).toMatchObject({ name: null, tags: [] });
      expect(readEvents(runnerOf(temp).db, 0, {})).toHaveLength(before);
    }),
  );
});
