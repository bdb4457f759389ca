/** Every field of the dialogs API, with its value: what a program that was written for AgentSmithy reads there. */
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { canMakeImmutable, setImmutable } from "../../engine/test/support/project.ts";
import { served, type ServedProject } from "./support/served-project.ts";

const ID = /^[k-z]{16}$/;
const TIME = /^\d{4}-\d\d-\d\dT.*Z$/;

async function openDialog(project: ServedProject, title?: string): Promise<string> {
  return (await project.ok<{ id: string }>("POST", "/api/dialogs", { title })).id;
}

const say = (project: ServedProject, dialog: string, content: string) =>
  project.ok("POST", `/api/dialogs/${dialog}/messages`, { content });
const act = (project: ServedProject, dialog: string, action: string, body: object = {}) =>
  project.ok("POST", `/api/dialogs/${dialog}/${action}`, body);
const told = (project: ServedProject, dialog: string, what: string) =>
  project.ok("GET", `/api/dialogs/${dialog}/${what}`);
const messagesOf = async (project: ServedProject, dialog: string): Promise<string[]> =>
  (await told(project, dialog, "checkpoints")).checkpoints.map(({ message }: { message: string }) => message);

describe("sessions", () => {
  test(
    "[A04] [A15] [A16] [A18] [A19] [A33] [A34] each has every field of its row, and the branches are where they stand",
    served(async (project) => {
      const dialog = await openDialog(project, "Fields");
      await say(project, dialog, "one");
      project.write("a.txt", "two\n");
      const approved = await act(project, dialog, "approve", { message: "Feature complete" });
      expect(approved).toEqual({
        approved_commit: expect.stringMatching(ID),
        new_session: "session_2",
        // before the message, and the change that was pending
        commits_approved: 2,
      });
      const second = await say(project, dialog, "two");
      project.write("a.txt", "three\n");
      const reset = await act(project, dialog, "reset");
      expect(reset).toEqual({
        reset_to: approved.approved_commit,
        new_session: "session_3",
        pre_reset_checkpoint: expect.stringMatching(ID),
      });
      const third = await say(project, dialog, "three");
      const row = {
        created_at: expect.stringMatching(TIME),
        closed_at: expect.stringMatching(TIME),
        approved_commit: null,
        branch_exists: true,
      };
      const { sessions, branches } = await told(project, dialog, "sessions");
      expect(sessions).toEqual([
        {
          ...row,
          session_name: "session_1",
          ref_name: "refs/heads/session_1",
          status: "merged",
          approved_commit: approved.approved_commit,
          checkpoints_count: 2,
          head_commit: expect.stringMatching(ID),
        },
        {
          ...row,
          session_name: "session_2",
          ref_name: "refs/heads/session_2",
          status: "abandoned",
          // before the message, what was pending when it was reset, and the state that the reset brought back
          checkpoints_count: 3,
          head_commit: expect.stringMatching(ID),
        },
        {
          ...row,
          session_name: "session_3",
          ref_name: "refs/heads/session_3",
          status: "active",
          closed_at: null,
          checkpoints_count: 1,
          head_commit: third.checkpoint,
        },
      ]);
      const { checkpoints } = await told(project, dialog, "checkpoints");
      expect(
        checkpoints.flatMap(({ commit_id: id, session }: Record<string, string>) =>
          session === "session_2" ? [id] : [],
        ),
      ).toEqual([second.checkpoint, reset.pre_reset_checkpoint, sessions[1].head_commit]);
      expect(branches).toEqual([
        {
          branch_type: "main",
          ref_name: "refs/heads/main",
          head_commit: approved.approved_commit,
          valid: true,
        },
        {
          branch_type: "session",
          ref_name: "refs/heads/session_3",
          head_commit: third.checkpoint,
          valid: true,
        },
      ]);
    }),
  );

  test(
    "[A04] [A15] [A75] are counted beyond nine; an approval has the words that it was given, or the default ones",
    served(async (project) => {
      const dialog = await openDialog(project);
      await act(project, dialog, "approve", { message: "Feature complete" });
      expect((await messagesOf(project, dialog)).at(-1)).toBe("Feature complete");
      for (let number = 3; number <= 12; number += 1)
        expect(await act(project, dialog, "approve")).toMatchObject({ new_session: `session_${number}` });
      expect((await messagesOf(project, dialog)).at(-1)).toBe("Approved session");
    }),
  );

  test(
    "[A02] [A58] are of their dialog: what one approves, counts and deletes is not the other's",
    served(async (project) => {
      const [one, two] = [await openDialog(project, "1"), await openDialog(project, "2")];
      const message = await say(project, one, "hello");
      await act(project, one, "approve");
      const names = async (dialog: string) =>
        (await told(project, dialog, "sessions")).sessions.map(
          ({ session_name: name, status }: Record<string, string>) => `${name} ${status}`,
        );
      expect([await names(one), await names(two)]).toEqual([
        ["session_1 merged", "session_2 active"],
        ["session_1 active"],
      ]);
      // the newest checkpoint of a workspace stays whatever becomes of its dialog
      await say(project, two, "later");
      const ids = (await told(project, one, "checkpoints")).checkpoints.map(
        ({ commit_id: id }: { commit_id: string }) => id,
      );
      expect(ids).toContain(message.checkpoint);
      await project.ok("DELETE", `/api/dialogs/${one}`);
      const left = (await project.ok("GET", "/api/checkpoints?limit=1000")).checkpoints;
      expect(left.filter(({ id }: { id: string }) => ids.includes(id))).toEqual([]);
      expect(await messagesOf(project, two)).toContain("Before user message: later");
    }),
  );
});

test(
  "[A35] [R2450] an edit is of the message whose answer made it; what a person changed in between is none",
  served(async (project) => {
    const dialog = await openDialog(project);
    await say(project, dialog, "go");
    project.write("a.txt", "two\n");
    const second = await say(project, dialog, "more");
    project.write("new.txt", "new\n");
    await project.ok("POST", `/api/threads/${dialog}/stop`, {});
    project.write("a.txt", "by hand\n");
    await say(project, dialog, "and more");
    const { dialog_id, file_edits } = await told(project, dialog, "file_edits");
    const afterSecond = (await told(project, dialog, "checkpoints")).checkpoints.at(-2);
    expect(dialog_id).toBe(dialog);
    expect(file_edits).toEqual([
      {
        file: "new.txt",
        diff: "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n",
        checkpoint: afterSecond.commit_id,
        created_at: expect.stringMatching(TIME),
        message_index: 1,
      },
      {
        file: "a.txt",
        diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n",
        // where it was found: the state before the next message
        checkpoint: second.checkpoint,
        created_at: expect.stringMatching(TIME),
        message_index: 0,
      },
    ]);
  }),
);

test(
  "[A71] [A72] a base that is no text, or too long for one, is not told; nor is that of a new file",
  served(
    async (project) => {
      const dialog = await openDialog(project);
      project.write("large.txt", "y".repeat(1_200_000));
      project.write("latin.txt", Buffer.from("caf\u00e9 au lait\n", "latin1"));
      project.write("late-nul.txt", "changed\n");
      project.write("new.txt", "new\n");
      const { changed_files: files } = await told(project, dialog, "session");
      expect(
        files.map((each: Record<string, unknown>) => [
          each["path"],
          each["base_content"],
          each["is_binary"],
          each["is_too_large"],
        ]),
      ).toEqual([
        ["large.txt", null, false, true],
        ["late-nul.txt", `${"x".repeat(9000)}\0`, false, false],
        ["latin.txt", null, false, false],
        ["new.txt", null, false, false],
      ]);
      expect(files[0]).toMatchObject({ diff: null, additions: 0, deletions: 0, status: "modified" });
    },
    {
      "large.txt": "x".repeat(1_200_000),
      "latin.txt": Buffer.from("caf\u00e9\n", "latin1"),
      "late-nul.txt": `${"x".repeat(9000)}\0`,
    },
  ),
);

test(
  "[A73] history comes page by page, the newest first page, each message with its session",
  served(async (project) => {
    const dialog = await openDialog(project);
    for (const content of ["1", "2", "3"]) await say(project, dialog, content);
    const page = async (query: string) => {
      const { messages, next_cursor } = await told(project, dialog, `history?${query}`);
      return [
        messages.map(({ content, session }: Record<string, string>) => [content, session]),
        next_cursor,
      ];
    };
    const [newest, cursor] = await page("limit=2");
    expect(newest).toEqual([
      ["2", "session_1"],
      ["3", "session_1"],
    ]);
    expect(cursor).toEqual(expect.any(Number));
    expect(await page(`limit=2&cursor=${cursor}`)).toEqual([[["1", "session_1"]], null]);
  }),
);

test.skipIf(!canMakeImmutable)(
  "[A20] [A59] a file that cannot be written is skipped and named, and the others are restored",
  served(
    async (project) => {
      const dialog = await openDialog(project);
      const { checkpoint } = await say(project, dialog, "go");
      for (const path of ["fixed.txt", "free.txt"]) project.write(path, "changed\n");
      setImmutable(project.path("fixed.txt"), true);
      try {
        const restored = await act(project, dialog, "restore", { checkpoint_id: checkpoint });
        expect(restored).toMatchObject({
          restored_to: checkpoint,
          new_checkpoint: expect.stringMatching(ID),
          skipped: [{ path: "fixed.txt", reason: "it is immutable" }],
          written: ["free.txt"],
        });
      } finally {
        setImmutable(project.path("fixed.txt"), false);
      }
      expect([project.read("fixed.txt"), project.read("free.txt")]).toEqual(["changed\n", "free\n"]);
    },
    { "fixed.txt": "fixed\n", "free.txt": "free\n" },
  ),
);

test(
  "[A08] [A09] a message has one checkpoint, whatever its tools read, write and run",
  served(async (project) => {
    await project.ok("PUT", "/api/settings", { key: "checkpoints.policy", value: "message" });
    const dialog = await openDialog(project);
    const first = await say(project, dialog, "go");
    for (const tool of ["read_file", "list_files", "search_files", "write_to_file", "run_command"]) {
      const call = { tool, toolUseId: tool };
      await project.ok("POST", `/api/threads/${dialog}/tools`, { phase: "before", ...call });
      writeFileSync(project.path(`by-${tool}.txt`), "x\n");
      await project.ok("POST", `/api/threads/${dialog}/tools`, { phase: "after", ...call });
    }
    await say(project, dialog, "again");
    expect((await messagesOf(project, dialog)).slice(1)).toEqual([
      "Before user message: go",
      "Before user message: again",
    ]);
    await act(project, dialog, "restore", { checkpoint_id: first.checkpoint });
    expect(project.tree()).toEqual({ "a.txt": "one\n" });
  }),
);

test(
  "[A06] a dialog without a title is called by the first eight characters of its id",
  served(async (project) => {
    const dialog = await openDialog(project);
    const { dialogs } = await project.ok("GET", "/api/dialogs");
    expect(dialogs).toMatchObject([{ id: dialog, title: null }]);
    const { id } = (await project.ok("GET", "/api/threads")).threads[0];
    expect((await messagesOf(project, dialog))[0]).toBe(`Initial snapshot before dialog: ${id.slice(0, 8)}`);
  }),
);
