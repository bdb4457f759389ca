/** Captures that end after the one who asked for them was let go on. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { displayPath, type Checkpoint } from "../src/index.ts";
import { inWorkspace } from "./support/temp-workspace.ts";

const doubtsOf = ({ doubts }: Pick<Checkpoint, "doubts">) =>
  doubts.map(({ path, reason }) => `${displayPath(path)} ${reason}`).toSorted();

/** A moment that everything written so far is well before. */
async function now(): Promise<number> {
  await pause(30);
  const at = Date.now();
  await pause(30);
  return at;
}

describe.each(["cold", "live"])("a capture after its deadline, %s", (how) => {
  test(
    "[R70] what changed since is marked, what is gone since is taken over and comes back with a restore",
    inWorkspace({ old: "0\n", "src/a": "1\n", "src/deep/b": "2\n", "docs/c": "3\n" }, async (temp) => {
      const { workspace, write, root, read } = temp;
      if (how === "live") await workspace.watch();
      const thread = (await workspace.threads.create({ agent: "claude" })).id;
      write("old", "by hand, in time\n");
      rmSync(join(root, "docs/c"));
      const deadline = { at: await now(), reason: "late" } as const;
      rmSync(join(root, "src"), { recursive: true });
      write("new", "since\n");
      const { checkpoint } = await workspace.turns.prompt(thread, {
        content: "go",
        messageId: "m",
        deadline,
      });
      expect(doubtsOf(checkpoint!)).toEqual(["new late", "src/a late", "src/deep/b late"]);
      expect(checkpoint).toMatchObject({ files: 4, changes: { added: 1, modified: 1, deleted: 1 } });
      const plan = await workspace.planRestore(checkpoint!.id);
      expect(doubtsOf(plan)).toEqual(doubtsOf(checkpoint!));
      expect(await workspace.restore(plan)).toMatchObject({ outcome: "applied", created: 2 });
      expect([read("old"), read("src/a"), read("src/deep/b")]).toEqual(["by hand, in time\n", "1\n", "2\n"]);
    }),
  );

  test(
    "[R70] the next capture sees what the disk has, and whose doing it was",
    inWorkspace({ "src/a": "1\n", "src/b": "2\n" }, async ({ workspace, root, write }) => {
      if (how === "live") await workspace.watch();
      const thread = (await workspace.threads.create({ agent: "claude" })).id;
      await workspace.turns.prompt(thread, { content: "go" });
      const deadline = { at: await now(), reason: "missed" } as const;
      rmSync(join(root, "src/a"));
      const before = await workspace.turns.beginTool(thread, { tool: "Bash", toolUseId: "t", deadline });
      expect(doubtsOf(before!.checkpoint)).toEqual(["src/a missed"]);
      expect(before!.unchanged).toBe(true);
      write("src/b", "3\n");
      await workspace.turns.endTool(thread, { toolUseId: "t" });
      const { checkpoint, files } = await workspace.show("@");
      expect(files.map(({ path, attribution }) => [displayPath(path), attribution])).toEqual([
        ["src/a", "tool"],
        ["src/b", "tool"],
      ]);
      expect(checkpoint.doubts).toEqual([]);
      await workspace.turns.end(thread);
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", created: 1, modified: 1 });
    }),
  );

  test(
    "[R70] one that ends in time, or after which nothing changed, is an ordinary one",
    inWorkspace({ x: "0\n" }, async ({ workspace, write }) => {
      if (how === "live") await workspace.watch();
      const thread = (await workspace.threads.create({ agent: "claude" })).id;
      write("x", "1\n");
      const late = { at: await now(), reason: "late" } as const;
      const quiet = await workspace.turns.prompt(thread, { content: "go", deadline: late });
      write("x", "2\n");
      const inTime = { at: Date.now() + 60_000, reason: "late" } as const;
      const quick = await workspace.turns.prompt(thread, { content: "on", deadline: inTime });
      expect([quiet.checkpoint!.doubts, quick.checkpoint!.doubts]).toEqual([[], []]);
    }),
  );
});
