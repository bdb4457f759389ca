/** Names that checkpoints have in other programs. */
import { expect, test } from "vitest";
import { inWorkspace } from "./support/temp-workspace.ts";

const COMMIT = "3f2a1b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a";

test(
  "[R350] a checkpoint is found by the name it has elsewhere, or by its first seven characters",
  inWorkspace({ a: "0\n" }, async ({ workspace }) => {
    const { id } = await workspace.checkpoint();
    expect((await workspace.addAlias(id, { origin: "export", name: COMMIT })).id).toBe(id);
    expect((await workspace.resolve(COMMIT)).id).toBe(id);
    expect((await workspace.resolve(COMMIT.slice(0, 7))).id).toBe(id);
    await expect(workspace.resolve(COMMIT.slice(0, 6))).rejects.toThrow("There is no checkpoint");
    expect([...(await workspace.aliases("export"))].map(([name, each]) => [name, each.id])).toEqual([
      [COMMIT, id],
    ]);
    expect(await workspace.aliases("ghost")).toEqual(new Map());
  }),
);

test(
  "[R350] a name of one program means one checkpoint; two programs may use the same one",
  inWorkspace({ a: "0\n" }, async ({ workspace, write }) => {
    const first = await workspace.checkpoint();
    write("a", "1\n");
    const second = await workspace.checkpoint();
    await workspace.addAlias(first.id, { origin: "old", name: "cp-1" });
    await workspace.addAlias(first.id, { origin: "old", name: "cp-1" });
    await expect(workspace.addAlias(second.id, { origin: "old", name: "cp-1" })).rejects.toMatchObject({
      code: "NAME_TAKEN",
    });
    await workspace.addAlias(second.id, { origin: "other", name: "cp-1" });
    await expect(workspace.resolve("cp-1")).rejects.toMatchObject({ code: "CHECKPOINT_AMBIGUOUS" });
    await expect(workspace.addAlias(first.id, { origin: "old", name: " " })).rejects.toMatchObject({
      code: "NAME_INVALID",
    });
  }),
);

test(
  "[R350] names and tags come before aliases, and a dropped checkpoint has none",
  inWorkspace({ a: "0\n" }, async ({ workspace, write }) => {
    const first = await workspace.checkpoint();
    write("a", "1\n");
    const second = await workspace.checkpoint();
    await workspace.addAlias(first.id, { origin: "old", name: "release" });
    await workspace.tag(second.id, "release");
    expect((await workspace.resolve("release")).id).toBe(second.id);
    await workspace.untag("release");
    expect((await workspace.resolve("release")).id).toBe(first.id);
    await workspace.upkeep.deleteCheckpoint(first.id);
    await expect(workspace.resolve("release")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
    expect(await workspace.aliases("old")).toEqual(new Map());
  }),
);
