/**
 * Undo while turns are open, and after agents that are gone: the newest change first, by when it was made; a turn of
 * a dead agent in no thread's way; what no tool did in no turn. The agents here are real processes.
 */
import { describe, expect, test } from "vitest";
import { displayPath, type Outcome } from "../src/index.ts";
import { agent } from "./support/agent-process.ts";
import { inWorkspace } from "./support/temp-workspace.ts";

const moved = ({ steps }: Outcome) => steps.map(({ prompt, kind }) => prompt ?? kind);
const described = ({ steps }: Outcome) => steps.map(({ description }) => description);

describe("[R120] undo takes the newest change, by when it was made", () => {
  test(
    "a restore made while a turn is open goes before the turn",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      await claude.tool(() => write("x", "1\n"));
      await workspace.restoreTo("1");
      expect(read("x")).toBe("0\n");
      expect((await workspace.status()).canUndo).toMatchObject({ kind: "restore" });
      expect((await workspace.planUndo())?.steps).toMatchObject([{ kind: "restore" }]);
      expect(moved(await workspace.undo())).toEqual(["restore"]);
      expect(read("x")).toBe("1\n");
      expect(moved(await workspace.undo())).toEqual(["go"]);
      expect(read("x")).toBe("0\n");
    }),
  );

  test(
    "what the turn does after the restore is a second piece of it, and goes first",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      await claude.tool(() => write("x", "1\n"));
      await workspace.restoreTo("1");
      await claude.tool(() => write("y", "1\n"));
      await claude.stop();
      const undone = [];
      for (let count = 0; count < 3; count += 1)
        undone.push([...described(await workspace.undo()), read("x"), read("y")]);
      expect(undone).toEqual([
        ["go (continued)", "0\n", "0\n"],
        ["Restored to checkpoint 1 (Initial checkpoint)", "1\n", "0\n"],
        ["go", "0\n", "0\n"],
      ]);
      expect(await workspace.redo({ count: 3 })).toMatchObject({ outcome: "applied" });
      expect([read("x"), read("y")]).toEqual(["0\n", "1\n"]);
    }),
  );

  test(
    "the same while a command runs on: what it writes later comes after the restore, in the preview too",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      const call = await claude.startTool(() => write("x", "1\n"));
      await workspace.restoreTo("1");
      write("y", "1\n");
      expect(await workspace.planUndo()).toMatchObject({
        steps: [{ description: "go (continued)" }],
        edits: [{ path: "y" }],
      });
      await claude.endTool(call);
      await claude.stop();
      expect(described(await workspace.undo())).toEqual(["go (continued)"]);
      expect(moved(await workspace.undo())).toEqual(["restore"]);
      expect([read("x"), read("y")]).toEqual(["1\n", "0\n"]);
    }),
  );

  test(
    "a reset and a revert of one's own count like a restore",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      write("y", "by hand\n");
      const { checkpoint } = await workspace.checkpoint();
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      await claude.tool(() => write("x", "1\n"));
      await workspace.revert(checkpoint.id);
      await claude.tool(() => write("x", "2\n"));
      await workspace.approvals.reset(claude.thread);
      expect([read("x"), read("y")]).toEqual(["0\n", "by hand\n"]);
      const undone = [];
      for (let count = 0; count < 4; count += 1) undone.push(...moved(await workspace.undo()));
      expect(undone).toEqual(["reset", "go", "revert", "go"]);
      expect([read("x"), read("y")]).toEqual(["0\n", "by hand\n"]);
    }),
  );

  test(
    "a turn that left everything as it found it is no step, open or over",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, read, remove, tree } = temp;
      write("x", "by hand\n");
      await workspace.restoreTo("1");
      const claude = await agent(temp, "claude");
      await claude.prompt("there and back");
      await claude.tool(() => write("new/y", "1\n"));
      await claude.tool(() => remove("new"));
      expect((await workspace.status()).canUndo).toMatchObject({ kind: "restore" });
      expect((await workspace.planUndo())?.steps).toMatchObject([{ kind: "restore" }]);
      await claude.stop();
      expect(moved(await workspace.undo())).toEqual(["restore"]);
      expect([read("x"), tree().has("new")]).toEqual(["by hand\n", false]);
      expect(await workspace.undo()).toMatchObject({ outcome: "unchanged", canUndo: false });
    }),
  );

  test(
    "of two open turns the one that changed something last goes first, whichever began first",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const [a, b] = [await agent(temp, "a"), await agent(temp, "b")];
      await a.prompt("A's");
      await b.prompt("B's");
      await b.tool(() => write("y", "1\n"));
      await a.tool(() => write("x", "1\n"));
      expect((await workspace.status()).canUndo).toMatchObject({ prompt: "A's" });
      expect(moved(await workspace.undo())).toEqual(["A's"]);
      expect(moved(await workspace.undo())).toEqual(["B's"]);
    }),
  );

  test(
    "an undo ends only the turn it takes back: the other one's work stays one step",
    inWorkspace({ x: "0\n", y: "0\n", z: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const [a, b] = [await agent(temp, "a"), await agent(temp, "b")];
      await a.prompt("A's");
      await a.tool(() => write("x", "1\n"));
      await b.prompt("B's");
      await b.tool(() => write("y", "1\n"));
      expect(moved(await workspace.undo())).toEqual(["B's"]);
      await a.tool(() => write("z", "1\n"));
      await a.stop();
      expect(described(await workspace.undo())).toEqual(["A's"]);
      expect([read("x"), read("z")]).toEqual(["0\n", "0\n"]);
    }),
  );

  test(
    "a tool that goes on after its turn was undone makes a piece of that turn, which can be undone too",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      await claude.tool(() => write("x", "1\n"));
      await workspace.undo();
      await claude.tool(() => write("y", "1\n"));
      await claude.stop();
      expect(described(await workspace.undo())).toEqual(["go (continued)"]);
      expect([read("x"), read("y")]).toEqual(["0\n", "0\n"]);
      expect(described(await workspace.redo({ count: 2 }))).toEqual(["go (continued)", "go"]);
      expect([read("x"), read("y")]).toEqual(["1\n", "1\n"]);
    }),
  );
});

describe("[R121] a turn whose agent is gone", () => {
  test(
    "killed while its command ran: another session's turn is undone without it, then it is",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const killed = await agent(temp, "killed");
      await killed.prompt("first");
      await killed.startTool(() => write("x", "1\n"));
      await killed.die();
      const next = await agent(temp, "next");
      await next.prompt("second");
      await next.tool(() => write("y", "1\n"));
      await next.stop();
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "second" }] });
      expect([read("x"), read("y")]).toEqual(["1\n", "0\n"]);
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ prompt: "first" }] });
      expect(read("x")).toBe("0\n");
    }),
  );

  test(
    "without a sign of life for ten minutes: what changes later is not its doing, nor shared with it",
    inWorkspace({ x: "0\n", y: "0\n", z: "0\n" }, async (temp) => {
      const { workspace, write, read, passHours } = temp;
      const { id: silent } = await workspace.threads.open({ agent: "silent", brackets: true });
      await workspace.turns.prompt(silent, { content: "first" });
      await workspace.turns.beginTool(silent, { tool: "Bash", toolUseId: "u-1" });
      write("x", "1\n");
      await workspace.checkpoint();
      passHours(0.2);
      const next = await agent(temp, "next");
      await next.prompt("second");
      await next.tool(() => write("y", "1\n"));
      write("z", "by hand\n");
      expect(moved(await workspace.undo())).toEqual(["second"]);
      expect(moved(await workspace.undo())).toEqual(["first"]);
      expect([read("x"), read("y"), read("z")]).toEqual(["0\n", "0\n", "by hand\n"]);
    }),
  );

  test(
    "a live agent may think for longer than that: its turn goes on",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read, passHours } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      await claude.tool(() => write("x", "1\n"));
      passHours(1);
      await workspace.checkpoint();
      await claude.tool(() => write("y", "1\n"));
      await claude.stop();
      expect(moved(await workspace.undo())).toEqual(["go"]);
      expect([read("x"), read("y")]).toEqual(["0\n", "0\n"]);
    }),
  );

  test(
    "an agent that was silent for longer and then says that it is done was at work until then",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read, passHours } = temp;
      passHours(-1);
      const { id } = await workspace.threads.open({ agent: "other" });
      await workspace.turns.prompt(id, { content: "go" });
      passHours(1);
      write("x", "1\n");
      await workspace.turns.end(id);
      expect(moved(await workspace.undo())).toEqual(["go"]);
      passHours(-1);
      const { id: left } = await workspace.threads.open({ agent: "another" });
      await workspace.turns.prompt(left, { content: "again" });
      passHours(1);
      write("y", "by hand\n");
      await workspace.turns.prompt(left, { content: "and again" });
      expect(await workspace.undo()).toMatchObject({ outcome: "unchanged" });
      expect([read("x"), read("y")]).toEqual(["0\n", "by hand\n"]);
    }),
  );

  test(
    "what it is asked later, in a new process, is a turn of its own",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const first = await agent(temp, "claude");
      await first.prompt("one");
      await first.tool(() => write("x", "1\n"));
      await first.die();
      write("y", "by hand\n");
      await workspace.checkpoint();
      const resumed = await agent(temp, "claude");
      expect(resumed.thread).toBe(first.thread);
      await resumed.tool(() => write("y", "by the agent\n"));
      await resumed.stop();
      expect(described(await workspace.undo())).toEqual(["one (continued)"]);
      expect([read("x"), read("y")]).toEqual(["1\n", "by hand\n"]);
    }),
  );
});

describe("[R122] what no tool did", () => {
  test(
    "prompt, Esc, files of one's own, a checkpoint, undo: there is nothing to undo, and they stay",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      for (const path of ["x", "y", "z"]) write(path, "mine\n");
      await workspace.checkpoint();
      expect(await workspace.planUndo()).toBeNull();
      expect(await workspace.undo()).toMatchObject({ outcome: "unchanged", canUndo: false });
      expect([read("x"), read("y"), read("z")]).toEqual(["mine\n", "mine\n", "mine\n"]);
    }),
  );

  test(
    "after the last tool of an interrupted turn: only what the tool did is undone",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      await claude.tool(() => write("x", "1\n"));
      write("y", "mine\n");
      expect((await workspace.planUndo())?.meanwhile).toEqual(["y"]);
      await workspace.undo();
      expect([read("x"), read("y")]).toEqual(["0\n", "mine\n"]);
    }),
  );

  test(
    "an agent that announces no tools, and a process of one's own, have the turn as their window",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const { id } = await workspace.threads.open({ agent: "other" });
      await workspace.turns.prompt(id, { content: "go" });
      write("x", "1\n");
      expect(moved(await workspace.undo())).toEqual(["go"]);
      expect(read("x")).toBe("0\n");
      await temp.turn("run", () => write("x", "2\n"));
      expect(moved(await workspace.undo())).toEqual(["run"]);
    }),
  );
});

describe("a thread that is deleted", () => {
  test(
    "[R2430] in the middle of a turn ends it: what is done by hand from then on is outside it",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const { id: thread } = await workspace.threads.create({ agent: "claude", externalId: "claude" });
      await workspace.turns.prompt(thread, { content: "go" });
      const call = { tool: "Write", toolUseId: "t1" };
      await workspace.turns.beginTool(thread, { ...call, paths: ["x"] });
      write("x", "1\n");
      await workspace.turns.endTool(thread, call);
      await workspace.turns.beginTool(thread, { tool: "Bash", toolUseId: "t2" });
      await workspace.threads.delete(thread);
      write("y", "by hand\n");
      const { checkpoint } = await workspace.checkpoint();
      const { files } = await workspace.show(checkpoint.id);
      expect(files.map(({ path, attribution }) => [displayPath(path), attribution])).toEqual([
        ["y", "outside"],
      ]);
      expect((await workspace.undo()).steps).toMatchObject([{ kind: "turn", prompt: null }]);
      expect([read("x"), read("y")]).toEqual(["0\n", "by hand\n"]);
    }),
  );
});
