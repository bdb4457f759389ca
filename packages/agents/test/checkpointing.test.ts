/** Tools of one's own agent, over a real workspace: the engine fits the shape that is asked for. */
import { existsSync, readFileSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { expect, test } from "vitest";
import { checkpointing, wrapTools } from "../src/tools/checkpointing.ts";
import { temporaryDirectory } from "./recording-host.ts";

async function setUp() {
  const top = temporaryDirectory();
  const root = join(top, "project");
  mkdirSync(root);
  writeFileSync(join(root, "a.txt"), "one");
  const workspace = await openWorkspace(root, { home: join(top, "home") });
  const tools = {
    write: {
      description: "writes a.txt",
      async execute({ text }: { text: string }, _context?: { toolCallId: string }) {
        writeFileSync(join(root, "a.txt"), text);
        return text.length;
      },
    },
    bash: { execute: async () => rmSync(join(root, "a.txt")) },
    read_file: { execute: async () => readFileSync(join(root, "a.txt"), "utf8") },
    remote: { description: "runs elsewhere" },
  };
  return { root, workspace, tools };
}

test("[C15] a checkpoint before each tool that changes files, rolled back on request", async () => {
  const { root, workspace, tools } = await setUp();
  await using _ = workspace;
  const keeper = checkpointing(workspace);
  const wrapped = keeper.wrapTools(tools);
  expect(await wrapped.write.execute({ text: "two" }, { toolCallId: "call_1" })).toBe(3);
  expect(wrapped.write.description).toBe("writes a.txt");
  expect(await wrapped.read_file.execute()).toBe("two");
  expect(wrapped.remote).toBe(tools.remote);
  await wrapped.bash.execute();
  expect(existsSync(join(root, "a.txt"))).toBe(false);
  const taken = (await workspace.list()).map(({ description }) => description);
  expect(taken.filter((description) => description.startsWith("Before"))).toEqual([
    "Before bash",
    "Before write",
  ]);

  await keeper.rollback();
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("two");
  await keeper.rollback("call_1");
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one");
  expect((await workspace.upkeep.verify()).ok).toBe(true);
});

test("[C15] Code Buddy's tools that change files have one before them, those that look have none", async () => {
  const { workspace } = await setUp();
  await using _ = workspace;
  const changing = ["create_file", "str_replace", "multi-edit", "multi_edit", "bash"];
  const execute = async () => undefined;
  const entries = [...changing, "search", "read_file"].map((name) => [name, { execute }] as const);
  const tools = checkpointing(workspace).wrapTools(Object.fromEntries(entries));
  for (const [name] of entries) await tools[name]!.execute();
  const taken = (await workspace.list()).flatMap(({ tool }) => tool ?? []);
  expect(taken.toReversed()).toEqual(changing);
});

test("[A76] a file that a tool names is captured even when it is ignored", async () => {
  const { root, workspace } = await setUp();
  await using _ = workspace;
  writeFileSync(join(root, ".gitignore"), "secret.txt\n");
  writeFileSync(join(root, "secret.txt"), "one");
  const keeper = checkpointing(workspace);
  const tools = keeper.wrapTools({
    write: {
      async execute({ path }: { path: string }) {
        if (path.startsWith(root)) writeFileSync(path, "two");
      },
    },
  });
  await tools.write.execute({ path: join(root, "secret.txt") });
  await tools.write.execute({ path: "/outside/of/it.txt" });
  await keeper.rollback("write-1");
  expect(readFileSync(join(root, "secret.txt"), "utf8")).toBe("one");
  expect((await workspace.upkeep.verify()).ok).toBe(true);
});

test("as hooks of the Claude Agent SDK", async () => {
  const { root, workspace } = await setUp();
  await using _ = workspace;
  const { hooks, rollback } = checkpointing(workspace, { after: true });
  const input = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "echo x" } };
  expect(await hooks.PreToolUse[0]!.hooks[0]!(input, "toolu_1")).toEqual({});
  writeFileSync(join(root, "a.txt"), "two");
  await hooks.PostToolUse[0]!.hooks[0]!(input, "toolu_1");
  const taken = (await workspace.list()).map(({ description }) => description);
  expect(taken.slice(0, 2)).toEqual(["After Bash: echo x", "Before Bash: echo x"]);
  await rollback("toolu_1");
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one");
  expect((await workspace.upkeep.verify()).ok).toBe(true);
});

test("[L25] a checkpoint that fails does not stop the tool, unless it is required", async () => {
  const broken = {
    checkpoint: () => Promise.reject(new Error("full")),
    restoreTo: () => Promise.reject(new Error("full")),
  };
  const tools = { bash: { execute: async () => "ran" } };
  const troubles: string[] = [];
  const lenient = wrapTools(tools, broken, { onTrouble: (error) => troubles.push((error as Error).message) });
  expect(await lenient.bash.execute()).toBe("ran");
  expect(troubles).toEqual(["full"]);
  await expect(wrapTools(tools, broken, { required: true }).bash.execute()).rejects.toThrow("full");
  await expect(checkpointing(broken).rollback()).rejects.toThrow("No tool has taken a checkpoint");
});
