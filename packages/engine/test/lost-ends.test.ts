/** Ends that are reported while the store is full: what was done by then is whose it was, and what came later is not the agent's. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { writeSetting, type ThreadId } from "../src/index.ts";
import { agent } from "./support/agent-process.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const FULL = { code: "STORE_FULL" };

/** Runs work that must fail for want of room. */
async function whileFull({ home }: TempWorkspace, work: () => Promise<unknown>): Promise<void> {
  writeSetting(home, "disk.capBytes", "1");
  await expect(work()).rejects.toMatchObject(FULL);
  writeSetting(home, "disk.capBytes", null);
}

const MUCH = "x".repeat(100_000);

/** Who changed what, by the newest checkpoint: one that is taken now. */
async function authors({ workspace }: TempWorkspace): Promise<Record<string, string>> {
  await workspace.checkpoint();
  const undone = await workspace.planUndo();
  const own = (undone?.edits ?? []).map(({ path }) => [path, "agent"]);
  return Object.fromEntries(own) as Record<string, string>;
}

/** The user works after the end: the clock that stamps files moves on first. */
async function byHand({ write }: TempWorkspace): Promise<void> {
  await pause(30);
  write("mine", "by hand\n");
}

test(
  "[R2300] an agent that announces no tools: its next prompt ends the turn before, and so does its stop",
  inWorkspace({ x: "0\n" }, async (temp) => {
    const { workspace, write } = temp;
    const thread: ThreadId = await temp.openThread("quiet");
    for (const end of [
      () => workspace.turns.end(thread),
      () => workspace.turns.prompt(thread, { content: "and then" }),
    ]) {
      await workspace.turns.prompt(thread, { content: "go" });
      write("agent", `${MUCH}${Math.random()}`);
      await whileFull(temp, end);
      await byHand(temp);
      expect(await authors(temp)).toEqual({ agent: "agent" });
      temp.remove("mine");
      await workspace.checkpoint();
    }
  }),
);

test(
  "[R2300] a prompt that is refused ends nothing: the turn under way goes on",
  inWorkspace({ x: "0\n" }, async (temp) => {
    const { workspace, write } = temp;
    const thread: ThreadId = await temp.openThread("quiet");
    await workspace.turns.prompt(thread, { content: "go" });
    write("first", "1\n");
    const refused = workspace.turns.prompt(thread, { content: "and then", checkpoint: "zzzzzzzz" });
    await expect(refused).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
    await pause(30);
    write("second", "2\n");
    expect(await authors(temp)).toEqual({ first: "agent", second: "agent" });
  }),
);

test(
  "[R2300] an interrupted command, and a run of an agent's program",
  inWorkspace({ x: "0\n" }, async (temp) => {
    const { workspace, write } = temp;
    const claude = await agent(temp, "claude");
    await claude.prompt("go");
    await claude.startTool(() => write("agent", MUCH));
    await whileFull(temp, () => workspace.turns.interrupted(claude.thread, Date.now()));
    // a command may keep writing for a second after it was interrupted
    await pause(1100);
    await byHand(temp);
    expect(await authors(temp)).toEqual({ agent: "agent" });

    const limits = { timeoutMs: null, maxCost: null, maxTokens: null };
    const { id } = await workspace.runs.add({ agent: "a", role: "a", command: ["a"], prompt: "go", limits });
    await workspace.runs.begin(id, { stdout: "/dev/null", stderr: "/dev/null" });
    write("run", MUCH);
    const none = { signal: null, reason: null, cost: null, tokens: null, session: null, truncated: false };
    await whileFull(temp, () => workspace.runs.end(id, { ...none, exitCode: 0, status: "done" }));
    await pause(30);
    write("also mine", "by hand\n");
    expect(await authors(temp)).toEqual({ run: "agent" });
    await workspace.runs.end(id, { ...none, exitCode: 0, status: "done" });
  }),
);

test(
  "[R2300] one agent's end is no other's: what came later is the one's that is still at work",
  inWorkspace({ x: "0\n" }, async (temp) => {
    const { workspace, write } = temp;
    const [a, b] = [await agent(temp, "a"), await agent(temp, "b")];
    await a.prompt("A's");
    await b.prompt("B's");
    const call = await a.startTool(() => write("a", MUCH));
    await whileFull(temp, () => a.endTool(call));
    await pause(30);
    const other = await b.startTool(() => write("b", "1\n"));
    await b.endTool(other);
    await b.stop();
    await a.stop();
    const [first, second] = [await workspace.planUndo(), await workspace.planUndo({ count: 2 })];
    expect(first?.edits.map(({ path }) => path)).toEqual(["b"]);
    expect(second?.edits.map(({ path }) => path).toSorted()).toEqual(["a", "b"]);
  }),
);

test(
  "[R2300] a turn whose end is known is not at work, and a tool that it begins after all is its own again",
  inWorkspace({ x: "0\n" }, async (temp) => {
    const { workspace, write } = temp;
    const claude = await agent(temp, "claude");
    await claude.prompt("go");
    const call = await claude.startTool(() => write("agent", MUCH));
    await whileFull(temp, () => claude.endTool(call));
    await whileFull(temp, () => claude.stop());
    const page = await workspace.timeline.rows();
    expect(page.rows.filter(({ status }) => status === "working")).toEqual([]);
    await byHand(temp);
    await claude.tool(() => write("later", "1\n"));
    await claude.stop();
    const undone = await workspace.planUndo({ count: 2 });
    expect(undone?.edits.map(({ path }) => path).toSorted()).toEqual(["agent", "later"]);
  }),
);
