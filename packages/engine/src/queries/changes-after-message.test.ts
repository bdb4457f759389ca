import { describe, expect, test } from "vitest";
import { inWorkspace, type TempWorkspace } from "../../test/support/temp-workspace.ts";
import type { ThreadId } from "../model/ids.ts";

/** `hasChanges` of each message's checkpoint, oldest first. */
async function told({ workspace }: TempWorkspace, thread: ThreadId): Promise<(boolean | null)[]> {
  const listed = await workspace.list({ thread, kind: "message", fresh: true });
  return listed.map(({ hasChanges }) => hasChanges).reverse();
}

async function prompt({ workspace }: TempWorkspace, thread: ThreadId, work?: () => void): Promise<void> {
  await workspace.turns.prompt(thread, { content: "do it" });
  work?.();
  await workspace.turns.end(thread);
}

describe("[A40] whether anything changed after a message", () => {
  test(
    "is told for messages only, and only to those who ask for a look",
    inWorkspace({ x: "0" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await temp.openThread("one");
      await prompt(temp, thread, () => write("x", "1"));
      expect((await workspace.list()).map(({ hasChanges }) => hasChanges)).not.toContain(true);
      const fresh = await workspace.list({ fresh: true });
      for (const { kind, hasChanges } of fresh)
        expect(hasChanges, kind).toBe(kind === "message" ? true : null);
    }),
  );

  test(
    "ends with the thread's next message: what came later is that one's",
    inWorkspace({ x: "0" }, async (temp) => {
      const thread = await temp.openThread("one");
      await prompt(temp, thread, () => temp.write("x", "1"));
      await prompt(temp, thread);
      await prompt(temp, thread, () => temp.write("x", "2"));
      expect(await told(temp, thread)).toEqual([true, false, true]);
    }),
  );

  test(
    "of the last message is compared with the disk, also before a capture has it",
    inWorkspace({ x: "0" }, async (temp) => {
      const thread = await temp.openThread("one");
      await temp.workspace.turns.prompt(thread, { content: "do it" });
      expect(await told(temp, thread)).toEqual([false]);
      temp.write("x", "1");
      expect(await told(temp, thread)).toEqual([true]);
      temp.write("x", "0");
      expect(await told(temp, thread)).toEqual([false]);
    }),
  );

  test(
    "does not count what another thread did",
    inWorkspace({ x: "0", y: "0" }, async (temp) => {
      const [one, two] = [await temp.openThread("one"), await temp.openThread("two")];
      await prompt(temp, one);
      await prompt(temp, two, () => temp.write("y", "1"));
      expect(await told(temp, one)).toEqual([false]);
      expect(await told(temp, two)).toEqual([true]);
    }),
  );

  test(
    "of a message that was rolled back is what it did before that",
    inWorkspace({ x: "0" }, async (temp) => {
      const thread = await temp.openThread("one");
      await prompt(temp, thread, () => temp.write("x", "1"));
      await prompt(temp, thread, () => temp.write("x", "2"));
      await temp.workspace.undo({ count: 2 });
      temp.write("x", "mine");
      expect(await told(temp, thread)).toEqual([true, true]);
    }),
  );
});

describe("the file edits of a thread", () => {
  test(
    "are what its tools changed, newest first, each with its diff and its message",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await temp.openThread("one");
      const other = await temp.openThread("two");
      await prompt(temp, thread, () => write("x", "1\n"));
      await prompt(temp, other, () => write("y", "1\n"));
      await prompt(temp, thread, () => write("z", "new\n"));
      const edits = await workspace.threads.fileEdits(thread);
      expect(edits.map(({ path, type, messageIndex }) => [path, type, messageIndex])).toEqual([
        ["z", "added", 1],
        ["x", "modified", 0],
      ]);
      expect(edits[1]?.diff).toContain("-0\n+1");
      expect(await workspace.threads.fileEdits(thread, { limit: 1 })).toHaveLength(1);
      expect(await workspace.threads.fileEdits(thread, { limit: 0 })).toEqual([]);
    }),
  );

  test(
    "leave out what changed outside of its turns",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const thread = await temp.openThread("one");
      await prompt(temp, thread, () => temp.write("x", "1\n"));
      temp.write("x", "mine\n");
      await temp.workspace.checkpoint();
      expect(await temp.workspace.threads.fileEdits(thread)).toHaveLength(1);
    }),
  );
});
