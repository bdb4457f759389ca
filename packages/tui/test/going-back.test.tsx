/** The previews of restore, undo, redo and undo only this: what they say, and that only their own keys act. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { RestoreScreen } from "../src/screens/going-back/restore-screen.tsx";
import type { RestoreTarget } from "../src/screens/going-back/restore-target.ts";
import { progressLines } from "../src/screens/going-back/running-plan.tsx";
import { StepScreen, type StepProps } from "../src/screens/going-back/step-screen.tsx";
import { lineText } from "../src/frame/line.ts";
import { UNICODE } from "../src/terminal/signs.ts";
import { Chat } from "./support/chat.ts";
import { FirstScreen, placeOf } from "./support/chat-place.tsx";
import { KEYS, Window, type WindowOptions } from "./support/window.tsx";

const FILES = { "a.txt": "one\n", "keep.txt": "kept\n", "old.txt": "old\n" };
const AFTER = { "a.txt": "two\n", "keep.txt": "kept\n", "new.txt": "new\n" };

afterEach(() => void vi.unstubAllEnvs());

/** One turn of the chat, then one of codex. */
async function worked() {
  const chat = await Chat.start(FILES);
  const { project } = chat;
  const turn = await chat.turn("Make the budget configurable", () => {
    project.write("new.txt", "new\n");
    project.write("a.txt", "two\n");
    project.remove("old.txt");
  });
  const target: RestoreTarget = {
    ref: turn.id,
    words: 'before "Make the budget configurable"',
    time: "10:42:03",
    note: null,
    thread: turn.thread,
  };
  const codex = () => chat.turn("Document it", () => project.write("docs/openapi.yaml", "x\n"), "codex");
  const verified = () => expect(project.belay("verify", "--full").status).toBe(0);
  return { chat, project, target, codex, verified };
}

/** A window with a first screen, from which the screen was opened as a question. */
function opened(chat: Chat, screen: React.ReactElement, options: WindowOptions = {}): Promise<Window> {
  return Window.open(<FirstScreen opens={screen} />, { place: placeOf(chat), ...options });
}

/** `u` opens it, as in the timeline. */
async function undoing(
  chat: Chat,
  props: StepProps = { kind: "undo" },
  options?: WindowOptions,
): Promise<Window> {
  const window = await opened(chat, <StepScreen {...props} />, options);
  await window.press("u");
  return window;
}

test("[Y13] [Y14] [Y18] a restore preview says what becomes of each file, and only y restores; u brings it back", async () => {
  const { chat, project, target, codex, verified } = await worked();
  await using _ = chat;
  await codex();
  const before = project.tree();
  await using window = await opened(chat, <RestoreScreen kind="restore" target={target} />);
  await window.press(KEYS.enter);
  await window.shows("y restore 3 files");
  expect(window.lines.filter((line) => line !== "")).toEqual([
    "╭─ Restore ────────────────────────────────────────────────────────────────────╮",
    '│ before "Make the budget configurable", 10:42:03                              │',
    "╰──────────────────────────────────────────────────────────────────────────────╯",
    "  What: (f) files   c conversation   b both      Mode: (x) exactly   k keep new",
    "  Will be deleted 1",
    "  › [x] new.txt                            -1",
    "  Will change 1",
    "    [x] a.txt                           +1 -1",
    "  Will come back 1",
    "    [x] old.txt                         +1",
    "  Left alone 1        [ ] docs/openapi.yaml                        work of codex",
    "  The present files are saved first. You can undo this.",
    "─".repeat(80),
    "y restore 3 files | Space choose | d diff of › | o codex's too | Esc cancel",
  ]);
  // whatever else is typed changes nothing: Enter, words of a paste, letters of other screens
  await window.press(KEYS.enter, "u", "r", "yes", "\u001b[200~y\u001b[201~", "Y", "q", "A", "X");
  expect(project.tree()).toEqual(before);
  await window.press("y");
  const said = await window.shows(/✓ Restored 3 files to before "Make the budget configurable" \(.*\)\./);
  expect(said).toContain("Left alone: codex's docs/openapi.yaml.");
  expect(said).toContain("u undoes this.");
  expect(project.tree()).toEqual({ ...FILES, "docs/openapi.yaml": "x\n" });
  verified();
  await using undo = await undoing(chat);
  await undo.shows("y undo 3 files");
  await undo.press("y");
  await undo.shows("✓ Undone: restore");
  expect(project.tree()).toEqual(before);
  verified();
});

test("[M11] [Y15] [Y16] files are chosen with Space, another thread's work with o; the number in the answer is what y does", async () => {
  const { chat, project, target, codex } = await worked();
  await using _ = chat;
  await codex();
  await using window = await opened(chat, <RestoreScreen kind="restore" target={target} />);
  await window.press(KEYS.enter);
  await window.shows("y restore 3 files");
  await window.press(KEYS.down, " ");
  await window.shows("y restore 2 files");
  expect(window.text).toContain("  › [ ] a.txt");
  await window.press("o");
  await window.shows("y restore 3 files");
  expect(window.text).toContain(
    "  Taken too 1         [x] docs/openapi.yaml                        work of codex",
  );
  expect(window.text).toContain("    [x] docs/openapi.yaml                  -1  codex too");
  await window.press("o");
  await window.shows("y restore 2 files");
  await window.press("y");
  await window.shows("✓ Restored 2 files");
  expect(project.tree()).toEqual({ ...FILES, "a.txt": "two\n", "docs/openapi.yaml": "x\n" });
});

test("[Y17] [R2472] keep new deletes nothing; conversation and both mark messages; a state of no conversation says so", async () => {
  const { chat, project, target } = await worked();
  await using _ = chat;
  const words = 'before "Add retry with exponential backoff to the payment client"';
  await using window = await opened(chat, <RestoreScreen kind="restore" target={{ ...target, words }} />);
  await window.press(KEYS.enter);
  await window.shows("y restore 3 files");
  await window.press("k");
  await window.shows("y restore 2 files");
  expect(window.text).toContain("Mode: x exactly   (k) keep new");
  await window.press("x", "c");
  await window.shows("y take the conversation back | Esc cancel");
  expect(window.text).toContain("What: f files   (c) conversation   b both");
  expect(window.text).toContain("Only the conversation goes back: its later messages are marked");
  expect(window.text).not.toMatch(/Will |Kept|Left alone|Nothing would change|present files/);
  await window.press("b");
  await window.shows("y restore 3 files");
  expect(window.text).toContain("The conversation goes back too: its later messages are marked");
  await window.press("y");
  await window.shows(/^ {2}✓ Restored 3 files to before "Add retry with exponential backoff…" \(.*\)\.$/m);
  expect(project.tree()).toEqual(FILES);
  const { messages } = await project.ok("GET", `/api/threads/${target.thread}/messages`);
  expect(messages.map((message: any) => message.rolledBack)).toEqual([true]);
  await using other = await opened(
    chat,
    <RestoreScreen kind="restore" target={{ ...target, thread: null }} />,
  );
  await other.press(KEYS.enter);
  await other.shows("Nothing would change.");
  await other.press("b");
  await other.shows("This state belongs to no conversation.");
});

test("[R2143] a conversation that goes back alone says so before and after; one that cannot says why, whole", async () => {
  const { chat, project, target } = await worked();
  await using _ = chat;
  const before = project.tree();
  await using window = await opened(chat, <RestoreScreen kind="restore" target={target} />);
  await window.press(KEYS.enter);
  await window.shows("y restore 3 files");
  await window.press("c");
  await window.shows("y take the conversation back");
  await window.press("y");
  const said = await window.shows(/✓ The conversation went back to before "/);
  expect(said).not.toMatch(/Left alone|Kept:|0 files/);
  expect(project.tree()).toEqual(before);
  const { messages } = await project.ok("GET", `/api/threads/${target.thread}/messages`);
  expect(messages.map((message: any) => message.rolledBack)).toEqual([true]);
});

test("[R2143] where nothing would change, nothing is to be answered", async () => {
  const { chat, project, target } = await worked();
  await using _ = chat;
  await using window = await opened(chat, <RestoreScreen kind="restore" target={target} />);
  await window.press(KEYS.enter);
  await window.shows("y restore 3 files");
  await window.press("y");
  await window.shows("✓ Restored 3 files");
  const after = project.tree();
  await using again = await opened(chat, <RestoreScreen kind="restore" target={target} />);
  await again.press(KEYS.enter);
  await again.shows("Nothing would change.");
  expect(again.lines.at(-1)).not.toMatch(/y |diff/);
  await again.press("y");
  expect(again.text).toContain("Nothing would change.");
  expect(project.tree()).toEqual(after);
});

test("[N0] files that moved on: nothing is restored, new lines have a *, and y has to be pressed again", async () => {
  const { chat, project, target } = await worked();
  await using _ = chat;
  await using window = await opened(chat, <RestoreScreen kind="restore" target={target} />);
  await window.press(KEYS.enter);
  await window.shows("y restore 3 files");
  project.write("later.txt", "later\n");
  await window.press("y");
  await window.shows("y restore 4 files");
  expect(window.text).toContain("The files changed since this preview. Nothing was restored.");
  expect(window.text).toMatch(/\[x\]\*later\.txt/);
  expect(window.text).toMatch(/\[x\] new\.txt/);
  expect(project.tree()).toEqual({ ...AFTER, "later.txt": "later\n" });
  // a y that is still held down answers nothing
  await window.press("y", "y");
  expect(project.read("later.txt")).toBe("later\n");
  await new Promise((done) => setTimeout(done, 800));
  await window.press("y");
  await window.shows("✓ Restored 4 files");
  expect(project.tree()).toEqual(FILES);
});

test("long groups fold after five lines, and Enter on the line unfolds them", async () => {
  await using chat = await Chat.start(FILES);
  const { project } = chat;
  const turn = await chat.turn("Many", () => {
    for (let index = 10; index < 40; index += 1) project.write(`src/f${index}.ts`, "x\n");
  });
  const target = {
    ref: turn.id,
    words: 'before "Many"',
    time: "10:00:00",
    note: "All green",
    thread: turn.thread,
  };
  for (const [columns, rows] of [
    [80, 24],
    [120, 36],
    [60, 16],
  ] as const) {
    await using window = await opened(chat, <RestoreScreen kind="restore" target={target} />, {
      columns,
      rows,
    });
    await window.press(KEYS.enter);
    await window.shows("y restore 30 files");
    expect(window.text).toContain("All green");
    await window.press(...Array.from({ length: 5 }, () => KEYS.down));
    await window.shows(/› +…and 25 more/);
    await window.press(KEYS.enter);
    await window.shows("src/f15.ts");
    expect(window.text).not.toContain("…and 25 more");
    await window.press(...Array.from({ length: 30 }, () => KEYS.down));
    await window.shows("› [x] src/f39.ts");
    // the answers are always in the window
    expect(window.lines.at(-1)).toContain("y restore 30 files");
  }
});

test("[L05] [C64] undo and redo name the turn, its agent, its time and what stays; only y acts", async () => {
  const { chat, project, verified } = await worked();
  await using _ = chat;
  project.write("keep.txt", "by hand\n");
  await using window = await undoing(chat);
  await window.shows("y undo 3 files");
  const [, title, ...lines] = window.lines;
  expect(title).toMatch(/^│ Undo the last turn of chat, \d\d:\d\d:\d\d\? +│$/);
  expect(lines.slice(0, 9).map((line) => line.slice(2, -2).trimEnd())).toEqual([
    '  "Make the budget configurable"',
    "",
    "  - new.txt    deleted  -1",
    "  ~ a.txt      +1 -1",
    "  + old.txt    brought back  +1",
    "",
    "  Changed meanwhile by hand, stays: keep.txt",
    "",
    "  y undo 3 files   d diff   + one more step   Esc cancel",
  ]);
  await window.press("u", "u", KEYS.enter, "q", "yy");
  expect(project.read("a.txt")).toBe("two\n");
  await window.press("y");
  await window.shows('✓ Undone: turn of chat "Make the budget configurable", 3 files');
  expect(window.text).toContain("r brings it back.");
  expect(project.tree()).toEqual({ ...FILES, "keep.txt": "by hand\n" });
  await using redo = await undoing(chat, { kind: "redo" });
  await redo.shows("y redo 3 files");
  await redo.press("y");
  await redo.shows("✓ Redone");
  expect(project.tree()).toEqual({ ...AFTER, "keep.txt": "by hand\n" });
  verified();
});

test("+ takes one step more, and says when there is none", async () => {
  const { chat, project } = await worked();
  await using _ = chat;
  await chat.turn("Say three", () => project.write("keep.txt", "three\n"));
  await using window = await undoing(chat);
  await window.shows("y undo 1 file");
  await window.press("+");
  await window.shows("y undo 4 files");
  expect(window.text).toContain("Undo 2 steps?");
  await window.press("+");
  await window.shows("There is no earlier step.");
  await window.press("y", KEYS.esc);
  await window.shows("y undo 4 files");
  await window.press("y");
  await window.shows("✓ Undone");
  expect(project.tree()).toEqual(FILES);
});

test("undo only this keeps what came later; nothing to redo says so", async () => {
  const { chat, project, target } = await worked();
  await using _ = chat;
  await chat.turn("Say three", () => project.write("keep.txt", "three\n"));
  await using window = await undoing(chat, { kind: "revert", target: target.ref });
  await window.shows("y undo 3 files");
  expect(window.text).toMatch(/Undo only this turn of chat, \d\d:\d\d:\d\d\?/);
  expect(window.text).not.toContain("one more step");
  await window.press("y");
  await window.shows("✓ Undone");
  expect(project.tree()).toEqual({ ...FILES, "keep.txt": "three\n" });
  await using redo = await undoing(chat, { kind: "redo" });
  await redo.shows("Nothing to redo.");
});

test("[R16] [R1701] [M46] a conflict refuses everything; b undoes the rest", async () => {
  const { chat, project } = await worked();
  await using _ = chat;
  project.write("a.txt", "three\n");
  await using window = await undoing(chat);
  await window.shows("Enter decide for each   b undo the other 2   Esc leave it");
  expect(window.text).toMatch(/^│ {5}a\.txt {21}the same lines, by you \d\d:\d\d +│$/m);
  expect(window.text).toContain("Not undone: 1 of 3 files was changed since.");
  expect(window.text).toContain("Nothing has changed.");
  await window.press("y", "d", "+");
  expect(project.read("new.txt")).toBe("new\n");
  await window.press("b");
  await window.shows("! Undone");
  expect(window.text).toContain("Not done: a.txt (changed again since, in the same place)");
  expect(project.tree()).toEqual({ ...FILES, "a.txt": "three\n" });
});

test.each([
  ["keep what is on disk", ["1"], "three\n"],
  ["take the undo", ["2"], "one\n"],
  ["take it after a look around", [KEYS.down, "v", "v", KEYS.enter, ",", KEYS.down, KEYS.enter], "one\n"],
])(
  "[M46] conflicts are decided one by one: %s; nothing is written before y, and undo brings all of it back",
  async (_name, keys, content) => {
    const { chat, project, verified } = await worked();
    await using _ = chat;
    project.write("a.txt", "three\n");
    const before = project.tree();
    await using window = await undoing(chat);
    await window.shows("Enter decide for each");
    await window.press(KEYS.enter);
    await window.shows("Conflicts 1 of 1");
    expect(window.text).toMatch(/^ {2}The same lines were changed by you at \d\d:\d\d\.$/m);
    expect(window.text).toContain("  a.txt, line 1");
    expect(window.text).toContain("[high]");
    expect(window.text).toMatch(/On disk now +│ After the undo/);
    expect(window.text).toMatch(/ {2}three +│ one/);
    await window.press(...keys);
    await window.shows("y do it");
    expect(project.tree()).toEqual(before);
    await window.press("y");
    await window.shows("✓ Undone");
    expect(project.tree()).toEqual({ ...FILES, "a.txt": content });
    await using undo = await undoing(chat);
    await undo.shows("y undo");
    await undo.press("y");
    await undo.shows("✓ Undone");
    expect(project.tree()).toEqual(before);
    verified();
  },
);

test("[R1910] a merge that would not parse is refused with that reason, and can be taken as it is", async () => {
  await using chat = await Chat.start({ "list.json": "[\n1,\n2,\n3,\n4\n]\n", "a.txt": "one\n" });
  const { project } = chat;
  await chat.turn("Nest the list", () => {
    project.write("list.json", "[[\n1,\n2,\n3,\n4\n]]\n");
    project.write("a.txt", "two\n");
  });
  const before = { "list.json": "[[\n1,\n2],\n3,\n4\n]\n", "a.txt": "two\n" };
  project.write("list.json", before["list.json"]);
  await using window = await undoing(chat);
  await window.shows("Enter decide for each   b undo the other 1   Esc leave it");
  expect(window.text).toMatch(/^│ {5}list\.json {17}the merge would not parse +│$/m);
  await window.press(KEYS.enter);
  await window.shows("Conflicts 1 of 1");
  expect(window.text).toContain("[critical]");
  expect(window.text).toMatch(
    /^ {2}It was changed by you at \d\d:\d\d, and the merge of both would not parse\.$/m,
  );
  expect(window.text).toContain("3  Take the merge by lines, which does not parse");
  await window.press("3");
  await window.shows("y do it");
  expect(project.tree()).toEqual(before);
  await window.press("y");
  await window.shows("✓ Undone");
  expect(project.tree()).toEqual({ "list.json": "[\n1,\n2],\n3,\n4\n]\n", "a.txt": "one\n" });
});

test("[M46] a conflict is written in the editor: both sides are marked, and what was saved is what is written", async () => {
  const { chat, project, verified } = await worked();
  await using _ = chat;
  project.write("a.txt", "three\n");
  const before = project.tree();
  const editor = join(project.base, "editor.sh");
  const seen = join(project.base, "seen");
  const edits = (script: string) =>
    writeFileSync(editor, `#!/bin/sh\nfor file; do :; done\ncp "$file" ${seen}\n${script}\n`, {
      mode: 0o755,
    });
  vi.stubEnv("VISUAL", editor);
  await using window = await undoing(chat);
  await window.shows("Enter decide for each");
  await window.press(KEYS.enter);
  await window.shows("3  Write it in your editor");
  edits("true");
  await window.press("3");
  await window.shows("The text still has the marks of both sides. Nothing was taken from it.");
  expect(readFileSync(seen, "utf8")).toBe("<<<<<<< on disk now\nthree\n=======\none\n>>>>>>> wanted\n");
  edits("exit 1");
  await window.press("3");
  await window.shows("The editor ended with an error. Nothing was taken from it.");
  edits('printf "one and three\\n" > "$file"');
  await window.press("3");
  await window.shows("y do it");
  expect(project.tree()).toEqual(before);
  await window.press("y");
  await window.shows("✓ Undone");
  expect(window.text).toContain("u undoes this.");
  expect(project.tree()).toEqual({ ...FILES, "a.txt": "one and three\n" });
  await using undo = await undoing(chat);
  await undo.shows("y undo");
  await undo.press("y");
  await undo.shows("✓ Undone");
  expect(project.tree()).toEqual(before);
  verified();
});

test("[R1701] leaving the conflicts leaves everything as it is; who is in the way may be an agent", async () => {
  const { chat, project, target } = await worked();
  await using _ = chat;
  await chat.turn("Say three", () => project.write("a.txt", "three\n"), "codex");
  const before = project.tree();
  await using window = await undoing(chat, { kind: "revert", target: target.ref });
  await window.shows("Enter decide for each");
  await window.press(KEYS.enter);
  await window.shows("Conflicts 1 of 1");
  expect(window.text).toMatch(/^ {2}The same lines were changed by codex at \d\d:\d\d\.$/m);
  await window.press("2");
  await window.shows("y do it");
  await window.press(KEYS.esc);
  await window.shows("Enter decide for each");
  await window.press(KEYS.esc);
  await window.shows("the first screen");
  expect(project.tree()).toEqual(before);
});

test("every box fits 60 columns and 16 lines, in ASCII and without colour", async () => {
  const { chat, project, target } = await worked();
  await using _ = chat;
  project.write("a.txt", "three\n");
  const small = { columns: 60, rows: 16, ascii: true, depth: "plain" } as const;
  await using undo = await undoing(chat, { kind: "undo" }, small);
  await undo.shows("Enter decide for each");
  await undo.press(KEYS.enter);
  await undo.shows("Conflicts 1 of 1");
  // oxlint-disable-next-line no-control-regex -- ASCII only
  expect(undo.raw).not.toMatch(/[^\u0000-\u007f…]/);
  await using restore = await opened(chat, <RestoreScreen kind="restore" target={target} />, small);
  await restore.press(KEYS.enter);
  await restore.shows("y restore 3 files");
});

test("[R824] in 40 columns and 12 lines the box of an undo has its question and all answers", async () => {
  const { chat, project } = await worked();
  await using _ = chat;
  for (const name of ["keep.txt", "another-long-name-of-a-file.txt", "third.txt"])
    project.write(name, "by hand\n");
  const tiny = { columns: 40, rows: 12 } as const;
  await using undo = await undoing(chat, { kind: "undo" }, tiny);
  await undo.shows("y undo 3 files");
  const said = undo.lines.map((line) => line.slice(2, -2).trim()).join(" ");
  expect(said).toMatch(/Undo the last turn of chat, \d\d:\d\d:\d\d\?/);
  for (const words of ["new.txt", "d diff", "+ one more step", "Esc cancel"]) expect(said).toContain(words);
  // the box is closed: nothing of it is below the window
  expect(undo.lines.findLast((line) => line !== "")).toMatch(/^╰─+╯$/);
  await undo.press(KEYS.esc);
  project.write("a.txt", "three\n");
  await using refused = await undoing(chat, { kind: "undo" }, tiny);
  await refused.shows("Esc leave it");
  const told = refused.lines.map((line) => line.slice(2, -2).trim()).join(" ");
  for (const words of ["Not undone: 1 of", "a.txt", "Enter decide for each"]) expect(told).toContain(words);
  expect(refused.lines.findLast((line) => line !== "")).toMatch(/^╰─+╯$/);
});

test("[R2340] the bar of a running restore has the numbers of the picture, and says what it counts", () => {
  const drawn = (at: Pick<Parameters<typeof progressLines>[0], "phase" | "done" | "total">) =>
    progressLines({ ...at, files: 1204, elapsed: 1200 }, 60, UNICODE).map(lineText);
  const [title, bar] = drawn({ phase: "changing", done: 758, total: 1204 });
  expect(title).toBe("Restoring 1,204 files: writing");
  expect(bar).toMatch(/^█{28}░{16} {3}758 {3}1\.2 s$/);
  expect(drawn({ phase: "saving", done: 0, total: 0 })).toEqual([
    "Restoring 1,204 files: saving what is there",
    expect.stringMatching(/^░+ {3}0 {3}1\.2 s$/),
  ]);
  // of fewer files than are restored
  expect(drawn({ phase: "staging", done: 50, total: 100 })).toEqual([
    "Restoring 1,204 files: preparing",
    expect.stringMatching(/^(█+)░+ {3}50 {3}1\.2 s$/),
  ]);
});
