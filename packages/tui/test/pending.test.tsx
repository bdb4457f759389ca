/** Pending: what each thread changed since it was approved, seen marks, approve, reset. */
import { expect, test } from "vitest";
import type { Place } from "../src/data/connection.ts";
import { PendingScreen } from "../src/screens/pending/pending-screen.tsx";
import { Chat } from "./support/chat.ts";
import { FirstScreen, placeOf } from "./support/chat-place.tsx";
import { KEYS, Window, type WindowOptions } from "./support/window.tsx";

const FILES = { "a.txt": "one\n", "old.txt": "old\n" };

async function worked() {
  const chat = await Chat.start(FILES);
  const { project } = chat;
  await chat.turn("Say two", () => {
    project.write("a.txt", "two\nthree\n");
    project.write("new.txt", "new\n");
    project.remove("old.txt");
  });
  await chat.turn("Document it", () => project.write("docs.md", "x\n"), "codex");
  return { chat, project };
}

async function pending(chat: Chat, options: WindowOptions = {}): Promise<Window> {
  const window = await Window.open(<FirstScreen opens={<PendingScreen />} />, {
    place: placeOf(chat),
    ...options,
  });
  await window.press("u");
  return window;
}

test("[R2473] nothing is said to be pending or not before it is known", async () => {
  const place: Place = {
    workspace: "late",
    name: "late",
    clock: Date.now,
    expectsResident: false,
    connect: () => new Promise(() => undefined),
  };
  await using window = await Window.open(<PendingScreen />, { place });
  expect(window.lines[1]).toMatch(/^│ Pending changes +Loading… │$/);
  const refused = { ...place, connect: () => Promise.reject(new Error("The store cannot be read.")) };
  await using other = await Window.open(<PendingScreen />, { place: refused });
  await other.shows("! The store cannot be read.");
  expect(other.lines[1]).toMatch(/^│ Pending changes +│$/);
});

test("[A38] [A39] threads, files, counts and sessions are listed; seen marks hold until the content changes", async () => {
  const { chat, project } = await worked();
  await using _ = chat;
  await using window = await pending(chat);
  await window.shows("4 files in 2 threads");
  expect(window.lines.slice(0, 3)[1]).toMatch(/^│ Pending changes +4 files in 2 threads │$/);
  await window.press("k", "k", "k", KEYS.left);
  expect(window.text).toMatch(/[ ›] chat +Say two +session_1 +3 files {2}\+3 -2/);
  expect(window.text).toMatch(/[ ›] codex +Document it +session_1 +1 file {2}\+1/);
  expect(window.text).toContain("Sessions of ");
  expect(window.text).toMatch(/session_1 active {5}since \d\d:\d\d/);
  // to the chat's own thread, unfolded
  await window.pointTo(/› chat/);
  await window.press(KEYS.right, KEYS.down, " ");
  await window.shows(/\[seen\] M {2}a\.txt/);
  expect(window.text).toMatch(/\[ {4}\] A {2}new\.txt/);
  expect(window.text).toMatch(/\[ {4}\] D {2}old\.txt/);
  project.write("a.txt", "two\nfour\n");
  await window.press(KEYS.esc, "u");
  // an edit by hand is pending in both
  await window.shows("5 files in 2 threads");
  await window.pointTo(/› chat/);
  await window.press(KEYS.right);
  await window.shows(/\[ {4}\] M {2}a\.txt .*new since you looked/);
  expect(window.text).toMatch(/M {2}a\.txt .*by hand/);
});

test("[R2144] the diff of what is pending in a thread has its files, and no other thread's", async () => {
  const { chat } = await worked();
  await using _ = chat;
  await using window = await pending(chat);
  await window.shows("4 files in 2 threads");
  await window.pointTo(/› chat/);
  await window.press("d");
  await window.shows(/file 1 of 3 /);
  await window.press("j", "j", "j");
  await window.shows(/file 3 of 3 /);
  expect(window.text).not.toContain("docs");
});

test("[R314] what was seen is seen in the next run too, by hashes alone; where it cannot be kept, that is said", async () => {
  const { chat } = await worked();
  await using _ = chat;
  let kept: string | undefined;
  const memory = { read: () => kept, write: (text: string) => void (kept = text) };
  const open = async (more: Partial<Place["memory"] & object> = {}) => {
    const window = await pending(chat, { place: { ...placeOf(chat), memory: { ...memory, ...more } } });
    await window.shows("4 files in 2 threads");
    await window.pointTo(/› chat/);
    await window.press(KEYS.right, KEYS.down);
    await window.shows(/› \[.{4}\] M {2}a\.txt/);
    return window;
  };
  {
    await using window = await open();
    await window.press(" ");
    await window.shows(/\[seen\] M {2}a\.txt/);
  }
  expect(kept).toMatch(/^\{"seen":\{"[\w-]{43}":"[\w-]{43}"\},"split":null\}$/);
  const full = () => {
    throw new Error("no space left");
  };
  await using window = await open({ write: full });
  await window.shows(/\[seen\] M {2}a\.txt/);
  await window.press(KEYS.down, " ");
  await window.shows(/\[seen\] A {2}new\.txt/);
  await window.shows("Marked only until the timeline ends: no space left");
  kept = "{ broken";
  await using later = await open();
  await later.shows(/\[ {4}\] M {2}a\.txt/);
});

test("[A36] A asks for a message, Enter approves, Esc does not; it writes no file", async () => {
  const { chat, project } = await worked();
  await using _ = chat;
  const before = project.tree();
  const session = async () => project.ok("GET", `/api/threads/${chat.thread}/session`);
  await using window = await pending(chat);
  await window.shows("4 files in 2 threads");
  await window.pointTo(/› chat/);
  await window.press("A");
  await window.shows("Approve 3 files. Message (may stay empty): █");
  await window.press(KEYS.esc);
  expect((await session()).hasUnapproved).toBe(true);
  await window.press("A", "I", "t", " ", "i", "s", "X", KEYS.enter);
  await window.shows("✓ Approved 3 files of Say two.");
  expect(await session()).toMatchObject({ hasUnapproved: false });
  await window.shows("1 file in 1 thread");
  await window.shows(/chat +Say two +nothing pending, approved/);
  expect(project.tree()).toEqual(before);
  const { sessions } = await project.ok("GET", `/api/threads/${chat.thread}/sessions`);
  expect(sessions[0]).toMatchObject({ status: "merged", message: "It isX" });
  // the pointer stays with the thread; nothing to approve is said in words
  expect(window.text).toMatch(/› chat/);
  await window.press("X");
  await window.shows("Nothing is pending in Say two: there is nothing to approve or reset.");
});

test("[A19] [A37] X shows the preview of a reset, other threads' work stays, y resets, undo brings it back", async () => {
  const { chat, project } = await worked();
  await using _ = chat;
  const before = project.tree();
  await using window = await pending(chat);
  await window.shows("4 files in 2 threads");
  await window.pointTo(/› chat/);
  await window.press("X");
  await window.shows("y reset 3 files");
  expect(window.lines[0]).toMatch(/^╭─ Reset ─/);
  expect(window.lines[1]).toContain("the approved state of Say two");
  await window.press("X", "A", KEYS.enter);
  expect(project.tree()).toEqual(before);
  await window.press("y");
  await window.shows("✓ Reset 3 files to the approved state of Say two");
  expect(window.text).toContain("u undoes this.");
  expect(project.tree()).toEqual({ ...FILES, "docs.md": "x\n" });
  expect((await project.call("POST", "/api/plans", { kind: "undo" })).body.plan.filesTotal).toBe(3);
  expect(await chat.type("/undo", ["y"])).toMatchObject({ success: true });
  expect(project.tree()).toEqual(before);
  expect(project.belay("verify", "--full").status).toBe(0);
});

test("fits small windows, in ASCII", async () => {
  const { chat } = await worked();
  await using _ = chat;
  await using window = await pending(chat, { columns: 60, rows: 16, ascii: true });
  await window.shows("4 files in 2 threads");
  await window.press(KEYS.down, KEYS.down);
  expect(window.lines.at(-1)).toContain("A approve | X reset");
});
