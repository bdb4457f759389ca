/** What an agent does through the tools of an MCP server: real payloads, carried out by the real host on a real workspace. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HookService } from "@belay/agents/hook";
import { openWorkspace } from "@belay/engine";
import { expect, test } from "vitest";
import { createAgentHost } from "../src/agents/workspace-agent-host.ts";
import { Sandbox } from "./sandbox.ts";

const FIXTURES = join(import.meta.dirname, "../../agents/test/fixtures/claude-code");
const TOOL = "mcp__notebook__edit_cell";

test("[I28] an edit through a tool of an MCP server has its checkpoints, and undo takes it out", async () => {
  using sandbox = new Sandbox({ "n.ipynb": "{}\n", "gone.txt": "g\n", "mine.txt": "m\n" });
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  const opened = { workspace, inTurn: <Result>(work: () => Promise<Result>) => work() };
  const service = new HookService(
    sandbox.home,
    createAgentHost(async () => opened, sandbox.home),
  );
  const send = async (name: string, more: object = {}) => {
    const text = readFileSync(join(FIXTURES, `${name}.json`), "utf8");
    const payload = JSON.parse(text.replaceAll("/home/you/project", sandbox.project)) as object;
    const input = Buffer.from(JSON.stringify({ ...payload, ...more }));
    await service.answer({ agent: "claude-code", input, cwd: sandbox.project, environment: {} });
  };
  const call = { tool_name: TOOL, tool_input: { cell: 1, source: "x" }, tool_use_id: "toolu_mcp1" };
  await send("UserPromptSubmit");
  await send("PreToolUse.Write", call);
  writeFileSync(sandbox.path("n.ipynb"), '{"cells":["x"]}\n');
  writeFileSync(sandbox.path("made.txt"), "made by the server\n");
  rmSync(sandbox.path("gone.txt"));
  await send("PostToolUse.Write", { ...call, tool_response: {} });
  writeFileSync(sandbox.path("mine.txt"), "by hand\n");
  await send("Stop");

  const taken = (await workspace.list()).filter(({ kind }) => kind === "tool").toReversed();
  expect(taken).toMatchObject([
    { phase: "before", tool: TOOL, toolUseId: "toolu_mcp1" },
    { phase: "after", tool: TOOL, changes: { added: 1, modified: 1, deleted: 1 } },
  ]);
  expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
  expect(["n.ipynb", "gone.txt", "made.txt", "mine.txt"].map((name) => sandbox.read(name))).toEqual([
    "{}\n",
    "g\n",
    undefined,
    "by hand\n",
  ]);
});
