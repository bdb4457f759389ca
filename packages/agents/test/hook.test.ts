/** The hook survives whatever it is sent, and notices what no event tells. */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AGENT_IDS } from "../src/events/agent-id.ts";
import { runHook } from "../src/handling/run-hook.ts";
import { describePrompt, summarise } from "../src/events/describe.ts";
import { OverduePlace } from "../src/state/overdue-events.ts";
import type { UncapturedWork } from "../src/state/uncaptured-work.ts";
import { fixture, setUpStage } from "./recording-host.ts";

const claude = (name: string) => fixture("claude-code", name);

describe("interrupts", () => {
  test("[A05, R61] the next prompt closes a turn of which no end was heard, and its open call", async () => {
    const { host, send } = setUpStage();
    await send("claude-code", claude("UserPromptSubmit"));
    await send("claude-code", claude("PreToolUse.Bash"));
    await send("claude-code", { ...claude("UserPromptSubmit"), prompt: "stop, do this", prompt_id: "p2" });
    expect(host.story).toEqual([
      "message | Before user message: MAINPROMPT please do the thing",
      "toolBefore | Before Bash: echo x >> new.txt; rm -f a.txt; ls",
      "toolAfter | After Bash: echo x >> new.txt; rm -f a.txt; ls | unfinished",
      "turnEnd | 9f204eee-f99d-4cbf-a9fd-560154836787 | interrupted",
      "message | Before user message: stop, do this",
    ]);
  });

  test("a subagent that still works is not interrupted by the next prompt", async () => {
    const { host, send } = setUpStage();
    await send("claude-code", claude("UserPromptSubmit"));
    await send("claude-code", claude("PreToolUse.Bash.subagent"));
    await send("claude-code", { ...claude("UserPromptSubmit"), prompt: "more", prompt_id: "p2" });
    await send("claude-code", claude("PostToolUse.Bash.subagent"));
    expect(host.story.filter((line) => line.startsWith("toolAfter"))).toEqual([
      "toolAfter | After Bash: echo sub > sub.txt | done",
    ]);
  });

  test("[R1780] the end of the session, and a tool of a turn that was not announced, close it too", async () => {
    const { host, send } = setUpStage();
    await send("claude-code", claude("UserPromptSubmit"));
    await send("claude-code", { ...claude("PreToolUse.Write"), prompt_id: "p2" });
    await send("claude-code", claude("SessionEnd"));
    expect(host.story.filter((line) => line.startsWith("turnEnd"))).toEqual([
      "turnEnd | 9f204eee-f99d-4cbf-a9fd-560154836787 | interrupted",
      "turnEnd | p2 | interrupted",
    ]);
    expect(host.calls.at(-1)).toMatchObject({
      call: "sessionEnd",
      thread: expect.stringMatching(/^claude-code\//),
    });
  });
});

describe("events that come twice or out of order", () => {
  test("[I61, R61] hooks that run at the same time claim an event once", async () => {
    const { host, send } = setUpStage();
    await Promise.all(Array.from({ length: 8 }, async () => send("claude-code", claude("PreToolUse.Write"))));
    expect(host.story).toEqual(["toolBefore | Before Write: /home/you/project/new.txt"]);
  });

  describe("[R156] events that look the same and have no id", () => {
    const AGO = 1_700_000_000_000;
    const prompt = { hook_event_name: "UserPromptSubmit", session_id: "s1", cwd: "/p", prompt: "continue" };
    const stop = { hook_event_name: "Stop", session_id: "s1", cwd: "/p" };
    const bash = { session_id: "s1", cwd: "/p", tool_name: "Bash", tool_input: { command: "make" } };
    const idle = { belay_event: "session.idle", directory: "/p", input: { sessionID: "s1" } };
    const CASES = [
      ["a prompt", "claude-code", prompt, "message"],
      ["a stop", "claude-code", stop, "turnEnd"],
      ["a tool call", "claude-code", { ...bash, hook_event_name: "PreToolUse" }, "toolBefore"],
      ["a stop of opencode", "opencode", idle, "turnEnd"],
    ] as const;

    test.each(CASES)("%s counts again after two seconds, and once within", async (_, agent, event, call) => {
      const stage = setUpStage();
      const seen = () => stage.host.calls.filter((one) => one.call === call);
      for (const [at, expected] of [
        [0, 1],
        [40, 1],
        [1999, 1],
        [2000, 2],
        [2500, 2],
        [700_000, 3],
        [700_001, 3],
      ] as const) {
        stage.now = () => AGO + at;
        await stage.send(agent, event);
        expect(seen()).toHaveLength(expected);
      }
      const ids = seen().map((one) => (call === "toolBefore" ? one["toolUseId"] : one["messageId"]));
      if (call !== "turnEnd") expect(new Set(ids).size).toBe(3);
    });

    test("at the same moment, in many hooks, each repetition counts once", async () => {
      const stage = setUpStage();
      for (const at of [0, 5000]) {
        stage.now = () => AGO + at;
        await Promise.all(Array.from({ length: 8 }, async () => stage.send("claude-code", prompt)));
      }
      expect(stage.host.calls.filter(({ call }) => call === "message")).toHaveLength(2);
    });

    test("what has an id is the same event however late it comes", async () => {
      const stage = setUpStage();
      for (const at of [0, 5000, 100_000]) {
        stage.now = () => AGO + at;
        await stage.send("claude-code", { ...prompt, prompt_id: "p1" });
        await stage.send("claude-code", { ...bash, hook_event_name: "PreToolUse", tool_use_id: "t1" });
        await stage.send("qwen-code", { ...stop, timestamp: "2026-01-01T00:00:00.000Z" });
      }
      expect(stage.host.calls.map(({ call }) => call).filter((call) => call !== "openThread")).toEqual([
        "message",
        "toolBefore",
        "turnEnd",
      ]);
    });

    test("one that is made up for is the one that was left, not another", async () => {
      const stage = setUpStage();
      const event = {
        agent: "claude-code",
        cwd: "/elsewhere",
        environment: {},
        input: JSON.stringify(prompt),
      };
      const left = { ...event, id: `${AGO}-1`, deadline: AGO, worker: null };
      stage.now = () => AGO;
      await stage.send("claude-code", prompt);
      new OverduePlace(stage.home, event).leave(left);
      stage.now = () => AGO + 60_000;
      await stage.send("claude-code", { ...stop, prompt_id: "p" });
      expect(stage.host.calls.filter(({ call }) => call === "message")).toHaveLength(1);
    });
  });

  test("[N1] an event that failed, or whose process died over it, may be sent again", async () => {
    const { home, host, send } = setUpStage();
    const event = claude("PreToolUse.Write");
    const { toolBefore } = host;
    host.toolBefore = () => Promise.reject(new Error("gone"));
    expect(await send("claude-code", event)).toHaveProperty("systemMessage");
    host.toolBefore = toolBefore;
    const notes = join(import.meta.dirname, "..", "src", "state/hook-notes.ts");
    const claim = `(await import(${JSON.stringify(notes)})).openHookNotes(...process.argv.slice(1)).claims.claim("tool-before:" + process.argv[4])`;
    const who = [home, "claude-code", String(event["session_id"]), String(event["tool_use_id"])];
    execFileSync(process.execPath, ["--input-type=module", "-e", claim, ...who]);
    expect(await send("claude-code", event)).toEqual({});
    expect(await send("claude-code", event)).toEqual({});
    expect(host.story.filter((line) => line.startsWith("toolBefore"))).toHaveLength(1);
  });

  test("[R153] what could not be captured is handed over first, by the next event, and once", async () => {
    const { host, send } = setUpStage();
    const { message } = host;
    await send("claude-code", claude("SessionStart.startup"));
    host.message = () => Promise.reject(new Error("no space left"));
    await send("claude-code", claude("UserPromptSubmit"));
    const handed: string[] = [];
    Object.assign(host, {
      uncaptured: async ({ problem }: UncapturedWork) => void handed.push(`${problem} ${host.story.length}`),
    });
    host.message = message;
    const before = host.story.length;
    await send("claude-code", claude("PreToolUse.Write"));
    await send("claude-code", claude("PostToolUse.Write"));
    expect(handed).toEqual([`no space left ${before}`]);
  });

  test("notes do not pile up", async () => {
    const stage = setUpStage();
    const { home, host, send } = stage;
    const notes = () =>
      readdirSync(join(home, "agents", "notes")).map((name) => join(home, "agents", "notes", name));
    await send("claude-code", claude("PreToolUse.Write"));
    await send("claude-code", claude("PostToolUse.Write"));
    const [first] = notes();
    const claims = () => readdirSync(first!).filter((name) => name.startsWith("seen"));
    expect(claims()).toEqual(["seen"]);
    stage.now = () => Date.now() + 11 * 60_000;
    await send("claude-code", claude("Stop"));
    expect(claims()).toEqual(["seen", "seen-before"]);
    utimesSync(first!, 0, 0);
    await send("claude-code", claude("SessionStart.clear"));
    expect(notes()).toHaveLength(1);
    expect(notes()).not.toContain(first);
    expect(host.story).toHaveLength(3);
  });

  test("an end before its beginning leaves no call open", async () => {
    const { host, send } = setUpStage();
    await send("claude-code", claude("PostToolUse.Write"));
    await send("claude-code", claude("PreToolUse.Write"));
    await send("claude-code", claude("Stop"));
    expect(host.story.map((line) => line.split(" ")[0])).toEqual(["toolAfter", "turnEnd"]);
  });
});

describe("[N2, R60] hostile payloads", () => {
  test.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["no object", "[1]"],
    ["binary", "\u0000\uFFFD\u0000"],
    ["a number", "7"],
  ])("%s is trouble, and the agent goes on", async (_what, text) => {
    const { host, home, send } = setUpStage();
    const answer = await send("claude-code", text);
    expect(answer["systemMessage"]).toContain("belay doctor");
    expect(answer).not.toHaveProperty("decision");
    expect(host.calls).toMatchObject([{ call: "trouble", agent: "claude-code" }]);
    const log = readFileSync(join(home, "agents", "trouble.log"), "utf8");
    expect(JSON.parse(log)).toMatchObject({ agent: "claude-code", problem: expect.stringContaining("JSON") });
  });

  test("unknown events, agents and missing fields are survived", async () => {
    const { host, send } = setUpStage();
    for (const agent of AGENT_IDS) {
      expect(
        await send(agent, { hook_event_name: "SomethingNew", session_id: "s", conversation_id: "s" }),
      ).toEqual({});
      expect(await send(agent, {})).toEqual({});
    }
    expect(host.calls).toEqual([]);
    expect(await send("unknown", claude("Stop"))).toEqual({});
    expect(host.story).toEqual(["trouble | unknown agent"]);
  });

  test("[L43, R66] ids are never part of a path", async () => {
    const { home, send } = setUpStage();
    const session_id = "../../../../etc/passwd\u0000/..";
    await send("claude-code", { ...claude("UserPromptSubmit"), session_id, prompt_id: "../../x" });
    await send("claude-code", { ...claude("PreToolUse.Bash"), session_id, tool_use_id: "/../../y" });
    expect(readdirSync(home)).toEqual(["agents"]);
    expect(readdirSync(join(home, "agents"))).toEqual(["notes", "uncaptured"]);
    for (const name of readdirSync(join(home, "agents", "notes"))) expect(name).toMatch(/^[0-9a-f]{16}$/);
  });

  test("without a cwd the hook's own directory counts; an unprotected one is left alone", async () => {
    const { host, send } = setUpStage();
    const { cwd: _, ...homeless } = claude("UserPromptSubmit");
    await send("claude-code", homeless);
    expect(host.calls[0]).toMatchObject({ call: "openThread", cwd: "/elsewhere" });
    host.isProtected = false;
    host.calls.length = 0;
    expect(await send("claude-code", { ...claude("PreToolUse.Bash"), cwd: "/somewhere/else" })).toEqual({});
    expect(host.calls).toEqual([]);
  });

  test("a huge event still has its checkpoint, and is not kept in memory", async () => {
    const { host, send } = setUpStage();
    const write = claude("PreToolUse.Write");
    const content = 'x\\"'.repeat(8 << 20);
    const { tool_use_id, ...start } = write;
    const huge = { ...start, tool_input: { file_path: "/home/you/project/big", content }, tool_use_id };
    expect(await send("claude-code", huge)).toEqual({});
    expect(host.calls.at(-1)).toMatchObject({ call: "toolBefore", tool: "Write", toolUseId: tool_use_id });
  });

  test("any JSON at all, for every agent", async () => {
    const { send } = setUpStage();
    const keys = [
      "session_id",
      "sessionId",
      "conversation_id",
      "hook_event_name",
      "tool_name",
      "tool_input",
      "cwd",
    ];
    const known = fc.constantFrom(
      "PreToolUse",
      "UserPromptSubmit",
      "Stop",
      "BeforeTool",
      "preToolUse",
      "SubagentStart",
    );
    const values = fc.oneof(fc.jsonValue(), known, fc.string({ unit: "binary" }));
    const payloads = fc.dictionary(
      fc.constantFrom(...keys, "prompt", "input", "belay_event", "__proto__"),
      values,
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...AGENT_IDS), payloads, async (agent, payload) => {
        const answer = await send(agent, payload);
        expect(answer).not.toHaveProperty("decision");
        expect(answer).not.toHaveProperty("permission");
      }),
      { numRuns: 300 },
    );
  });
});

describe("[N2, R60] a broken Belay", () => {
  test("a host that fails or hangs does not stop the agent, and is reported", async () => {
    const { home, host } = setUpStage();
    const input = [Buffer.from(JSON.stringify(claude("PreToolUse.Bash")))];
    const broken = Object.assign(Object.create(host) as typeof host, {
      toolBefore: () => Promise.reject(new Error("disk full: token=abc123secret")),
    });
    const call = { agent: "claude-code", input, home, cwd: "/", environment: {} };
    const answer = JSON.parse(await runHook({ ...call, host: broken })) as Record<string, unknown>;
    expect(answer["systemMessage"]).toContain("disk full");
    expect(answer["systemMessage"]).not.toContain("abc123secret");

    const stuck = Object.assign(Object.create(host) as typeof host, {
      openThread: () => new Promise(() => {}),
    });
    const late = JSON.parse(await runHook({ ...call, host: stuck, deadlineMs: 20 })) as Record<
      string,
      unknown
    >;
    expect(late["systemMessage"]).toContain("no answer within");
    expect(host.story.filter((line) => line.startsWith("trouble"))).toHaveLength(2);
  });

  test("a rewind that cannot be recorded is trouble, and the step counts all the same", async () => {
    const { host, send } = setUpStage();
    const transcript_path = join(setUpStage().home, "t.jsonl");
    const turn = async (prompt_id: string, parentUuid: string | null) => {
      const line = { type: "user", uuid: `u-${prompt_id}`, parentUuid, promptId: prompt_id };
      appendFileSync(transcript_path, `${JSON.stringify(line)}\n`);
      return send("claude-code", { ...claude("Stop"), prompt_id, transcript_path });
    };
    host.conversationRewound = () => Promise.reject(new Error("no such message"));
    await turn("p1", null);
    await turn("p2", "u-p1");
    expect(await turn("p3", "u-p1")).toEqual({});
    expect(host.story.map((line) => line.split(" ")[0])).toEqual([
      "turnEnd",
      "turnEnd",
      "turnEnd",
      "trouble",
    ]);
  });

  test("a home that cannot be written to does not stop it either", async () => {
    const { home, host } = setUpStage();
    mkdirSync(join(home, "x"));
    writeFileSync(join(home, "x", "agents"), "a file where a directory should be");
    const input = [Buffer.from(JSON.stringify(claude("PreToolUse.Bash")))];
    const printed = await runHook({
      agent: "claude-code",
      input,
      host,
      home: join(home, "x"),
      cwd: "/",
      environment: {},
    });
    expect(JSON.parse(printed)).toHaveProperty("systemMessage");
  });
});

describe("descriptions", () => {
  test("[A07] the first 50 characters of the prompt, and a sign when there are more", () => {
    expect(describePrompt("x".repeat(50))).toBe(`Before user message: ${"x".repeat(50)}`);
    expect(describePrompt("x".repeat(51))).toBe(`Before user message: ${"x".repeat(50)}…`);
    expect(describePrompt("😀".repeat(51))).toBe(`Before user message: ${"😀".repeat(50)}…`);
    expect(describePrompt("a\n\u001b[31mb\u202e")).toBe("Before user message: a [31mb");
  });

  test.each([
    ["export API_KEY=abcdef12345", "abcdef12345"],
    ["curl -H 'Authorization: Bearer abcdefgh12345678'", "abcdefgh12345678"],
    ["use sk-ant-api03-abcdefghijklmnop1234", "abcdefghijklmnop"],
    ["git push https://me:hunter2@host/x", "hunter2"],
    ["ghp_abcdefghijklmnopqrstuvwxyz", "ghp_abc"],
    ["AKIAABCDEFGHIJKLMNOP", "AKIAABCD"],
    ['{"password": "open sesame"}', "sesame"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIE", "MIIE"],
  ])("[R66] secrets are left out: %s", (text, secret) => {
    expect(summarise(text)).not.toContain(secret);
    expect(summarise(text)).toContain("[redacted]");
  });
});

test("a hook loads the one adapter it needs, and nothing of installing or MCP", () => {
  const { home } = setUpStage();
  const source = join(import.meta.dirname, "..", "src");
  const script = `
    const loaded = [];
    (await import("node:module")).registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { runHook } = await import(${JSON.stringify(join(source, "handling/run-hook.ts"))});
    const done = async () => {};
    const host = { openThread: async () => "t", message: async () => ({ notices: [] }), toolBefore: done, toolAfter: done,
      agentStart: done, agentEnd: done, turnEnd: done, conversationRewound: done, trouble: done };
    const input = [Buffer.from(${JSON.stringify(JSON.stringify(fixture("codex", "PreToolUse.Bash")))})];
    await runHook({ agent: "codex", input, host, home: ${JSON.stringify(home)}, cwd: "/", environment: {} });
    console.log(JSON.stringify(loaded.filter((url) => url.startsWith("file:"))));`;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  const loaded = (JSON.parse(printed) as string[]).map((url) => url.slice(url.indexOf("/src/") + 5));
  expect(loaded).toContain("adapters/codex.ts");
  const foreign =
    /^adapters\/(?!codex|claude-shape|find-adapter)|^mcp\/|^install\/|^settings\/(?!hook-file)|node_modules|^conversation\/(?!codex-conv)/;
  expect(loaded.filter((path) => foreign.test(path))).toEqual([]);
  expect(loaded.length).toBeLessThan(26);
});
