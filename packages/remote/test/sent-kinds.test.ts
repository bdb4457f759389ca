/** Which checkpoints are sent, and whether conversations are: what stays behind does not count as stored. */
import { writeSetting } from "@belay/engine";
import { describe, expect, test } from "vitest";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { filesBelow, Machine } from "./support/machines.ts";
import { readableOn } from "./support/opened-server.ts";

const PROMPT = "PLANTED-PROMPT-81fe";

/** A machine whose turn has two tool calls, and a checkpoint that was named. */
async function worked(
  store: MemoryRemoteStore,
  settings: Readonly<Record<string, string>>,
): Promise<Machine> {
  const ana = new Machine(() => store);
  for (const [key, value] of Object.entries(settings)) writeSetting(ana.home, key, value);
  ana.write({ "a.txt": "one\n" });
  await (await ana.init()).add();
  const { workspace } = ana;
  const thread = await workspace.threads.open({ agent: "claude-code", externalId: "c1", title: PROMPT });
  await workspace.turns.prompt(thread.id, { content: PROMPT, messageId: "m-1" });
  for (const n of [1, 2]) {
    await workspace.turns.beginTool(thread.id, { tool: "Bash", toolUseId: `t-${n}` });
    ana.write({ "a.txt": `by tool ${n}\n` });
    await workspace.turns.endTool(thread.id, { toolUseId: `t-${n}` });
  }
  await workspace.turns.end(thread.id);
  ana.write({ "b.txt": "by hand\n" });
  await workspace.checkpoint({ name: "named" });
  await workspace.turns.prompt(thread.id, { content: PROMPT, messageId: "m-2" });
  await workspace.turns.beginTool(thread.id, { tool: "Bash", toolUseId: "t-3" });
  ana.write({ "c.txt": "later\n" });
  await workspace.turns.endTool(thread.id, { toolUseId: "t-3" });
  return ana;
}

const kindsOf = async ({ workspace }: Machine) => (await workspace.list()).map(({ kind }) => kind);

describe("sync.kinds", () => {
  test.each(["turns", "named"] as const)(
    "[R2024, T1] %s: the others stay behind, are not stored, do not count as waiting, and follow when all are sent",
    async (kinds) => {
      const store = new MemoryRemoteStore();
      const ana = await worked(store, { "sync.kinds": kinds });
      expect(await ana.push()).toMatchObject({ outcome: "pushed" });
      expect(ana.workspace.exchange.queued("team")).toMatchObject({ checkpoints: 0, records: 0 });
      expect(await ana.push()).toMatchObject({ outcome: "unchanged" });
      const all = await ana.workspace.list();
      const stored = all.filter(({ synced }) => synced === true);
      expect(stored.length).toBeLessThan(all.length);
      expect(stored[0]!.id).toBe(all[0]!.id);
      expect(stored.map(({ name }) => name)).toContain("named");
      const bob = await ana.clone(() => store);
      expect((await bob.workspace.list()).map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
      const theirs = await kindsOf(bob);
      expect(theirs.filter((kind) => kind === "tool").length).toBeLessThanOrEqual(1);
      // the session began with the first one
      expect(theirs.filter((kind) => kind === "message")).toHaveLength(kinds === "turns" ? 2 : 1);
      expect((await bob.workspace.restoreTo("@")).outcome).toBe("applied");
      expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
      // a turn of which a part is missing is not undone in part
      await bob.workspace.undo();
      const undone = await bob.workspace.undo();
      expect(undone.outcome).toBe("unchanged");
      expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
      // what is asked for by name goes all the same
      const left = all.find(({ synced, kind }) => synced === false && kind === "tool")!;
      const { openExchange } = await import("../src/sync/remote.ts");
      {
        using remote = openExchange(ana.workspace, undefined, ana.host);
        await remote.push({ chosen: { thread: null, checkpoint: left.id } });
      }
      expect((await ana.workspace.resolve(left.id)).synced).toBe(true);
      writeSetting(ana.home, "sync.kinds", "all");
      expect(ana.workspace.exchange.queued("team").checkpoints).toBeGreaterThan(0);
      await ana.push();
      expect(new Set((await ana.workspace.list()).map(({ synced }) => synced))).toEqual(new Set([true]));
      expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
      const eve = await ana.clone(() => store, { name: "eve" });
      expect(await kindsOf(eve)).toEqual(await kindsOf(ana));
    },
  );
});

describe("sync.conversations", () => {
  test("[R2025] off: no word of a conversation is on the server; on, the messages follow", async () => {
    const store = new MemoryRemoteStore();
    const ana = await worked(store, { "sync.conversations": "off" });
    await ana.push();
    const isReadable = async () => (await readableOn(store, ana)).some((bytes) => bytes.includes(PROMPT));
    expect(await isReadable()).toBe(false);
    expect(ana.workspace.exchange.queued("team").records).toBe(0);
    const bob = await ana.clone(() => store);
    expect(await kindsOf(bob)).toEqual(await kindsOf(ana));
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    writeSetting(ana.home, "sync.conversations", "on");
    await ana.push();
    expect(await isReadable()).toBe(true);
  });
});
