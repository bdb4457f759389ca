/** What hooks leave for each other: open turns and calls, and what is forgotten when. */
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../test/recording-host.ts";
import { dropOldNotes, forgetNotes, openHookNotes, transcriptOf, type OpenCall } from "./hook-notes.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

function setUp(session = "s1") {
  const home = temporaryDirectory();
  return { home, notes: openHookNotes(home, "codex", session) };
}

function call(toolUseId: string, more: Partial<OpenCall> = {}): OpenCall {
  return { toolUseId, match: toolUseId, tool: "Bash", paths: [], subject: "make", run: null, ...more };
}

/** Every file of every conversation, relative to the notes. */
function filesIn(home: string): string[] {
  return readdirSync(join(home, "agents/notes"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.includes("/"),
  );
}

describe("a conversation's notes", () => {
  test("know the open turn, and the last message also after it", () => {
    const { notes } = setUp();
    expect([notes.openTurn(), notes.lastMessage()]).toEqual([null, null]);
    notes.beginTurn({ messageId: "m1", turnId: null });
    expect(notes.openTurn()).toEqual({ messageId: "m1", turnId: null });
    notes.beginTurn({ messageId: "m2", turnId: "t2" });
    notes.endTurn();
    expect([notes.openTurn(), notes.lastMessage()]).toEqual([null, "m2"]);
  });

  test("list open calls in the order they began, and lose each with its end", () => {
    const { home, notes } = setUp();
    const calls = [call("b", { paths: ["/a", "/b"] }), call("a", { run: { id: "r", role: "reviewer" } })];
    for (const [at, one] of calls.entries()) {
      notes.beginCall(one);
      for (const file of filesIn(home).filter((name) => name.includes("call-")))
        if (statSync(join(home, "agents/notes", file)).mtimeMs > 10_000)
          utimesSync(join(home, "agents/notes", file), at + 1, at + 1);
    }
    expect(notes.openCalls()).toEqual(calls);
    notes.endCall("b");
    notes.endCall("never begun");
    expect(notes.openCalls()).toEqual([calls[1]]);
  });

  test("[R165] use a file again, and keep nothing of the call that it was for", () => {
    const { home, notes } = setUp();
    const inode = () => filesIn(home).map((name) => statSync(join(home, "agents/notes", name)).ino);
    notes.beginCall(call("first", { subject: "a command of many words, with a password in it" }));
    const [first] = inode();
    notes.endCall("first");
    expect(filesIn(home).map((name) => readFileSync(join(home, "agents/notes", name), "utf8"))).toEqual([
      " ",
    ]);
    notes.beginCall(call("second"));
    expect([inode(), notes.openCalls()]).toEqual([[first], [call("second")]]);
    notes.beginCall(call("third"));
    expect(new Set(notes.openCalls().map(({ toolUseId }) => toolUseId))).toEqual(
      new Set(["second", "third"]),
    );
    notes.endCall("second");
    notes.endCall("third");
    expect([filesIn(home).length, notes.openCalls()]).toEqual([1, []]);
  });

  test("are another conversation's business neither by session nor by agent", () => {
    const { home, notes } = setUp();
    notes.beginTurn({ messageId: "m1", turnId: null });
    expect(openHookNotes(home, "codex", "s2").openTurn()).toBeNull();
    expect(openHookNotes(home, "claude-code", "s1").openTurn()).toBeNull();
  });

  test("are never named by an id, which may be anything at all", () => {
    const { home } = setUp();
    const notes = openHookNotes(home, "codex", "../../../etc/\0passwd");
    notes.claims.claim("../../x")!.close(true);
    notes.beginCall(call("../../y"));
    notes.remember("../../z", { a: 1 });
    expect(filesIn(home).every((name) => /^[0-9a-f]{16}\/(seen|(call|fact)-[0-9a-f]{16})$/.test(name))).toBe(
      true,
    );
    expect(notes.recall("../../z")).toEqual({ a: 1 });
  });

  test("are for this user alone", () => {
    const { home, notes } = setUp();
    notes.remember("client", { process: "1 1" });
    const modes = [".", ...readdirSync(join(home, "agents"), { recursive: true, encoding: "utf8" })].map(
      (name) => statSync(join(home, "agents", name)).mode & 0o077,
    );
    expect(new Set(modes)).toEqual(new Set([0]));
  });

  test("that are damaged count as none", () => {
    const { home, notes } = setUp();
    notes.beginTurn({ messageId: "m1", turnId: null });
    notes.beginCall(call("a"));
    for (const file of filesIn(home)) writeFileSync(join(home, "agents/notes", file), "{");
    expect([notes.openTurn(), notes.lastMessage(), notes.openCalls()]).toEqual([null, null, []]);
  });
});

describe("where the transcript is", () => {
  test("is what the first event says, with the directory it came from", () => {
    const { home, notes } = setUp();
    notes.placeOfTranscript({ transcript: "/t/one.jsonl", run: null }, "/project");
    notes.placeOfTranscript({ transcript: "/t/one.jsonl", run: null }, "/project/deeper");
    expect(transcriptOf(home, { agent: "codex", session: "s1" })).toEqual({
      path: "/t/one.jsonl",
      cwd: "/project",
    });
    notes.placeOfTranscript({ transcript: "/t/two.jsonl", run: null }, "/elsewhere");
    expect(transcriptOf(home, { agent: "codex", session: "s1" }).path).toBe("/t/two.jsonl");
  });

  test("is not a subagent's, and not known before an event names it", () => {
    const { home, notes } = setUp();
    notes.placeOfTranscript({ transcript: "/t/sub.jsonl", run: { id: "r", role: "reviewer" } }, "/project");
    notes.placeOfTranscript({ transcript: null, run: null }, "/project");
    expect(transcriptOf(home, { agent: "codex", session: "s1" })).toEqual({ path: null, cwd: null });
  });
});

describe("forgetting", () => {
  test("[R165] a conversation takes its subagents' along, and theirs, and no other", () => {
    const { home } = setUp();
    const remember = (session: string, parent: string | null) => {
      const notes = openHookNotes(home, "codex", session);
      notes.remember("client", { process: "1 1" });
      if (parent !== null) notes.remember("parent", { session: parent });
    };
    remember("main", null);
    remember("child", "main");
    remember("grandchild", "child");
    remember("other", null);
    expect(forgetNotes(home, "codex", "main").size).toBe(3);
    const known = (session: string) => openHookNotes(home, "codex", session).recall("client") !== null;
    expect(["main", "child", "grandchild", "other"].map(known)).toEqual([false, false, false, true]);
  });

  test("of what was never noted does nothing", () => {
    expect(forgetNotes(temporaryDirectory(), "codex", "s1").size).toBe(1);
  });

  test("happens by itself after a month without an event", () => {
    const { home, notes } = setUp();
    notes.remember("client", { process: "1 1" });
    dropOldNotes(home, Date.now() + 29 * DAY_MS);
    expect(notes.recall("client")).not.toBeNull();
    dropOldNotes(home, Date.now() + 31 * DAY_MS);
    expect(notes.recall("client")).toBeNull();
  });
});
