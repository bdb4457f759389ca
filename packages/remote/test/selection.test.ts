/** One thread, or one checkpoint, is sent alone: it can be cloned, it counts as sent, and nothing else does. */
import { randomBytes } from "node:crypto";
import type { WorkspaceEvent } from "@belay/engine";
import { expect, test } from "vitest";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { RemoteFailure } from "../src/stores/remote-store.ts";
import { openExchange, type PushRequest } from "../src/sync/remote.ts";
import { checkpointsOf, filesBelow, Machine } from "./support/machines.ts";

async function push(machine: Machine, request: PushRequest = {}) {
  using remote = openExchange(machine.workspace, undefined, machine.host);
  return await remote.push(request);
}

/** Ana's workspace with two threads of two checkpoints each, the second one approved once. */
async function twoThreads() {
  const store = new MemoryRemoteStore();
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "one\n", "dir/b.txt": "b\n" });
  await (await ana.init()).add();
  const threads = [];
  for (const name of ["first", "second"]) {
    const thread = await ana.workspace.threads.create({ agent: "codex", externalId: name, title: name });
    for (const n of [1, 2]) {
      ana.write({ [`${name}.txt`]: `${n}\n` });
      await ana.workspace.turns.run({ thread: thread.id, prompt: `${name} ${n}` }, async () => {
        ana.write({ [`${name}-${n}.txt`]: "made\n" });
      });
    }
    if (name === "second") await ana.workspace.approvals.approve(thread.id);
    threads.push(thread.id);
  }
  const [first, second] = threads as [(typeof threads)[0], (typeof threads)[0]];
  const syncedOf = async (thread: typeof first) =>
    new Set((await ana.workspace.list({ thread })).map(({ synced }) => synced));
  return { store, ana, first, second, syncedOf };
}

test("[R1841] a thread goes alone, counts as sent, and is cloned with its history; the rest follows", async () => {
  const { store, ana, first, second, syncedOf } = await twoThreads();
  const chosen = { thread: second, checkpoint: null };
  const report = await push(ana, { chosen });
  expect(report).toMatchObject({ outcome: "partial", segment: 1 });
  expect(await syncedOf(second)).toEqual(new Set([true]));
  expect(await syncedOf(first)).toEqual(new Set([false]));
  expect(await push(ana, { chosen })).toMatchObject({ outcome: "unchanged", segment: 1 });
  const bob = await ana.clone(() => store);
  expect((await bob.workspace.threads.list()).map(({ id }) => id)).toEqual([second]);
  const [newest] = await ana.workspace.list({ thread: second, limit: 1 });
  await bob.workspace.restoreTo(newest!.id);
  expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
  const messages = async ({ workspace }: Machine) =>
    (await workspace.threads.history(second, { limit: 10 })).messages.map(({ content }) => content);
  expect(await messages(bob)).toEqual(await messages(ana));
  expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  // the clone goes on: what it captures is newer than what it has
  bob.write({ "a.txt": "bob\n" });
  const { checkpoint } = await bob.workspace.checkpoint();
  expect((await bob.workspace.resolve("@")).id).toBe(checkpoint.id);

  expect(await push(ana)).toMatchObject({ outcome: "pushed" });
  expect(await syncedOf(first)).toEqual(new Set([true]));
  expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
  const { line } = ana.workspace.exchange.remotes()[0]!;
  const eve = await ana.clone(() => store, { name: "eve", line });
  expect(await checkpointsOf(eve)).toEqual(await checkpointsOf(ana));
});

test("[R1841, T1] a checkpoint goes alone; interrupted after its segment, the next push claims it and nothing else", async () => {
  const { store, ana, first, second, syncedOf } = await twoThreads();
  const [newest, before] = await ana.workspace.list({ thread: first, limit: 2 });
  const chosen = { thread: null, checkpoint: newest!.id };
  const put = store.put.bind(store);
  store.put = async (key, bytes, how) => {
    if (key.includes("/h/")) throw new RemoteFailure("unreachable", "There is no server.");
    return put(key, bytes, how);
  };
  await expect(push(ana, { chosen })).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  expect((await ana.workspace.resolve(newest!.id)).synced).toBe(false);
  store.put = put;
  // what changes meanwhile is sent again
  await ana.workspace.note(newest!.id, "changed meanwhile");
  expect(await push(ana, { chosen })).toMatchObject({ outcome: "partial", segment: 2 });
  expect((await ana.workspace.resolve(newest!.id)).synced).toBe(true);
  expect((await ana.workspace.resolve(before!.id)).synced).toBe(false);
  expect(await syncedOf(second)).toEqual(new Set([false]));
  const bob = await ana.clone(() => store);
  expect((await bob.workspace.resolve(newest!.id)).note).toBe("changed meanwhile");
  await expect(bob.workspace.resolve(before!.id)).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
  expect(await push(ana)).toMatchObject({ outcome: "pushed" });
  expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
});

test("[R1842] how far a push is, is told; only the newest is kept", async () => {
  const store = new MemoryRemoteStore();
  const ana = new Machine(() => store);
  ana.write({ "big.bin": randomBytes(9_000_000), "a.txt": "one\n" });
  await (await ana.init()).add();
  let now = Date.now();
  ana.host = { ...ana.host, around: { ...ana.host.around, now: () => (now += 600) } };
  using remote = openExchange(ana.workspace, undefined, ana.host);
  const { id } = await ana.workspace.resolve("@");
  expect(await remote.isSynced(id)).toBe(false);
  const heard = remote.events()[Symbol.asyncIterator]();
  const first = heard.next();
  await push(ana);
  expect(await remote.isSynced(id)).toBe(true);
  expect((await first).value).toMatchObject({ type: "sync_started", remote: "team" });
  await heard.return?.();
  const told: WorkspaceEvent[] = [];
  const newest = ana.workspace.events.newest();
  for await (const event of ana.workspace.events.read({ after: 0 })) {
    if (event.type.startsWith("sync_")) told.push(event);
    if (event.seq >= newest) break;
  }
  expect(told.map(({ type }) => type)).toEqual(["sync_started", "sync_progress", "sync_finished"]);
  const { bytes, bytesTotal, objects, objectsTotal, ...rest } = told[1] as Extract<
    WorkspaceEvent,
    { type: "sync_progress" }
  >;
  expect(rest).toMatchObject({ remote: "team", direction: "push", phase: "content", etaMs: 0 });
  expect([bytes, objects]).toEqual([bytesTotal, objectsTotal]);
  expect(bytes).toBeGreaterThan(9_000_000);
  expect(rest.bytesPerSecond).toBeGreaterThan(0);
});
