/** opencode's plugin against the real resident process, and without one. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeHook } from "@belay/agents";
import { afterEach, expect, test } from "vitest";
import { opencodePlugin } from "../../agents/src/hooks/opencode-plugin.ts";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
afterEach(() => {
  sandbox.belay(["stop"]);
  sandbox[Symbol.dispose]();
});

type Hook = (input: object, output: object) => Promise<void>;

/** A hook of which the script, and the Node that it starts, leave a mark. Belay's own commands replace it. */
function markHook(): void {
  const node = join(sandbox.base, "node.sh");
  const program = `#!/bin/sh\necho started >>'${sandbox.base}/long-way'\nexec '${process.execPath}' "$@"\n`;
  writeFileSync(node, program, { mode: 0o755 });
  const build = join(LAUNCHER, "../../dist/main.js");
  // the script alone, where a mark can be left
  const script = writeHook({
    belayHome: sandbox.home,
    node,
    cli: LAUNCHER,
    build,
    program: "/nowhere",
    environment: [],
  });
  writeFileSync(
    script,
    readFileSync(script, "utf8").replace("\n", `\necho started >>'${sandbox.base}/script'\n`),
  );
}

/** The plugin as opencode loads it. */
async function loadPlugin(directory: string): Promise<Record<string, Hook>> {
  markHook();
  const file = join(sandbox.base, "plugin.mjs");
  writeFileSync(file, opencodePlugin({ scope: "user", belayHome: sandbox.home } as never));
  const { Belay } = (await import(`${file}?${Date.now()}`)) as {
    Belay: (place: { directory: string }) => Promise<Record<string, Hook>>;
  };
  return Belay({ directory });
}

const started = (what: string) => existsSync(join(sandbox.base, what));

/** A call of opencode's shell tool that writes a file. */
async function call(plugin: Record<string, Hook>, id: string): Promise<void> {
  const about = { tool: "bash", sessionID: "ses_1", callID: id };
  await plugin["tool.execute.before"]!(about, { args: { command: `make ${id}` } });
  sandbox.write(`${id}.txt`, "made\n");
  await plugin["tool.execute.after"]!(
    { ...about, args: { command: `make ${id}` } },
    { metadata: { exit: 0 } },
  );
}

/** What is under way is confirmed by now: the end of a turn waits for the ends of its tools. */
async function endTurn(plugin: Record<string, Hook>): Promise<void> {
  const event = { type: "session.idle", properties: { sessionID: "ses_1" }, id: "evt_1" };
  await plugin["event"]!({ event }, {});
}

test("[R171] opencode's plugin asks the resident process itself, over one connection", async () => {
  sandbox = await Sandbox.protected();
  sandbox.ok("start");
  const plugin = await loadPlugin(sandbox.project);
  let connections = 0;
  const count = () => (connections += 1);
  subscribe("net.client.socket", count);
  for (const id of ["one", "two", "three"]) await call(plugin, id);
  await endTurn(plugin);
  unsubscribe("net.client.socket", count);
  expect(connections).toBe(1);
  expect([started("script"), started("long-way")]).toEqual([false, false]);
  const { checkpoints } = sandbox.json(["list", "--kind", "tool", "--all"]);
  expect(checkpoints).toHaveLength(6);
});

test("[R171] a resident process that was started again is asked over a new connection", async () => {
  sandbox = await Sandbox.protected();
  sandbox.ok("start");
  const plugin = await loadPlugin(sandbox.project);
  await call(plugin, "one");
  await endTurn(plugin);
  // meanwhile this process is blocked, as opencode may be: it has not heard that the connection ended
  sandbox.ok("stop");
  sandbox.ok("start");
  markHook();
  await call(plugin, "two");
  await endTurn(plugin);
  expect([started("script"), started("long-way")]).toEqual([false, false]);
  expect(sandbox.json(["list", "--kind", "tool", "--all"]).checkpoints).toHaveLength(4);
});

test("[R171] events at the same time take a connection each; what is said is told whole", async () => {
  sandbox = await Sandbox.protected();
  sandbox.ok("start");
  const plugin = await loadPlugin(sandbox.project);
  const prompt = async (id: string, text: string) => {
    const parts = [{ type: "text", text }];
    await plugin["chat.message"]!({ sessionID: "ses_1" }, { message: { id, sessionID: "ses_1" }, parts });
    return parts.slice(1).map((part) => part.text);
  };
  expect(await prompt("msg_1", "é".repeat(70_000))).toEqual([]);
  await call(plugin, "one");
  await endTurn(plugin);
  sandbox.ok("undo", "--yes");
  const told = await Promise.all([prompt("msg_2", "go on"), call(plugin, "two"), call(plugin, "three")]);
  await endTurn(plugin);
  expect(told[0]).toEqual([expect.stringContaining("the user took back some of your earlier work")]);
  expect([started("script"), started("long-way")]).toEqual([false, false]);
  expect(sandbox.json(["list", "--kind", "tool", "--all"]).checkpoints).toHaveLength(6);
  const [thread] = sandbox.json(["threads"]).threads;
  expect(sandbox.json(["thread", thread.id]).messages[0].content).toHaveLength(70_000);
});

test("[R171] without the resident process the script does it", async () => {
  sandbox = await Sandbox.protected();
  const plugin = await loadPlugin(sandbox.project);
  await call(plugin, "one");
  await endTurn(plugin);
  expect([started("script"), started("long-way")]).toEqual([true, true]);
  expect(sandbox.json(["list", "--kind", "tool", "--all"]).checkpoints).toHaveLength(2);
});

test("[R170] in an unprotected directory opencode's plugin starts nothing", async () => {
  sandbox = await Sandbox.protected();
  const elsewhere = join(sandbox.base, "elsewhere");
  mkdirSync(elsewhere);
  const plugin = await loadPlugin(elsewhere);
  await call(plugin, "one");
  expect(started("script")).toBe(false);
  rmSync(join(sandbox.home, "roots"));
  await call(plugin, "two");
  expect(started("script")).toBe(true);
});
