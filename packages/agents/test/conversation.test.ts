/** Going back in conversations: Claude Code's by its files, Codex's and opencode's by their programs. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  appendFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadAgent } from "../src/adapters/find-adapter.ts";
import type { ForkRequest } from "../src/conversation/conversations.ts";
import { fixture, setUpStage, temporaryDirectory } from "./recording-host.ts";

type Line = Record<string, unknown>;

/** A transcript as Claude Code 2.1 writes it, in short: two turns, the first with two tools side by side. */
function transcript(session: string): Line[] {
  const entry = (uuid: string, parentUuid: string | null, promptId: string, more: Line = {}): Line => ({
    type: "assistant",
    uuid,
    parentUuid,
    promptId,
    sessionId: session,
    isSidechain: false,
    ...more,
  });
  const result = { type: "user", toolUseResult: {} };
  return [
    { type: "last-prompt", leafUuid: null, sessionId: session },
    entry("u1", null, "p1", { type: "user", message: { role: "user", content: "first" } }),
    entry("a1", "u1", "p1"),
    entry("a2", "a1", "p1"),
    entry("r1", "a1", "p1", { ...result, sourceToolAssistantUUID: "a1" }),
    entry("r2", "a2", "p1", { ...result, sourceToolAssistantUUID: "a2" }),
    entry("side", "u1", "p1", { isSidechain: true }),
    entry("a3", "r2", "p1"),
    entry("u2", "a3", "p2", { type: "user", message: { role: "user", content: "second" } }),
    entry("a4", "u2", "p2"),
  ];
}

function writeLines(path: string, lines: readonly Line[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

function request(top: string, more: Partial<ForkRequest> = {}): ForkRequest {
  const common = { session: "s-1", messageId: "p2", previousMessageId: "p1", transcript: null };
  return { ...common, cwd: top, user: top, environment: {}, ...more };
}

describe("Claude Code: fork", () => {
  test("[C62, R64] a new transcript up to the message; the old one is not touched", async () => {
    const top = temporaryDirectory();
    const path = join(top, ".claude", "projects", top.replace(/[^A-Za-z0-9]/g, "-"), "s-1.jsonl");
    writeLines(path, transcript("s-1"));
    const before = readFileSync(path, "utf8");
    const { conversations } = await loadAgent("claude-code");
    const fork = await conversations.fork(request(top));
    if (fork.outcome !== "forked") throw new Error(JSON.stringify(fork));
    expect(fork.resume).toEqual(["claude", "--resume", fork.session]);
    expect(readFileSync(path, "utf8")).toBe(before);

    const text = readFileSync(join(dirname(path), `${fork.session}.jsonl`), "utf8");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    const origin = (line: Line) => (line["forkedFrom"] as { messageUuid: string }).messageUuid;
    expect(lines.map(origin)).toEqual(["u1", "a1", "a2", "r1", "r2", "a3"]);
    const names = new Map(lines.map((line) => [origin(line), line["uuid"]]));
    expect(new Set(names.values()).size).toBe(6);
    for (const line of lines) expect(line["sessionId"]).toBe(fork.session);
    expect(lines.map((line) => line["parentUuid"])).toEqual(
      [null, "u1", "a1", "a1", "a2", "r2"].map((uuid) => (uuid === null ? null : names.get(uuid))),
    );
    expect(lines[3]).toMatchObject({ sourceToolAssistantUUID: names.get("a1") });
    expect(text).not.toContain("second");
  });

  test("before the first message there is nothing; what is not there is said", async () => {
    const top = temporaryDirectory();
    const path = join(top, "s-1.jsonl");
    const { conversations } = await loadAgent("claude-code");
    expect(await conversations.fork(request(top))).toMatchObject({ outcome: "failed" });
    writeLines(path, transcript("s-1"));
    const from = request(top, { transcript: path });
    expect(await conversations.fork({ ...from, messageId: "p1" })).toEqual({
      outcome: "empty",
      resume: ["claude"],
    });
    expect(await conversations.fork({ ...from, messageId: "p9" })).toMatchObject({ outcome: "failed" });
    expect(await conversations.fork(request(top, { session: "../../x" }))).toMatchObject({
      outcome: "failed",
    });
    expect(readdirSync(top)).toEqual(["s-1.jsonl"]);
  });
});

describe("Claude Code: a rewind inside it is noticed by the branching of its transcript", () => {
  const setUpTurns = () => {
    const { host, send } = setUpStage();
    const path = join(temporaryDirectory(), "s.jsonl");
    const event = (name: string, prompt_id: string, more: Line = {}) =>
      send("claude-code", { ...fixture("claude-code", name), transcript_path: path, prompt_id, ...more });
    const add = (...lines: Line[]) =>
      appendFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const say = (uuid: string, parentUuid: string | null, promptId: string) =>
      add(
        { type: "user", uuid, parentUuid, promptId },
        { type: "assistant", uuid: `${uuid}+`, parentUuid: uuid, promptId },
      );
    /** One turn: its prompt follows `parent`. */
    const turn = async (promptId: string, parent: string | null) => {
      await event("UserPromptSubmit", promptId, { prompt: promptId });
      say(`u-${promptId}`, parent, promptId);
      await event("PreToolUse.Write", promptId, { tool_use_id: `t-${promptId}` });
      await event("PostToolUse.Write", promptId, { tool_use_id: `t-${promptId}` });
      await event("Stop", promptId, { last_assistant_message: promptId });
    };
    const rewinds = () =>
      host.calls.filter(({ call }) => call === "conversationRewound").map((c) => c["messageId"]);
    return { turn, rewinds, event, say, add };
  };

  test("back to an older message, and to the very beginning", async () => {
    const { turn, rewinds } = setUpTurns();
    await turn("p1", null);
    await turn("p2", "u-p1+");
    await turn("p3", "u-p2+");
    expect(rewinds()).toEqual([]);
    await turn("p4", "u-p1+");
    expect(rewinds()).toEqual(["p2"]);
    await turn("p5", "u-p4+");
    await turn("p6", null);
    expect(rewinds()).toEqual(["p2", "p1"]);
  });

  test("compaction, lines written late and results on the side are no rewinds", async () => {
    const { turn, rewinds, add } = setUpTurns();
    await turn("p1", null);
    add({ type: "system", subtype: "stop_hook_summary", uuid: "late", parentUuid: "u-p1+" });
    await turn("p2", "late");
    add({
      type: "system",
      subtype: "compact_boundary",
      uuid: "cut",
      parentUuid: null,
      logicalParentUuid: "u-p2+",
    });
    await turn("p3", "cut");
    add({ type: "user", uuid: "side", parentUuid: "u-p3", promptId: "p3", toolUseResult: {} });
    await turn("p4", "u-p3+");
    expect(rewinds()).toEqual([]);
  });

  test("an interrupted turn that was taken back", async () => {
    const { turn, rewinds, event, say } = setUpTurns();
    await turn("p1", null);
    await event("UserPromptSubmit", "p2", { prompt: "p2" });
    say("u-p2", "u-p1+", "p2");
    await event("PreToolUse.Write", "p2", { tool_use_id: "t-p2" });
    await turn("p3", "u-p1+");
    expect(rewinds()).toEqual(["p2"]);
  });
});

/** A program of this name that behaves as its script says, found by way of the PATH. */
function install(top: string, name: string, script: string): NodeJS.ProcessEnv {
  const path = join(top, name);
  writeFileSync(path, `#!${process.execPath}\n${script}`);
  chmodSync(path, 0o755);
  return { ...process.env, PATH: `${top}${delimiter}${process.env["PATH"]}` };
}

describe("Codex", () => {
  const script = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method, params } = JSON.parse(line);
      const say = (message) => console.log(JSON.stringify(message));
      if (method === "initialize") say({ id, result: { userAgent: "codex" } });
      if (method === "thread/fork") {
        say({ method: "thread/started", params: {} });
        if (params.threadId === "gone") return say({ id, error: { code: -32600, message: "no such thread" } });
        say({ id, result: { thread: { id: "fork-of-" + params.threadId + "-after-" + params.lastTurnId } } });
      }
    });`;

  test("its app server forks after the turn before the message", async () => {
    const top = temporaryDirectory();
    const environment = install(top, "codex", script);
    const { conversations } = await loadAgent("codex");
    const fork = await conversations.fork(request(top, { environment }));
    const session = "fork-of-s-1-after-p1";
    expect(fork).toEqual({ outcome: "forked", session, resume: ["codex", "resume", session] });
    expect(await conversations.fork(request(top, { environment, previousMessageId: null }))).toMatchObject({
      outcome: "empty",
    });
    const gone = await conversations.fork(request(top, { environment, session: "gone" }));
    expect(gone).toEqual({ outcome: "failed", reason: expect.stringContaining("no such thread") as string });
  });

  test("without the program it says so", async () => {
    const top = temporaryDirectory();
    const { conversations } = await loadAgent("codex");
    const fork = await conversations.fork(request(top, { environment: { PATH: top } }));
    expect(fork).toEqual({
      outcome: "failed",
      reason: expect.stringContaining("codex is not installed") as string,
    });
  });
});

test("opencode: its server forks before the message", async () => {
  const top = temporaryDirectory();
  const script = `
    const server = require("node:http").createServer((request, response) => {
      let body = "";
      request.on("data", (part) => (body += part)).on("end", () => {
        require("node:fs").writeFileSync("asked.json", JSON.stringify({ url: request.url, body: JSON.parse(body) }));
        response.end(JSON.stringify({ id: "ses_new" }));
      });
    });
    server.listen(0, "127.0.0.1", () => console.log("opencode server listening on http://127.0.0.1:" + server.address().port));`;
  const environment = install(top, "opencode", script);
  const { conversations } = await loadAgent("opencode");
  const fork = await conversations.fork(request(top, { environment, session: "ses_1" }));
  expect(fork).toEqual({
    outcome: "forked",
    session: "ses_new",
    resume: ["opencode", "--session", "ses_new"],
  });
  const asked = JSON.parse(readFileSync(join(top, "asked.json"), "utf8")) as Line;
  expect(asked).toEqual({
    url: `/session/ses_1/fork?directory=${encodeURIComponent(top)}`,
    body: { messageID: "p2" },
  });
});

test.each(["gemini-cli", "cursor", "copilot-cli", "qwen-code"] as const)(
  "%s says that only files go back",
  async (agent) => {
    const { conversations } = await loadAgent(agent);
    const fork = await conversations.fork(request(temporaryDirectory()));
    expect(fork).toEqual({
      outcome: "files-only",
      reason: expect.stringContaining("Only files can be rewound") as string,
    });
  },
);

test("opencode's plugin hands events to the hook and its news to the model, and never throws", async () => {
  const top = temporaryDirectory();
  const adapter = await loadAgent("opencode");
  const place = {
    scope: "user",
    user: top,
    root: null,
    belayHome: join(top, "belay"),
    environment: {},
  } as const;
  const [file] = adapter.hookFiles(place);
  if (file?.kind !== "whole") throw new Error("not a file of ours alone");
  mkdirSync(dirname(file.path), { recursive: true });
  writeFileSync(join(dirname(file.path), "package.json"), '{"type":"module"}');
  writeFileSync(file.path, file.text);
  const { Belay } = (await import(file.path)) as {
    Belay: (context: object) => Promise<Record<string, Function>>;
  };
  const hooks = await Belay({ directory: top });
  const recorded = (name: string) => fixture("opencode", name) as { i: object; o: { parts: Line[] } };
  // Belay is not there: opencode goes on.
  await hooks["tool.execute.before"]!(recorded("tool.execute.before.write").i, undefined);

  mkdirSync(join(top, "belay", "bin"), { recursive: true });
  install(
    join(top, "belay", "bin"),
    "belay-hook",
    `let text = ""; process.stdin.on("data", (d) => (text += d)).on("end", () => {
      require("node:fs").appendFileSync("events.jsonl", text + "\\n");
      console.log(JSON.stringify({ context: "files went back" }));
    });`,
  );
  const { i, o } = recorded("chat.message");
  await hooks["chat.message"]!(i, o);
  expect(o.parts.at(-1)).toMatchObject({ type: "text", synthetic: true, text: "files went back" });
  const { i: call, o: args } = recorded("tool.execute.before.write");
  await hooks["tool.execute.before"]!(call, args);
  await hooks["event"]!({ event: fixture("opencode", "event-message.part.updated.answer") });
  await hooks["event"]!({ event: fixture("opencode", "event-message.part.updated") });
  await hooks["event"]!({ event: fixture("opencode", "event-session.idle") });
  await hooks["event"]!({ event: fixture("opencode", "event-file.edited") });
  const lines = readFileSync(join(top, "events.jsonl"), "utf8").trimEnd().split("\n");
  const events = lines.map((line) => adapter.parse(JSON.parse(line) as Line));
  expect(events.map((event) => event?.kind)).toEqual(["prompt", "tool-before", "turn-end"]);
  expect(events.at(-1)).toMatchObject({ answer: "All done." });
  expect(existsSync(join(top, "belay", "agents"))).toBe(false);
});
