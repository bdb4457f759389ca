/** The slash commands, over HTTP against a real process and a real store. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCheckpointCommand, SLASH_COMMAND_NAMES } from "../src/slash-commands/index.ts";
import { typedCommand } from "../src/slash-commands/command-words.ts";
import { Chat } from "./support/chat.ts";

const FILES = { "a.txt": "one\n", "keep.txt": "kept\n" };

/** Two turns of the chat and one of another agent: the second turn adds a file, changes one, deletes one. */
async function worked(): Promise<{
  chat: Chat;
  first: { id: string; seq: number };
  second: { id: string; seq: number };
}> {
  const chat = await Chat.start({ ...FILES, "old.txt": "old\n" });
  const { project } = chat;
  const first = await chat.turn("Say two", () => project.write("a.txt", "two\n"));
  const second = await chat.turn("Make the budget configurable", () => {
    project.write("new.txt", "new\n");
    project.write("a.txt", "three\n");
    project.remove("old.txt");
  });
  return { chat, first, second };
}

describe("what was typed", () => {
  test("is a slash command, or words of /checkpoint; quotes keep a name together", () => {
    expect(typedCommand('/checkpoint restore "Before the retry work" --files-only')).toEqual({
      name: "checkpoint",
      words: ["restore", "Before the retry work", "--files-only"],
    });
    expect(typedCommand(["list"])).toEqual({ name: "checkpoint", words: ["list"] });
    expect(typedCommand("/undo 2")).toEqual({ name: "undo", words: ["2"] });
    expect(typedCommand("")).toEqual({ name: "checkpoint", words: [] });
  });

  test("[C61] every slash command of the reference is there", () => {
    expect(SLASH_COMMAND_NAMES).toEqual([
      "checkpoint",
      "checkpoints",
      "restore",
      "undo",
      "redo",
      "timeline",
      "diff",
    ]);
  });
});

test("[M59] [M60] [M61] [M66] [M68] [C61] menu, list, show and timeline are text where no screen can open", async () => {
  const { chat, first, second } = await worked();
  await using _ = chat;
  expect(await chat.type("/checkpoint list")).toEqual({ success: true, message: "" });
  const time = String.raw`\d\d:\d\d:\d\d`;
  const lines = chat.text.split("\n");
  expect(lines[0]).toMatch(
    new RegExp(`^${time} ● ${second.seq} ${second.id.slice(0, 8)}  Make the budget configurable$`),
  );
  expect(lines[1]).toMatch(new RegExp(`^${time} ○ ${first.seq} ${first.id.slice(0, 8)}  Say two$`));
  const listed = chat.text;
  await chat.type("/checkpoints");
  expect(chat.text).toBe(listed);

  expect(await chat.type(`/checkpoint show ${second.seq}`)).toEqual({ success: true, message: "" });
  expect(chat.text).toMatch(
    new RegExp(
      `^Checkpoint ${second.seq}  ${second.id.slice(0, 8)}\n  .*\n  taken  \\d{4}-\\d\\d-\\d\\d ${time}\n`,
    ),
  );
  expect(chat.text).toContain("  holds  3 files, ");

  await chat.type("/checkpoint timeline");
  expect(chat.text).toContain("Snapshot Timeline (Current: Make the budget configurable)");
  expect(chat.text).toMatch(/ {6}├─► chat \(\d+\.\ds\) ✓\n {6}Files: 1 modified, 1 added, 1 deleted/);
  await chat.type("/timeline");
  expect(chat.text).toContain("Snapshot Timeline (Current: Make the budget configurable)");

  expect(await chat.type("/checkpoint")).toMatchObject({ success: true });
  expect(chat.text.split("\n").map((line) => line.slice(32))).toEqual([
    "List checkpoints",
    "Timeline",
    "Restore…",
    "Compare two…",
    "Create a checkpoint…",
    "Pending changes (3)",
    "Prune…",
  ]);
  const opened: string[] = [];
  const openScreen = async (screen: string) => void opened.push(screen);
  for (const line of ["/checkpoint", "/checkpoint timeline", "/timeline"])
    await chat.type(line, [], { openScreen });
  expect(opened).toEqual(["menu", "timeline", "timeline"]);

  expect(await chat.type("/checkpoint foo")).toEqual({ success: false, message: "Unknown subcommand: foo" });
  expect(await chat.type(["foo"])).toEqual({ success: false, message: "Unknown subcommand: foo" });
  expect(await chat.type("/toString")).toEqual({ success: false, message: "Unknown command: /toString" });
  expect(await chat.type("/checkpoint constructor")).toMatchObject({
    message: "Unknown subcommand: constructor",
  });
  for (const [line, usage] of [
    ["/checkpoint list 1", "/checkpoint list"],
    ["/checkpoint show", "/checkpoint show <id>"],
    ["/checkpoint diff 1", "/checkpoint diff <from> <to>"],
    ["/checkpoint restore 1 2", "/checkpoint restore <id> [--files-only|--conversation-only]"],
    ["/restore 1 --everything", "/restore <id> [--files-only|--conversation-only]"],
    ["/undo x", "/undo [n]"],
  ] as const)
    expect(await chat.type(line)).toEqual({ success: false, message: `Usage: ${usage}` });
});

test("[M62] [M63] [M64] a restore shows what it would do, and only y does it; the conversation goes back if it is meant to", async () => {
  const { chat, second } = await worked();
  await using _ = chat;
  const { project } = chat;
  await chat.turn("Document it", () => project.write("docs/openapi.yaml", "x\n"), "codex");
  const before = project.tree();
  const rolledBack = async () =>
    (await project.ok("GET", `/api/threads/${chat.thread}/messages`)).messages.map(
      (each: any) => each.rolledBack,
    );

  const line = `/checkpoint restore ${second.seq} --files-only`;
  for (const answer of ["", "n", "no", "maybe", "Y es"]) {
    expect(await chat.type(line, [answer])).toEqual({ success: false, message: "Nothing was changed." });
    expect(project.tree()).toEqual(before);
  }
  expect(chat.text).toBe(
    [
      "3 files: 1 deleted, 1 changed, 1 brought back. codex's 1 is left alone.",
      "  - new.txt",
      "  ~ a.txt",
      "  + old.txt",
    ].join("\n"),
  );
  expect(chat.asked).toEqual(["Restore? [y/N/d] "]);

  expect(await chat.type(line, ["d", "y"])).toEqual({
    success: true,
    message: `Restored to snapshot ${second.seq}. /undo takes it back.`,
  });
  expect(chat.text).toContain("--- a.txt\n@@ -1 +1 @@\n-three\n+two");
  expect(project.tree()).toEqual({
    "a.txt": "two\n",
    "keep.txt": "kept\n",
    "old.txt": "old\n",
    "docs/openapi.yaml": "x\n",
  });
  expect(await rolledBack()).toEqual([false, false]);
  expect(await chat.type("/undo", ["y"])).toMatchObject({ success: true });
  expect(project.tree()).toEqual(before);

  expect(await chat.type(`/checkpoint restore ${second.seq} --conversation-only`, ["y"])).toMatchObject({
    success: true,
  });
  expect(chat.text).toBe("Only the conversation goes back: its later messages are marked, none is removed.");
  expect(project.tree()).toEqual(before);
  expect(await rolledBack()).toEqual([false, true]);
  expect(await chat.type(`/checkpoint restore ${second.seq}`, ["y"])).toMatchObject({ success: true });
  expect(chat.text).toContain("The conversation goes back too");
  expect(project.read("a.txt")).toBe("two\n");
  expect(project.belay("verify", "--full").status).toBe(0);
});

test("[C61] [L05] /undo and /redo name the turn, ask, and take it out and back byte for byte", async () => {
  const { chat } = await worked();
  await using _ = chat;
  const { project } = chat;
  const after = project.tree();
  expect(await chat.type("/undo", ["n"])).toEqual({ success: false, message: "Nothing was changed." });
  project.write("keep.txt", "by hand\n");
  expect(await chat.type("/undo", ["y"])).toEqual({
    success: true,
    message: 'Undone: turn of chat "Make the budget configurable". /redo brings it back.',
  });
  const lines = chat.text.split("\n");
  expect(lines[0]).toMatch(/^Undo the last turn of chat, \d\d:\d\d:\d\d\?$/);
  expect(lines.slice(1)).toEqual([
    '  "Make the budget configurable"',
    "3 files: 1 deleted, 1 changed, 1 brought back.",
    "  - new.txt",
    "  ~ a.txt",
    "  + old.txt",
    "Changed meanwhile by hand, stays: keep.txt",
  ]);
  expect(project.tree()).toEqual({ "a.txt": "two\n", "keep.txt": "by hand\n", "old.txt": "old\n" });
  expect(await chat.type("/redo", ["yes"])).toMatchObject({ success: true });
  expect(project.tree()).toEqual({ ...after, "keep.txt": "by hand\n" });
  expect(await chat.type("/redo")).toEqual({ success: true, message: "Nothing to redo." });
  expect(await chat.type("/undo 2", ["y"])).toMatchObject({ success: true });
  expect(project.read("a.txt")).toBe("one\n");
  expect(await chat.type("/undo")).toMatchObject({
    success: true,
    message: expect.stringMatching(/^Nothing to undo/),
  });
});

test("[C61] /restore without a reference lists, asks which, and takes numbers, ids and names", async () => {
  const { chat, first } = await worked();
  await using _ = chat;
  const { project } = chat;
  expect(await chat.type("/restore", [""])).toEqual({ success: false, message: "Nothing was changed." });
  expect(chat.asked[0]).toMatch(/^Restore which one\?/);
  expect(await chat.type("/restore", [String(first.seq), "y"])).toMatchObject({ success: true });
  expect(project.tree()).toEqual({ ...FILES, "old.txt": "old\n" });
  // unlike /checkpoint restore, it leaves the conversation as it is
  expect(chat.text).not.toContain("conversation");
  const { messages } = await project.ok("GET", `/api/threads/${chat.thread}/messages`);
  expect(messages.map((each: any) => each.rolledBack)).toEqual([false, false]);
  await chat.type("/checkpoint create Before the end");
  project.write("a.txt", "end\n");
  expect(await chat.type('/restore "Before the end"', ["y"])).toMatchObject({ success: true });
  expect(project.read("a.txt")).toBe("one\n");
  expect(await chat.type("/restore 9999")).toEqual({
    success: false,
    message: expect.stringContaining("/checkpoint list shows them."),
    code: "CHECKPOINT_NOT_FOUND",
  });
});

test("[M65] [C61] diffs are text; states that are the same say so", async () => {
  const { chat, first, second } = await worked();
  await using _ = chat;
  expect(await chat.type(`/checkpoint diff ${first.seq} ${second.seq}`)).toEqual({
    success: true,
    message: "1 file, +1 -1",
  });
  expect(chat.text).toBe("--- a.txt\n@@ -1 +1 @@\n-one\n+two");
  expect(await chat.type("/diff")).toEqual({ success: true, message: "These two states are the same." });
  expect(await chat.type(`/diff ${second.seq}`)).toMatchObject({ message: "3 files, +2 -2" });
});

test("[M67] checkpoints are created and pruned; pruning asks", async () => {
  const { chat } = await worked();
  await using _ = chat;
  expect(await chat.type("/checkpoint create Before the retry work")).toMatchObject({
    success: true,
    message: expect.stringMatching(
      /^Checkpoint \d+ [k-z]{8} "Before the retry work" holds the files as they are now\.$/,
    ),
  });
  expect(await chat.type("/checkpoint create 12")).toMatchObject({ success: false });
  expect(await chat.type("/checkpoint prune")).toMatchObject({
    success: true,
    message: expect.stringMatching(/^Nothing to drop: all \d+ checkpoints stay\.$/),
  });
  const { project } = chat;
  await project.ok("PUT", "/api/settings", { key: "retention.policy", value: "moldable" });
  for (let index = 0; index < 30; index += 1)
    await chat.turn(`turn ${index}`, () => project.write("a.txt", `${index}\n`));
  const stored = async () => (await project.ok("GET", "/api/checkpoints?limit=1000")).checkpoints.length;
  const before = await stored();
  expect(await chat.type("/checkpoint prune", [""])).toEqual({
    success: false,
    message: "Nothing was changed.",
  });
  expect(chat.asked[0]).toMatch(/^Drop \d+ checkpoints and keep \d+\? \[y\/N\] $/);
  expect(await stored()).toBe(before);
  expect(await chat.type("/checkpoint prune", [], { ask: null })).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
  });
  expect(await chat.type("/checkpoint prune", ["y"])).toMatchObject({
    success: true,
    message: expect.stringMatching(/^\d+ checkpoints dropped, \d+ kept\./),
  });
  expect(await stored()).toBeLessThan(before);
});

test("[R16] a conflict is named with its reason; y undoes the rest, nothing else", async () => {
  const { chat } = await worked();
  await using _ = chat;
  const { project } = chat;
  project.write("a.txt", "four\n");
  expect(await chat.type("/undo", [""])).toEqual({ success: false, message: "Nothing was changed." });
  expect(chat.text).toContain("Not undone: 1 of 3 files was changed since.\nNothing has changed.\n  a.txt  ");
  expect(chat.asked).toEqual(["Undo the other 2? [y/N/d] "]);
  expect(project.read("a.txt")).toBe("four\n");
  expect(await chat.type("/undo", ["y"])).toMatchObject({ success: true });
  expect(project.tree()).toEqual({ "a.txt": "four\n", "keep.txt": "kept\n", "old.txt": "old\n" });
});

test("[N0] files that change while the question stands: nothing is restored, the new plan is shown and asked again", async () => {
  const { chat, second } = await worked();
  await using _ = chat;
  const { project } = chat;
  let asked = 0;
  const ask = async () => {
    asked += 1;
    if (asked === 1) project.write("later.txt", "later\n");
    return asked === 1 ? "y" : "n";
  };
  expect(await chat.type(`/restore ${second.seq}`, [], { ask })).toMatchObject({ success: false });
  expect(asked).toBe(2);
  expect(chat.text).toContain("The files changed since this preview. Nothing was restored.");
  expect(chat.text).toContain("  - later.txt");
  expect(project.read("later.txt")).toBe("later\n");
  expect(project.read("a.txt")).toBe("three\n");
});

test("without a terminal to ask on nothing is assumed", async () => {
  const { chat, second } = await worked();
  await using _ = chat;
  const before = chat.project.tree();
  for (const line of [`/checkpoint restore ${second.seq}`, "/undo"])
    expect(await chat.type(line, [], { ask: null })).toMatchObject({
      success: false,
      code: "CONFIRMATION_REQUIRED",
    });
  expect(await chat.type("/restore", [], { ask: null })).toMatchObject({
    message: expect.stringMatching(/^Usage: /),
  });
  expect(chat.project.tree()).toEqual(before);
});

test("foreign text reaches the chat without anything a terminal would act on", async () => {
  await using chat = await Chat.start(FILES);
  await chat.turn("\u001b[2Jclear \u202Eit", () =>
    chat.project.write("x\u001b[31m.txt", "\u001b]0;t\u0007\n"),
  );
  for (const line of ["/checkpoint list", "/timeline", "/undo", "/diff 1", "/checkpoint show 2"]) {
    const { message } = await chat.type(line, ["d", "n"]);
    // oxlint-disable-next-line no-control-regex -- what terminals act on
    expect(chat.text + message).not.toMatch(/[\u001b\u0007\u202e]/);
  }
});

test("the commands load neither Ink nor React", () => {
  const entry = join(import.meta.dirname, "../dist/slash-commands/index.js");
  const script = `import { registerHooks } from "node:module"; const seen = [];
    registerHooks({ resolve: (name, context, next) => (seen.push(name), next(name, context)) });
    await import(${JSON.stringify(entry)}); console.log(JSON.stringify(seen));`;
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  const names = JSON.parse(out) as string[];
  expect(names).toContain("./run-checkpoint-command.js");
  expect(names.filter((name) => !/^(?:[./]|node:|@belay\/protocol\/escalation$)/.test(name))).toEqual([]);
});

test("an error that is no refusal is not swallowed", async () => {
  await using chat = await Chat.start(FILES);
  const broken = { call: () => Promise.reject(new TypeError("broken")) };
  await expect(
    runCheckpointCommand("/undo", {
      client: broken as never,
      thread: chat.thread,
      write: () => {},
      ask: null,
    }),
  ).rejects.toThrow("broken");
});

test("the chat of docs/chat.md runs as it is written down", async () => {
  const { chat } = await worked();
  await using _ = chat;
  const { project } = chat;
  const [, program] = /```js\n([\s\S]*?)```/.exec(
    readFileSync(join(import.meta.dirname, "../../../docs/chat.md"), "utf8"),
  )!;
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", program!], {
    cwd: join(import.meta.dirname, ".."),
    input: "hello\n/checkpoint list\n/undo\n/checkpoint foo\n",
    encoding: "utf8",
    env: { ...process.env, BELAY_URL: project.url, BELAY_TOKEN: project.token, PROJECT: project.project },
  });
  expect(out).toMatch(/● \d+ [k-z]{8} {2}Make the budget configurable/);
  // the chat's own conversation is a new one: it has nothing to undo
  expect(out).toContain("Nothing to undo");
  expect(out).toContain("Unknown subcommand: foo");
});
