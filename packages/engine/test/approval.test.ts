/** Approve and reset: what is pending for whom, what stays, what comes back. Every example of the design is here. */
import { describe, expect, test } from "vitest";
import { displayPath, type ThreadId, type Workspace } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

async function pending(workspace: Workspace, thread: ThreadId): Promise<string[]> {
  const { hasUnapproved, changedFiles } = await workspace.approvals.session(thread);
  expect(hasUnapproved).toBe(changedFiles.length > 0);
  return changedFiles.map(({ path }) => displayPath(path));
}

/** Two conversations on one workspace. */
async function twoThreads({ workspace }: TempWorkspace): Promise<{ a: ThreadId; b: ThreadId }> {
  const open = async (agent: string) => (await workspace.threads.create({ agent, externalId: agent })).id;
  return { a: await open("A"), b: await open("B") };
}

describe("one conversation", () => {
  test(
    "[R29] [A16] [A38] a turn is pending, approving ends that, a hand edit is pending again",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, turn, openThread } = temp;
      const a = await openThread("A");
      await turn("t1", () => write("x", "1\n"), a);
      expect(await pending(workspace, a)).toEqual(["x"]);
      const tree = temp.tree();
      const approval = await workspace.approvals.approve(a, { message: "Feature complete" });
      expect(approval).toMatchObject({ session: "session_1", newSession: "session_2" });
      expect(temp.tree()).toEqual(tree);
      expect(await pending(workspace, a)).toEqual([]);
      write("x", "by hand\n");
      expect(await pending(workspace, a)).toEqual(["x"]);
    }),
  );

  test(
    "[R29] a turn that is undone leaves nothing pending",
    inWorkspace({ x: "0\n" }, async ({ workspace, write, turn, openThread }) => {
      const a = await openThread("A");
      await turn("t1", () => write("x", "1\n"), a);
      await workspace.undo();
      expect(await pending(workspace, a)).toEqual([]);
    }),
  );

  test(
    "[R30] [A18] [A19] reset brings the approved state back, files of the shell included, and can be undone (example 8)",
    inWorkspace({ x: "0\n", gone: "g\n" }, async (temp) => {
      const { workspace, write, remove, turn } = temp;
      const { id: a, initialCheckpoint } = await workspace.threads.create({ agent: "A" });
      const before = temp.tree();
      const after = await turn(
        "t1",
        () => {
          write("x", "1\n");
          write("made/by/shell", "new\n");
          remove("gone");
        },
        a,
      );
      const reset = await workspace.approvals.reset(a);
      expect(reset).toMatchObject({
        outcome: "applied",
        resetTo: initialCheckpoint,
        newSession: "session_2",
      });
      expect(temp.tree()).toEqual(before);
      expect(await pending(workspace, a)).toEqual([]);
      const safety = await workspace.resolve(reset.safetyCheckpoint!);
      expect(safety).toMatchObject({
        kind: "safety",
        description: "Auto-save before reset (can be restored if needed)",
        session: "session_1",
      });
      expect(await workspace.undo()).toMatchObject({ outcome: "applied", steps: [{ kind: "reset" }] });
      expect(temp.tree()).toEqual(after);
      expect(await workspace.approvals.session(a)).toMatchObject({
        hasUnapproved: true,
        session: "session_2",
      });
      const sessions = await workspace.approvals.sessions(a);
      expect(sessions.map(({ name, status }) => [name, status])).toEqual([
        ["session_1", "abandoned"],
        ["session_2", "active"],
      ]);
    }),
  );

  test(
    "[A74] [A81] what was reset can be restored from its safety checkpoint",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { id: a } = await temp.workspace.threads.create({ agent: "A" });
      const after = await temp.turn("t1", () => temp.write("x", "1\n"), a);
      const { safetyCheckpoint } = await temp.workspace.approvals.reset(a);
      await temp.workspace.restoreTo(safetyCheckpoint!, { thread: a });
      expect(temp.tree()).toEqual(after);
      expect(await pending(temp.workspace, a)).toEqual(["x"]);
    }),
  );

  test(
    "[A13] [A14] the session is told only when it has a checkpoint or a pending change",
    inWorkspace({ x: "0\n" }, async ({ workspace, write }) => {
      const { id: a } = await workspace.threads.create({ agent: "A" });
      expect(await workspace.approvals.session(a)).toMatchObject({
        active: null,
        hasUnapproved: false,
        lastApprovedAt: null,
      });
      write("x", "1\n");
      expect(await workspace.approvals.session(a)).toMatchObject({
        active: "session_1",
        hasUnapproved: true,
      });
      await workspace.approvals.approve(a);
      expect(await workspace.approvals.session(a)).toMatchObject({
        active: null,
        session: "session_2",
        hasUnapproved: false,
        lastApprovedAt: expect.any(Number),
      });
      await workspace.turns.prompt(a, { content: "go on" });
      expect(await workspace.approvals.session(a)).toMatchObject({
        active: "session_2",
        hasUnapproved: false,
      });
    }),
  );

  test(
    "[A15] [A33] [A75] approving counts the session's checkpoints; an empty session can be approved",
    inWorkspace({ x: "0\n" }, async ({ workspace, write }) => {
      const { id: a } = await workspace.threads.create({ agent: "A" });
      expect(await workspace.approvals.approve(a)).toMatchObject({
        checkpointsApproved: 0,
        newSession: "session_2",
      });
      await workspace.turns.prompt(a, { content: "one" });
      write("x", "1\n");
      await workspace.turns.prompt(a, { content: "two" });
      expect(await workspace.approvals.approve(a)).toMatchObject({
        checkpointsApproved: 2,
        newSession: "session_3",
      });
      write("x", "2\n");
      expect(await workspace.approvals.approve(a)).toMatchObject({ checkpointsApproved: 1 });
      const [newest, auto] = await workspace.list({ thread: a });
      expect(newest).toMatchObject({ kind: "approve", description: "Approved session" });
      expect(auto).toMatchObject({ description: "Auto-commit before approval" });
    }),
  );

  test(
    "[A18] a reset with nothing pending changes no file, makes no checkpoint and opens the next session",
    inWorkspace({ x: "0\n" }, async ({ workspace }) => {
      const { id: a } = await workspace.threads.create({ agent: "A" });
      const before = await workspace.list();
      expect(await workspace.approvals.reset(a)).toMatchObject({
        outcome: "unchanged",
        safetyCheckpoint: null,
        newSession: "session_2",
      });
      expect(await workspace.list()).toEqual(before);
    }),
  );

  test(
    "[A71] [A72] pending files come with lines, diff and approved content, one row a path",
    inWorkspace({ x: "0\n", moved: "same\n" }, async ({ workspace, write, remove }) => {
      const { id: a } = await workspace.threads.create({ agent: "A" });
      write("x", "1\n2\n");
      write("bin", "\0\n");
      write("elsewhere", "same\n");
      remove("moved");
      const { changedFiles } = await workspace.approvals.session(a, { detail: "text", content: true });
      expect(changedFiles).toMatchObject([
        { path: "bin", type: "added", binary: true, diff: null, baseContent: null },
        { path: "elsewhere", type: "added", linesAdded: 1, baseContent: null },
        { path: "moved", type: "deleted", linesDeleted: 1, baseContent: "same\n" },
        { path: "x", type: "modified", linesAdded: 2, linesDeleted: 1, baseContent: "0\n" },
      ]);
      expect(changedFiles[3]!.diff).toContain("+2\n");
    }),
  );

  test(
    "[R29] undo goes behind an approval, says so, and the result is unapproved",
    inWorkspace({ x: "0\n" }, async ({ workspace, write, turn, openThread }) => {
      const a = await openThread("A");
      await turn("t1", () => write("x", "1\n"), a);
      await workspace.approvals.approve(a);
      const { plan } = await workspace.undo({ thread: a });
      expect(plan.warnings).toEqual(['"t1" was approved; without it the state is unapproved']);
      expect(await pending(workspace, a)).toEqual(["x"]);
    }),
  );

  test(
    "[A83] [R23] what becomes ignored after the approval is not pending, and reset leaves it alone",
    inWorkspace({ "secret.log": "s\n" }, async (temp) => {
      const { id: a } = await temp.workspace.threads.create({ agent: "A" });
      temp.write(".gitignore", "*.log\n");
      expect(await pending(temp.workspace, a)).toEqual([".gitignore"]);
      await temp.workspace.approvals.reset(a);
      expect(temp.read("secret.log")).toBe("s\n");
    }),
  );
});

describe("[I60] two conversations on one workspace", () => {
  test(
    "[R29] each has its own pending files; approving A leaves B's, resetting B leaves A's",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read, turn } = temp;
      const { a, b } = await twoThreads(temp);
      await turn("A's", () => write("x", "A\n"), a);
      await turn("B's", () => write("y", "B\n"), b);
      expect([await pending(workspace, a), await pending(workspace, b)]).toEqual([["x"], ["y"]]);
      await workspace.approvals.approve(a);
      expect([await pending(workspace, a), await pending(workspace, b)]).toEqual([[], ["y"]]);
      expect(await workspace.approvals.reset(b)).toMatchObject({ outcome: "applied", modified: 1 });
      expect([read("x"), read("y")]).toEqual(["A\n", "0\n"]);
      expect([await pending(workspace, a), await pending(workspace, b)]).toEqual([[], []]);
    }),
  );

  test(
    "[R30] both changed x on different lines: reset B takes out B's lines and keeps A's",
    inWorkspace({ x: LINES }, async (temp) => {
      const { workspace, write, read, turn } = temp;
      const { a, b } = await twoThreads(temp);
      await turn("B's", () => write("x", read("x").replace("eight", "B")), b);
      await turn("A's", () => write("x", read("x").replace("two", "A")), a);
      expect(await pending(workspace, b)).toEqual(["x"]);
      expect(await workspace.approvals.reset(b)).toMatchObject({ outcome: "applied", merged: ["x"] });
      expect(read("x")).toBe(LINES.replace("two", "A"));
      expect([await pending(workspace, a), await pending(workspace, b)]).toEqual([["x"], []]);
      await workspace.undo();
      expect(read("x")).toBe(LINES.replace("two", "A").replace("eight", "B"));
      expect(await pending(workspace, b)).toEqual(["x"]);
    }),
  );

  test(
    "[R30] both changed the same lines: a conflict that names the other, and nothing changes",
    inWorkspace({ x: LINES, y: "0\n" }, async (temp) => {
      const { workspace, write, turn } = temp;
      const { a, b } = await twoThreads(temp);
      await turn("B's", () => (write("x", LINES.replace("five", "B")), write("y", "B\n")), b);
      const after = await turn("A's", () => write("x", LINES.replace("five", "A")), a);
      const checkpoints = await workspace.list();
      const reset = await workspace.approvals.reset(b);
      expect(reset).toMatchObject({
        outcome: "conflicts",
        newSession: null,
        conflicts: [{ path: "x", reason: "changed differently meanwhile", thread: a }],
      });
      expect(temp.tree()).toEqual(after);
      expect(await workspace.list()).toEqual(checkpoints);
      expect(await pending(workspace, b)).toEqual(["x", "y"]);
      expect(await workspace.approvals.session(b)).toMatchObject({ session: "session_1" });
    }),
  );

  test.each(["reset", "undo"] as const)(
    "[R16] [R30] %s takes several changes of one file out from among another's",
    (how) =>
      inWorkspace({ x: LINES }, async (temp) => {
        const { workspace, write, read, turn } = temp;
        const { a, b } = await twoThreads(temp);
        const change = (from: string, to: string) => () => write("x", read("x").replace(from, to));
        await turn("B's first", change("one", "B1"), b);
        await turn("A's first", change("three", "A1"), a);
        await turn("B's second", change("seven", "B2"), b);
        await turn("A's second", change("nine", "A2"), a);
        const outcome =
          how === "reset"
            ? await workspace.approvals.reset(b)
            : await workspace.undo({ thread: b, count: 2 });
        expect(outcome).toMatchObject({ outcome: "applied", merged: ["x"] });
        expect(read("x")).toBe(LINES.replace("three", "A1").replace("nine", "A2"));
        expect([await pending(workspace, a), await pending(workspace, b)]).toEqual([["x"], []]);
      })(),
  );

  test(
    "[R30] where pruning has dropped the record of who did it, a reset takes nothing out",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, read, turn } = temp;
      const { a, b } = await twoThreads(temp);
      await turn("B's", () => write("y", "B\n"), b);
      await turn("A's", () => write("x", "A\n"), a);
      await workspace.upkeep.prune({
        policy: { name: "none", keepAllHours: -1, keepTurnsHours: -1, keepMinimum: 0, keepMaximum: null },
      });
      temp.passHours(25);
      expect((await workspace.upkeep.gc()).checkpointsDropped).toBeGreaterThan(0);
      const reason = "shared with another thread";
      expect(await workspace.approvals.reset(a)).toMatchObject({
        outcome: "conflicts",
        conflicts: [{ path: "y", reason }],
      });
      expect([read("x"), read("y")]).toEqual(["A\n", "B\n"]);
      expect(await workspace.approvals.reset(a, { bestEffort: true })).toMatchObject({ outcome: "partial" });
      expect([read("x"), read("y")]).toEqual(["0\n", "B\n"]);
    }),
  );

  test(
    "[R29] a hand edit is pending for both until one of them approves it",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const { a, b } = await twoThreads(temp);
      write("x", "by hand\n");
      expect([await pending(workspace, a), await pending(workspace, b)]).toEqual([["x"], ["x"]]);
      await workspace.approvals.approve(a);
      expect([await pending(workspace, a), await pending(workspace, b)]).toEqual([[], []]);
      expect(await workspace.approvals.reset(b)).toMatchObject({ outcome: "unchanged" });
      expect(temp.read("x")).toBe("by hand\n");
    }),
  );

  test(
    "[R29] reset A, undo: pending again for A alone",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, turn } = temp;
      const { a, b } = await twoThreads(temp);
      await turn("A's", () => write("x", "A\n"), a);
      await turn("B's", () => write("y", "B\n"), b);
      await workspace.approvals.reset(a);
      await workspace.undo({ thread: a });
      expect([await pending(workspace, a), await pending(workspace, b)]).toEqual([["x"], ["y"]]);
      expect(await workspace.approvals.session(a)).toMatchObject({ session: "session_2" });
    }),
  );

  test(
    "[R29] an undo over several conversations is each one's own",
    inWorkspace({ x: "0\n", y: "0\n" }, async (temp) => {
      const { workspace, write, turn } = temp;
      const { a, b } = await twoThreads(temp);
      await turn("A's", () => write("x", "A\n"), a);
      await turn("B's", () => write("y", "B\n"), b);
      await workspace.approvals.approve(a);
      await workspace.approvals.approve(b);
      await workspace.undo({ count: 2 });
      expect([await pending(workspace, a), await pending(workspace, b)]).toEqual([["x"], ["y"]]);
    }),
  );

  test(
    "[R30] what both may have written at the same time is not taken from the other",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write, read } = temp;
      const { a, b } = await twoThreads(temp);
      await workspace.turns.run({ thread: a }, () =>
        workspace.turns.run({ thread: b }, async () => write("x", "who?\n")),
      );
      const reason = "shared with another thread";
      expect(await workspace.approvals.reset(b)).toMatchObject({
        outcome: "conflicts",
        conflicts: [{ path: "x", reason }],
      });
      expect(read("x")).toBe("who?\n");
      expect(await workspace.approvals.reset(b, { includeShared: true })).toMatchObject({
        outcome: "applied",
      });
      expect(read("x")).toBe("0\n");
    }),
  );

  test(
    "[R29] a change that was undone under another's later one is not pending",
    inWorkspace({ x: LINES }, async (temp) => {
      const { workspace, write, read, turn } = temp;
      const { a, b } = await twoThreads(temp);
      await turn("A's", () => write("x", read("x").replace("two", "A")), a);
      await turn("B's", () => write("x", read("x").replace("eight", "B")), b);
      await workspace.undo({ thread: a });
      expect([await pending(workspace, a), await pending(workspace, b)]).toEqual([[], ["x"]]);
    }),
  );
});

describe("hasChanges of a message's checkpoint", () => {
  const ofMessages = async (workspace: Workspace, thread: ThreadId) =>
    (await workspace.list({ thread, kind: "message", fresh: true }))
      .reverse()
      .map(({ hasChanges, rolledBack }) => [hasChanges, rolledBack]);

  test(
    "[R31] differs from the next message, the last one from the disk; stays true when rolled back",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const { id: a } = await workspace.threads.create({ agent: "A" });
      await workspace.turns.prompt(a, { content: "one" });
      write("x", "1\n");
      await workspace.turns.prompt(a, { content: "two: only a question" });
      await workspace.turns.prompt(a, { content: "three" });
      expect(await ofMessages(workspace, a)).toEqual([
        [true, false],
        [false, false],
        [false, false],
      ]);
      write("x", "3\n");
      expect((await ofMessages(workspace, a)).at(-1)).toEqual([true, false]);
      await workspace.turns.end(a);
      await workspace.undo();
      expect(await ofMessages(workspace, a)).toEqual([
        [true, false],
        [false, false],
        [true, true],
      ]);
      expect((await workspace.list({ thread: a }))[0]!.hasChanges).toBeNull();
    }),
  );

  test(
    "[R31] what another conversation changed does not count",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { a, b } = await twoThreads(temp);
      await temp.workspace.turns.prompt(a, { content: "one" });
      await temp.workspace.turns.end(a);
      await temp.turn("B's", () => temp.write("x", "B\n"), b);
      expect(await ofMessages(temp.workspace, a)).toEqual([[false, false]]);
    }),
  );
});
