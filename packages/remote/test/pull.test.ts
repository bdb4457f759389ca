/** Looking at the lines of other machines, and fetching one checkpoint of them. */
import { randomBytes } from "node:crypto";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "@belay/engine";
import { expect, onTestFinished, test } from "vitest";
import { openExchange, type RemoteExchange } from "../src/sync/remote.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import type { RemoteStore } from "../src/stores/remote-store.ts";
import { filesBelow, Machine } from "./support/machines.ts";

/** A store that counts and remembers what was asked of it. */
class WatchedStore implements RemoteStore {
  readonly inner = new MemoryRemoteStore();
  readonly asked: string[] = [];

  put(...words: Parameters<RemoteStore["put"]>) {
    this.asked.push(`put ${words[0]}`);
    return this.inner.put(...words);
  }

  get(...words: Parameters<RemoteStore["get"]>) {
    this.asked.push(`get ${words[0]} ${words[1] === undefined ? "" : "range"}`);
    return this.inner.get(...words);
  }

  list(...words: Parameters<RemoteStore["list"]>) {
    this.asked.push(`list ${words[0]}`);
    return this.inner.list(...words);
  }

  remove(...words: Parameters<RemoteStore["remove"]>) {
    return this.inner.remove(...words);
  }

  take(): string[] {
    return this.asked.splice(0);
  }
}

/** Ana and Bob, whose workspace is a clone of Ana's; both pushed. */
async function twoMachines() {
  const store = new WatchedStore();
  const ana = await new Machine(() => store, "ana").init();
  ana.write({ "a.txt": "one\n", "src/x.ts": "x\n", "big.bin": randomBytes(1_300_000) });
  await ana.workspace.checkpoint();
  await ana.add();
  await ana.push();
  const bob = await ana.clone(() => store);
  await bob.workspace.restoreTo("@");
  await bob.push();
  return { store, ana, bob };
}

async function withRemote<Result>(machine: Machine, work: (remote: RemoteExchange) => Promise<Result>) {
  using remote = openExchange(machine.workspace, undefined, machine.host);
  return await work(remote);
}

const pull = (machine: Machine) => withRemote(machine, (remote) => remote.pull());
const fetchFrom = (machine: Machine, reference: string) =>
  withRemote(machine, (remote) => remote.fetch(reference));

/** What happened in a workspace of its own accord. */
async function syncEvents({ workspace }: Machine): Promise<object[]> {
  const [found, newest]: [object[], number] = [[], workspace.events.newest()];
  for await (const event of workspace.events.read({ after: 0 })) {
    // how far a slow machine was told is not the point
    if (/^sync_(?!progress)|^remote_/.test(event.type)) found.push(event);
    if (event.seq >= newest) break;
  }
  return found;
}

test("[R703, R1511] one listing of heads says which lines moved; only their new segments are read", async () => {
  const { store, ana, bob } = await twoMachines();
  const first = await pull(ana);
  expect(first).toMatchObject({ outcome: "pulled", lines: [{ name: "bob@bob-laptop" }] });
  store.take();
  expect(await pull(ana)).toMatchObject({ outcome: "unchanged", lines: [] });
  expect(store.take()).toEqual([expect.stringMatching(/^list .*\/h\/$/)]);
  bob.write({ "b.txt": "bob\n" });
  const { id } = await bob.workspace.checkpoint({ name: "from bob" });
  await bob.push();
  store.take();
  const before = await ana.workspace.list();
  expect(await pull(ana)).toMatchObject({
    lines: [{ name: "bob@bob-laptop", newest: { id, name: "from bob" } }],
  });
  // the heads, what was seen last, what comes after it, and the one new segment
  expect(store.take()).toHaveLength(4);
  expect(await ana.workspace.list()).toEqual(before);
  expect(ana.workspace.exchange.remotes()[0]!.pulledAt).not.toBeNull();
  // [R1511] readers of events learn of it, of every try that failed, and of when the next one comes
  ana.host = { ...ana.host, connect: () => new MemoryRemoteStore() };
  await expect(pull(ana)).rejects.toThrow();
  ana.host = { ...ana.host, retryMs: 5000 };
  await expect(pull(ana)).rejects.toThrow();
  const { line } = bob.workspace.exchange.remotes()[0]!;
  const [sending, looking] = ["push", "pull"].map((direction) => ({ type: "sync_started", direction }));
  const [pushed, looked] = ["push", "pull"].map((direction) => ({ type: "sync_finished", direction }));
  const failed = {
    type: "sync_failed",
    code: expect.stringMatching(/^REMOTE_/),
    problem: expect.any(String),
  };
  const events = await syncEvents(ana);
  expect(events).toMatchObject([
    sending,
    pushed,
    looking,
    { type: "remote_changed", remote: "team", line },
    looked,
    looking,
    looked,
    looking,
    { type: "remote_changed", line, checkpoints: 1 },
    looked,
    looking,
    { ...failed, retryAt: null },
    looking,
    { ...failed, retryAt: expect.any(Number) },
  ]);
});

test("[R704] a checkpoint is fetched by its line, number, tag, name or id; what is here is not asked for", async () => {
  const { store, ana, bob } = await twoMachines();
  bob.write({ "a.txt": "two\n", "src/y.ts": "y\n" });
  await bob.workspace.checkpoint({ name: "older" });
  bob.write({ "a.txt": "three\n" });
  const { id } = await bob.workspace.checkpoint();
  await bob.workspace.tag(id, "good");
  await bob.push();
  const newest = await fetchFrom(ana, "bob@bob-laptop/@");
  expect(newest).toMatchObject({ isNew: true, checkpoint: { id } });
  expect(newest.checkpoint.origin).toMatch(/^remote:team:[0-9a-f]{32}$/);
  expect(newest.bytes).toBeLessThan(200_000);
  store.take();
  for (const reference of [id, id.slice(0, 8), "good", "bob@bob-laptop/good"])
    expect(await fetchFrom(ana, reference)).toMatchObject({ isNew: false, checkpoint: { id } });
  expect(store.take()).toEqual([]);
  const older = await fetchFrom(ana, "bob@bob-laptop/@-1");
  expect(older).toMatchObject({ isNew: true, checkpoint: { name: "older" } });
  expect((await fetchFrom(ana, "bob@bob-laptop/older")).checkpoint.id).toBe(older.checkpoint.id);
  await expect(fetchFrom(ana, "nothing")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
  // [T9] every object was hashed on its way in: the store is sound, and the files are Bob's
  expect(await ana.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  expect(await ana.workspace.restoreTo(id)).toMatchObject({ outcome: "applied" });
  expect(filesBelow(ana.root)).toEqual(filesBelow(bob.root));
  // her own two of the restore are sent; what was fetched stays in the line of Bob
  expect((await ana.push()).checkpoints).toBe(2);
});

test("[T9] a checkpoint whose parcel is damaged or gone is not taken in, and what is wrong is named", async () => {
  const { store, ana, bob } = await twoMachines();
  bob.write({ "more.bin": randomBytes(1_400_000) });
  const { id } = await bob.workspace.checkpoint();
  await bob.push();
  await pull(ana);
  const [key, kept] = [...store.inner.objects].filter(([name]) => name.includes("/b/")).at(-1)!;
  const damaged = Buffer.from(kept.bytes);
  damaged[damaged.length >> 1]! ^= 1;
  store.inner.objects.set(key, { ...kept, bytes: damaged });
  await expect(fetchFrom(ana, id)).rejects.toMatchObject({ code: "REMOTE_DAMAGED" });
  store.inner.objects.delete(key);
  await expect(fetchFrom(ana, id)).rejects.toMatchObject({ code: "REMOTE_INCOMPLETE" });
  await expect(ana.workspace.resolve(id)).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
  store.inner.objects.set(key, kept);
  expect(await fetchFrom(ana, id)).toMatchObject({ isNew: true });
  expect(await ana.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
});

test("[T15, R1501] a segment that was seen and is gone, or is another, is a rollback; so is one that another line had seen", async () => {
  const { store, ana, bob } = await twoMachines();
  await pull(ana);
  const before = new Map(store.inner.objects);
  bob.write({ "b.txt": "bob\n" });
  const { id } = await bob.workspace.checkpoint();
  await bob.push();
  await pull(ana);
  await ana.workspace.checkpoint();
  await ana.push();
  // the server goes back to an earlier copy, but for Ana's line
  const anaLine = ana.workspace.exchange.remotes()[0]!.line;
  const lost = new Map([...store.inner.objects].filter(([key]) => !key.includes(anaLine)));
  for (const key of store.inner.objects.keys())
    if (!before.has(key) && !key.includes(anaLine)) store.inner.objects.delete(key);
  for (const [key, kept] of before) if (!key.includes(anaLine)) store.inner.objects.set(key, kept);
  await expect(pull(ana)).rejects.toMatchObject({ code: "REMOTE_ROLLED_BACK" });
  // local knowledge is kept
  expect((await withRemote(ana, (remote) => remote.lines()))[0]).toMatchObject({ newest: { id } });
  // a machine that never saw Bob's line learns from Ana's that something is gone
  const eve = await ana.clone(() => store, { name: "eve", line: anaLine });
  await expect(pull(eve)).rejects.toMatchObject({ code: "REMOTE_ROLLED_BACK" });
  // [R1501] each time, and no push takes the alarm off; the lines of others are read all the same
  ana.write({ "a.txt": "after the alarm\n" });
  const { checkpoint } = await ana.workspace.checkpoint();
  await ana.push();
  await eve.push();
  await expect(pull(eve)).rejects.toMatchObject({ code: "REMOTE_ROLLED_BACK" });
  expect(eve.workspace.exchange.remotes()[0]!.problem).toMatch(/^REMOTE_ROLLED_BACK/);
  const seen = await withRemote(eve, (remote) => remote.lines());
  expect(seen.find(({ line }) => line === anaLine)?.newest?.id).toBe(checkpoint.id);
  // what is there again is no reason any more
  for (const [key, kept] of lost) store.inner.objects.set(key, kept);
  await pull(eve);
  expect(eve.workspace.exchange.remotes()[0]!.problem).toBeNull();
});

test("[R1500] a rollback of the own line is noticed by a pull and, where the last push is not recent, by a push", async () => {
  const { store, ana } = await twoMachines();
  ana.write({ "a.txt": "two\n" });
  await ana.workspace.checkpoint();
  const before = new Map(store.inner.objects);
  await ana.push();
  await pull(ana);
  const after = new Map(store.inner.objects);
  const goTo = (objects: typeof before) => {
    store.inner.objects.clear();
    for (const [key, kept] of objects) store.inner.objects.set(key, kept);
  };
  goTo(before);
  for (const _ of [1, 2]) await expect(pull(ana)).rejects.toMatchObject({ code: "REMOTE_ROLLED_BACK" });
  ana.write({ "a.txt": "three\n" });
  await ana.workspace.checkpoint();
  const { around } = ana.host;
  ana.host = { ...ana.host, around: { ...around, now: () => Date.now() + 11 * 60_000 } };
  await expect(ana.push()).rejects.toMatchObject({ code: "REMOTE_ROLLED_BACK" });
  expect(store.inner.objects).toEqual(before);
  expect(ana.workspace.exchange.queued("team").checkpoints).toBe(1);
  goTo(after);
  expect(await ana.push()).toMatchObject({ outcome: "pushed", forkedFrom: null });
  await pull(ana);
  expect(ana.workspace.exchange.remotes()[0]!.problem).toBeNull();
});

test("[T11] what one machine writes on another's checkpoint reaches it; of two the later counts everywhere", async () => {
  const { ana, bob } = await twoMachines();
  ana.write({ "a.txt": "ana\n" });
  const { id } = await ana.workspace.checkpoint();
  await ana.push();
  await fetchFrom(bob, id);
  await bob.workspace.rename(id, "bob's word");
  await bob.workspace.tag(id, "seen-by-bob");
  await bob.push();
  expect(await pull(ana)).toMatchObject({ annotations: 2 });
  expect(await ana.workspace.resolve("seen-by-bob")).toMatchObject({ id, name: "bob's word" });
  await ana.workspace.rename(id, "ana's word");
  await ana.push();
  expect(await pull(bob)).toMatchObject({ annotations: 1 });
  expect(await bob.workspace.resolve(id)).toMatchObject({ name: "ana's word" });
  // a third machine sees the same, from the lines alone
  const eve = await ana.clone(() => ana.host.connect(""), {
    name: "eve",
    line: bob.workspace.exchange.remotes()[0]!.line,
  });
  await pull(eve);
  const lines = await withRemote(eve, (remote) => remote.lines());
  const ofAna = lines.find(({ name }) => name.startsWith("ana@"));
  expect(ofAna?.newest).toMatchObject({ id, name: "ana's word", tags: ["seen-by-bob"] });
});

test("[R1503] what a machine set on its own checkpoints is taken off there only; what another added, the other takes off", async () => {
  const { ana, bob } = await twoMachines();
  const { id } = (await ana.workspace.checkpoint({ name: "mine" })).checkpoint;
  await ana.workspace.tag(id, "keep");
  await ana.push();
  await fetchFrom(bob, id);
  await bob.workspace.untag("keep");
  await bob.workspace.rename(id, "");
  await bob.workspace.tag(id, "of-bob");
  await bob.push();
  await pull(ana);
  expect(await ana.workspace.resolve("keep")).toMatchObject({ id, name: "mine", tags: ["keep", "of-bob"] });
  // both agree in the end
  await ana.push();
  await pull(bob);
  expect(await bob.workspace.resolve(id)).toMatchObject({ name: "mine", tags: ["keep", "of-bob"] });
  await bob.workspace.untag("of-bob");
  await bob.push();
  await pull(ana);
  expect(await ana.workspace.resolve(id)).toMatchObject({ tags: ["keep"] });
});

test("[R1504] an agent adds tags to the checkpoints of others, and changes nothing else there", async () => {
  const { store, ana } = await twoMachines();
  const { id } = (await ana.workspace.checkpoint()).checkpoint;
  await ana.push();
  const job = await ana.invited(() => store, "job", "agent");
  await job.push();
  await fetchFrom(job, id);
  await job.workspace.rename(id, "renamed by a job");
  await job.workspace.tag(id, "tested");
  await job.push();
  await pull(ana);
  expect(await ana.workspace.resolve(id)).toMatchObject({ name: null, tags: ["tested"] });
});

test("[T11] each workspace of a home takes over what was written on its checkpoints, whichever of them pulled first", async () => {
  const { store, ana, bob } = await twoMachines();
  const second = await new Machine(() => store, "ana", ana.home).init();
  await second.add();
  second.write({ "second.txt": "2\n" });
  const { id } = (await second.workspace.checkpoint()).checkpoint;
  await second.push();
  await fetchFrom(bob, id);
  await bob.workspace.tag(id, "seen");
  await bob.push();
  await pull(ana);
  await pull(second);
  expect(await second.workspace.resolve(id)).toMatchObject({ tags: ["seen"] });
});

test("[T4] a copied home goes on as a line of its own; both are listed, and nothing is lost", async () => {
  const { store, ana, bob } = await twoMachines();
  const copy = new Machine(() => store, "ana");
  cpSync(ana.home, copy.home, { recursive: true });
  rmSync(copy.root, { recursive: true });
  cpSync(ana.root, copy.root, { recursive: true });
  const { id: store_ } = ana.workspace;
  const { attachWorkspace } = await import("@belay/engine");
  await attachWorkspace(store_, copy.root, { home: copy.home });
  copy.workspace = await openWorkspace(copy.root, { home: copy.home });
  onTestFinished(() => copy.workspace.close());
  ana.write({ "here.txt": "here\n" });
  const here = await ana.workspace.checkpoint();
  copy.write({ "there.txt": "there\n" });
  const there = await copy.workspace.checkpoint();
  expect((await ana.push()).forkedFrom).toBeNull();
  expect((await copy.push()).forkedFrom).toMatch(/^[0-9a-f]{32}$/);
  await pull(bob);
  const lines = await withRemote(bob, (remote) => remote.lines());
  expect(lines.map(({ name }) => name)).toEqual(["ana@ana-laptop", "ana@ana-laptop/2"]);
  expect(join("team", lines[1]!.name)).toBe("team/ana@ana-laptop/2");
  for (const { id } of [here, there]) expect(await fetchFrom(bob, id)).toMatchObject({ isNew: true });
  expect((await fetchFrom(bob, "ana@ana-laptop/2/@")).checkpoint.id).toBe(there.id);
});
