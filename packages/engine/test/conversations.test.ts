/** Conversations driven from outside: messages, turns, tool calls, agents, events. */
import { describe, expect, test } from "vitest";
import {
  type BytePath,
  CHECKPOINT_PRESETS,
  displayPath,
  openWorkspace,
  writeSetting,
  type ThreadId,
  type Workspace,
  type WorkspaceEvent,
} from "../src/index.ts";
import { inWorkspace, runInProcess, type TempWorkspace } from "./support/temp-workspace.ts";

const open = async ({ workspace }: TempWorkspace, agent = "claude") =>
  (await workspace.threads.create({ agent, externalId: agent })).id;

/** Whose doing the changes of the newest checkpoint are. */
async function attributions(workspace: Workspace, ref = "@"): Promise<Record<string, string | null>> {
  const { files } = await workspace.show(ref);
  return Object.fromEntries(files.map(({ path, attribution }) => [displayPath(path), attribution]));
}

const begin = (workspace: Workspace, thread: ThreadId, toolUseId: string, more: object = {}) =>
  workspace.turns.beginTool(thread, { tool: "Bash", toolUseId, ...more });

describe("threads and messages", () => {
  test(
    "[A03] [A06] [A32] a new thread has its initial checkpoint; the same one again is found",
    inWorkspace({ x: "0\n" }, async ({ workspace }) => {
      const made = await workspace.threads.create({
        agent: "claude",
        externalId: "s-1",
        title: "My Feature",
      });
      expect(made).toMatchObject({ title: "My Feature", session: "session_1", checkpoints: 1, messages: 0 });
      expect(await workspace.resolve(made.initialCheckpoint!)).toMatchObject({
        kind: "initial",
        thread: made.id,
        session: "session_1",
        description: "Initial snapshot before dialog: My Feature",
      });
      expect(await workspace.threads.create({ agent: "claude", externalId: "s-1" })).toEqual(made);
      expect(await workspace.threads.update(made.id, { title: "Other" })).toMatchObject({ title: "Other" });
    }),
  );

  test(
    "[A05] [A07] [A11] [A40] each user message has the checkpoint before it, and is found by its id",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await open(temp);
      const long = "Create a TODO app with three files and a very long description";
      const { message, checkpoint } = await workspace.turns.prompt(thread, {
        content: long,
        messageId: "m-1",
      });
      expect(message).toMatchObject({
        index: 0,
        role: "user",
        checkpoint: checkpoint!.id,
        session: "session_1",
      });
      expect(checkpoint).toMatchObject({
        kind: "message",
        messageId: "m-1",
        messageIndex: 0,
        description: "Before user message: Create a TODO app with three files and a very long…",
      });
      write("x", "1\n");
      await workspace.threads.addMessage(thread, { role: "assistant", content: "Done.", artifacts: ["x"] });
      const second = await workspace.threads.addMessage(thread, { role: "user", content: "Add tests" });
      expect(second).toMatchObject({ index: 2 });
      expect(await workspace.resolve("m-1")).toMatchObject({ id: checkpoint!.id });
      const before = await workspace.resolve(second.id);
      expect(before).toMatchObject({
        messageIndex: 2,
        conversation: { messageCount: 2, lastMessageId: expect.any(String) },
      });
      // told twice, stored once
      expect((await workspace.turns.prompt(thread, { content: "again", messageId: "m-1" })).message).toEqual(
        message,
      );
    }),
  );

  test(
    "[A73] history comes in stretches, oldest first, from the end",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace } = temp;
      const thread = await open(temp);
      for (const content of ["0", "1", "2", "3", "4"])
        await workspace.threads.addMessage(thread, { role: "assistant", content });
      const last = await workspace.threads.history(thread, { limit: 2 });
      expect([last.messages.map(({ content }) => content), last.cursor, last.total]).toEqual([
        ["3", "4"],
        3,
        5,
      ]);
      const first = await workspace.threads.history(thread, { limit: 4, before: last.cursor! });
      expect([first.messages.map(({ content }) => content), first.cursor]).toEqual([["0", "1", "2"], null]);
    }),
  );

  test(
    "[A58] a deleted thread is not listed; its checkpoints can be restored, or go with it",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const [a, b] = [await open(temp, "a"), await open(temp, "b")];
      const { checkpoint } = await workspace.turns.prompt(a, { content: "one" });
      write("x", "1\n");
      await workspace.turns.end(a);
      await workspace.turns.prompt(b, { content: "two" });
      await workspace.threads.delete(a);
      expect((await workspace.threads.list()).map(({ id }) => id)).toEqual([b]);
      await expect(workspace.threads.get(a)).rejects.toMatchObject({ code: "THREAD_NOT_FOUND" });
      expect(await workspace.restoreTo(checkpoint!.id)).toMatchObject({ outcome: "applied" });
      expect(temp.read("x")).toBe("0\n");
      await workspace.threads.delete(b, { checkpoints: true });
      expect(await workspace.list({ thread: b })).toEqual([]);
    }),
  );

  test(
    "[A58] [R356] what a deleted thread takes with it is no version",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await open(temp, "a");
      const { checkpoint } = await workspace.turns.prompt(thread, { content: "one" });
      const { id } = await workspace.versions.create({ checkpoint: checkpoint!.id });
      write("x", "1\n");
      await workspace.turns.end(thread);
      await workspace.turns.prompt(thread, { content: "two" });
      await workspace.turns.end(thread);
      await workspace.checkpoint();
      await workspace.threads.delete(thread, { checkpoints: true });
      expect((await workspace.versions.list()).map((version) => version.id)).toEqual([id]);
      expect((await workspace.list({ thread })).map((each) => each.id)).toEqual([checkpoint!.id]);
    }),
  );

  test(
    "[Y12] the supervisor policy refuses the 51st manual checkpoint of a thread; [Y57] one can be deleted",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const thread = await open(temp);
      writeSetting(temp.home, "retention.policy", "supervisor");
      await temp.reopen();
      for (let i = 0; i < 50; i += 1) await temp.workspace.checkpoint({ thread });
      await expect(temp.workspace.checkpoint({ thread })).rejects.toMatchObject({
        code: "LIMIT_REACHED",
        facts: { limit: 50, thread },
      });
      await temp.workspace.checkpoint();
      await temp.workspace.upkeep.deleteCheckpoint("10");
      await temp.workspace.checkpoint({ thread });
      const { initialCheckpoint } = await temp.workspace.threads.get(thread);
      await expect(temp.workspace.upkeep.deleteCheckpoint(initialCheckpoint!)).rejects.toMatchObject({
        code: "CHECKPOINT_PROTECTED",
      });
    }),
  );
});

test(
  "the Moldable policy has limits of its own: 10 MB a file",
  inWorkspace({ x: "0\n" }, async (temp) => {
    writeSetting(temp.home, "retention.policy", "moldable");
    await temp.reopen();
    temp.write("large", "x".repeat(11 * 1024 * 1024));
    const { gaps } = await temp.workspace.checkpoint();
    expect(gaps).toMatchObject([{ path: "large", reason: "too-large" }]);
  }),
);

describe("turns", () => {
  test(
    "[R33] a turn ends with its stop; undo and redo mark and unmark its messages [Y18] [R34]",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const thread = await open(temp);
      await workspace.turns.prompt(thread, { content: "one" });
      write("x", "1\n");
      await workspace.threads.addMessage(thread, { role: "assistant", content: "did it" });
      const stopped = await workspace.turns.end(thread);
      expect(stopped!.checkpoint).toMatchObject({ kind: "turn", phase: "after" });
      expect(await workspace.turns.end(thread)).toBeNull();
      const marks = async () =>
        (await workspace.threads.history(thread)).messages.map(({ rolledBack }) => rolledBack);
      await workspace.undo({ thread });
      expect([read("x"), await marks()]).toEqual(["0\n", [true, true]]);
      const { rolledBack } = await workspace.turns.prompt(thread, { content: "two" });
      expect(rolledBack).toMatchObject([{ by: "restore", description: "Undid: one", pathsTotal: 1 }]);
      await workspace.redo({ thread });
      expect([read("x"), await marks()]).toEqual(["1\n", [false, false, false]]);
    }),
  );

  test(
    "[R33] without a stop it ends at the next prompt",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const thread = await open(temp);
      await temp.workspace.turns.prompt(thread, { content: "one" });
      temp.write("x", "1\n");
      await temp.workspace.turns.prompt(thread, { content: "two" });
      temp.write("x", "2\n");
      const undone = await temp.workspace.undo({ thread, count: 2 });
      expect(undone.steps.map(({ prompt }) => prompt)).toEqual(["two", "one"]);
      expect(temp.read("x")).toBe("0\n");
    }),
  );

  test(
    "[R34] [Y17] [Y88] restore takes the conversation back on request, alone or with the files; undo gives it back",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const thread = await open(temp);
      await workspace.turns.prompt(thread, { content: "one" });
      write("x", "1\n");
      const { checkpoint } = await workspace.turns.prompt(thread, { content: "two" });
      write("x", "2\n");
      await workspace.turns.end(thread);
      await workspace.threads.addMessage(thread, { role: "assistant", content: "done" });
      const marks = async () =>
        (await workspace.threads.history(thread)).messages.map(({ rolledBack }) => rolledBack);
      await workspace.restoreTo(checkpoint!.id);
      expect([read("x"), await marks()]).toEqual(["1\n", [false, false, false]]);
      await workspace.undo();
      expect(await workspace.restoreTo(checkpoint!.id, { scope: "both" })).toMatchObject({
        outcome: "applied",
      });
      expect([read("x"), await marks()]).toEqual(["1\n", [false, true, true]]);
      await workspace.undo();
      expect([read("x"), await marks()]).toEqual(["2\n", [false, false, false]]);
      await workspace.restoreTo(checkpoint!.id, { scope: "conversation" });
      expect([read("x"), await marks()]).toEqual(["2\n", [false, true, true]]);
      await workspace.undo();
      expect([read("x"), await marks()]).toEqual(["2\n", [false, false, false]]);
      await workspace.redo();
      expect(await marks()).toEqual([false, true, true]);
    }),
  );
});

test(
  "[R34] the conversation goes back also where only a part of the files does, and the title tells which",
  inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
    const { workspace, write, read } = temp;
    const thread = await open(temp);
    const { checkpoint } = await workspace.turns.prompt(thread, { content: "one" });
    for (const path of ["x", "y"]) write(path, "1\n");
    await workspace.turns.end(thread);
    const marks = async () =>
      (await workspace.threads.history(thread)).messages.map((each) => each.rolledBack);
    const hunks = [{ path: "y" as BytePath, hunks: [] }];
    for (const part of [{ paths: ["x"] }, { hunks }]) {
      await workspace.restoreTo(checkpoint!.id, { ...part, scope: "both" });
      expect([read("x"), read("y"), await marks()]).toEqual(["0\n", "1\n", [true]]);
      const rows = (await workspace.list()).filter(({ kind }) => kind === "message");
      expect(rows.map(({ rolledBack }) => rolledBack)).toEqual(rows.map(() => false));
      expect((await workspace.timeline.rows({})).rows[0]!.title).toMatch(/^Restored x$|\(in part\)$/);
      await workspace.undo();
      expect([read("x"), await marks()]).toEqual(["1\n", [false]]);
    }
  }),
);

describe("[R32] tool calls", () => {
  test(
    "[Y01] [Y36] [Y48] what changes between a call's captures is its doing, the rest is outside; undo takes the calls",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const thread = await open(temp);
      await workspace.turns.prompt(thread, { content: "go" });
      write("y", "by hand\n");
      const before = await begin(workspace, thread, "u-1", { summary: "npm test" });
      expect(before!.checkpoint).toMatchObject({
        kind: "tool",
        phase: "before",
        tool: "Bash",
        toolUseId: "u-1",
        description: "Before Bash: npm test",
      });
      expect(await attributions(workspace)).toEqual({ y: "outside" });
      write("x", "1\n");
      await workspace.turns.endTool(thread, { toolUseId: "u-1" });
      expect(await attributions(workspace)).toEqual({ x: "tool" });
      expect(await workspace.threads.fileEdits(thread)).toMatchObject([
        { path: "x", type: "modified", messageIndex: 0, diff: expect.stringContaining("+1\n") },
      ]);
      write("y", "by hand again\n");
      await workspace.turns.end(thread);
      expect(await attributions(workspace)).toEqual({ y: "outside" });
      expect(await workspace.undo({ thread })).toMatchObject({ outcome: "applied", modified: 1 });
      expect([read("x"), read("y")]).toEqual(["0\n", "by hand again\n"]);
      expect(await workspace.resolve("u-1")).toMatchObject({ phase: "before" });
    }),
  );

  test(
    "[I60] of two threads at work the one that named a path has it; a path that neither named is shared",
    inWorkspace({ x: "0\n", y: "0\n", z: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const [a, b] = [await open(temp, "a"), await open(temp, "b")];
      for (const thread of [a, b]) await workspace.turns.prompt(thread, { content: "go" });
      await begin(workspace, a, "u-a", { paths: ["x"] });
      await begin(workspace, b, "u-b", { paths: ["y"] });
      for (const path of ["x", "y", "z"]) write(path, "1\n");
      await workspace.turns.endTool(a, { toolUseId: "u-a" });
      expect(await attributions(workspace)).toEqual({ x: "tool", y: "tool", z: "shared" });
      await workspace.turns.endTool(b, { toolUseId: "u-b" });
      const undone = await workspace.undo({ thread: a });
      expect(undone).toMatchObject({ outcome: "conflicts", conflicts: [{ path: "z" }] });
      await workspace.undo({ thread: a, bestEffort: true });
      expect([read("x"), read("y"), read("z")]).toEqual(["0\n", "1\n", "1\n"]);
    }),
  );

  test(
    "[R33] a tool that was interrupted with its turn is not the author of what comes later (example 7)",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, tree, read } = temp;
      const thread = await open(temp);
      await workspace.turns.prompt(thread, { content: "go" });
      await begin(workspace, thread, "u-1");
      write("z", "by the shell\n");
      await workspace.undo({ thread });
      expect(tree().has("z")).toBe(false);
      write("x", "by hand\n");
      expect(await workspace.undo({ thread })).toMatchObject({ outcome: "unchanged" });
      expect(read("x")).toBe("by hand\n");
      await workspace.redo({ thread });
      expect([read("x"), read("z")]).toEqual(["by hand\n", "by the shell\n"]);
    }),
  );

  test(
    "without captures around tools the turn is the window, also of a thread that once had them",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { home, root, write, read } = temp;
      const thread = await open(temp);
      await temp.workspace.turns.prompt(thread, { content: "with" });
      await begin(temp.workspace, thread, "u-1");
      await temp.workspace.turns.endTool(thread, { toolUseId: "u-1" });
      await temp.workspace.turns.run({ thread }, async () => write("x", "by a process\n"));
      expect(await attributions(temp.workspace)).toEqual({ x: "tool" });
      await temp.workspace.close();
      {
        await using workspace = await openWorkspace(root, { home, policy: CHECKPOINT_PRESETS.message });
        await workspace.turns.prompt(thread, { content: "without" });
        await begin(workspace, thread, "u-2");
        write("x", "1\n");
        await workspace.turns.end(thread);
        expect(await attributions(workspace)).toEqual({ x: "tool" });
        await workspace.undo({ thread });
        expect(read("x")).toBe("by a process\n");
      }
      await temp.reopen();
    }),
  );

  test(
    "two calls of one turn at once are both that turn's",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await open(temp);
      await workspace.turns.prompt(thread, { content: "go" });
      await begin(workspace, thread, "u-1");
      await begin(workspace, thread, "u-2");
      write("x", "1\n");
      await workspace.turns.endTool(thread, { toolUseId: "u-2" });
      expect(await attributions(workspace)).toEqual({ x: "tool" });
    }),
  );

  test(
    "[A76] a named path is captured although ignored; undo removes it (example 9)",
    inWorkspace({ ".gitignore": "dist/\n" }, async (temp) => {
      const { workspace, write, tree } = temp;
      const thread = await open(temp);
      const before = tree();
      await workspace.turns.prompt(thread, { content: "build" });
      const begun = await begin(workspace, thread, "u-1", { paths: [`${temp.root}/dist/x`, "/etc/hosts"] });
      expect(begun!.warnings).toEqual([
        "/etc/hosts is outside the workspace: what happens to it is not captured.",
      ]);
      write("dist/x", "built\n");
      await workspace.turns.endTool(thread, { toolUseId: "u-1" });
      await workspace.turns.end(thread);
      await workspace.undo({ thread });
      expect(tree()).toEqual(before);
    }),
  );

  test(
    "[R33] an agent of a turn goes on after its stop: what it does is still the turn's",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const thread = await open(temp);
      await workspace.turns.prompt(thread, { content: "start an agent" });
      expect(await workspace.turns.beginAgent(thread, { id: "sub", role: "builder" })).toMatchObject({
        status: "running",
        endedAt: null,
      });
      await workspace.turns.end(thread);
      await workspace.turns.prompt(thread, { content: "meanwhile" });
      await begin(workspace, thread, "u-1", { agentId: "sub" });
      write("x", "by the agent\n");
      await workspace.turns.endTool(thread, { toolUseId: "u-1" });
      await workspace.turns.endAgent(thread, { id: "sub", status: "completed", cost: 0.5, tokens: 1200 });
      await workspace.turns.end(thread);
      expect(await workspace.turns.agents(thread)).toMatchObject([
        { id: "sub", role: "builder", status: "completed", cost: 0.5, tokens: 1200, parent: null },
      ]);
      const undone = await workspace.undo({ thread });
      expect(undone.steps.map(({ prompt }) => prompt)).toEqual(["start an agent"]);
      expect(read("x")).toBe("0\n");
      const ofAgent = (await workspace.list({ kind: "agent" })).at(-1)!;
      expect(ofAgent.agent).toEqual({
        id: "sub",
        role: "builder",
        status: "completed",
        cost: 0.5,
        tokens: 1200,
      });
    }),
  );

  test(
    "[R33] what an agent does after its turn was undone is a turn of its own",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const thread = await open(temp);
      await workspace.turns.prompt(thread, { content: "start an agent" });
      await workspace.turns.beginAgent(thread, { id: "sub", role: "builder" });
      await begin(workspace, thread, "u-1", { agentId: "sub" });
      write("x", "1\n");
      await workspace.undo({ thread });
      expect(read("x")).toBe("0\n");
      write("y", "later\n");
      await workspace.turns.endTool(thread, { toolUseId: "u-1" });
      await workspace.undo({ thread });
      expect(read("y")).toBe("0\n");
      await workspace.redo({ thread });
      await workspace.redo({ thread });
      expect([read("x"), read("y")]).toEqual(["1\n", "later\n"]);
    }),
  );

  test(
    "[A08] [M40] [Y06] the policy says which events make checkpoints; off means none",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { home, root, write } = temp;
      const kinds = async (workspace: Workspace) =>
        (await workspace.list()).map(({ kind }) => kind).reverse();
      await temp.workspace.close();
      const drive = async (workspace: Workspace, agent: string) => {
        const { id } = await workspace.threads.create({ agent });
        await workspace.turns.prompt(id, { content: "go" });
        await workspace.turns.beginAgent(id, { id: "sub", role: "r" });
        await begin(workspace, id, "u-1");
        write("x", `${agent}\n`);
        await workspace.turns.endTool(id, { toolUseId: "u-1" });
        await workspace.turns.endAgent(id, { id: "sub" });
        await workspace.turns.end(id);
        return kinds(workspace);
      };
      const expected = { message: [], tool: ["tool", "tool"], agent: ["agent", "agent"] };
      let before = ["initial"];
      for (const preset of ["message", "tool", "agent"] as const) {
        await using workspace = await openWorkspace(root, { home, policy: CHECKPOINT_PRESETS[preset] });
        const after = await drive(workspace, preset);
        expect(after.slice(before.length)).toEqual(["initial", "message", ...expected[preset], "turn"]);
        await workspace.undo();
        before = await kinds(workspace);
      }
      {
        await using workspace = await openWorkspace(root, { home, policy: { name: "off", triggers: [] } });
        expect(await drive(workspace, "off")).toEqual(before);
      }
      await temp.reopen();
    }),
  );
});

describe("[R36] events", () => {
  test(
    "[A10] [A12] come in order, with what they are about; a reader resumes where it was, whichever process acted",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, root } = temp;
      const thread = await open(temp);
      const seen: WorkspaceEvent[] = [];
      const stop = new AbortController();
      const reading = (async () => {
        for await (const event of workspace.events.read({ signal: stop.signal })) {
          seen.push(event);
          if (event.type === "session_approved") stop.abort();
        }
      })();
      await workspace.turns.prompt(thread, { content: "go", messageId: "m-1" });
      await begin(workspace, thread, "u-1");
      write("x", "1\n");
      await workspace.turns.endTool(thread, { toolUseId: "u-1" });
      await workspace.turns.end(thread);
      await workspace.undo();
      runInProcess(temp, `await workspace.approvals.approve(${JSON.stringify(thread)})`);
      await reading;
      const types = seen.map(({ type }) => type).filter((type) => type !== "checkpoint_created");
      expect(types).toEqual([
        "user",
        "file_edit",
        "done",
        "restore_started",
        "restore_finished",
        "undo",
        "session_approved",
      ]);
      const user = seen.find(({ type }) => type === "user")!;
      expect(user).toMatchObject({
        content: "go",
        session: "session_1",
        thread,
        checkpoint: expect.any(String),
      });
      expect(seen.find(({ type }) => type === "file_edit")).toMatchObject({
        file: `${root}/x`,
        thread,
        diff: expect.stringMatching(/^--- [^\n]+\n\+\+\+ b\/x\n[^]*\+1\n/),
      });
      const again: number[] = [];
      for await (const event of workspace.events.read({ after: user.seq })) {
        again.push(event.seq);
        if (event.type === "session_approved") break;
      }
      expect(again).toEqual(seen.map(({ seq }) => seq).filter((seq) => seq > user.seq));
      // heard from the call on, and to the end of the workspace
      const late = workspace.events.read();
      await workspace.note("@", "told");
      const next = await late[Symbol.asyncIterator]().next();
      expect(next.value).toMatchObject({ type: "checkpoint_updated", checkpoint: { note: "told" } });
      const rest = late[Symbol.asyncIterator]().next();
      await temp.reopen();
      expect(await rest).toEqual({ done: true, value: undefined });
    }),
  );
});
