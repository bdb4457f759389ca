/** AgentSmithy's interface: the calls of its document, and what Belay does where the original is wrong. */
import { chmodSync, mkdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { DialogHistory, EventFactory, Project, VersioningTracker } from "../src/agentsmithy.ts";
import { closeDropIn } from "../src/index.ts";
import { makePlace } from "./support/place.ts";

function dialog(files: Readonly<Record<string, string>> = { "main.py": "x\n" }) {
  const place = makePlace(files);
  const project = new Project(place.root, place.options);
  const id = project.create_dialog("My Feature");
  return { ...place, project, id, tracker: new VersioningTracker(place.root, id, place.options) };
}

test("[A25] [A26] [A29] a tracker without a dialog protects the project, checkpoints and restores it", () => {
  const { root, options, write, read, lines } = makePlace({ "main.py": "x\n" });
  const tracker = new VersioningTracker(root, null, options);
  expect(tracker.list_checkpoints()).toEqual([]);
  expect(tracker.has_uncommitted_changes()).toBe(false);
  expect(lines).toEqual([]);
  const info = tracker.create_checkpoint("Before user message: Add tests");
  expect(info).toEqual({
    commit_id: expect.stringMatching(/^[k-z]{16}$/),
    message: "Before user message: Add tests",
    not_captured: [],
  });
  expect(lines).toMatchObject([{ event: "protected" }]);
  write("main.py", "y\n");
  expect(tracker.has_uncommitted_changes()).toBe(true);
  expect(tracker.restore_checkpoint(info.commit_id.slice(0, 8))).toEqual(["main.py"]);
  expect(read("main.py")).toBe("x\n");
  expect(new VersioningTracker(root, "default", options).list_checkpoints()[0]).toEqual(info);
});

test("[A25] the index of dialogs has the document's fields; nothing is approved at the beginning", () => {
  const { project, id } = dialog();
  const index = project.load_dialogs_index();
  expect(index).toEqual({
    dialogs: [
      {
        id,
        title: "My Feature",
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
        active_session: "session_1",
        last_approved_at: null,
        initial_checkpoint: expect.stringMatching(/^[k-z]{16}$/),
      },
    ],
    current_dialog_id: id,
  });
  const other = project.create_dialog(null, false);
  expect(project.get_current_dialog_id()).toBe(id);
  project.set_current_dialog_id(other);
  expect(project.get_current_dialog_id()).toBe(other);
  project.delete_dialog(other);
  expect(project.list_dialogs().map((each) => each.id)).toEqual([id]);
  expect(() => project.set_current_dialog_id("01J")).toThrow(
    expect.objectContaining({ code: "THREAD_NOT_FOUND" }),
  );
});

test("[A25] [A27] [A28] approve and reset: sessions are counted, and an empty one has no commits", () => {
  const { tracker, write, read, exists, project } = dialog();
  tracker.create_checkpoint("Before user message: Create");
  write("main.py", "done\n");
  const approved = tracker.approve_all("Feature complete");
  expect(approved).toEqual({
    approved_commit: expect.stringMatching(/^[k-z]{16}$/),
    new_session: "session_2",
    commits_approved: expect.any(Number),
  });
  expect(approved.commits_approved).toBeGreaterThan(0);
  expect(tracker.list_checkpoints().at(-1)).toMatchObject({
    commit_id: approved.approved_commit,
    message: "Feature complete",
  });
  expect(tracker.approve_all()).toMatchObject({ new_session: "session_3", commits_approved: 0 });
  expect(project.list_dialogs()[0]!.last_approved_at).not.toBeNull();
  tracker.create_checkpoint("Before user message: Break it");
  write("main.py", "broken\n");
  write("made-by-a-command.txt", "x\n");
  const main = tracker.list_checkpoints().findLast(({ message }) => message === "Approved session");
  const reset = tracker.reset_to_approved();
  expect(reset).toEqual({
    reset_to: main!.commit_id,
    new_session: "session_4",
    pre_reset_checkpoint: expect.stringMatching(/^[k-z]{16}$/),
  });
  expect([read("main.py"), exists("made-by-a-command.txt")]).toEqual(["done\n", false]);
  expect(tracker.reset_to_approved()).not.toHaveProperty("pre_reset_checkpoint");
  expect(tracker.restore_checkpoint(reset.pre_reset_checkpoint!)).toEqual([
    "made-by-a-command.txt",
    "main.py",
  ]);
  expect(read("main.py")).toBe("broken\n");
});

test("[A25] a message with its checkpoint begins the turn there: undo takes exactly the answer", () => {
  const { tracker, project, id, write, read, look } = dialog();
  const history = project.get_dialog_history(id);
  expect(history).toBeInstanceOf(DialogHistory);
  write("by-hand.txt", "mine\n");
  const checkpoint = tracker.create_checkpoint("Before user message: Change it");
  history.add_user_message("Change it", checkpoint.commit_id, "session_1");
  write("main.py", "changed\n");
  history.add_ai_message("Done.");
  expect(history.get_messages()).toEqual([
    {
      type: "human",
      content: "Change it",
      additional_kwargs: { checkpoint: checkpoint.commit_id, session: "session_1" },
    },
    { type: "ai", content: "Done.", additional_kwargs: {} },
  ]);
  expect(history.get_messages(1)).toHaveLength(1);
  expect(tracker.list_checkpoints().map(({ message }) => message)).toEqual([
    "Initial snapshot before dialog: My Feature",
    "Before user message: Change it",
  ]);
  look((workspace) => workspace.undo());
  expect([read("main.py"), read("by-hand.txt")]).toEqual(["x\n", "mine\n"]);
});

test("[A25] a checkpoint that is no longer the present state is not taken for the one before the message", () => {
  const { tracker, project, id, write } = dialog();
  const checkpoint = tracker.create_checkpoint("Before user message: Change it");
  write("main.py", "by hand, meanwhile\n");
  project.get_dialog_history(id).add_user_message("Change it", checkpoint.commit_id);
  const [message] = project.get_dialog_history(id).get_messages();
  expect(message!.additional_kwargs.checkpoint).not.toBe(checkpoint.commit_id);
});

test("[A25] [A30] an edit is aborted exactly, or kept; a second one ends the first", () => {
  const { tracker, write, read, exists, root, look } = dialog();
  tracker.start_edit([join(root, "main.py"), "new.py"]);
  write("main.py", "half");
  write("new.py", "half");
  tracker.abort_edit();
  expect([read("main.py"), exists("new.py")]).toEqual(["x\n", false]);
  tracker.start_edit(["main.py"]);
  write("main.py", "whole\n");
  tracker.start_edit(["other.py"]);
  write("other.py", "half");
  tracker.abort_edit();
  tracker.finalize_edit();
  expect([read("main.py"), exists("other.py")]).toEqual(["whole\n", false]);
  expect(() => tracker.start_edit(["../outside"])).toThrow(expect.objectContaining({ code: "PATH_OUTSIDE" }));
  // no edit is left open: what a person changes later would count as its work
  const [store] = look((workspace) => [join(workspace.store, "store.db")]);
  closeDropIn();
  using db = new DatabaseSync(store, { readOnly: true });
  expect(db.prepare("SELECT count(*) AS n FROM tool_call WHERE closed_at IS NULL").get()).toEqual({ n: 0 });
});

test("[A25] [A58] a dialog that is deleted takes its checkpoints with it, and no other's", () => {
  const { tracker, project, id, options, root, write, look } = dialog();
  const own = tracker.create_checkpoint("Before user message: in this one");
  const other = project.create_dialog("Other");
  write("main.py", "y\n");
  const kept = new VersioningTracker(root, other, options).create_checkpoint("in the other one");
  project.delete_dialog(id);
  const left = look((workspace) => workspace.list().map((each) => String(each.id)));
  expect([left.includes(own.commit_id), left.includes(kept.commit_id)]).toEqual([false, true]);
  expect(tracker.list_checkpoints()).toEqual([]);
});

test("[A25] [A77] transactions make one checkpoint, or none", () => {
  const { tracker } = dialog();
  tracker.begin_transaction();
  expect(tracker.is_transaction_active()).toBe(true);
  expect(tracker.commit_transaction()).toBeNull();
  tracker.begin_transaction();
  tracker.track_file_change("a.py", "write");
  tracker.track_file_change("b.py", "delete");
  expect(tracker.commit_transaction()).toMatchObject({ message: "Transaction: write: a.py, delete: b.py" });
  tracker.begin_transaction();
  tracker.track_file_change("a.py", "write");
  tracker.abort_transaction();
  expect([tracker.is_transaction_active(), tracker.commit_transaction("late")]).toEqual([false, null]);
});

test("[A25] [A76] a staged file is captured although it is ignored", () => {
  const { tracker, write, read, remove } = dialog({ ".gitignore": "*.log\n", "main.py": "x\n" });
  write("kept.log", "on purpose\n");
  tracker.stage_file("kept.log");
  expect(tracker.has_staged_changes()).toBe(true);
  const { commit_id } = tracker.create_checkpoint("with it");
  expect(tracker.has_staged_changes()).toBe(false);
  remove("kept.log");
  tracker.stage_file_deletion("kept.log");
  tracker.clear_staging();
  expect(tracker.restore_checkpoint(commit_id)).toEqual(["kept.log"]);
  expect(read("kept.log")).toBe("on purpose\n");
});

test("[A25] states are compared by the names of AgentSmithy's branches", () => {
  const { tracker, write, remove } = dialog({ "a.py": "x\n", "b.py": "same\n", "gone.py": "1\n2\n3\n" });
  tracker.approve_all();
  write("a.py", "y\nz\n");
  write("new.py", "n\n");
  remove("gone.py");
  tracker.create_checkpoint("Before user message: more");
  const changes = tracker.get_tree_diff("main", "refs/heads/session_2");
  expect(changes).toEqual([
    {
      path: "a.py",
      status: "modified",
      additions: 2,
      deletions: 1,
      diff: expect.stringMatching(/^--- a\/a\.py\n\+\+\+ b\/a\.py\n@@ /),
      base_content: "x\n",
      is_binary: false,
      is_too_large: false,
    },
    expect.objectContaining({ path: "gone.py", status: "deleted", deletions: 3 }),
    expect.objectContaining({ path: "new.py", status: "added", base_content: null }),
  ]);
  expect(tracker.get_staged_files()).toEqual(changes);
  expect(tracker.get_staged_files("session_2", false).map(({ diff }) => diff)).toEqual([null, null, null]);
  expect(() => tracker.get_tree_diff("main", "session_9")).toThrow(
    expect.objectContaining({ code: "CHECKPOINT_NOT_FOUND" }),
  );
});

test("[A25] a file that was moved is gone there and new here", () => {
  const { tracker, write, remove } = dialog({ "old.py": "1\n2\n3\n4\n" });
  const before = tracker.create_checkpoint("before");
  remove("old.py");
  write("new.py", "1\n2\n3\n4\n");
  const after = tracker.create_checkpoint("after");
  expect(tracker.get_tree_diff(before.commit_id, after.commit_id)).toMatchObject([
    { path: "old.py", status: "deleted", deletions: 4 },
    { path: "new.py", status: "added", additions: 4 },
  ]);
});

test("[A25] events have the document's fields", () => {
  expect(
    EventFactory.user({ content: "Hi", checkpoint: "k", session: "session_1", dialog_id: "01J" }),
  ).toEqual({
    type: "user",
    content: "Hi",
    checkpoint: "k",
    session: "session_1",
    dialog_id: "01J",
  });
  expect(EventFactory.file_edit({ file: "/p/a.py", diff: "…", dialog_id: "01J" })).toEqual({
    type: "file_edit",
    file: "/p/a.py",
    diff: "…",
    dialog_id: "01J",
  });
  expect(EventFactory.done({ dialog_id: "01J" })).toEqual({ type: "done", dialog_id: "01J" });
  expect(EventFactory.error({ error: "no", dialog_id: "01J" })).toMatchObject({ type: "error", error: "no" });
});

test("[R354] original 1: the answer that a restore takes out is in the safety checkpoint, and comes back", () => {
  const { tracker, write, read, look } = dialog();
  const { commit_id } = tracker.create_checkpoint("before");
  write("main.py", "the last answer\n");
  tracker.restore_checkpoint(commit_id);
  const { safety_checkpoint, new_checkpoint, skipped } = tracker.last_restore!;
  expect([skipped, new_checkpoint === commit_id]).toEqual([[], false]);
  expect(look((workspace) => workspace.diff(commit_id, safety_checkpoint).files)).toHaveLength(1);
  look((workspace) => workspace.undo());
  expect(read("main.py")).toBe("the last answer\n");
});

test("[A63] a restore's checkpoint is called as the document calls it, and the session stays open", () => {
  const { tracker, write } = dialog();
  const { commit_id } = tracker.create_checkpoint("Before: Add feature Y");
  write("main.py", "feature Y\n");
  tracker.restore_checkpoint(commit_id.slice(0, 4));
  const made = tracker
    .list_checkpoints()
    .find((each) => each.commit_id === tracker.last_restore!.new_checkpoint);
  expect(made!.message).toBe(`Restored to checkpoint ${commit_id.slice(0, 8)}`);
  write("main.py", "feature Z\n");
  expect(tracker.approve_all()).toMatchObject({ new_session: "session_2" });
});

test("[R354] originals 2 and 4: files that commands made go; empty directories of the user and .git stay", () => {
  const { tracker, write, exists, root } = dialog();
  mkdirSync(join(root, ".git/refs/tags"), { recursive: true });
  mkdirSync(join(root, "empty"));
  const { commit_id } = tracker.create_checkpoint("before");
  write("made/by-make.txt", "x");
  tracker.restore_checkpoint(commit_id);
  expect([exists("made"), exists("empty"), exists(".git/refs/tags")]).toEqual([false, true, true]);
});

test("[R354] original 3: what was reset can be restored, also from an abandoned session", () => {
  const { tracker, write, read } = dialog();
  const first = tracker.create_checkpoint("in the session that will be abandoned");
  write("main.py", "pending\n");
  const { pre_reset_checkpoint } = tracker.reset_to_approved();
  tracker.restore_checkpoint(pre_reset_checkpoint!);
  expect(read("main.py")).toBe("pending\n");
  tracker.restore_checkpoint(first.commit_id);
  expect(read("main.py")).toBe("x\n");
});

test.skipIf(process.getuid?.() === 0)(
  "[R354] original 5: an unreadable file is a gap, and the checkpoint is taken",
  () => {
    const { tracker, write, root } = dialog();
    write("secret", "x\n");
    chmodSync(join(root, "secret"), 0);
    expect(tracker.create_checkpoint("before").not_captured).toMatchObject([{ path: "secret" }]);
  },
);

test("[R354] original 5: what is too large is named in `not_captured`, and the checkpoint is taken", () => {
  const { tracker, write } = dialog();
  write("../home/config.json", JSON.stringify({ "limits.fileBytes": 1000 }));
  write("huge.bin", Buffer.alloc(5000, 1));
  expect(tracker.create_checkpoint("before").not_captured).toEqual([
    { path: "huge.bin", reason: "too-large" },
  ]);
});

test("[R354] original 6: the same size and an old time hide no change; modes come back", () => {
  const { tracker, write, read, root } = dialog({ "main.py": "aaaa\n", "run.sh": "#!/bin/sh\n" });
  chmodSync(join(root, "run.sh"), 0o755);
  const { commit_id } = tracker.create_checkpoint("before");
  write("main.py", "bbbb\n");
  utimesSync(join(root, "main.py"), 1000, 1000);
  chmodSync(join(root, "run.sh"), 0o644);
  expect(tracker.restore_checkpoint(commit_id)).toEqual(["main.py", "run.sh"]);
  expect([read("main.py"), statSync(join(root, "run.sh")).mode & 0o777]).toEqual(["aaaa\n", 0o755]);
});

test("[R354] original 7: reset brings the files back itself; a restore after it finds nothing to do", () => {
  const { tracker, write, read } = dialog();
  tracker.create_checkpoint("before");
  write("main.py", "pending\n");
  const { reset_to } = tracker.reset_to_approved();
  expect(read("main.py")).toBe("x\n");
  expect(tracker.restore_checkpoint(reset_to)).toEqual([]);
});

test("[R353] unknown ids and checkpoints of another dialog are not found", () => {
  const { tracker, root, options } = dialog();
  const other = new VersioningTracker(root, "another", options).create_checkpoint("elsewhere");
  for (const ref of ["kkkkkkkkkkkkkkkk", other.commit_id, "87cfd2cc7a0f1acd696fea7a73617ec700b6b919"])
    expect(() => tracker.restore_checkpoint(ref)).toThrow(
      expect.objectContaining({ code: "CHECKPOINT_NOT_FOUND" }),
    );
});
