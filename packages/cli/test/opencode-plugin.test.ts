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

/** The plugin as opencode loads it. A script that is started, and a Node that it starts, leave a mark. */
async function loadPlugin(directory: string): Promise<Record<string, Hook>> {
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
  const opened = await connectionsOf(async () => {
    for (const id of ["one", "two", "three"]) await call(plugin, id);
    await endTurn(plugin);
  });
  expect(opened).toBe(1);
  expect([started("script"), started("long-way")]).toEqual([false, false]);
  const { checkpoints } = sandbox.json(["list", "--kind", "tool", "--all"]);
  expect(checkpoints).toHaveLength(6);
});

test("[R171] an event whose connection ended unheard goes over a new one", async () => {
  sandbox = await Sandbox.protected();
  sandbox.ok("start");
  const plugin = await loadPlugin(sandbox.project);
  await call(plugin, "one");
  await endTurn(plugin);
  // meanwhile this process is blocked, as opencode may be
  sandbox.ok("stop");
  sandbox.ok("start");
  const about = { tool: "bash", sessionID: "ses_1", callID: "two" };
  const opened = await connectionsOf(() =>
    plugin["tool.execute.before"]!(about, { args: { command: "make" } }),
  );
  expect(opened).toBe(1);
  await expect.poll(() => toolCheckpoints()).toBe(3);
});

test("[R171] events at the same time take a connection each; what is said is told whole", async () => {
  sandbox = await Sandbox.protected();
  sandbox.ok("start");
  const plugin = await loadPlugin(sandbox.project);
  const message = { id: "msg_1", sessionID: "ses_1" };
  const parts = [{ type: "text", text: "é".repeat(70_000) }];
  await plugin["chat.message"]!({ sessionID: "ses_1" }, { message, parts });
  const both = async () => void (await Promise.all([call(plugin, "two"), call(plugin, "three")]));
  expect(await connectionsOf(both)).toBeGreaterThan(0);
  await endTurn(plugin);
  await expect.poll(() => toolCheckpoints()).toBe(4);
  const [thread] = sandbox.json(["threads"]).threads;
  expect(sandbox.json(["thread", thread.id]).messages[0].content).toHaveLength(70_000);
});

const toolCheckpoints = (): number => sandbox.json(["list", "--kind", "tool", "--all"]).checkpoints.length;

/** How many connections this process opens meanwhile. */
async function connectionsOf(work: () => Promise<void>): Promise<number> {
  let connections = 0;
  const count = () => (connections += 1);
  subscribe("net.client.socket", count);
  try {
    await work();
  } finally {
    unsubscribe("net.client.socket", count);
  }
  return connections;
}

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
