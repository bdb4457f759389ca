/** The timeline: one row for each thing that happened, in histories that are not tidy. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type {
  BytePath,
  ThreadId,
  TimelineOptions,
  TimelinePage,
  TimelineRow,
  PartialUndoOptions,
  Workspace,
} from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const rowsOf = async (workspace: Workspace, options: TimelineOptions = {}) =>
  (await workspace.timeline.rows({ look: true, ...options })).rows;

/** What a row is, in one line: reference, state, title, files and lines. */
const told = ({ ref, state, title, added, modified, deleted, plus, minus }: TimelineRow) =>
  `${ref} ${state} ${title} +${added} ~${modified} -${deleted} ${plus}/${minus}`;

const story = async (workspace: Workspace, options: TimelineOptions = {}) =>
  (await rowsOf(workspace, options)).map(told);

/** One tool call of a thread that does `work`. */
async function tool(
  workspace: Workspace,
  { thread, id, name = "Bash", summary }: { thread: ThreadId; id: string; name?: string; summary?: string },
  work: () => void,
): Promise<void> {
  const nature = name === "Bash" ? "command" : "edit";
  const about = summary === undefined ? {} : { summary };
  await workspace.turns.beginTool(thread, { tool: name, toolUseId: id, nature, ...about });
  work();
  await workspace.turns.endTool(thread, { toolUseId: id });
}

async function prompt(temp: TempWorkspace, thread: ThreadId, content: string): Promise<void> {
  await temp.workspace.turns.prompt(thread, { content });
}

describe("what is a row", () => {
  test(
    "[R214] [C64] a prompt with its tool calls is one row: the prompt, its own files and lines, its steps",
    inWorkspace({ "a.txt": "1\n2\n3\n", "b.txt": "b\n" }, async (temp) => {
      const { workspace, write, remove } = temp;
      const thread = await temp.openThread("claude-code");
      await prompt(temp, thread, "Rename the\n  user table, please");
      await tool(workspace, { thread, id: "t1", name: "Edit" }, () => write("a.txt", "1\ntwo\n3\n4\n"));
      await tool(workspace, { thread, id: "t2", summary: "npm test" }, () => undefined);
      await tool(workspace, { thread, id: "t3", summary: "rm b.txt; make" }, () => {
        remove("b.txt");
        write("c.txt", "c\n");
      });
      await workspace.turns.end(thread);
      const [turn, first] = await rowsOf(workspace);
      expect(turn).toMatchObject({
        ref: "T1",
        kind: "turn",
        title: "Rename the user table, please",
        thread,
        agent: "claude-code",
        session: "session_1",
        state: "applied",
        status: "completed",
        undoneAt: null,
        approved: false,
        added: 1,
        modified: 1,
        deleted: 1,
        plus: 3,
        minus: 2,
        steps: 2,
        gaps: 0,
        late: 0,
        sameAsNow: true,
        beforeSameAsNow: false,
      });
      expect(turn!.endedAt).toBeGreaterThanOrEqual(turn!.at);
      expect(await workspace.resolve(turn!.before!)).toMatchObject({ seq: turn!.seq, kind: "message" });
      expect(await workspace.resolve(turn!.after!)).toMatchObject({ kind: "turn", phase: "after" });
      expect(first).toMatchObject({ ref: "1", kind: "initial", title: "Initial checkpoint" });
      expect(await workspace.timeline.steps("T1")).toMatchObject([
        {
          tool: "Edit",
          summary: "a.txt",
          nature: "edit",
          added: 0,
          modified: 1,
          deleted: 0,
          plus: 2,
          minus: 1,
        },
        { tool: "Bash", summary: "rm b.txt; make", nature: "command", added: 1, modified: 0, deleted: 1 },
      ]);
    }),
  );

  test(
    "[R391] [Y05] [C64] flat, every checkpoint is a row of its own with what it found",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write, turn } = temp;
      const thread = await temp.openThread("codex");
      await turn("one", () => write("a.txt", "1\n"), thread);
      write("mine.txt", "m\n");
      await workspace.checkpoint({ name: "works" });
      const rows = await rowsOf(workspace, { flat: true });
      const all = await workspace.list({ limit: 100 });
      expect(rows.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq));
      expect(rows.map(({ added, modified, deleted }) => ({ added, modified, deleted }))).toEqual(
        all.map(({ changes }) => changes),
      );
      expect(rows[0]).toMatchObject({ kind: "checkpoint", title: "works", sameAsNow: true, added: 1 });
      expect(rows.at(-1)).toMatchObject({ kind: "initial", title: "Initial checkpoint" });
      // [R2361] of checkpoints, those that found something
      expect((await rowsOf(workspace, { flat: true, q: "has:changes" })).map(({ seq }) => seq)).toEqual(
        all
          .filter(({ changes }) => changes.added + changes.modified + changes.deleted > 0)
          .map(({ seq }) => seq),
      );
      const page = await workspace.timeline.rows({ flat: true, limit: 2 });
      expect([page.total, page.rows.length, page.next]).toEqual([all.length, 2, all[1]!.seq]);
      expect(await rowsOf(workspace, { flat: true, thread })).toHaveLength(
        all.filter((each) => each.thread === thread).length,
      );
    }),
  );

  test(
    "[R214] [C64] your checkpoint, an approval, a restore, a reset and undoing only one turn are rows",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write, turn } = temp;
      const thread = await temp.openThread("codex");
      await turn("one", () => write("a.txt", "1\n"), thread);
      await workspace.checkpoint({ name: "works", note: "all green", tags: ["demo"] });
      await workspace.approvals.approve(thread, { message: "fine" });
      await turn("two", () => write("b.txt", "b\n"), thread);
      await turn("three", () => write("c.txt", "c\n"), thread);
      await workspace.revert((await workspace.timeline.row("T2")).after!);
      await workspace.approvals.reset(thread);
      await workspace.restoreTo((await workspace.timeline.row("T1")).before!);
      expect(await story(workspace)).toEqual([
        "15 applied Restored to before “one” +0 ~1 -0 1/1",
        "13 applied Reset to the approved state +0 ~0 -1 0/1",
        "11 applied Undid only “two” +0 ~0 -1 0/1",
        "T3 applied three +1 ~0 -0 1/0",
        "T2 applied two +1 ~0 -0 1/0",
        "5 applied Approved session_1: fine +0 ~0 -0 0/0",
        "4 applied works +0 ~0 -0 0/0",
        "T1 applied one +0 ~1 -0 1/1",
        "1 applied Initial checkpoint +0 ~0 -0 0/0",
      ]);
      const rows = await rowsOf(workspace);
      expect(rows.map(({ kind }) => kind)).toEqual(
        "restore reset revert turn turn approved checkpoint turn initial".split(" "),
      );
      expect(rows[6]).toMatchObject({ name: "works", note: "all green", tags: ["demo"] });
      expect(rows[5]).toMatchObject({ thread, agent: "codex", session: "session_1", approved: true });
      expect(rows[7]).toMatchObject({ approved: true, beforeSameAsNow: true });
      expect(rows[3]).toMatchObject({ approved: false, session: "session_2" });
      expect(rows[0]).toMatchObject({ sameAsNow: true });
    }),
  );

  test(
    "[R2471] an undo of some files, of some hunks or with decisions says so, and which step it was",
    inWorkspace({ "a.txt": "0\n", "b.txt": "0\n" }, async (temp) => {
      const { workspace, write, turn } = temp;
      const path = "a.txt" as BytePath;
      const undo = async (options: PartialUndoOptions) =>
        workspace.restore((await workspace.planUndo(options))!);
      await turn("one: of: two", () => ["a.txt", "b.txt"].forEach((file) => write(file, "1\n")));
      await undo({ paths: ["a.txt"] });
      await workspace.undo();
      await undo({
        hunks: [
          { path, hunks: [0] },
          { path: "b.txt" as BytePath, hunks: [] },
        ],
      });
      await workspace.undo();
      write("a.txt", "by hand\n");
      await undo({ decisions: [{ path, take: "plan" }] });
      await workspace.undo();
      await workspace.restore(await workspace.planRevert("@turn", { paths: ["b.txt"] }));
      const rows = await rowsOf(workspace);
      expect(rows.filter(({ kind }) => kind === "revert").map(({ title }) => title)).toEqual([
        "Undid only b.txt of “one: of: two”",
        "Undid “one: of: two”",
        "Undid “one: of: two” (in part)",
        "Undid a.txt of “one: of: two”",
      ]);
    }),
  );
});

describe("histories that are not tidy", () => {
  test(
    "[R214] turns of two agents that overlap count their own changes; what both may have changed is shared",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const [claude, codex] = [await temp.openThread("claude-code"), await temp.openThread("codex")];
      await prompt(temp, claude, "one");
      await tool(workspace, { thread: claude, id: "c1" }, () => write("claude.txt", "1\n2\n"));
      await prompt(temp, codex, "two");
      await tool(workspace, { thread: codex, id: "x1" }, () => write("codex.txt", "1\n"));
      await tool(workspace, { thread: claude, id: "c2" }, () => write("claude.txt", "1\n2\n3\n"));
      await workspace.turns.beginTool(claude, { tool: "Bash", toolUseId: "c3", nature: "command" });
      await workspace.turns.beginTool(codex, { tool: "Bash", toolUseId: "x2", nature: "command" });
      write("both.txt", "?\n");
      await workspace.turns.endTool(codex, { toolUseId: "x2" });
      await workspace.turns.endTool(claude, { toolUseId: "c3" });
      await workspace.turns.end(codex);
      await workspace.turns.end(claude);
      const [two, one] = await rowsOf(workspace);
      expect(two).toMatchObject({ ref: "T2", agent: "codex", added: 2, plus: 2, shared: 1, steps: 1 });
      expect(one).toMatchObject({ ref: "T1", agent: "claude-code", added: 2, plus: 4, shared: 1, steps: 2 });
      expect(one!.endedAt).toBeGreaterThan(two!.at);
      const own = await workspace.timeline.changes("T2", { detail: "counts" });
      expect(own.files.map(({ path, type }) => `${path} ${type}`)).toEqual([
        "both.txt added",
        "codex.txt added",
      ]);
      expect(own.summary).toMatchObject({ added: 2, linesAdded: 2 });
      const chosen = await workspace.timeline.changes("T2", { detail: "names", paths: ["both.txt"] });
      expect(chosen.files).toHaveLength(1);
      expect(await story(workspace, { thread: codex })).toEqual(["T2 applied two +2 ~0 -0 2/0"]);
    }),
  );

  test(
    "[R214] [Y18] an undone turn keeps its place and says since when; redo brings it back",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write, turn } = temp;
      const thread = await temp.openThread("codex");
      await turn("one", () => write("a.txt", "1\n"), thread);
      await turn("two", () => write("b.txt", "b\n"), thread);
      const refs = async () => (await rowsOf(workspace)).map(({ ref, state }) => `${ref} ${state}`);
      await workspace.undo();
      expect(await refs()).toEqual(["T2 undone", "T1 applied", "1 applied"]);
      const [undone, one] = await rowsOf(workspace);
      expect(undone!.undoneAt).toBeGreaterThanOrEqual(undone!.at);
      expect(undone).toMatchObject({ added: 1, sameAsNow: false, beforeSameAsNow: true });
      expect(one).toMatchObject({ undoneAt: null, sameAsNow: true });
      await workspace.undo();
      expect(await refs()).toEqual(["T2 undone", "T1 undone", "1 applied"]);
      await workspace.redo({ count: 2 });
      expect(await refs()).toEqual(["T2 applied", "T1 applied", "1 applied"]);
      expect((await rowsOf(workspace))[0]).toMatchObject({ undoneAt: null, sameAsNow: true });
    }),
  );

  test(
    "[R214] a turn is working, then completed by its stop, or interrupted by the next prompt; one without changes is hidden",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await temp.openThread("claude-code");
      await prompt(temp, thread, "first");
      expect((await rowsOf(workspace))[0]).toMatchObject({
        ref: "T1",
        state: "open",
        status: "working",
        after: null,
        endedAt: null,
      });
      expect((await workspace.timeline.rows({ look: true })).now).toMatchObject({
        changed: 0,
        working: [thread],
      });
      write("a.txt", "1\n");
      expect((await workspace.timeline.rows({ look: true })).now).toMatchObject({ changed: 1 });
      await prompt(temp, thread, "second: only a question");
      await workspace.turns.end(thread);
      await prompt(temp, thread, "third");
      write("a.txt", "3\n");
      await workspace.turns.end(thread);
      const rows = await rowsOf(workspace);
      expect(rows.map(({ ref, status }) => `${ref} ${status}`)).toEqual([
        "T3 completed",
        "T1 interrupted",
        "1 null",
      ]);
      expect((await story(workspace, { all: true })).slice(0, 3)).toEqual([
        "T3 applied third +0 ~1 -0 1/1",
        "T2 empty second: only a question +0 ~0 -0 0/0",
        "T1 applied first +0 ~1 -0 1/1",
      ]);
    }),
  );

  test(
    "[R214] changes by hand are one row for ten minutes; while an agent worked, or during a pause, they are of no known author",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await temp.openThread("claude-code");
      const turn = async (name: string, id: string, inBetween: () => void = () => undefined) => {
        await prompt(temp, thread, name);
        await tool(workspace, { thread, id }, () => write(`${id}.txt`, `${name}\n`));
        inBetween();
        await workspace.turns.end(thread);
      };
      write("mine.txt", "1\n");
      await turn("one", "t1");
      write("mine.txt", "1\n2\n");
      await prompt(temp, thread, "a question");
      await workspace.turns.end(thread);
      temp.passHours(0.1);
      write("mine.txt", "1\n2\n3\n");
      await prompt(temp, thread, "another question");
      await workspace.turns.end(thread);
      temp.passHours(0.5);
      write("other.txt", "o\n");
      await turn("two", "t2", () => write("meanwhile.txt", "m\n"));
      expect((await story(workspace)).map((line) => line.replace(/^\d+/, "n"))).toEqual([
        "n applied Changed outside any agent +1 ~0 -0 1/0",
        "T4 applied two +1 ~0 -0 1/0",
        "n applied Changed by hand +1 ~0 -0 1/0",
        "n applied Changed by hand +0 ~1 -0 2/0",
        "T1 applied one +1 ~0 -0 1/0",
        "n applied Changed by hand +1 ~0 -0 1/0",
        "n applied Initial checkpoint +0 ~0 -0 0/0",
      ]);
      // the file where it was the only one
      const paths = (await rowsOf(workspace)).map(({ path }) => path);
      expect(paths).toEqual([
        "meanwhile.txt",
        undefined,
        "other.txt",
        "mine.txt",
        undefined,
        "mine.txt",
        undefined,
      ]);
      const [, , , two] = await rowsOf(workspace);
      // from before the first of them to after the last
      const { files } = await workspace.diff({ from: two!.before!, to: two!.after!, detail: "counts" });
      expect(files).toMatchObject([{ linesAdded: 2 }]);
      await prompt(temp, thread, "left running");
      await workspace.turns.beginTool(thread, { tool: "Bash", toolUseId: "bg", nature: "command" });
      await workspace.turns.endTool(thread, { toolUseId: "bg", background: true });
      await workspace.turns.end(thread);
      write("later.txt", "l\n");
      await workspace.checkpoint({ kind: "timer" });
      expect((await rowsOf(workspace))[0]).toMatchObject({
        kind: "hand",
        title: "Changed outside any agent",
      });
      const moment = two!.at;
      await workspace.pause({ since: moment, until: moment + 100 * 3_600_000 });
      write("paused.txt", "p\n");
      await workspace.resume();
      expect((await rowsOf(workspace))[0]).toMatchObject({
        kind: "hand",
        title: "Changed outside any agent",
      });
    }),
  );

  test(
    "[R214] a turn that goes on after a restore is two rows, each with its own changes",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await temp.openThread("claude-code");
      await prompt(temp, thread, "long work");
      await tool(workspace, { thread, id: "t1" }, () => write("a.txt", "1\n"));
      await workspace.restoreTo("1");
      await tool(workspace, { thread, id: "t2" }, () => write("b.txt", "b\n"));
      await workspace.turns.end(thread);
      const rows = await rowsOf(workspace);
      expect(rows.map(told)).toEqual([
        "T2 applied long work (continued) +1 ~0 -0 1/0",
        expect.stringMatching(/^\d+ applied Restored to “Initial checkpoint” \+0 ~1 -0 1\/1$/),
        "T1 applied long work +0 ~1 -0 1/1",
        "1 applied Initial checkpoint +0 ~0 -0 0/0",
      ]);
      expect(rows.map(({ status }) => status)).toEqual(["completed", null, "completed", null]);
      expect(new Set(rows.map(({ ref }) => ref)).size).toBe(4);
      // a turn after the restore comes on top
      await temp.turn("next", () => write("c.txt", "c\n"), thread);
      expect((await rowsOf(workspace))[0]).toMatchObject({ ref: "T3", title: "next" });
    }),
  );

  test(
    "[R214] [R183] what was not captured, or late, is counted on its row; what moved has no lines",
    inWorkspace({ "a.txt": "0\n1\n2\n" }, async (temp) => {
      const { workspace, write, read, remove } = temp;
      const thread = await temp.openThread("claude-code");
      await prompt(temp, thread, "move, and make a pipe");
      await tool(workspace, { thread, id: "t1" }, () => {
        write("moved/a.txt", read("a.txt"));
        remove("a.txt");
        execFileSync("mkfifo", [join(temp.root, "pipe")]);
      });
      await workspace.turns.end(thread);
      const [turn] = await rowsOf(workspace);
      expect(turn).toMatchObject({ added: 2, deleted: 1, plus: 0, minus: 0, gaps: 1, late: 0 });
      expect(await story(workspace, { q: "has:gaps" })).toHaveLength(1);
    }),
  );

  test(
    "[R214] [R2362] pages add up to the whole: no row twice, none missing, the numbers and days of all in the first",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write, turn } = temp;
      const thread = await temp.openThread("codex");
      for (let n = 1; n <= 6; n += 1) {
        temp.passHours(20);
        write("mine.txt", `${n}\n`);
        await turn(`turn ${n}`, () => write("a.txt", `${n}\n`), thread);
        write("mine.txt", `${n} again\n`);
        if (n % 2 === 0) await workspace.checkpoint({ name: `point ${n}` });
      }
      const whole = await workspace.timeline.rows();
      const refs = whole.rows.map(({ ref }) => ref);
      expect(refs.length).toBeGreaterThan(14);
      expect(whole).toMatchObject({ next: null, total: refs.length });
      expect(whole.days!.reduce((sum, { count }) => sum + count, 0)).toBe(refs.length);
      expect(whole.days!.length).toBeGreaterThan(3);
      for (const limit of [1, 2, 3, 5]) {
        const found: string[] = [];
        for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null;) {
          const page: TimelinePage = await workspace.timeline.rows({ before, limit });
          expect(page).toMatchObject({ total: null, days: null });
          found.push(...page.rows.map(({ ref }) => ref));
          before = page.next;
        }
        expect(found).toEqual(refs);
      }
      const { seq } = whole.rows[4]!;
      expect((await workspace.timeline.rows({ after: seq })).rows.map(({ ref }) => ref)).toEqual(
        whole.rows.filter((row) => row.seq > seq).map(({ ref }) => ref),
      );
      // [R2362] a page from anywhere is the same stretch of the whole, and says how much is above it
      for (const skip of [0, 1, 4, refs.length - 1, refs.length, refs.length + 9]) {
        const page = await workspace.timeline.rows({ skip, limit: 3 });
        expect(page.skipped).toBe(Math.min(skip, refs.length));
        const shown = page.rows.map(({ ref }) => ref);
        expect(shown).toEqual(refs.slice(skip, skip + shown.length));
        expect(shown.length).toBeGreaterThanOrEqual(Math.min(3, Math.max(0, refs.length - skip)));
        if (page.next !== null) {
          const rest = await workspace.timeline.rows({ before: page.next });
          expect([...shown, ...rest.rows.map(({ ref }) => ref)]).toEqual(refs.slice(skip));
          expect(rest.skipped).toBeNull();
        }
      }
      for (const ref of refs) {
        const { rows, skipped } = await workspace.timeline.rows({ around: ref, limit: 50 });
        expect(rows.map((row) => row.ref)).toContain(ref);
        expect(rows.map((row) => row.ref)).toEqual(refs.slice(skipped!));
      }
      expect((await workspace.timeline.rows({ around: refs[0]!, q: "nothing has this" })).rows).toEqual([]);
      await expect(workspace.timeline.rows({ around: "T999" })).rejects.toThrow();
      // the counts follow the store
      await turn("one more", () => write("a.txt", "more\n"), thread);
      expect((await workspace.timeline.rows({ limit: 1 })).total).toBe(refs.length + 1);
    }),
  );

  test(
    "[R214] [R160] turns whose checkpoints were dropped stay while one end is there, and say that they cannot be undone",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await temp.openThread("claude-code");
      for (const name of ["one", "two", "three"]) {
        await prompt(temp, thread, name);
        await tool(workspace, { thread, id: name }, () => write("a.txt", `${name}\n`));
        await workspace.turns.end(thread);
      }
      const { after } = await workspace.timeline.row("T2");
      const steps = await workspace.timeline.steps("T2");
      for (const id of [steps[0]!.id, after!]) await workspace.upkeep.deleteCheckpoint(id);
      temp.passHours(48);
      await workspace.upkeep.gc();
      const row = (await rowsOf(workspace)).find(({ ref }) => ref === "T2");
      expect(row).toMatchObject({ title: "two", pruned: true, after: null, before: expect.any(String) });
      await workspace.upkeep.deleteCheckpoint(row!.before!);
      temp.passHours(48);
      await workspace.upkeep.gc();
      expect((await rowsOf(workspace)).map(({ ref }) => ref)).toEqual(["T3", "T1", "1"]);
      await expect(workspace.timeline.row("T2")).rejects.toMatchObject({
        code: "CHECKPOINT_NOT_FOUND",
        message: "The checkpoints of T2 were dropped. Nothing was changed.",
      });
    }),
  );

  test(
    "[R214] any checkpoint leads to its row, also one inside a turn; each row's name leads to that row",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await temp.openThread("claude-code");
      write("mine.txt", "m\n");
      await prompt(temp, thread, "one");
      await tool(workspace, { thread, id: "t1" }, () => write("a.txt", "1\n"));
      await workspace.turns.end(thread);
      await workspace.restoreTo("1");
      const titles: Record<string, string> = {};
      for (const { seq, id } of await workspace.list())
        titles[seq] = (await workspace.timeline.row(id)).title;
      expect(titles).toEqual({
        "1": "Initial checkpoint",
        "2": "one",
        "3": "one",
        "4": "one",
        "5": "one",
        "6": "Before restoring to checkpoint 1 (Initial checkpoint)",
        "7": "Restored to “Initial checkpoint”",
      });
      for (const { ref, title } of await rowsOf(workspace))
        expect((await workspace.timeline.row(ref)).title).toBe(title);
      const names = async (ref: string) =>
        (await workspace.timeline.changes(ref, { detail: "names" })).files.map(({ path }) => path);
      expect(await names("2")).toEqual(["mine.txt"]);
      expect(await names("T1")).toEqual(["a.txt"]);
      // by its number too: the turn began there
      expect(await workspace.timeline.steps("2")).toMatchObject([{ tool: "Bash" }]);
    }),
  );

  test(
    "[R214] each row is found by its reference, with its own changes, although two may share a checkpoint",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      const thread = await temp.openThread("claude-code");
      write("mine.txt", "m\n");
      await prompt(temp, thread, "one");
      await tool(workspace, { thread, id: "t1" }, () => write("a.txt", "1\n"));
      write("mine.txt", "m\nn\n");
      await workspace.turns.end(thread);
      const rows = await rowsOf(workspace);
      expect(rows.map(({ title }) => title)).toContain("Changed by hand");
      const found = await Promise.all(rows.map(({ ref }) => workspace.timeline.row(ref)));
      expect(found.map(told)).toEqual(rows.map(told));
      for (const { ref, added, modified, deleted } of rows) {
        const { summary } = await workspace.timeline.changes(ref, { detail: "names" });
        expect(summary).toMatchObject({ added, modified, deleted });
      }
    }),
  );
});

describe("finding", () => {
  test(
    "[R216] [Y27] [C63] words over prompts, names, notes, tags and paths; fields; all of them have to hold",
    inWorkspace({ "a.txt": "0\n" }, async (temp) => {
      const { workspace, write, turn } = temp;
      const [claude, codex] = [await temp.openThread("claude-code"), await temp.openThread("codex")];
      await turn("Rename the walrus", () => write("docs/penguin.md", "p\n"), claude);
      await workspace.checkpoint({
        name: "Alpha release",
        note: "tastes of 100% cinnamon",
        tags: ["spice_rack"],
      });
      await turn("Teach the walrus to swim", () => write("src/swim.ts", "s\n"), codex);
      await workspace.undo();
      temp.passHours(1);
      write("by-hand.txt", "h\n");
      await workspace.approvals.approve(claude, { message: "done" });
      const find = async (q: string, more: TimelineOptions = {}) =>
        (await workspace.timeline.rows({ q, ...more })).rows.map(({ title }) => title);
      const [rename, teach, alpha] = ["Rename the walrus", "Teach the walrus to swim", "Alpha release"];
      const [hand, done] = ["Changed by hand", "Approved session_1: done"];
      expect(await find("walrus")).toEqual([teach, rename]);
      expect(await find("WALRUS swim")).toEqual([teach]);
      expect(await find('"walrus to"')).toEqual([teach]);
      expect(await find("penguin.md")).toEqual([rename]);
      expect(await find("alpha")).toEqual([alpha]);
      expect(await find("cinnamon")).toEqual([alpha]);
      expect(await find("100%")).toEqual([alpha]);
      expect(await find("1%0")).toEqual([]);
      expect(await find("spice_")).toEqual([alpha]);
      expect(await find("hand.txt")).toEqual([hand]);
      expect(await find("'; DROP TABLE step; --")).toEqual([]);
      expect(await find("agent:claude")).toEqual([done, rename]);
      expect(await find("", { agent: "codex" })).toEqual([teach]);
      expect(await find(`thread:${codex.slice(0, 8)}`)).toEqual([teach]);
      expect(await find("thread:claude-code kind:turn")).toEqual([rename]);
      expect(await find("file:docs/**")).toEqual([rename]);
      expect(await find("file:*.ts")).toEqual([teach]);
      expect(await find("file:swim")).toEqual([teach]);
      expect(await find("tag:spice")).toEqual([alpha]);
      expect(await find("kind:checkpoint")).toEqual([alpha]);
      expect(await find("kind:hand")).toEqual([hand]);
      expect(await find("session:1 agent:claude")).toEqual([done, rename]);
      expect(await find("session:session_2")).toEqual([]);
      expect(await find("is:undone")).toEqual([teach]);
      expect(await find("is:approved")).toEqual([done, rename]);
      expect(await find("has:note")).toEqual([alpha]);
      expect(await find("has:changes walrus")).toEqual([teach, rename]);
      expect(await find("has:gaps")).toEqual([]);
      expect(await find("before:30m walrus")).toEqual([teach, rename]);
      expect(await find("after:30m")).toEqual([done, hand]);
      expect(await find("before:never")).toEqual([]);
      // an unknown field is a word with a colon
      expect(await find("colour:red")).toEqual([]);
      expect(await find("   ")).toHaveLength(6);
      const page = await workspace.timeline.rows({ q: "walrus", limit: 1 });
      expect(page).toMatchObject({ total: 2, rows: [{ title: teach }] });
      expect(await find("walrus", { before: page.next!, limit: 1 })).toEqual([rename]);
    }),
  );
});
