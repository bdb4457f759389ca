/** The menu of /checkpoint and the chooser for conflicts that another program brings. */
import { expect, test } from "vitest";
import type { ConflictQuestions } from "../src/questions/conflicts.ts";
import { ConflictQuestionScreen } from "../src/screens/conflicts/conflict-question-screen.tsx";
import { MenuScreen } from "../src/screens/menu.tsx";
import { editorWords } from "../src/terminal/editor.ts";
import { Chat } from "./support/chat.ts";
import { placeOf } from "./support/chat-place.tsx";
import { KEYS, Window } from "./support/window.tsx";

test("[M59] the menu is the picture's; each entry opens its screen, and prune asks", async () => {
  await using chat = await Chat.start({ "a.txt": "one\n" });
  const { project } = chat;
  await chat.turn("Say two", () => project.write("a.txt", "two\n"));
  await using window = await Window.open(<MenuScreen thread={chat.thread} />, { place: placeOf(chat) });
  await window.shows("Pending changes (1)");
  expect(window.lines.slice(0, 11)).toEqual([
    "╭─ /checkpoint ────────────────────────────╮",
    "│ › List checkpoints                       │",
    "│   Timeline                               │",
    "│   Restore…                               │",
    "│   Compare two…                           │",
    "│   Create a checkpoint…                   │",
    "│   Pending changes (1)                    │",
    "│   Prune…                                 │",
    "│                                          │",
    "│ ↑↓ choose | Enter go | Esc close         │",
    "╰──────────────────────────────────────────╯",
  ]);
  await window.press(KEYS.enter);
  await window.shows("Snapshot Timeline");
  await window.press("\u001b", KEYS.down);
  await window.press("y", "A", "X");
  expect(project.read("a.txt")).toBe("two\n");
});

test("[M67] the menu's prune says what it would drop; nothing to drop is said in words", async () => {
  await using chat = await Chat.start({ "a.txt": "one\n" });
  await using window = await Window.open(<MenuScreen />, { place: placeOf(chat) });
  await window.press(KEYS.up, KEYS.enter);
  expect(await window.shows("Nothing to drop")).toMatch(/Nothing to drop: all 2 checkpoints stay/);
  await window.press("y", KEYS.esc);
  await window.shows("/checkpoint");
});

const QUESTIONS: ConflictQuestions = {
  title: "Merge of claude-code and codex",
  conflicts: [
    {
      path: "src/client.ts",
      place: "lines 19 to 24",
      severity: "high",
      why: "The same lines were changed by codex at 10:47.",
      sides: [
        { title: "claude-code", lines: ["const a = 1;", "\u001b[2Jx"] },
        { title: "codex", lines: ["const a = 2;"] },
      ],
      options: [
        { id: "ours", text: "Keep what claude-code wrote", result: ["const a = 1;"] },
        { id: "theirs", text: "Take codex's", result: ["const a = 2;"] },
        {
          id: "proposal",
          text: "Proposed merge by the merger: both kept (parses)",
          result: ["const a = 3;"],
        },
      ],
    },
    {
      path: "image.png",
      place: "",
      severity: "critical",
      why: "It cannot be merged.",
      sides: [
        { title: "claude-code", lines: ["(binary or large)"] },
        { title: "codex", lines: ["(binary or large)"] },
      ],
      options: [
        { id: "ours", text: "Keep what claude-code wrote" },
        { id: "theirs", text: "Take codex's" },
      ],
    },
  ],
  decided: ["merged by lines: src/util/sleep.ts [low], 2 more"],
};

test.each([
  [80, 24],
  [120, 36],
  [60, 16],
] as const)(
  "[M46] a merge's conflicts with proposals are chosen at %i × %i; only the summary's y answers",
  async (columns, rows) => {
    let answers: readonly string[] | undefined;
    await using window = await Window.open(
      <ConflictQuestionScreen questions={QUESTIONS} choose={(chosen) => (answers = chosen)} />,
      { columns, rows },
    );
    expect(window.lines[0]).toMatch(/^╭─ Conflicts 1 of 2 ─/);
    expect(window.text).toContain("src/client.ts, lines 19 to 24");
    expect(window.text).toContain("[high]");
    expect(window.text).toContain("3  Proposed merge by the merger");
    expect(window.text).toContain("\\x1b[2Jx");
    await window.press(KEYS.down, KEYS.down, "v");
    expect(window.text).toContain("const a = 3;");
    await window.press("y", "3");
    expect(window.lines[0]).toMatch(/^╭─ Conflicts 2 of 2 ─/);
    expect(window.text).toContain("[critical]");
    expect(answers).toBeUndefined();
    await window.press(",", ".", "1");
    await window.shows("y do it");
    expect(window.text).toContain("image.png  Keep what claude-code wrote");
    expect(answers).toBeUndefined();
    await window.press("y");
    expect(answers).toEqual(["proposal", "ours"]);
    expect(window.exit).toBe(0);
  },
);

test("leaving the conflicts of a merge answers nothing", async () => {
  let answers: readonly string[] | undefined;
  await using window = await Window.open(
    <ConflictQuestionScreen questions={QUESTIONS} choose={(chosen) => (answers = chosen)} />,
  );
  await window.press("1", "1");
  await window.shows("y do it");
  await window.press(KEYS.esc);
  expect(answers).toBeUndefined();
  expect(window.exit).toBe(0);
});

test("editors get the line in their own way, and an unknown one only the file", () => {
  expect(editorWords("vim", "/tmp/a", 7)).toEqual(["+7", "/tmp/a"]);
  expect(editorWords("/usr/bin/nano -w", "/tmp/a", 7)).toEqual(["+7", "/tmp/a"]);
  expect(editorWords("code --wait", "/tmp/a", 7)).toEqual(["--goto", "/tmp/a:7"]);
  expect(editorWords("code", "/tmp/a", 7)).toEqual(["--wait", "--goto", "/tmp/a:7"]);
  expect(editorWords("hx", "/tmp/a", 7)).toEqual(["/tmp/a:7"]);
  expect(editorWords("my-editor", "/tmp/a", 7)).toEqual(["/tmp/a"]);
});
