/** The timeline: one row for each thing that happened, in histories that are not tidy. */
import { describe, expect, test } from "vitest";
import type { ThreadId, TimelineOptions, TimelineRow, Workspace } from "../src/index.ts";
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
      expect(first).toMatchObject({ ref: "1", kind: "initial", title: "First checkpoint" });
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
        "5 applied fine +0 ~0 -0 0/0",
        "4 applied works +0 ~0 -0 0/0",
        "T1 applied one +0 ~1 -0 1/1",
        "1 applied First checkpoint +0 ~0 -0 0/0",
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
      const hand = "Changed by hand";
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
      expect(await find("agent:claude")).toEqual(["done", rename]);
      expect(await find("", { agent: "codex" })).toEqual([teach]);
      expect(await find(`thread:${codex.slice(0, 8)}`)).toEqual([teach]);
      expect(await find("thread:claude-code kind:turn")).toEqual([rename]);
      expect(await find("file:docs/**")).toEqual([rename]);
      expect(await find("file:*.ts")).toEqual([teach]);
      expect(await find("file:swim")).toEqual([teach]);
      expect(await find("tag:spice")).toEqual([alpha]);
      expect(await find("kind:checkpoint")).toEqual([alpha]);
      expect(await find("kind:hand")).toEqual([hand]);
      expect(await find("session:1 agent:claude")).toEqual(["done", rename]);
      expect(await find("session:session_2")).toEqual([]);
      expect(await find("is:undone")).toEqual([teach]);
      expect(await find("is:approved")).toEqual(["done", rename]);
      expect(await find("has:note")).toEqual([alpha]);
      expect(await find("has:changes walrus")).toEqual([teach, rename]);
      expect(await find("has:gaps")).toEqual([]);
      expect(await find("before:30m walrus")).toEqual([teach, rename]);
      expect(await find("after:30m")).toEqual(["done", hand]);
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
