/** What an undo says besides what it changes: what it could not do, what may be a person's, who else was at work. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Outcome } from "../src/index.ts";
import { agent, lookTwice } from "./support/agent-process.ts";
import { inWorkspace } from "./support/temp-workspace.ts";

const moved = ({ steps }: Outcome) => steps.map(({ prompt, kind }) => prompt ?? kind);

describe("[R123] what could not be done is not booked as done", () => {
  test(
    "best effort that can do nothing for a step is refused: no checkpoint, and the step is still the last one",
    inWorkspace({ x: "0\n" }, async ({ workspace, turn, write, read }) => {
      await turn("t1", () => write("x", "1\n"));
      write("x", "by hand\n");
      const before = (await workspace.list()).length;
      const refused = await workspace.undo({ bestEffort: true });
      expect(refused).toMatchObject({ outcome: "conflicts", conflicts: [{ path: "x" }], canUndo: true });
      expect([read("x"), (await workspace.list()).length]).toEqual(["by hand\n", before]);
      write("x", "1\n");
      expect(moved(await workspace.undo())).toEqual(["t1"]);
      expect(read("x")).toBe("0\n");
    }),
  );

  test(
    "of two steps only the one for which something was done moves",
    inWorkspace({ x: "0\n", y: "0\n" }, async ({ workspace, turn, write, read }) => {
      await turn("t1", () => write("y", "1\n"));
      await turn("t2", () => write("x", "1\n"));
      write("x", "by hand\n");
      const undone = await workspace.undo({ count: 2, bestEffort: true });
      expect(undone).toMatchObject({ outcome: "partial", conflicts: [{ path: "x" }] });
      expect(moved(undone)).toEqual(["t1"]);
      expect(read("y")).toBe("0\n");
      write("x", "1\n");
      expect(moved(await workspace.undo())).toEqual(["t2"]);
      expect(read("x")).toBe("0\n");
    }),
  );

  test(
    "revert of a row that changed nothing does nothing and leaves no checkpoint",
    inWorkspace({ x: "0\n" }, async ({ workspace, write }) => {
      const { checkpoint } = await workspace.checkpoint();
      write("x", "1\n");
      const before = (await workspace.list()).length;
      expect(await workspace.planRevert(checkpoint.id)).toMatchObject({ edits: [], steps: [] });
      expect(await workspace.revert(checkpoint.id)).toMatchObject({
        outcome: "unchanged",
        safetyCheckpoint: null,
        newCheckpoint: null,
      });
      expect((await workspace.list()).length).toBe(before);
    }),
  );
});

describe("[R124] what may be a person's doing", () => {
  test(
    "a path that an edit tool did not name stands apart, and so does one that it names not",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      const call = await claude.startTool(() => write("x", "1\n"), {
        tool: "Edit",
        nature: "edit",
        paths: ["x"],
      });
      write("y", "by hand\n");
      await claude.endTool(call);
      await claude.stop();
      expect(await workspace.planUndo()).toMatchObject({
        edits: [{ path: "x" }, { path: "y" }],
        maybe: [{ path: "y", tool: "Edit" }],
      });
      await workspace.undo();
      expect([read("x"), read("y")]).toEqual(["0\n", "0\n"]);
    }),
  );

  test(
    "what changed while a command ran that ended as it should is the command's; that of one cut off is in doubt",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      await claude.tool(() => write("x", "1\n"));
      expect((await workspace.planUndo())?.maybe).toEqual([]);
      const call = await claude.startTool(() => write("y", "1\n"));
      await claude.endTool(call, { unfinished: true });
      expect(await workspace.planUndo()).toMatchObject({
        edits: [{ path: "x" }, { path: "y" }],
        maybe: [{ path: "y", tool: "Bash" }],
      });
    }),
  );
});

for (const reason of ["late", "missed"] as const)
  test(
    `[R125] what a ${reason} capture took for there before is named, with the reason; the turn's own is not`,
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      const deadline = { at: Date.now() - 1000, reason };
      write("x", "1\n");
      const call = await claude.startTool(() => write("y", "1\n"), { deadline });
      await claude.endTool(call, { deadline });
      await claude.stop();
      const undone = await workspace.undo();
      expect(undone).toMatchObject({ outcome: "applied", plan: { doubts: [{ path: "x", reason }] } });
      expect([read("x"), read("y")]).toEqual(["1\n", "0\n"]);
    }),
  );

test(
  "[R125] a turn of which all captures came too late is named by the undo of another, and where there is none",
  inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
    const { workspace, write, read } = temp;
    const claude = await agent(temp, "claude");
    const deadline = { at: Date.now() - 1000, reason: "late" } as const;
    const late = async (content: string) => {
      await claude.prompt(content);
      write("x", `${content}\n`);
      await claude.endTool(await claude.startTool(() => undefined, { deadline }));
      await claude.stop();
    };
    await late("1");
    const nothing = await workspace.undo();
    expect(nothing).toMatchObject({
      outcome: "unchanged",
      plan: { warnings: [expect.stringMatching(/^1 turn was captured too late/)] },
    });
    await claude.prompt("go");
    await claude.tool(() => write("y", "1\n"));
    await claude.stop();
    expect((await workspace.planUndo())?.warnings).toEqual([]);
    await late("2");
    const undone = await workspace.undo();
    expect(moved(undone)).toEqual(["go"]);
    expect(undone.plan.warnings).toEqual([expect.stringMatching(/^1 turn since then was captured too late/)]);
    expect([read("x"), read("y")]).toEqual(["2\n", "0\n"]);
  }),
);

test(
  "[R126] turns that share a file: undo of one names the other and how many to take; undo of both needs no more",
  inWorkspace({ x: "0\n", y: "0\n", z: "0\n" }, async (temp) => {
    const { workspace, write, tree } = temp;
    const before = tree();
    const [a, b] = [await agent(temp, "a"), await agent(temp, "b")];
    await a.prompt("A's");
    await b.prompt("B's");
    const call = await a.startTool(() => write("x", "1\n"));
    await b.tool(() => write("z", "1\n"));
    await a.endTool(call);
    await a.tool(() => write("y", "1\n"));
    const after = tree();
    const refused = await workspace.undo();
    expect(refused).toMatchObject({
      outcome: "conflicts",
      steps: [{ prompt: "A's" }],
      conflicts: [{ path: "z", sharedWith: [{ prompt: "B's" }], together: 2 }],
    });
    expect(tree()).toEqual(after);
    expect(moved(await workspace.undo({ count: 2 }))).toEqual(["A's", "B's"]);
    expect(tree()).toEqual(before);
    expect(await workspace.redo({ count: 2 })).toMatchObject({ outcome: "applied" });
    expect(tree()).toEqual(after);
  }),
);

test(
  "[R126] a turn that was undone already does not count as one that stays",
  inWorkspace({ x: "0\n", z: "0\n" }, async (temp) => {
    const { workspace, write, read } = temp;
    const [a, b] = [await agent(temp, "a"), await agent(temp, "b")];
    await a.prompt("A's");
    await b.prompt("B's");
    const call = await a.startTool();
    await b.tool(() => write("z", "1\n"));
    await a.endTool(call);
    await a.tool(() => write("x", "1\n"));
    expect(moved(await workspace.undo({ includeShared: true }))).toEqual(["A's"]);
    // as both had left it
    write("z", "1\n");
    expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "B's" }] });
    expect(read("z")).toBe("0\n");
  }),
);

test(
  "[R126] turns that shared a file time and again, and changed it in turn, are undone and redone together",
  inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
    const { workspace, write, read, remove, tree } = temp;
    const before = tree();
    const [a, b] = [await agent(temp, "a"), await agent(temp, "b")];
    await a.prompt("A's");
    await b.prompt("B's");
    const call = await a.startTool();
    await b.tool(() => remove("x"));
    await b.tool(() => write("x", "1\n"));
    await a.endTool(call);
    await b.tool(() => write("x", "2\n"));
    const again = await a.startTool(() => write("y", "1\n"));
    await b.tool(() => write("x", "3\n"));
    await a.endTool(again);
    await a.tool(() => write("x", "4\n"));
    const after = tree();
    expect(await workspace.undo()).toMatchObject({ outcome: "conflicts" });
    for (let round = 0; round < 2; round += 1) {
      expect(await workspace.undo({ count: 2 })).toMatchObject({ outcome: "applied" });
      expect(tree()).toEqual(before);
      expect(await workspace.redo({ count: 2 })).toMatchObject({ outcome: "applied" });
      expect(tree()).toEqual(after);
    }
    expect(read("x")).toBe("4\n");
  }),
);

test.each(["recorded", "not recorded"])(
  "[R126] a file that came and went while both ran is no change of either (its end %s)",
  async (how) =>
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, turn, write, read, remove } = temp;
      await turn("before", () => write("x", "1\n"));
      const [a, b] = [await agent(temp, "a"), await agent(temp, "b")];
      for (const each of [a, b]) {
        await each.prompt("go");
        await each.startTool();
      }
      write("new", "1\n");
      await workspace.checkpoint();
      remove("new");
      if (how === "recorded") await workspace.checkpoint();
      expect(moved(await workspace.undo())).toEqual(["before"]);
      expect(read("x")).toBe("0\n");
    })(),
);

test(
  "[R126] the same while both commands run and no checkpoint has the change yet",
  inWorkspace({ x: "0\n" }, async (temp) => {
    const { workspace, write, read } = temp;
    const [a, b] = [await agent(temp, "a"), await agent(temp, "b")];
    for (const each of [a, b]) {
      await each.prompt("go");
      await each.startTool();
    }
    write("x", "1\n");
    const refused = await workspace.undo();
    expect(refused).toMatchObject({ outcome: "conflicts", canUndo: true, conflicts: [{ together: 2 }] });
    expect(await workspace.undo({ count: 2 })).toMatchObject({ outcome: "applied", canUndo: false });
    expect(read("x")).toBe("0\n");
  }),
);

describe("[R128] calls that end without a word", () => {
  test(
    "a command that still looks cut off at the second look is captured: what comes later is one's own",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      expect(await workspace.turns.noticeCutOff()).toBeNull();
      await claude.prompt("go");
      await claude.startTool(() => write("x", "1\n"), { nature: "command" });
      await claude.startCommand();
      expect(await workspace.turns.noticeCutOff()).toBeNull();
      await pause(2000);
      await claude.endCommands();
      expect(await workspace.turns.noticeCutOff()).toBeNull();
      expect((await lookTwice(temp))?.checkpoint).toMatchObject({ kind: "tool", phase: "after" });
      expect(await workspace.turns.noticeCutOff()).toBeNull();
      write("y", "mine\n");
      expect(moved(await workspace.undo())).toEqual(["go"]);
      expect([read("x"), read("y")]).toEqual(["0\n", "mine\n"]);
    }),
  );

  test(
    "an event of the thread between two looks is a sign of life: the moment begins again",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      const call = await claude.startTool(undefined, { nature: "command" });
      expect(await workspace.turns.noticeCutOff()).toBeNull();
      await pause(2000);
      await claude.startCommand();
      await claude.endTool(call, { background: true });
      await claude.endCommands();
      expect(await lookTwice(temp)).not.toBeNull();
    }),
  );

  test(
    "a command whose end is told after the first look has one checkpoint after it",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      const call = await claude.startTool(() => write("x", "1\n"), { nature: "command" });
      await workspace.turns.noticeCutOff();
      await claude.endTool(call);
      const after = (await workspace.list()).filter(({ phase }) => phase === "after");
      expect(after.map(({ description }) => description)).toEqual(["After Bash"]);
    }),
  );

  test(
    "if its end is told after all, what it did until then is its own",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      const call = await claude.startTool(() => write("x", "1\n"), { nature: "command" });
      expect(await lookTwice(temp)).not.toBeNull();
      write("y", "1\n");
      await claude.endTool(call);
      expect(moved(await workspace.undo())).toEqual(["go"]);
      expect([read("x"), read("y")]).toEqual(["0\n", "0\n"]);
    }),
  );
});

test(
  "[R129] what was changed after the agent was interrupted is not its doing, whatever was under way",
  inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
    const { workspace, write, read } = temp;
    const claude = await agent(temp, "claude");
    await claude.prompt("go");
    await claude.startTool(() => write("x", "1\n"), { tool: "mcp__files__write" });
    const at = Date.now();
    // the clock that stamps files may be some milliseconds behind
    while (Date.now() <= at + 1100) await pause(20);
    write("y", "mine\n");
    expect(await workspace.turns.interrupted(claude.thread, at - 60_000)).toBeNull();
    expect((await workspace.turns.threadsAtWork()).map(({ id }) => id)).toEqual([claude.thread]);
    expect(await workspace.turns.interrupted(claude.thread, at)).not.toBeNull();
    expect(await workspace.turns.threadsAtWork()).toEqual([]);
    expect(moved(await workspace.undo())).toEqual(["go"]);
    expect([read("x"), read("y")]).toEqual(["0\n", "mine\n"]);
  }),
);

test(
  "[R127] a command in the background is its turn's until the turn ends; what it writes later is offered while it runs",
  inWorkspace({ a: "0\n" }, async (temp) => {
    const { workspace, write, tree } = temp;
    const claude = await agent(temp, "claude");
    await claude.prompt("start it");
    const call = await claude.startTool(() => write("b", "1\n"), { nature: "command" });
    await claude.startCommand();
    await claude.endTool(call, { background: true });
    write("c", "1\n");
    await claude.stop();
    write("d", "1\n");
    await workspace.checkpoint();
    write("e", "1\n");
    expect(await workspace.planUndo()).toMatchObject({
      edits: [{ path: "b" }, { path: "c" }],
      background: [{ step: { prompt: "start it" }, tool: "Bash", paths: ["d", "e"] }],
      meanwhile: [],
    });
    await workspace.undo({ includeBackground: true });
    expect([...tree().keys()]).toEqual(["a"]);
    await workspace.redo();
    await claude.endCommands();
    write("f", "1\n");
    const plan = await workspace.planUndo();
    expect([plan?.background, plan?.meanwhile]).toEqual([[], ["d", "e", "f"]]);
  }),
);
