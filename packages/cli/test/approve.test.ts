/** Conversations on the command line: threads, thread, approve, reset, and restore with the conversation. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace, type ThreadId, type Workspace } from "@belay/engine";
import { ID, ISO_TIME, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected({ "a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.txt": "b\n" });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

/** What an agent's hooks would have told. */
async function drive<Result>(work: (workspace: Workspace) => Promise<Result>): Promise<Result> {
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  return await work(workspace);
}

const openThread = (agent: string, title?: string) =>
  drive(
    async (workspace) =>
      (
        await workspace.threads.create({
          agent,
          externalId: `${agent}-1`,
          ...(title !== undefined && { title }),
        })
      ).id,
  );

const turn = (thread: ThreadId, content: string, work: () => void) =>
  drive(async (workspace) => {
    const { message } = await workspace.turns.prompt(thread, { content, messageId: content });
    work();
    await workspace.turns.end(thread);
    return message;
  });

describe("threads and thread", () => {
  test("list conversations and show one with its messages [A32] [A40]", async () => {
    const thread = await openThread("claude", "Add login");
    const message = await turn(thread, "Create the form", () => sandbox.write("form.html", "<form>\n"));
    const listed = sandbox.json(["threads"]).threads;
    expect(listed).toEqual([
      {
        id: thread,
        workspace: expect.stringMatching(ID),
        agent: "claude",
        externalId: "claude-1",
        title: "Add login",
        createdAt: expect.stringMatching(ISO_TIME),
        updatedAt: expect.stringMatching(ISO_TIME),
        lastApprovedAt: null,
        closedAt: null,
        messages: 1,
        checkpoints: 3,
        initialCheckpoint: expect.stringMatching(ID),
        session: "session_1",
      },
    ]);
    expect(sandbox.json(["thread", thread.slice(0, 6)])).toMatchObject({
      thread: { id: thread },
      sessions: [{ name: "session_1", status: "active" }],
      messages: [
        {
          index: 0,
          role: "user",
          content: "Create the form",
          checkpoint: message.checkpoint,
          rolledBack: false,
        },
      ],
      messagesTotal: 1,
      cursor: null,
      agents: [],
    });
    expect(sandbox.ok("threads")).toMatch(/claude .* session_1 .*Add login .*1 message, 3 checkpoints/);
    expect(sandbox.ok("thread", "claude-1")).toMatch(
      /claude "Add login"[^]*sessions +session_1 active[^]*Create the form/,
    );
    expect(sandbox.error(["thread", "unknown"], 4).code).toBe("THREAD_NOT_FOUND");
  });

  test("without conversations there is nothing to approve", () => {
    expect(sandbox.ok("threads")).toMatch(/No threads yet/);
    expect(sandbox.error(["approve"], 4).code).toBe("THREAD_NOT_FOUND");
    expect(sandbox.error(["reset"], 4).code).toBe("THREAD_NOT_FOUND");
  });
});

describe("approve", () => {
  test("[A15] [A16] makes the present state the approved one; status and --dry-run tell what is pending", async () => {
    const thread = await openThread("claude");
    await turn(thread, "one", () => sandbox.write("b.txt", "B\n"));
    expect(sandbox.json(["status"])).toMatchObject({
      thread,
      session: "session_1",
      hasUnapproved: true,
      changedFiles: [{ path: "b.txt", type: "modified", linesAdded: 1, linesDeleted: 1 }],
      sinceNewest: [],
    });
    expect(sandbox.ok("status")).toMatch(/session +session_1, 1 file unapproved/);
    expect(sandbox.json(["approve", "--dry-run"])).toMatchObject({
      thread,
      session: "session_1",
      hasUnapproved: true,
      changedFiles: [{ path: "b.txt" }],
    });
    const approval = sandbox.json(["approve", "-m", "Feature complete"]);
    expect(approval).toEqual({
      approved: expect.stringMatching(ID),
      newSession: "session_2",
      checkpointsApproved: 2,
      session: "session_1",
    });
    expect(sandbox.json(["show", approval.approved]).checkpoint).toMatchObject({
      kind: "approve",
      description: "Feature complete",
    });
    expect(sandbox.json(["status"])).toMatchObject({
      session: "session_2",
      hasUnapproved: false,
      changedFiles: [],
    });
    expect(sandbox.ok("approve", "--dry-run")).toMatch(
      /Everything in session_2 of claude \S+ is approved already/,
    );
    expect(sandbox.ok("approve")).toMatch(
      /✓ Approved session_2 .*\(0 files, 0 checkpoints\); session_3 is open/,
    );
    expect(sandbox.read("b.txt")).toBe("B\n");
  });
});

describe("reset", () => {
  test("[A18] [A19] [A74] goes back to the approved state, asks for several files, and undo takes it back", async () => {
    const thread = await openThread("claude");
    await turn(thread, "one", () => {
      sandbox.write("b.txt", "B\n");
      sandbox.write("c.txt", "new\n");
    });
    expect(sandbox.error(["reset"], 3).code).toBe("CONFIRMATION_REQUIRED");
    const { plan } = sandbox.json(["reset", "--dry-run"]);
    expect(plan.operations).toEqual([
      { type: "restore", path: "b.txt" },
      { type: "delete", path: "c.txt" },
    ]);
    const reset = sandbox.json(["reset", "--yes"]);
    expect(reset).toMatchObject({
      resetTo: expect.stringMatching(ID),
      newSession: "session_2",
      safetyCheckpoint: expect.stringMatching(ID),
      outcome: "applied",
      modified: 1,
      deleted: 1,
    });
    expect([sandbox.read("b.txt"), sandbox.read("c.txt")]).toEqual(["b\n", undefined]);
    expect(sandbox.json(["undo", "--yes"])).toMatchObject({
      outcome: "applied",
      steps: [{ kind: "reset", thread }],
    });
    expect([sandbox.read("b.txt"), sandbox.read("c.txt")]).toEqual(["B\n", "new\n"]);
    expect(sandbox.ok("reset", "--yes")).toMatch(
      /✓ Reset claude \S+ to its approved state \(1 changed, 1 deleted/,
    );
    expect(sandbox.ok("reset")).toMatch(/Nothing to reset: everything is approved/);
  });

  test("[I60] leaves another conversation's work alone, and names it where it is in the way", async () => {
    const [a, b] = [await openThread("claude"), await openThread("codex")];
    await turn(a, "one", () => sandbox.write("a.txt", sandbox.read("a.txt")!.replace("2", "two")));
    await turn(b, "two", () => sandbox.write("b.txt", "codex\n"));
    expect(sandbox.json(["reset", "--thread", "claude-1", "--yes"])).toMatchObject({ outcome: "applied" });
    expect(sandbox.read("b.txt")).toBe("codex\n");
    await turn(a, "three", () => sandbox.write("b.txt", "claude\n"));
    const refused = sandbox.json(["reset", "--thread", b, "--yes"], 3);
    expect(refused).toMatchObject({
      outcome: "conflicts",
      newSession: null,
      conflicts: [{ path: "b.txt", thread: a }],
    });
    expect(sandbox.read("b.txt")).toBe("claude\n");
  });
});

describe("restore with the conversation", () => {
  test("[Y17] [Y18] marks the messages since then, with or without the files", async () => {
    const thread = await openThread("claude");
    await turn(thread, "one", () => sandbox.write("b.txt", "1\n"));
    await turn(thread, "two", () => sandbox.write("b.txt", "2\n"));
    const marks = () =>
      sandbox.json(["thread", thread]).messages.map(({ rolledBack }: { rolledBack: boolean }) => rolledBack);
    sandbox.ok("restore", "two");
    expect([sandbox.read("b.txt"), marks()]).toEqual(["1\n", [false, false]]);
    sandbox.ok("undo", "--yes");
    expect(sandbox.ok("restore", "two", "--with-conversation")).toMatch(/\(1 changed, the conversation;/);
    expect([sandbox.read("b.txt"), marks()]).toEqual(["1\n", [false, true]]);
    sandbox.ok("undo", "--yes");
    expect(sandbox.json(["restore", "two", "--conversation-only"])).toMatchObject({
      outcome: "applied",
      modified: 0,
    });
    expect([sandbox.read("b.txt"), marks()]).toEqual(["2\n", [false, true]]);
    expect(sandbox.ok("thread", thread)).toMatch(/\(rolled back\) two/);
    expect(sandbox.error(["restore", "two", "b.txt", "--with-conversation"], 2).code).toBe("USAGE");
    expect(sandbox.error(["restore", "two", "--conversation-only", "--with-conversation"], 2).code).toBe(
      "USAGE",
    );
  });
});

test("[R31] list --fresh tells which messages changed anything; without it nothing is compared", async () => {
  const thread = await openThread("claude");
  await turn(thread, "one", () => sandbox.write("b.txt", "1\n"));
  await turn(thread, "just a question", () => undefined);
  const changes = (...args: string[]) =>
    sandbox
      .json(["list", "--kind", "message", ...args])
      .checkpoints.map(({ hasChanges }: { hasChanges: boolean | null }) => hasChanges);
  expect(changes()).toEqual([null, null]);
  expect(changes("--fresh")).toEqual([false, true]);
  expect(sandbox.ok("list", "--fresh", "--kind", "message")).toMatch(/• Before user message: one/);
});

test("[Y06] automatic checkpoints can be switched off, and their policy chosen", async () => {
  expect(sandbox.ok("config", "checkpoints.policy", "message")).toMatch(/message/);
  expect(sandbox.ok("config", "checkpoints.automatic", "off")).toMatch(/off/);
  const thread = await openThread("claude");
  await turn(thread, "one", () => sandbox.write("b.txt", "1\n"));
  expect(sandbox.json(["list"]).checkpoints).toHaveLength(1);
  expect(sandbox.json(["thread", thread]).messages).toMatchObject([{ content: "one", checkpoint: null }]);
  expect(sandbox.error(["config", "checkpoints.policy", "sometimes"], 2).code).toBe("CONFIG_INVALID");
});
