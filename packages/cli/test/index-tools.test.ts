/** What agents' tools do to the search index: real payloads, carried out by the real host on a real workspace. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HookService } from "@belay/agents/hook";
import { openWorkspace, writeSetting } from "@belay/engine";
import { expect, test } from "vitest";
import { createAgentHost } from "../src/agents/workspace-agent-host.ts";
import { closeIndex, followIndex, indexOf } from "../src/search-index/workspace-indexes.ts";
import { Sandbox } from "./sandbox.ts";

const FIXTURES = join(import.meta.dirname, "../../agents/test/fixtures");

test("[A49, A50, R430] read, write and edit put a file into the index, delete takes it out; a message syncs it", async () => {
  using sandbox = new Sandbox({ "a.txt": "orig\n", "other.txt": "never touched\n" });
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  writeSetting(sandbox.home, "retrieval.scope", "touched");
  const index = await indexOf(sandbox.home, workspace);
  const following = followIndex(sandbox.home, workspace);
  const opened = { workspace, inTurn: <Result>(work: () => Promise<Result>) => work() };
  const service = new HookService(
    sandbox.home,
    createAgentHost(async () => opened, sandbox.home),
  );
  const send = async (agent: string, name: string, change: (text: string) => string = (text) => text) => {
    const text = readFileSync(join(FIXTURES, agent, `${name}.json`), "utf8");
    const input = Buffer.from(change(text.replaceAll("/home/you/project", sandbox.project)));
    await service.answer({ agent, input, cwd: sandbox.project, environment: {} });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await index.idle();
  };
  const files = () => index.files().map(({ path }) => path);
  const text = async (word: string) =>
    (await index.search(word, { mode: "text" })).hits.map((hit) => hit.text);

  await send("claude-code", "UserPromptSubmit");
  expect(files()).toEqual([]);
  await send("claude-code", "PostToolUse.Read");
  expect(files()).toEqual(["a.txt"]);
  await send("claude-code", "PreToolUse.Edit");
  writeFileSync(sandbox.path("a.txt"), "edited\n");
  await send("claude-code", "PostToolUse.Edit");
  expect(await text("edited")).toEqual(["edited\n"]);

  await send("codex", "PreToolUse.apply_patch");
  writeFileSync(sandbox.path("new.txt"), "hello\n");
  await send("codex", "PostToolUse.apply_patch");
  expect(files()).toEqual(["a.txt", "new.txt"]);
  const deleting = (payload: string) =>
    payload
      .replaceAll("Add File: new.txt\\n+hello", "Delete File: new.txt")
      .replaceAll("call_00000004", "call_00000005");
  await send("codex", "PreToolUse.apply_patch", deleting);
  rmSync(sandbox.path("new.txt"));
  await send("codex", "PostToolUse.apply_patch", deleting);
  expect(files()).toEqual(["a.txt"]);

  // by a shell, between two messages: no tool names it
  writeFileSync(sandbox.path("a.txt"), "by a shell\n");
  const events = workspace.events.read();
  await send("claude-code", "UserPromptSubmit", (payload) =>
    payload
      .replace(/"prompt_id": "[^"]*"/, '"prompt_id": "another"')
      .replace(/"prompt": "[^"]*"/, '"prompt": "go on"'),
  );
  for await (const event of events) if (event.type === "index_synced") break;
  expect(await text("shell")).toEqual(["by a shell\n"]);
  expect(files()).toEqual(["a.txt"]);
  await closeIndex(workspace);
  await workspace.close();
  await following;
});
