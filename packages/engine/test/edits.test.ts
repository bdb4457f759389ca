/** Edits of a program's own tools, which it can abort. */
import { describe, expect, test } from "vitest";
import { CHECKPOINT_PRESETS, openWorkspace, type BytePath } from "../src/index.ts";
import { inWorkspace } from "./support/temp-workspace.ts";

describe("[R35] [A30] edits that can be taken back", () => {
  const message = { policy: CHECKPOINT_PRESETS.message };

  test(
    "[A41] abort puts the files of the edit back exactly and removes new ones; others stay; no checkpoint when all goes well",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { home, root, write, read } = temp;
      await temp.workspace.close();
      {
        await using workspace = await openWorkspace(root, { home, ...message });
        const { id: thread } = await workspace.threads.create({ agent: "a" });
        await workspace.turns.prompt(thread, { content: "go" });
        const count = (await workspace.list()).length;
        const good = await workspace.turns.startEdit(thread, { paths: ["x"] });
        write("x", "1\n");
        expect(await workspace.turns.finalizeEdit(good.id)).toBeNull();
        expect(await workspace.list()).toHaveLength(count);
        const bad = await workspace.turns.startEdit(thread, { paths: ["x", "new/file"], tool: "write_file" });
        write("x", "half writ");
        write("new/file", "half");
        write("y", "another program\n");
        await workspace.upkeep.gc();
        expect(await workspace.turns.abortEdit(bad.id)).toMatchObject({
          outcome: "applied",
          modified: 1,
          deleted: 1,
        });
        expect([read("x"), read("y")]).toEqual(["1\n", "another program\n"]);
        expect(temp.tree().has("new/file")).toBe(false);
        await expect(workspace.turns.finalizeEdit(bad.id)).rejects.toMatchObject({ code: "EDIT_NOT_FOUND" });
        expect(await workspace.undo({ thread })).toMatchObject({
          outcome: "applied",
          steps: [{ kind: "turn" }],
        });
        expect(read("x")).toBe("0\n");
      }
      await temp.reopen();
    }),
  );

  test(
    "with captures around tools an edit is one of them; abort puts back all the same",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const { id: thread } = await workspace.threads.create({ agent: "claude" });
      const edit = await workspace.turns.startEdit(thread, { paths: ["x", "new"], tool: "write_file" });
      write("x", "half");
      write("new", "half");
      expect(await workspace.turns.abortEdit(edit.id)).toMatchObject({
        outcome: "applied",
        modified: 1,
        deleted: 1,
      });
      expect([read("x"), temp.tree().has("new")]).toEqual(["0\n", false]);
      const good = await workspace.turns.startEdit(thread, { paths: ["x"], tool: "write_file" });
      write("x", "1\n");
      expect((await workspace.turns.finalizeEdit(good.id))!.checkpoint).toMatchObject({
        kind: "tool",
        phase: "after",
      });
      const { files } = await workspace.show("@");
      expect(files).toMatchObject([{ path: "x" as BytePath, attribution: "tool" }]);
      await workspace.undo({ thread });
      expect(read("x")).toBe("0\n");
    }),
  );

  test(
    "[A77] a transaction of several edits leaves one checkpoint, or nothing",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { home, root, write, read } = temp;
      await temp.workspace.close();
      {
        await using workspace = await openWorkspace(root, { home, ...message });
        const { id: thread } = await workspace.threads.create({ agent: "a" });
        const change = async (value: string) => {
          const outer = await workspace.turns.startEdit(thread, { paths: [], tool: "transaction" });
          for (const path of ["x", "y"]) {
            const inner = await workspace.turns.startEdit(thread, { paths: [path], within: outer.id });
            write(path, value);
            await workspace.turns.finalizeEdit(inner.id);
          }
          return outer.id;
        };
        const count = (await workspace.list()).length;
        const committed = await workspace.turns.finalizeEdit(await change("1\n"));
        expect(committed!.checkpoint).toMatchObject({ kind: "tool", changes: { modified: 2 } });
        expect(await workspace.list()).toHaveLength(count + 1);
        await workspace.turns.abortEdit(await change("2\n"));
        expect([read("x"), read("y")]).toEqual(["1\n", "1\n"]);
      }
      await temp.reopen();
    }),
  );
});
