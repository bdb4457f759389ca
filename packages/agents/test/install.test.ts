/** Installing into real settings files, and out of them again. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  lstatSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AGENT_IDS, type AgentId } from "../src/events/agent-id.ts";
import { loadAgent } from "../src/adapters/find-adapter.ts";
import { claudePluginLines, writeClaudePlugin } from "../src/install/claude-plugin.ts";
import { detectAgent } from "../src/install/detect.ts";
import { addEntries, removeEntries } from "../src/settings/hook-entries.ts";
import type { Place, Scope } from "../src/settings/hook-file.ts";
import { writeHook } from "../src/hooks/write-hook.ts";
import { install, planInstall } from "../src/install/install.ts";
import { readRecord } from "../src/install/install-record.ts";
import { parseJsonc, valueOf } from "../src/settings/jsonc.ts";
import { putBackHooks } from "../src/install/put-back.ts";
import { uninstall, uninstallAll } from "../src/install/uninstall.ts";
import { temporaryDirectory } from "./recording-host.ts";

const NOW = Date.UTC(2026, 10, 16);

function setUp(scope: Scope = "local"): Place {
  const top = temporaryDirectory();
  const root = join(top, "project");
  mkdirSync(root);
  return { scope, user: join(top, "user"), root, belayHome: join(top, "belay home"), environment: {} };
}

async function installAgent(agent: AgentId, place: Place) {
  return install(planInstall(await loadAgent(agent), place), NOW);
}

async function settingsOf(agent: AgentId, place: Place): Promise<string> {
  return (await loadAgent(agent)).hookFiles(place)[0]!.path;
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

describe.each(AGENT_IDS)("%s", (agent) => {
  test.each(["local", "user", "shared"] as const)(
    "is installed twice as once, and leaves nothing (%s)",
    async (scope) => {
      const place = setUp(scope);
      const path = await settingsOf(agent, place);
      const adapter = await loadAgent(agent);
      expect(detectAgent(adapter, place).hooks).toBe("missing");

      expect((await installAgent(agent, place)).files).toEqual([{ path, outcome: "created" }]);
      const text = readFileSync(path, "utf8");
      expect(text).toContain("bin/belay-hook");
      expect(detectAgent(adapter, place).hooks).toBe("installed");
      expect((await installAgent(agent, place)).files).toEqual([{ path, outcome: "unchanged" }]);
      expect(readFileSync(path, "utf8")).toBe(text);

      expect(uninstall(adapter, place, { now: NOW })).toEqual([{ path, outcome: "deleted" }]);
      expect(readdirSync(place.root!)).toEqual([]);
      expect(existsSync(place.user)).toBe(false);
      expect(readRecord(place.belayHome)).toEqual([]);
      expect(uninstall(adapter, place, { now: NOW })).toEqual([{ path, outcome: "unchanged" }]);
    },
  );

  test("only `shared` writes a file that is meant to be committed, and it names no home directory", async () => {
    for (const scope of ["local", "user"] as const) {
      const place = setUp(scope);
      const path = await settingsOf(agent, place);
      expect(path.startsWith(place.user) || path.endsWith("settings.local.json"), path).toBe(true);
    }
    const place = setUp("shared");
    const path = await settingsOf(agent, place);
    await installAgent(agent, place);
    expect(path.startsWith(place.root!)).toBe(true);
    expect(readFileSync(path, "utf8")).not.toContain(place.belayHome);
  });
});

const THEIRS = `// mine
{
\t"model": "opus", // keep this
\t"unknown": { "deep": [1, 2.50, "\\u00e9"], },
\t/* theirs */
\t"hooks": {
\t\t"PreToolUse": [
\t\t\t{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "lint" }] }, // first
\t\t],
\t\t"Custom": []
\t},
}
`;

describe("a file that is also the user's", () => {
  test.each([
    ["tabs, comments, trailing commas", THEIRS],
    ["CRLF", THEIRS.replaceAll("\n", "\r\n")],
    ["a byte order mark", `\uFEFF${THEIRS}`],
    ["one line", '{"hooks":{"PreToolUse":[{"matcher":"x","hooks":[]}]},"a":1}'],
    ["four spaces", '{\n    "a": 1\n}'],
    ["empty object", "{ }\n"],
    ["empty file", ""],
    ["a comment alone inside", "{\n  // nothing yet\n}\n"],
  ])("[R62] %s: everything else stays, and uninstalling gives the same bytes", async (_what, text) => {
    const place = setUp();
    const path = await settingsOf("claude-code", place);
    put(path, text);
    chmodSync(path, 0o640);
    const report = await installAgent("claude-code", place);
    expect(report.files).toMatchObject([{ path, outcome: "changed" }]);
    expect(readFileSync(report.files[0]!.backup!, "utf8")).toBe(text);
    const after = readFileSync(path, "utf8");
    expect(statSync(path).mode & 0o777).toBe(0o640);
    for (const line of text.split(/\r?\n/).filter((part) => /\/\/|\/\*|unknown|lint/.test(part))) {
      expect(after).toContain(line.replace(/,$/, ""));
    }
    if (text.includes("\r\n")) expect(after.replaceAll("\r\n", "")).not.toContain("\n");
    expect(Object.keys(valueOf(parseJsonc(after)) as object)).toContain("hooks");
    expect(uninstall(await loadAgent("claude-code"), place, { now: NOW })).toEqual([
      { path, outcome: "restored" },
    ]);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("changed by the user after us: only ours goes", async () => {
    const place = setUp();
    const path = await settingsOf("claude-code", place);
    put(path, THEIRS);
    await installAgent("claude-code", place);
    writeFileSync(path, readFileSync(path, "utf8").replace('"opus"', '"haiku"'));
    expect(uninstall(await loadAgent("claude-code"), place, { now: NOW })).toEqual([
      { path, outcome: "changed" },
    ]);
    expect(readFileSync(path, "utf8")).toBe(THEIRS.replace('"opus"', '"haiku"'));
  });

  test("an older entry of ours is brought up to date in its place; one shared with others is left", async () => {
    const place = setUp("user");
    const path = await settingsOf("claude-code", place);
    const old = '{"hooks":[{"type":"command","command":"/old/bin/belay-hook claude-code"}]}';
    const mixed =
      '{"hooks":[{"type":"command","command":"/x/bin/belay-hook claude-code"},{"type":"command","command":"y"}]}';
    put(path, `{\n  "hooks": {\n    "Stop": [\n      ${old}\n    ],\n    "SessionEnd": [${mixed}]\n  }\n}\n`);
    expect(detectAgent(await loadAgent("claude-code"), place).hooks).toBe("outdated");
    await installAgent("claude-code", place);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain("/old/");
    expect(text).toContain(mixed);
    uninstall(await loadAgent("claude-code"), place, { now: NOW });
    writeFileSync(path, text);
    uninstall(await loadAgent("claude-code"), place, { now: NOW });
    expect(readFileSync(path, "utf8")).not.toContain("belay-hook");
    expect(readFileSync(path, "utf8")).toContain('"command":"y"');
  });

  test.each([
    ["malformed", '{ "hooks": ', "not valid JSON (line 1"],
    ["not an object", "[]", "not an object"],
    ["hooks of another kind", '{"hooks": []}', '"hooks" is not an object'],
    ["an event of another kind", '{"hooks": {"Stop": {}}}', '"hooks.Stop" is not a list'],
    ["not UTF-8", '{"a": "\xff"}', "not UTF-8"],
  ])("[R62] %s is refused, said so, and untouched", async (_what, text, reason) => {
    const place = setUp();
    const path = await settingsOf("claude-code", place);
    put(path, "");
    writeFileSync(path, text, "latin1");
    const report = await installAgent("claude-code", place);
    expect(report.files).toMatchObject([
      { path, outcome: "refused", reason: expect.stringContaining(reason) },
    ]);
    expect(readFileSync(path, "latin1")).toBe(text);
    expect(existsSync(join(place.belayHome, "agents"))).toBe(false);
  });

  test("read-only is refused; a link stays a link", async () => {
    const place = setUp("user");
    const path = await settingsOf("gemini-cli", place);
    put(path, "{}\n");
    chmodSync(path, 0o444);
    expect((await installAgent("gemini-cli", place)).files).toMatchObject([
      { outcome: "refused", reason: "it is read-only" },
    ]);
    expect(readFileSync(path, "utf8")).toBe("{}\n");

    const linked = await settingsOf("qwen-code", place);
    const dotfile = join(place.user, "dotfiles", "qwen.json");
    put(dotfile, "{}\n");
    mkdirSync(dirname(linked));
    symlinkSync(dotfile, linked);
    await installAgent("qwen-code", place);
    expect(lstatSync(linked).isSymbolicLink()).toBe(true);
    expect(readFileSync(dotfile, "utf8")).toContain("belay-hook");
  });

  test("changed between plan and writing is refused", async () => {
    const place = setUp();
    const path = await settingsOf("claude-code", place);
    put(path, "{}\n");
    const plan = planInstall(await loadAgent("claude-code"), place);
    writeFileSync(path, '{"mine": 1}\n');
    expect(install(plan, NOW).files).toMatchObject([
      { outcome: "refused", reason: expect.stringContaining("meanwhile") },
    ]);
    expect(readFileSync(path, "utf8")).toBe('{"mine": 1}\n');
  });

  test("[R62] any JSON: adding and removing our entries gives back the same values", async () => {
    const file = (await loadAgent("claude-code")).hookFiles(setUp())[0]!;
    if (file.kind !== "entries") throw new Error("not a file of entries");
    const groups = fc.array(
      fc.record({ matcher: fc.string(), hooks: fc.array(fc.record({ command: fc.string() })) }),
    );
    const hooks = fc.dictionary(fc.constantFrom("Stop", "PreToolUse", "Other", "__x"), groups);
    const settings = fc.record({ hooks, model: fc.jsonValue() }, { requiredKeys: [] });
    const space = fc.constantFrom(0, 2, 4, "\t");
    fc.assert(
      fc.property(settings, space, fc.boolean(), (value, indent, crlf) => {
        const text = JSON.stringify(value, null, indent).replaceAll("\n", crlf ? "\r\n" : "\n");
        const added = addEntries(text, file);
        expect(addEntries(added.text, file).text).toBe(added.text);
        expect(JSON.parse(removeEntries(added.text, added.made))).toEqual(JSON.parse(text));
      }),
    );
  });
});

test("[R62] any JSON with comments anywhere: they all stay, and so do the values", async () => {
  const file = (await loadAgent("cursor")).hookFiles(setUp())[0]!;
  if (file.kind !== "entries") throw new Error("not a file of entries");
  const theirs = fc.record({ command: fc.string() });
  const hooks = fc.dictionary(
    fc.constantFrom("stop", "preToolUse", "other"),
    fc.array(theirs, { maxLength: 2 }),
  );
  const settings = fc.record(
    { version: fc.constant(1), hooks, theme: fc.string() },
    { requiredKeys: ["version"] },
  );
  const trivia = fc.constantFrom("", " ", "\n", "\r\n\t", "/* a, ] */", "// b, }\n", ' // c "\n  ');
  const comments = (text: string) => text.match(/\/\* a, \] \*\/|\/\/ b, \}|\/\/ c "/g) ?? [];
  fc.assert(
    fc.property(settings, fc.array(trivia, { minLength: 1, maxLength: 40 }), (value, between) => {
      const tokens = JSON.stringify(value).match(/"(?:[^"\\]|\\.)*"|[^"{}[\]:,]+|[{}[\]:,]/g)!;
      const text = tokens.map((token, index) => between[index % between.length] + token).join("");
      const added = addEntries(text, file);
      expect(comments(added.text).toSorted()).toEqual(comments(text).toSorted());
      expect(addEntries(added.text, file).text).toBe(added.text);
      const removed = removeEntries(added.text, added.made);
      expect(valueOf(parseJsonc(removed))).toEqual(value);
      expect(comments(removed).toSorted()).toEqual(comments(text).toSorted());
    }),
    { numRuns: 500 },
  );
});

test("[R62] a comment behind the list that is added to does not draw the entry out of it", async () => {
  const file = (await loadAgent("cursor")).hookFiles(setUp())[0]!;
  if (file.kind !== "entries") throw new Error("not a file of entries");
  const text = '{"version":1,"hooks":{"stop":[\n{"command":""}/* a */]/* b */\n}}';
  const added = addEntries(text, file);
  expect(valueOf(parseJsonc(added.text))).toMatchObject({ hooks: { stop: [{ command: "" }, {}] } });
  expect(removeEntries(added.text, added.made)).toBe(text);
});

test.each([
  ['[{"command":"a"}, // mine\n OURS]', [{ command: "a" }]],
  ['[// mine\n OURS, {"command":"a"}]', [{ command: "a" }]],
  ["[// mine\n OURS]", []],
  ["[/* mine */ OURS // mine\n,]", []],
  ['[OURS, /* mine */ OURS, {"command":"a"}, OURS,]', [{ command: "a" }]],
])("entries that the user has moved about are taken out and comments left whole: %s", (list, left) => {
  const text = `{"hooks": {"stop": ${list.replaceAll("OURS", '{"command":"/x/bin/belay-hook cursor"}')}}}`;
  const removed = removeEntries(text, []);
  expect(valueOf(parseJsonc(removed))).toEqual({ hooks: { stop: left } });
  expect(removed.match(/mine/g)).toEqual(text.match(/mine/g));
});

test("a file of Belay's own that was changed by hand is not deleted", async () => {
  const place = setUp("user");
  const path = await settingsOf("opencode", place);
  await installAgent("opencode", place);
  writeFileSync(path, `${readFileSync(path, "utf8")}\n// my addition\n`);
  const [report] = uninstall(await loadAgent("opencode"), place, { now: NOW });
  expect(report).toMatchObject({ outcome: "refused" });
  expect(existsSync(path)).toBe(true);
});

test("a file of the user's serves several workspaces, and goes with the last of them", async () => {
  const place = setUp();
  const { belayHome, user, environment, root } = place;
  const other = { ...place, root: join(place.user, "other") };
  mkdirSync(user);
  for (const agent of AGENT_IDS) await installAgent(agent, place);
  for (const agent of AGENT_IDS) await installAgent(agent, other);
  const request = { belayHome, user, environment, now: NOW };
  const first = await uninstallAll({ ...request, root: root! });
  expect(first).toHaveLength(AGENT_IDS.length);
  expect(first.filter(({ outcome }) => outcome === "deleted").map(({ path }) => path)).toEqual([
    await settingsOf("claude-code", place),
  ]);
  expect(first.filter(({ reason }) => reason === "other workspaces still use it")).toHaveLength(6);
  expect(readFileSync(await settingsOf("codex", other), "utf8")).toContain("belay-hook");
  const rest = await uninstallAll(request);
  expect(rest.map(({ outcome }) => outcome)).toEqual(AGENT_IDS.map(() => "deleted"));
  expect(readdirSync(user)).toEqual([]);
  expect(readRecord(belayHome)).toEqual([]);
});

test("[C61] the plugin for Claude Code: the same hooks, and commands that no model may run by itself", async () => {
  const place = setUp("user");
  writeClaudePlugin(place, "0.1.0");
  const plugin = join(place.belayHome, "claude-plugin");
  expect(claudePluginLines(place)[0]).toBe(`claude plugin marketplace add '${plugin}'`);
  const read = (path: string) => readFileSync(join(plugin, path), "utf8");
  expect(JSON.parse(read(".claude-plugin/plugin.json"))).toMatchObject({ name: "belay", version: "0.1.0" });
  const { hooks } = JSON.parse(read("hooks/hooks.json")) as { hooks: Record<string, unknown> };
  await installAgent("claude-code", place);
  const settings = JSON.parse(readFileSync(await settingsOf("claude-code", place), "utf8")) as {
    hooks: object;
  };
  expect(hooks).toEqual({
    ...settings.hooks,
    UserPromptExpansion: [expect.objectContaining({ matcher: "belay:.*" })],
  });
  const commands = readdirSync(join(plugin, "commands"));
  expect(commands).toEqual(
    expect.arrayContaining(["checkpoints.md", "restore.md", "undo.md", "redo.md", "timeline.md"]),
  );
  for (const name of commands) expect(read(`commands/${name}`)).toContain("disable-model-invocation: true");
});

describe("what keeps hooks from running", () => {
  test("Claude Code: a switch in any of its settings", async () => {
    const place = setUp();
    const adapter = await loadAgent("claude-code");
    expect(await adapter.obstacles!(place)).toEqual([]);
    put(join(place.user, ".claude", "settings.json"), '{ "disableAllHooks": true } // off');
    put(join(place.root!, ".claude", "settings.json"), "{ malformed");
    expect(await adapter.obstacles!(place)).toEqual([expect.stringContaining("disableAllHooks")]);
  });

  test("Codex: hooks that the user has not trusted yet", async () => {
    const place = setUp();
    const program = join(place.belayHome, "codex");
    const hooks = (status: string) => [
      { command: "'/x/bin/belay-hook' codex", trustStatus: status },
      { command: "lint", trustStatus: "untrusted" },
    ];
    const answering = (status: string) =>
      `#!${process.execPath}\nrequire("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        const result = method === "hooks/list" ? ${JSON.stringify({ data: [{ hooks: hooks(status) }] })} : {};
        if (id !== undefined) console.log(JSON.stringify({ id, result }));
      });`;
    const environment = { PATH: place.belayHome };
    const adapter = await loadAgent("codex");
    expect(await adapter.obstacles!({ ...place, environment })).toEqual([
      expect.stringContaining("not installed"),
    ]);
    put(program, answering("untrusted"));
    chmodSync(program, 0o755);
    expect(await adapter.obstacles!({ ...place, environment })).toEqual([
      expect.stringContaining("skips 1 of"),
    ]);
    put(program, answering("trusted"));
    expect(await adapter.obstacles!({ ...place, environment })).toEqual([]);
  });
});

describe("after a restore", () => {
  test("[R63] exactly our entries come back, in the files that it changed", async () => {
    const place = setUp("shared");
    const { belayHome, user, environment, root } = place;
    const claude = await settingsOf("claude-code", place);
    put(claude, '{\n  "model": "opus"\n}\n');
    await installAgent("claude-code", place);
    await installAgent("cursor", place);
    const installed = readFileSync(claude, "utf8");
    // The restore brings a state from before the installation.
    writeFileSync(claude, '{\n  "model": "haiku"\n}\n');
    const request = { belayHome, user, environment, root: root!, now: NOW };
    expect(await putBackHooks({ ...request, changedPaths: ["src/a.ts"] })).toEqual([]);
    const changedPaths = [".claude/settings.json", ".cursor/hooks.json", "src/a.ts"];
    expect(await putBackHooks({ ...request, changedPaths })).toMatchObject([
      { path: claude, outcome: "changed" },
    ]);
    expect(readFileSync(claude, "utf8")).toBe(installed.replace("opus", "haiku"));
    uninstall(await loadAgent("claude-code"), place, { now: NOW });
    expect(readFileSync(claude, "utf8")).toBe('{\n  "model": "haiku"\n}\n');
  });
});

describe("the hook without the compiled program", () => {
  test("runs the command by absolute path, with its input, and always ends with 0", () => {
    const top = temporaryDirectory();
    const belayHome = join(top, "it's a home");
    const cli = join(top, "main.cjs");
    writeFileSync(
      cli,
      'process.stdin.on("data", (d) => process.stdout.write(JSON.stringify({ args: process.argv.slice(2), home: process.env.BELAY_HOME, read: String(d) }))); process.exitCode = 2;',
    );
    const facts = { belayHome, node: process.execPath, build: "/b", environment: [], program: "/nowhere" };
    const script = writeHook({ ...facts, cli });
    const run = () => execFileSync(script, ["claude-code"], { input: "event", encoding: "utf8", env: {} });
    expect(JSON.parse(run())).toEqual({ args: ["hook", "claude-code"], home: belayHome, read: "event" });
    // The CLI is gone: the agent goes on, and the log says so.
    writeHook({ ...facts, cli: join(top, "gone.js") });
    expect(execFileSync(script, ["codex"], { input: "", encoding: "utf8" })).toBe("{}\n");
    const log = readFileSync(join(belayHome, "agents", "trouble.log"), "utf8");
    expect(JSON.parse(log)).toMatchObject({ agent: "codex", event: "start" });
  });

  test("a shared command line does nothing where Belay is not installed", async () => {
    const place = setUp("shared");
    await installAgent("claude-code", place);
    const { hooks } = JSON.parse(readFileSync(await settingsOf("claude-code", place), "utf8")) as {
      hooks: { Stop: [{ hooks: [{ command: string }] }] };
    };
    const command = hooks.Stop[0].hooks[0].command;
    expect(execFileSync("sh", ["-c", command], { env: { HOME: place.user }, encoding: "utf8" })).toBe("");
  });
});
