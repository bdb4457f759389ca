import { describe, expect, test } from "vitest";
import { writeSetting } from "../index.ts";
import { inWorkspace } from "../../test/support/temp-workspace.ts";
import type { LocalWorkspace } from "../workspace/local-workspace.ts";
import { assertDeletable, assertRoomForManual } from "./checkpoint-limits.ts";

describe("how many manual checkpoints a thread may have", () => {
  test(
    "counts those of this thread that were made by hand and are not pruned",
    inWorkspace({ x: "0" }, async (temp) => {
      const { workspace } = temp;
      const { db } = (workspace as LocalWorkspace).runner;
      const [thread, other] = [await temp.openThread("one"), await temp.openThread("two")];
      for (const owner of [thread, thread, other]) await workspace.checkpoint({ thread: owner });
      await workspace.checkpoint({ thread, kind: "safety" });
      const check = (limit: number | undefined, kind?: "safety") => () =>
        assertRoomForManual(db, { thread, ...(kind && { kind }) }, limit);
      expect(check(3)).not.toThrow();
      expect(check(2)).toThrow(
        expect.objectContaining({ code: "LIMIT_REACHED", facts: { limit: 2, thread } }),
      );
      expect(check(0)).toThrow();
      expect(check(undefined)).not.toThrow();
      expect(check(0, "safety")).not.toThrow();
      const [newest] = await workspace.list({ thread, kind: "manual" });
      await workspace.upkeep.deleteCheckpoint(newest!.id);
      expect(check(2)).not.toThrow();
    }),
  );

  test(
    "comes from the retention policy; a refused one leaves nothing behind",
    inWorkspace({ x: "0" }, async (temp) => {
      writeSetting(temp.home, "retention.policy", "supervisor");
      await temp.reopen();
      const { workspace } = temp;
      const thread = await temp.openThread("one");
      for (let made = 0; made < 50; made += 1) await workspace.checkpoint({ thread });
      await expect(workspace.checkpoint({ thread })).rejects.toMatchObject({ code: "LIMIT_REACHED" });
      expect(await workspace.list({ thread, kind: "manual" })).toHaveLength(50);
      await workspace.checkpoint();
    }),
  );
});

test(
  "approved states are not deleted; every other checkpoint can be",
  inWorkspace({ x: "0" }, async (temp) => {
    const { workspace, write } = temp;
    const { db } = (workspace as LocalWorkspace).runner;
    const { id } = await workspace.threads.create({ agent: "one", externalId: "one" });
    await temp.turn("a turn", () => write("x", "1"), id);
    const { approved } = await workspace.approvals.approve(id);
    const checkpoint = await workspace.resolve(approved);
    expect(() => assertDeletable(db, checkpoint)).toThrow(
      expect.objectContaining({ code: "CHECKPOINT_PROTECTED", facts: expect.anything() }),
    );
    await expect(workspace.upkeep.deleteCheckpoint(approved)).rejects.toMatchObject({
      code: "CHECKPOINT_PROTECTED",
      facts: { checkpoint: approved },
    });
    const { id: free } = await workspace.checkpoint();
    expect((await workspace.upkeep.deleteCheckpoint(free)).id).toBe(free);
    expect((await workspace.upkeep.unprune()).map((each) => each.id)).toEqual([free]);
  }),
);
