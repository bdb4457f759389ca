import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { inProject, inProtected } from "../../test/support/project.ts";
import { inWorkspace } from "../../test/support/temp-workspace.ts";

describe("the status of a workspace", () => {
  test(
    "that was just protected: nothing changed, nothing to undo, no conversation",
    inWorkspace({ x: "0" }, async ({ workspace, root }) => {
      expect(await workspace.status()).toMatchObject({
        id: workspace.id,
        root,
        exists: true,
        store: workspace.store,
        newest: { seq: 1 },
        checkpoints: 1,
        changedFiles: [],
        changes: { added: 0, modified: 0, deleted: 0 },
        thread: null,
        session: null,
        canUndo: null,
        canRedo: null,
        undoDropped: 0,
        pausedTurns: 0,
        paused: null,
        gaps: [],
        warnings: [],
      });
    }),
  );

  test(
    "counts what changed since the newest checkpoint, and looks only",
    inWorkspace({ x: "0", y: "0" }, async ({ workspace, write, remove }) => {
      write("x", "1");
      write("z", "1");
      remove("y");
      const { changes, changedFiles } = await workspace.status();
      expect(changes).toEqual({ added: 1, modified: 1, deleted: 1 });
      expect(changedFiles.map(({ path }) => path).sort()).toEqual(["x", "y", "z"]);
      expect(await workspace.list()).toHaveLength(1);
    }),
  );

  test(
    "knows the thread that was last at work, and what is pending in it",
    inWorkspace({ x: "0" }, async (temp) => {
      const { workspace, write } = temp;
      const [one, two] = [await temp.openThread("one"), await temp.openThread("two")];
      await temp.turn("first", () => write("x", "1"), one);
      temp.passHours(1);
      await temp.turn("second", () => write("x", "2"), two);
      expect(await workspace.status()).toMatchObject({ thread: { id: two }, session: { thread: two } });
      temp.passHours(1);
      await temp.turn("third", () => write("x", "3"), one);
      const { thread, session } = await workspace.status();
      expect([thread?.id, session?.hasUnapproved]).toEqual([one, true]);
      await workspace.threads.delete(one);
      expect((await workspace.status()).thread?.id).toBe(two);
    }),
  );

  test(
    "names the steps that can be undone and redone",
    inWorkspace({ x: "0" }, async (temp) => {
      const { workspace, write } = temp;
      await temp.turn("change x", () => write("x", "1"));
      expect(await workspace.status()).toMatchObject({ canUndo: { kind: "turn" }, canRedo: null });
      await workspace.undo();
      expect(await workspace.status()).toMatchObject({ canUndo: null, canRedo: { kind: "turn" } });
    }),
  );

  test(
    "of a directory that is gone says so, and tells nothing of its files",
    inProtected({ x: "0" }, async (project, workspace) => {
      await workspace.turns.run({}, async () => project.write("x", "1"));
      rmSync(project.root, { recursive: true });
      expect(await workspace.status()).toMatchObject({
        exists: false,
        changes: null,
        changedFiles: [],
        gaps: [],
        session: null,
        canUndo: { kind: "turn" },
      });
      mkdirSync(project.root);
      await workspace.restoreTo("@");
      expect(project.read("x")).toBe("1");
    }),
  );

  test(
    "lists what is left out, with its size; kept-out paths also while they are not there",
    inProject({ "node_modules/a": "12345", secret: "s", x: "0" }, async (project) => {
      const workspace = await project.open();
      await workspace.upkeep.forget("secret", { always: true });
      const listed = async () =>
        Object.fromEntries((await workspace.status()).excluded.map(({ path, bytes }) => [path, bytes]));
      expect(await listed()).toEqual({ node_modules: 5, secret: 1 });
      project.remove("secret");
      expect(await listed()).toEqual({ node_modules: 5, secret: 0 });
      await workspace.upkeep.captureAgain("secret");
      expect(await listed()).toEqual({ node_modules: 5 });
    }),
  );

  test(
    "[N1] with a damaged newest checkpoint says that changes cannot be told, and the rest still",
    inProject({ x: "0" }, async (project) => {
      project.damaged = true;
      const workspace = await project.open();
      await workspace.checkpoint({ name: "kept" });
      await project.close(workspace);
      const db = new DatabaseSync(join(workspace.store, "store.db"));
      db.exec("UPDATE pack SET data = zeroblob(length(data))");
      db.close();
      const damaged = await project.open();
      project.write("x", "1");
      const status = await damaged.status();
      expect(status).toMatchObject({ changes: null, changedFiles: [], checkpoints: 2 });
      expect(status.warnings).toContain(
        "The newest checkpoint is damaged: what changed since it cannot be told.",
      );
    }),
  );

  test(
    "has gaps with their reasons",
    inProject({ x: "0" }, async (project) => {
      project.configure({ "limits.fileBytes": "10" });
      const workspace = await project.open();
      writeFileSync(join(project.root, "large"), "x".repeat(11));
      expect((await workspace.status()).gaps).toEqual([{ path: "large", reason: "too-large", size: 11 }]);
      project.remove("large");
      appendFileSync(join(project.root, "x"), "1");
      expect((await workspace.status()).gaps).toEqual([]);
    }),
  );
});
