/** Which calls are at work when no event says so: commands that wait for permission, edits that were denied, several at once. */
import { describe, expect, test } from "vitest";
import { processIdentity, type Outcome } from "../src/index.ts";
import { agent, lookTwice } from "./support/agent-process.ts";
import { inWorkspace } from "./support/temp-workspace.ts";

const moved = ({ steps }: Outcome) => steps.map(({ prompt, kind }) => prompt ?? kind);

describe("[R195] a command that begins to run only after it was taken to be over", () => {
  test(
    "what it does until it is cut off is its turn's; what was written while it waited is one's own",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      await claude.startTool(undefined, { nature: "command" });
      write("y", "mine\n");
      expect(await lookTwice(temp)).not.toBeNull();
      await claude.startCommand();
      expect(await workspace.turns.noticeCutOff()).toBeNull();
      write("x", "1\n");
      await claude.endCommands();
      expect(await lookTwice(temp)).not.toBeNull();
      write("z", "mine\n");
      expect(moved(await workspace.undo())).toEqual(["go"]);
      expect([read("x"), read("z")]).toEqual(["0\n", "mine\n"]);
    }),
  );

  test(
    "another agent's capture meanwhile does not take it for that one's",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const [a, b] = [await agent(temp, "a"), await agent(temp, "b")];
      await a.prompt("A's");
      const call = await a.startTool(undefined, { nature: "command" });
      await lookTwice(temp);
      await a.startCommand();
      await b.prompt("B's");
      const other = await b.startTool(() => write("y", "1\n"), {
        tool: "Edit",
        nature: "edit",
        paths: ["y"],
      });
      write("x", "1\n");
      expect((await workspace.planUndo())?.conflicts).toMatchObject([{ path: "x" }]);
      await b.endTool(other);
      await b.stop();
      await a.endTool(call);
      await a.stop();
      expect(await workspace.undo()).toMatchObject({ outcome: "conflicts", conflicts: [{ path: "x" }] });
      expect(moved(await workspace.undo({ count: 2 }))).toHaveLength(2);
      expect([read("x"), read("y")]).toEqual(["0\n", "0\n"]);
    }),
  );

  test(
    "a hook of its own agent is no command",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      const call = await claude.startTool(undefined, { nature: "command" });
      await lookTwice(temp);
      write("x", "mine\n");
      // what tells of the next prompt
      await claude.startCommand();
      await claude.endTool(call, { unfinished: true });
      await claude.prompt("another");
      expect(await workspace.undo()).toMatchObject({ outcome: "unchanged" });
      expect(read("x")).toBe("mine\n");
    }),
  );

  test(
    "after the turn's end nothing of it comes back",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      const call = await claude.startTool(undefined, { nature: "command" });
      await lookTwice(temp);
      await claude.stop();
      await claude.startCommand();
      write("x", "mine\n");
      expect(await workspace.undo()).toMatchObject({ outcome: "unchanged" });
      await claude.endTool(call);
      expect(await workspace.undo()).toMatchObject({ outcome: "unchanged" });
      expect(read("x")).toBe("mine\n");
    }),
  );
});

test(
  "[R33] a command that goes on after its turn was undone makes a piece of that turn, if its end is told; else it was interrupted",
  inWorkspace({ x: "0\n", y: "0\n", z: "0\n" }, async (temp) => {
    const { workspace, write, read } = temp;
    const claude = await agent(temp, "claude");
    await claude.prompt("go");
    const call = await claude.startTool(() => write("x", "1\n"), { nature: "command" });
    await claude.startCommand();
    expect(moved(await workspace.undo())).toEqual(["go"]);
    write("y", "1\n");
    await claude.endTool(call);
    const cut = await claude.startTool(() => write("x", "1\n"), { nature: "command" });
    expect((await workspace.undo()).steps).toMatchObject([{ description: "go (continued)" }]);
    write("z", "mine\n");
    await claude.endTool(cut, { unfinished: true });
    await claude.stop();
    expect((await workspace.undo()).steps).toMatchObject([{ description: "go (continued)" }]);
    expect([read("x"), read("y"), read("z")]).toEqual(["0\n", "0\n", "mine\n"]);
  }),
);

describe("[R196] the step that a preview shows is the step that is undone", () => {
  test(
    "of two agents at work, whichever began its call first",
    inWorkspace({ a: "0\n", b: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const [a, b] = [await agent(temp, "a"), await agent(temp, "b")];
      await a.prompt("A's");
      await b.prompt("B's");
      await b.startTool(undefined, { paths: ["b"] });
      await a.startTool(undefined, { paths: ["a"] });
      write("a", "1\n");
      write("b", "1\n");
      const plan = (await workspace.planUndo())!;
      const { canUndo } = await workspace.status();
      const undone = await workspace.restore(plan);
      expect(undone.steps.map(({ prompt }) => prompt)).toEqual(plan.steps.map(({ prompt }) => prompt));
      expect(canUndo).toMatchObject({ prompt: plan.steps[0]!.prompt });
      expect([read("a"), read("b")].filter((text) => text === "0\n")).toHaveLength(1);
    }),
  );

  test(
    "if it is known better by then whose change it was, nothing is undone in its place",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, turn, write, read } = temp;
      await turn("earlier", () => write("y", "1\n"));
      const claude = await agent(temp, "claude");
      await claude.prompt("go");
      await claude.startTool(undefined, { nature: "command" });
      await lookTwice(temp);
      await claude.startCommand();
      write("x", "1\n");
      const plan = (await workspace.planUndo())!;
      expect(plan.steps).toMatchObject([{ prompt: "go" }]);
      await claude.endCommands();
      const before = (await workspace.list()).length;
      await expect(workspace.restore(plan)).rejects.toMatchObject({ code: "PLAN_STALE" });
      expect([read("x"), read("y"), (await workspace.list()).length]).toEqual(["1\n", "1\n", before]);
    }),
  );

  test(
    "a turn that is about to leave everything as it found it is none",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, turn, write, read } = temp;
      await turn("earlier", () => write("x", "1\n"));
      const claude = await agent(temp, "claude");
      await claude.prompt("there and back");
      await claude.tool(() => write("y", "1\n"));
      await claude.startTool(() => write("y", "0\n"));
      const plan = (await workspace.planUndo())!;
      expect(plan.steps).toMatchObject([{ description: "earlier" }]);
      expect((await workspace.status()).canUndo).toMatchObject({ description: "earlier" });
      expect((await workspace.restore(plan)).steps).toMatchObject([{ description: "earlier" }]);
      expect(read("x")).toBe("0\n");
    }),
  );
});

describe("[R124] an edit of whose end nothing told", () => {
  test.each(["is still open", "is given up with the next prompt", "is given up with its agent"])(
    "a change of the very path that it named may be a person's too: it %s",
    async (how) =>
      inWorkspace({ x: "0\n" }, async (temp) => {
        const { workspace, write } = temp;
        const claude = await agent(temp, "claude");
        await claude.prompt("go");
        const call = await claude.startTool(undefined, { tool: "Edit", nature: "edit", paths: ["x"] });
        write("x", "mine\n");
        if (how.includes("prompt")) {
          await claude.endTool(call, { unfinished: true });
          await claude.prompt("another");
        }
        if (how.includes("agent")) {
          await claude.die();
          await workspace.checkpoint();
        }
        expect(await workspace.planUndo()).toMatchObject({
          steps: [{ prompt: "go" }],
          maybe: [{ path: "x", tool: "Edit" }],
        });
      })(),
  );
});

test.each(["starts", "ends"])(
  "[R121] an agent that %s another one is at work, however long it was silent",
  async (what) =>
    inWorkspace({ x: "0\n" }, async ({ workspace, write, read, passHours }) => {
      passHours(-1);
      const { id } = await workspace.threads.open({ agent: "other", brackets: true });
      await workspace.turns.prompt(id, { content: "go" });
      if (what === "ends") await workspace.turns.beginAgent(id, { id: "sub", role: "thinker" });
      await workspace.turns.beginTool(id, { tool: "Task", toolUseId: "c1" });
      passHours(1);
      write("x", "1\n");
      if (what === "ends") await workspace.turns.endAgent(id, { id: "sub" });
      else await workspace.turns.beginAgent(id, { id: "sub", role: "thinker" });
      await workspace.turns.endTool(id, { toolUseId: "c1" });
      await workspace.turns.end(id);
      expect(moved(await workspace.undo())).toEqual(["go"]);
      expect(read("x")).toBe("0\n");
    })(),
);

test(
  "[R121] a number that was given to another process meanwhile: the one that is gone does not end the other's turn",
  inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
    const { workspace, write, read } = temp;
    const client = processIdentity(process.pid);
    for (const name of ["gone", "living"]) {
      const { id } = await workspace.threads.open({ agent: name, externalId: name, brackets: true, client });
      await workspace.turns.prompt(id, { content: name });
      await workspace.turns.beginTool(id, { tool: "Task", toolUseId: name });
    }
    const gone = { ...client, started: "1" };
    await workspace.threads.open({ agent: "gone", externalId: "gone", client: gone });
    await workspace.checkpoint();
    write("x", "1\n");
    expect(moved(await workspace.undo())).toEqual(["living"]);
    expect([read("x"), read("y")]).toEqual(["0\n", "0\n"]);
  }),
);
