/** The dialogs API as its document writes it, over HTTP against a real process. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { served, type ServedProject } from "./support/served-project.ts";

async function openDialog(project: ServedProject, title = "My Feature"): Promise<string> {
  return (await project.ok<{ id: string }>("POST", "/api/dialogs", { title })).id;
}

const say = (project: ServedProject, dialog: string, content: string) =>
  project.ok("POST", `/api/dialogs/${dialog}/messages`, { content });
const session = (project: ServedProject, dialog: string) =>
  project.ok("GET", `/api/dialogs/${dialog}/session`);
const act = (project: ServedProject, dialog: string, action: string, body: object = {}) =>
  project.ok("POST", `/api/dialogs/${dialog}/${action}`, body);
const paths = (status: { changed_files: { path: string }[] }) => status.changed_files.map(({ path }) => path);

describe("a dialog", () => {
  test(
    "[A01] [A02] [A03] [A05] [A06] [A07] [A09] [A11] takes a snapshot when it is made and before each message",
    served(async (project) => {
      const created = await project.ok("POST", "/api/dialogs", { title: "My Feature" });
      expect(created).toMatchObject({
        title: "My Feature",
        active_session: "session_1",
        last_approved_at: null,
      });
      const long = "Create a TODO app with three files and a very long description of it";
      const message = await say(project, created.id, long);
      project.write("main.py", "print()\n");
      await say(project, created.id, "Add tests");
      const { checkpoints, initial_checkpoint } = await project.ok(
        "GET",
        `/api/dialogs/${created.id}/checkpoints`,
      );
      expect(initial_checkpoint).toBe(created.initial_checkpoint);
      expect(checkpoints[0]).toMatchObject({
        commit_id: initial_checkpoint,
        message: "Initial snapshot before dialog: My Feature",
      });
      const texts = checkpoints.map((each: { message: string }) => each.message);
      expect(texts).toContain(`Before user message: ${long.slice(0, 50)}…`);
      expect(texts).toContain("Before user message: Add tests");
      const { messages } = await project.ok("GET", `/api/dialogs/${created.id}/history`);
      expect(messages[0]).toMatchObject({
        content: long,
        checkpoint: message.checkpoint,
        session: "session_1",
      });
      await act(project, created.id, "restore", { checkpoint_id: message.checkpoint });
      expect(project.read("main.py")).toBeUndefined();
    }),
  );

  test(
    "[A26] [A32] [A70] the index lists dialogs, newest first, and checkpoints oldest first",
    served(async (project) => {
      const first = await openDialog(project, "first");
      const second = await openDialog(project, "second");
      const { dialogs, current_dialog_id } = await project.ok("GET", "/api/dialogs");
      expect(dialogs.map(({ id }: { id: string }) => id)).toEqual([second, first]);
      expect(current_dialog_id).toBe(second);
      for (const key of ["id", "title", "created_at", "updated_at", "active_session", "last_approved_at"])
        expect(dialogs[0]).toHaveProperty(key);
      await say(project, first, "one");
      await say(project, first, "two");
      const { dialog_id, checkpoints } = await project.ok("GET", `/api/dialogs/${first}/checkpoints`);
      expect(dialog_id).toBe(first);
      expect(checkpoints[0].message).toMatch(/^Initial snapshot/);
      expect(checkpoints.at(-1).message).toBe("Before user message: two");
    }),
  );

  test(
    "[A08] [A41] in the message policy no single tool makes a checkpoint",
    served(async (project) => {
      await project.ok("PUT", "/api/settings", { key: "checkpoints.policy", value: "message" });
      const dialog = await openDialog(project);
      await say(project, dialog, "go");
      const before = (await project.ok("GET", `/api/dialogs/${dialog}/checkpoints`)).checkpoints.length;
      for (const phase of ["before", "after"]) {
        const { checkpoint } = await project.ok("POST", `/api/threads/${dialog}/tools`, {
          phase,
          tool: "Write",
          toolUseId: "t1",
        });
        expect(checkpoint).toBeNull();
      }
      expect((await project.ok("GET", `/api/dialogs/${dialog}/checkpoints`)).checkpoints).toHaveLength(
        before,
      );
    }),
  );

  test(
    "[R43] [A58] dialogs are apart: one cannot restore the other's checkpoints, and deleting one leaves the other",
    served(async (project) => {
      const [one, two] = [await openDialog(project, "1"), await openDialog(project, "2")];
      const message = await say(project, one, "hello");
      const foreign = await project.call("POST", `/api/dialogs/${two}/restore`, {
        checkpoint_id: message.checkpoint,
      });
      expect(foreign).toMatchObject({ status: 404, body: { error: { code: "CHECKPOINT_NOT_FOUND" } } });
      await project.ok("DELETE", `/api/dialogs/${one}`);
      expect((await project.call("GET", `/api/dialogs/${one}`)).status).toBe(404);
      expect((await project.call("GET", `/api/dialogs/${two}`)).status).toBe(200);
    }),
  );
});

describe("approval", () => {
  test(
    "[A04] [A13] [A14] [A15] [A16] [A27] [A33] [A34] [A39] [A75] [R354] original 8: approve locks in, closes the session and opens the next one",
    served(async (project) => {
      const dialog = await openDialog(project);
      await say(project, dialog, "Create a TODO app");
      project.write("main.py", "x\n");
      expect(await session(project, dialog)).toMatchObject({
        active_session: "session_1",
        session_ref: "refs/heads/session_1",
        has_unapproved: true,
        last_approved_at: null,
      });
      const approved = await act(project, dialog, "approve", { message: "Feature complete" });
      expect(approved).toMatchObject({ new_session: "session_2" });
      expect(approved.commits_approved).toBeGreaterThan(0);
      const after = await session(project, dialog);
      expect(after).toMatchObject({
        active_session: null,
        session_ref: null,
        has_unapproved: false,
        changed_files: [],
      });
      expect(after.last_approved_at).toMatch(/^\d{4}-.*Z$/);
      const { sessions, branches } = await project.ok("GET", `/api/dialogs/${dialog}/sessions`);
      expect(sessions).toMatchObject([
        {
          session_name: "session_1",
          ref_name: "refs/heads/session_1",
          status: "merged",
          approved_commit: approved.approved_commit,
        },
        { session_name: "session_2", status: "active", closed_at: null },
      ]);
      expect(branches[0]).toMatchObject({
        branch_type: "main",
        ref_name: "refs/heads/main",
        head_commit: approved.approved_commit,
        valid: true,
      });
      expect(branches.slice(1)).toMatchObject([
        { branch_type: "session", ref_name: "refs/heads/session_2", valid: true },
      ]);
      expect(await act(project, dialog, "approve")).toMatchObject({
        new_session: "session_3",
        commits_approved: 0,
      });
    }),
  );

  test(
    "[R354] [A18] [A19] [A24] [A28] [A74] [A81] originals 2 and 3: reset brings the approved state back, shell-made files included, and can be taken back",
    served(async (project) => {
      const dialog = await openDialog(project);
      await say(project, dialog, "go");
      project.write("a.txt", "changed\n");
      project.write("made/by/shell.txt", "x");
      const reset = await act(project, dialog, "reset");
      expect(reset).toMatchObject({ new_session: "session_2" });
      expect(project.read("a.txt")).toBe("one\n");
      expect(project.read("made/by/shell.txt")).toBeUndefined();
      expect(reset.pre_reset_checkpoint).toEqual(expect.any(String));
      const { sessions } = await project.ok("GET", `/api/dialogs/${dialog}/sessions`);
      expect(sessions[0]).toMatchObject({ session_name: "session_1", status: "abandoned" });
      await act(project, dialog, "restore", { checkpoint_id: reset.pre_reset_checkpoint });
      expect(project.read("a.txt")).toBe("changed\n");
      expect(project.read("made/by/shell.txt")).toBe("x");
    }),
  );

  test(
    "[A20] [A21] [A29] [A40] [A63] a restore can itself be undone, and stays in the session, unapproved",
    served(async (project) => {
      const dialog = await openDialog(project);
      const first = await say(project, dialog, "one");
      project.write("a.txt", "two\n");
      await say(project, dialog, "two");
      const restored = await act(project, dialog, "restore", { checkpoint_id: first.checkpoint });
      expect(restored).toMatchObject({ restored_to: first.checkpoint, skipped: [] });
      expect(project.read("a.txt")).toBe("one\n");
      const { checkpoints } = await project.ok("GET", `/api/dialogs/${dialog}/checkpoints`);
      const made = checkpoints.find(
        ({ commit_id }: { commit_id: string }) => commit_id === restored.new_checkpoint,
      );
      const message = `Restored to checkpoint ${first.checkpoint.slice(0, 8)}`;
      expect(made).toMatchObject({ session: "session_1", message });
      await act(project, dialog, "restore", { checkpoint_id: restored.safety_checkpoint });
      expect(project.read("a.txt")).toBe("two\n");
      expect(await session(project, dialog)).toMatchObject({
        active_session: "session_1",
        has_unapproved: true,
        changed_files: [{ path: "a.txt" }],
      });
    }),
  );

  test(
    "[A71] [A72] [A38] pending files have counts, diffs and what they were",
    served(
      async (project) => {
        const dialog = await openDialog(project);
        await say(project, dialog, "go");
        project.write("b.txt", "added\n");
        project.write("a.txt", "one\ntwo\n");
        project.write("bin", Buffer.from([1, 0, 3]));
        project.remove("gone.txt");
        const status = await session(project, dialog);
        expect(status.changed_files).toMatchObject([
          {
            path: "a.txt",
            status: "modified",
            additions: 1,
            deletions: 0,
            base_content: "one\n",
            is_binary: false,
          },
          { path: "b.txt", status: "added", additions: 1, base_content: null },
          { path: "bin", status: "modified", is_binary: true, base_content: null },
          { path: "gone.txt", status: "deleted", deletions: 1, base_content: "bye\n" },
        ]);
        expect(status.changed_files[0].diff).toMatch(/^--- a\/[^]*\+two/);
        expect(status.changed_files[0].is_too_large).toBe(false);
      },
      { "a.txt": "one\n", bin: Buffer.from([0, 1, 2]), "gone.txt": "bye\n" },
    ),
  );

  test(
    "[I60] two dialogs on one workspace: approving, resetting or undoing one leaves the other's work alone",
    served(
      async (project) => {
        const [a, b] = [await openDialog(project, "A"), await openDialog(project, "B")];
        const work = async (dialog: string, path: string, content: string, id: string) => {
          await project.ok("POST", `/api/threads/${dialog}/tools`, {
            phase: "before",
            tool: "Write",
            toolUseId: id,
            paths: [path],
          });
          project.write(path, content);
          await project.ok("POST", `/api/threads/${dialog}/tools`, {
            phase: "after",
            tool: "Write",
            toolUseId: id,
          });
        };
        await say(project, a, "x please");
        await say(project, b, "y please");
        await work(a, "x.txt", "by A\n", "t1");
        await work(b, "y.txt", "by B\n", "t2");
        expect(paths(await session(project, a))).toEqual(["x.txt"]);
        expect(paths(await session(project, b))).toEqual(["y.txt"]);
        await act(project, a, "approve");
        expect(paths(await session(project, b))).toEqual(["y.txt"]);
        await act(project, b, "reset");
        expect(project.read("x.txt")).toBe("by A\n");
        expect(project.read("y.txt")).toBe("y\n");
      },
      { "x.txt": "x\n", "y.txt": "y\n" },
    ),
  );

  test(
    "[I60] both wrote one file: different lines are taken apart, the same lines are a conflict",
    served(
      async (project) => {
        const [a, b] = [await openDialog(project, "A"), await openDialog(project, "B")];
        const lines = (...all: string[]) => `${all.join("\n")}\n`;
        const edit = async (dialog: string, content: string, id: string) => {
          await project.ok("POST", `/api/threads/${dialog}/tools`, {
            phase: "before",
            tool: "Edit",
            toolUseId: id,
            paths: ["f"],
          });
          project.write("f", content);
          await project.ok("POST", `/api/threads/${dialog}/tools`, {
            phase: "after",
            tool: "Edit",
            toolUseId: id,
          });
        };
        await say(project, a, "a");
        await say(project, b, "b");
        await edit(a, lines("A", "2", "3", "4", "5", "6", "7"), "t1");
        await edit(b, lines("A", "2", "3", "4", "5", "6", "B"), "t2");
        await act(project, b, "reset");
        expect(project.read("f")).toBe(lines("A", "2", "3", "4", "5", "6", "7"));
        await edit(b, lines("B", "2", "3", "4", "5", "6", "7"), "t3");
        await edit(a, lines("AB", "2", "3", "4", "5", "6", "7"), "t4");
        const refused = await project.call("POST", `/api/dialogs/${b}/reset`, {});
        expect(refused).toMatchObject({ status: 409, body: { error: { code: "CONFLICTS" } } });
        expect(project.read("f")).toBe(lines("AB", "2", "3", "4", "5", "6", "7"));
      },
      { f: "1\n2\n3\n4\n5\n6\n7\n" },
    ),
  );
});

describe("tools and files", () => {
  test(
    "[A30] [A76] [A77] an edit that is aborted leaves every named file as it was, a half-written new one removed",
    served(async (project) => {
      const dialog = await openDialog(project);
      await say(project, dialog, "go");
      const { edit } = await project.ok("POST", `/api/threads/${dialog}/edits`, {
        paths: ["a.txt", "new.txt"],
      });
      project.write("a.txt", "half");
      project.write("new.txt", "ha");
      project.write("other.txt", "not part of it");
      await project.ok("POST", `/api/threads/${dialog}/edits/${edit}/abort`, {});
      expect(project.read("a.txt")).toBe("one\n");
      expect(project.read("new.txt")).toBeUndefined();
      expect(project.read("other.txt")).toBe("not part of it");
      const kept = await project.ok("POST", `/api/threads/${dialog}/edits`, { paths: ["a.txt"] });
      project.write("a.txt", "whole\n");
      await project.ok("POST", `/api/threads/${dialog}/edits/${kept.edit}/finalize`, {});
      expect(project.read("a.txt")).toBe("whole\n");
    }),
  );

  test(
    "[A35] file edits of a dialog are derived from the snapshots",
    served(async (project) => {
      const dialog = await openDialog(project);
      await say(project, dialog, "go");
      project.write("a.txt", "two\n");
      const second = await say(project, dialog, "more");
      const { file_edits } = await project.ok("GET", `/api/dialogs/${dialog}/file_edits`);
      expect(file_edits.length).toBeGreaterThan(0);
      expect(file_edits[0]).toMatchObject({ file: "a.txt", created_at: expect.any(String) });
      expect(file_edits[0].diff).toMatch(/^--- (?:a\/|\/dev\/null)[^]*\+two/);
      expect(second.checkpoint).toEqual(expect.any(String));
    }),
  );

  test(
    "[A42] [A43] [A44] [A45] [A46] [A47] [A48] [A83] what is left out is left out, what is hidden is not, and nothing becomes deleted by becoming ignored",
    served(
      async (project) => {
        const dialog = await openDialog(project);
        const first = await say(project, dialog, "go");
        project.write("node_modules/x/index.js", "x");
        project.write("dist/out.js", "x");
        project.write("__pycache__/a.pyc", "x");
        project.write("sub/skip.log", "x");
        project.write("sub/keep.log", "x");
        project.write(".hidden", "h");
        project.write("a.txt", "two\n");
        expect(paths(await session(project, dialog))).toEqual([".hidden", "a.txt", "sub/keep.log"]);
        project.write(".gitignore", "*.log\n!keep.log\na.txt\n");
        expect(paths(await session(project, dialog))).not.toContain("tracked.txt");
        const status = await session(project, dialog);
        expect(status.changed_files.filter((each: { status: string }) => each.status === "deleted")).toEqual(
          [],
        );
        await act(project, dialog, "restore", { checkpoint_id: first.checkpoint });
        expect(project.read("node_modules/x/index.js")).toBe("x");
        expect(project.read("sub/skip.log")).toBe("x");
      },
      { "a.txt": "one\n", ".gitignore": "*.log\n!keep.log\n", "tracked.txt": "t" },
    ),
  );

  test(
    "[R354] [A78] original 4: restore removes what the target does not have, and the directories it made empty; never .git or empty directories of the user",
    served(async (project) => {
      execFileSync("git", ["init", "-q"], { cwd: project.project });
      mkdirSync(project.path("mine"));
      const dialog = await openDialog(project);
      const first = await say(project, dialog, "go");
      project.write("deep/er/file.txt", "x");
      mkdirSync(project.path("theirs"));
      await act(project, dialog, "restore", { checkpoint_id: first.checkpoint });
      expect(project.read("deep/er/file.txt")).toBeUndefined();
      expect(existsSync(project.path("deep"))).toBe(false);
      expect(existsSync(project.path("mine"))).toBe(true);
      expect(project.read(".git/HEAD")).toContain("ref:");
    }),
  );

  test.skipIf(process.getuid?.() === 0)(
    "[A80] an unreadable file is a gap and said so",
    served(async (project) => {
      project.write("secret", "s");
      chmodSync(project.path("secret"), 0);
      const dialog = await openDialog(project);
      const { body } = await project.call("GET", `/api/threads/${dialog}/checkpoints`);
      expect(body.checkpoints[0].gaps).toMatchObject([{ path: "secret", reason: "unreadable" }]);
      chmodSync(project.path("secret"), 0o600);
    }),
  );
});
