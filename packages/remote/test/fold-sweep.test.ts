/** Many pushes: folds restate them, sweeps delete what they made superfluous, and nothing is lost. */
import { describe, expect, test } from "vitest";
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ObjectHash } from "@belay/engine";
import { createHead, sealSegment } from "../src/line/segment.ts";
import { OpenParcel } from "../src/parcel/parcel.ts";
import { openSpace, presentSecret, secretFor, type Space } from "../src/space/space.ts";
import { readIdentity } from "../src/space/identity.ts";
import { RemoteFailure } from "../src/stores/remote-store.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { Mirror } from "../src/sync/mirror.ts";
import { push, pushBase, pushObjects, type PushTarget } from "../src/sync/push.ts";
import { openContent } from "../src/sync/receive-line.ts";
import { openExchange } from "../src/sync/remote.ts";
import { sweepSpace } from "../src/sync/sweep.ts";
import { checkpointsOf, filesBelow, Machine } from "./support/machines.ts";

const HOUR_MS = 3_600_000;
const SEGMENTS = 64;

const keysOf = (store: MemoryRemoteStore, part: RegExp) =>
  [...store.objects.keys()].filter((key) => part.test(key));
const FOLDS = /\/l\/[0-9a-f]{32}\/\d{12}-\d{12}$/;
const PLAIN = /\/l\/[0-9a-f]{32}\/\d{12}$/;

/** A server whose clock can be put forward. */
class Server extends MemoryRemoteStore {
  readonly clock: { ahead: number };

  constructor() {
    const clock = { ahead: 0 };
    super(() => Date.now() + clock.ahead);
    this.clock = clock;
  }
}

async function spaceOf(ana: Machine, store: Server): Promise<Space> {
  return openSpace(store, ana.workspace.exchange.remotes()[0]!.space, readIdentity(ana.home)!);
}

async function sweep(ana: Machine, store: Server, isDryRun = false) {
  const keys = readIdentity(ana.home)!;
  return sweepSpace(await spaceOf(ana, store), { keys, random: randomBytes, isDryRun });
}

async function pushedOften(store: Server, times: number): Promise<Machine> {
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "one\n", "big.bin": randomBytes(1_100_000) });
  await (await ana.init()).add();
  await ana.push();
  for (let n = 2; n <= times; n++) {
    ana.write({ "a.txt": `state ${n}\n` });
    await ana.workspace.checkpoint({ kind: n % 2 === 0 ? "tool" : "turn" });
    await ana.push();
  }
  return ana;
}

async function targetOf(ana: Machine, store: Server, mirror: Mirror): Promise<PushTarget> {
  return {
    exchange: ana.workspace.exchange,
    space: await spaceOf(ana, store),
    mirror,
    keys: readIdentity(ana.home)!,
    device: "ana-laptop",
    abilities: { createOnly: true, etagIsMd5: true, deleteAllowed: true, skewMs: 0 },
    around: ana.host.around,
  };
}

/** What waits for the remote. */
function describeQueue({ workspace }: Machine) {
  return {
    queued: workspace.exchange.queued("team").records,
    forgets: workspace.exchange.forgetsUntil("team"),
  };
}

/** The hashes of all objects that the server has somewhere. */
async function hashesOn(store: Server, space: Space): Promise<string[]> {
  return [...store.objects]
    .filter(([key]) => /\/[bl]\//.test(key))
    .flatMap(([key, { bytes }]) => {
      const kind = key.includes("/b/") ? "content" : "segment";
      const parcel = new OpenParcel(bytes, { key, kind, secret: secretFor(space, bytes) });
      return parcel.frames.flatMap(({ objects }) => objects.map(({ hash }) => hash));
    });
}

async function expectWhole(ana: Machine, store: Server): Promise<void> {
  expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
  const bob = await ana.clone(() => store);
  expect(await checkpointsOf(bob)).toEqual(await checkpointsOf(ana));
  await bob.workspace.restoreTo("@");
  expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
  expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
}

describe("folds and sweeps", { timeout: 120_000 }, () => {
  test("[T16, R736] 64 segments are restated as one; swept in two looks 72 hours apart, nothing is lost", async () => {
    const store = new Server();
    const ana = await pushedOften(store, SEGMENTS);
    const bob = await ana.invited(() => store, "bob", "member");
    expect(keysOf(store, FOLDS)).toHaveLength(1);
    expect(keysOf(store, PLAIN)).toHaveLength(SEGMENTS);
    await expectWhole(ana, store);
    // a parcel that no segment names, as an interrupted push leaves it
    const space = await spaceOf(ana, store);
    const stray = space.names.parcel("ab".repeat(16));
    await store.put(stray, Buffer.from("half a push"), { createOnly: true });
    expect(await sweep(ana, store)).toMatchObject({ sweep: 1, condemned: 0, deleted: 0 });
    store.clock.ahead += 73 * HOUR_MS;
    expect(await sweep(ana, store, true)).toMatchObject({ sweep: 1, condemned: SEGMENTS + 1, dryRun: true });
    expect(await sweep(ana, store)).toMatchObject({ sweep: 2, condemned: SEGMENTS + 1, deleted: 0 });
    store.clock.ahead += 71 * HOUR_MS;
    expect(await sweep(ana, store)).toMatchObject({ condemned: 0, deleted: 0 });
    store.clock.ahead += 2 * HOUR_MS;
    expect(await sweep(ana, store)).toMatchObject({ pardoned: 0, deleted: SEGMENTS + 1 });
    expect(keysOf(store, PLAIN)).toEqual([]);
    expect(store.objects.has(stray)).toBe(false);
    await expectWhole(ana, store);
    // [R1508] what rides inside a fold is fetched like anything else
    using remote = openExchange(bob.workspace, undefined, bob.host);
    const fetched = await remote.fetch("ana@ana-laptop/@");
    await bob.workspace.restoreTo(fetched.checkpoint.id);
    expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
    ana.write({ "a.txt": "after the sweep\n" });
    await ana.workspace.checkpoint();
    expect(await ana.push()).toMatchObject({ outcome: "pushed", segment: SEGMENTS + 1, forkedFrom: null });
    await expectWhole(ana, store);
  });

  test("[R1810, T6] what a member puts into the line of another restates nothing, hides nothing and is not cloned", async () => {
    const store = new Server();
    const ana = await pushedOften(store, 3);
    const eve = await ana.invited(() => store, "eve", "member");
    const { line } = ana.workspace.exchange.remotes()[0]!;
    const space = await spaceOf(ana, store);
    const keys = readIdentity(eve.home)!;
    const last = keysOf(store, PLAIN).filter((key) => key.includes(line)).length;
    const plant = async (from: number, to: number) => {
      const key = from === to ? space.names.segment(line, to) : space.names.fold(line, { from, to });
      const fold = { from, hash: "ab".repeat(32), isBase: true, forgets: [] };
      const facts = { line, number: to, previous: null, member: keys.id, device: "", at: 0, from: null };
      const head = createHead({ ...facts, seen: {}, sweep: 0, ...(from < to && { fold }) });
      const content = { head, records: [], index: new Map(), content: [], uses: [] };
      const sealing = { key, secret: presentSecret(space), salt: randomBytes(32), signer: keys.sign };
      await store.put(key, sealSegment(content, sealing), { createOnly: false });
      return key;
    };
    const base = await plant(1, last);
    await expectWhole(ana, store);
    const segment = await plant(last + 5, last + 5);
    for (const _ of [1, 2, 3]) {
      expect(await sweep(ana, store)).toMatchObject({ condemned: 0, deleted: 0 });
      store.clock.ahead += 73 * HOUR_MS;
    }
    for (const key of [base, segment]) store.objects.delete(key);
    await expectWhole(ana, store);
  });

  test("[R1811, R1812, T14] what is forgotten leaves the line with the next push, and the server with two sweeps", async () => {
    const store = new Server();
    const ana = await pushedOften(store, 2);
    ana.write({ "secret.bin": randomBytes(1_100_000), "secret.txt": "a small one\n" });
    const { checkpoint } = await ana.workspace.checkpoint({ kind: "tool" });
    await ana.push();
    const hashes = new Set(
      [...ana.workspace.exchange.needed(checkpoint.id, () => false)].map(({ hash }) => hash),
    );
    for (const name of ["secret.bin", "secret.txt"]) rmSync(join(ana.root, name));
    await ana.workspace.checkpoint({ kind: "tool" });
    const pushed = await ana.push();
    expect(await hashesOn(store, await spaceOf(ana, store))).toEqual(expect.arrayContaining([...hashes]));
    for (const name of ["secret.bin", "secret.txt"])
      await ana.workspace.upkeep.forget(`./${name}`, { sameContent: false, always: false });
    const secret = [...hashes].filter((hash) => ana.workspace.exchange.locate([hash]).length === 0);
    // the two contents, the pieces of the large one, and the directory that named them
    expect(secret.length).toBeGreaterThanOrEqual(4);
    const { queued } = describeQueue(ana);
    expect(queued).toBeGreaterThan(0);
    expect((await ana.push()).segment).toBeGreaterThan(pushed.segment);
    expect(describeQueue(ana)).toEqual({ queued: 0, forgets: 0 });
    const bob = await ana.clone(() => store);
    expect(await checkpointsOf(bob)).toEqual(await checkpointsOf(ana));
    // a push that is under way may still rely on it
    expect(await sweep(ana, store)).toMatchObject({ condemned: 0, hurried: 0 });
    store.clock.ahead += 49 * HOUR_MS;
    const condemning = await sweep(ana, store);
    expect(condemning).toMatchObject({ condemned: condemning.hurried, deleted: 0 });
    expect(await sweep(ana, store)).toMatchObject({ hurried: 0, deleted: condemning.hurried });
    // [T15] a server that hides the sweeps which this home saw is not believed
    const sweeps = [...store.objects].filter(([key]) => key.includes("/g/"));
    const [seen] = sweeps.splice(-1);
    using mirror = new Mirror(ana.home, ana.workspace.exchange.remotes()[0]!.space);
    const target = await targetOf(ana, store, mirror);
    const request = { allDays: 7, turnDays: 30, isForgetting: false };
    ana.write({ "a.txt": "one more\n" });
    await ana.workspace.checkpoint();
    await ana.push();
    await pushBase(target, "team", request);
    store.objects.delete(seen![0]);
    await expect(pushBase(target, "team", request)).rejects.toThrow(/a sweep that was seen/);
    store.objects.set(...seen!);
    const left = new Set(await hashesOn(store, await spaceOf(ana, store)));
    expect(secret.filter((hash) => left.has(hash))).toEqual([]);
    await expectWhole(ana, store);
    // a whole checkpoint goes the same way
    await ana.workspace.upkeep.forget(checkpoint.id, { sameContent: false, always: false });
    await ana.push();
    await expectWhole(ana, store);
  });

  test("[R1813, R1814, R1815, R1816] a line lets go what the policy of its space says; a clone undoes no step in part", async () => {
    const store = new Server();
    const ana = await pushedOften(store, 2);
    const thread = await ana.workspace.threads.create({ agent: "claude-code", externalId: "one" });
    await ana.workspace.turns.run({ thread: thread.id, prompt: "change it" }, async () => {
      ana.write({ "b.txt": "by the turn\n", "large.bin": randomBytes(1_100_000) });
    });
    await ana.push();
    await ana.members().setPolicy({ allDays: 1, turnDays: 2 });
    const { policy, usage } = await ana.members().policy();
    expect(policy).toEqual({ allDays: 1, turnDays: 2, quotaBytes: null, memberQuotaBytes: null });
    expect(usage.members).toMatchObject([{ name: "ana@ana-laptop", bytes: expect.any(Number) }]);
    expect(usage.bytes).toBeGreaterThan(2_200_000);
    const later = async (name: string) => {
      rmSync(join(ana.root, "large.bin"), { force: true });
      ana.write({ "a.txt": name });
      store.clock.ahead += 8 * 24 * HOUR_MS;
      await ana.workspace.checkpoint({ kind: "tool" });
      return ana.push();
    };
    await later("a week later\n");
    expect(keysOf(store, FOLDS)).toHaveLength(1);
    // what the first base gave up is gone, and the segments that it restates are still there
    for (const _ of [1, 2]) {
      await sweep(ana, store);
      store.clock.ahead += 73 * HOUR_MS;
    }
    expect(keysOf(store, PLAIN).length).toBeGreaterThan(3);
    await later("two weeks later\n");
    expect(keysOf(store, FOLDS)).toHaveLength(2);
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    const bob = await ana.clone(() => store);
    expect((await bob.workspace.list()).map(({ kind }) => kind)).toEqual(["tool", "initial", "initial"]);
    await bob.workspace.restoreTo("@");
    expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
    await expect(bob.workspace.undo({ thread: thread.id })).rejects.toThrow(/can no longer be undone/);
    expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
  });

  test("[R1508] folds of a server that cannot refuse to overwrite are told apart from its segments", async () => {
    const store = new Server();
    const put = store.put.bind(store);
    store.put = (key, bytes) => put(key, bytes, { createOnly: false });
    const ana = await pushedOften(store, 2);
    const bob = await ana.invited(() => store, "bob", "member");
    using remote = openExchange(bob.workspace, undefined, bob.host);
    await remote.pull();
    using mirror = new Mirror(ana.home, ana.workspace.exchange.remotes()[0]!.space);
    for (const text of ["three\n", "four\n", "five\n"]) {
      ana.write({ "a.txt": text });
      await ana.workspace.checkpoint();
      const target = { ...(await targetOf(ana, store, mirror)), foldSegments: 2 };
      await push({ ...target, abilities: { ...target.abilities, createOnly: false } }, "team");
    }
    const suffixed = /\/\d{12}-\d{12}-[a-z]{8}$/;
    const folds = keysOf(store, suffixed);
    expect(folds).toHaveLength(1);
    // swept: the fold is all there is of the first four
    for (const key of keysOf(store, /\/l\/.*\/00000000000[1-4]-[a-z]{8}$/)) store.objects.delete(key);
    expect(await remote.pull()).toMatchObject({ outcome: "pulled" });
    for (const [reference, text] of [
      ["ana@ana-laptop/@", "five\n"],
      ["ana@ana-laptop/@-1", "four\n"],
      ["ana@ana-laptop/@-2", "three\n"],
    ] as const) {
      const { checkpoint } = await remote.fetch(reference);
      await bob.workspace.restoreTo(checkpoint.id);
      expect(readFileSync(join(bob.root, "a.txt"), "utf8")).toBe(text);
    }
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[T8, R1515] a parcel whose upload was repeated for days, and which a sweep deleted meanwhile, is not relied on", async () => {
    const store = new Server();
    const ana = await pushedOften(store, 2);
    ana.host = { ...ana.host, around: { ...ana.host.around, now: () => Date.now() + store.clock.ahead } };
    const put = store.put.bind(store);
    let isDue = true;
    store.put = async (key, bytes, how) => {
      if (isDue && key.includes("/b/")) {
        isDue = false;
        await put(key, bytes, how);
        for (const _ of [1, 2]) {
          store.clock.ahead += 73 * HOUR_MS;
          await sweep(ana, store);
        }
        expect(store.objects.has(key)).toBe(false);
      }
      return put(key, bytes, how);
    };
    ana.write({ "later.bin": randomBytes(1_100_000) });
    await ana.workspace.checkpoint();
    expect(await ana.push()).toMatchObject({ outcome: "pushed" });
    store.clock.ahead += 73 * HOUR_MS;
    await sweep(ana, store);
    await expectWhole(ana, store);
  });

  test("[R2000] a segment that reached the server after its parcels were swept is no hindrance to a clone, and is repaired", async () => {
    const store = new Server();
    const ana = await pushedOften(store, 2);
    await ana.members().setPolicy({ allDays: 1000, turnDays: 1000 });
    const pushed = await checkpointsOf(ana);
    const put = store.put.bind(store);
    let stalled: (() => Promise<unknown>) | undefined;
    store.put = async (key, bytes, how) => {
      if (!PLAIN.test(key)) return put(key, bytes, how);
      stalled = () => put(key, bytes, how);
      throw new RemoteFailure("denied", "it is still on its way");
    };
    ana.write({ "later.bin": randomBytes(1_100_000) });
    await ana.workspace.checkpoint();
    await expect(ana.push()).rejects.toThrow(/on its way/);
    store.put = put;
    for (const _ of [1, 2]) {
      store.clock.ahead += 73 * HOUR_MS;
      await sweep(ana, store);
    }
    await stalled!();
    // [R2220] nor later
    for (const days of [0, 100, 100]) {
      store.clock.ahead += days * 24 * HOUR_MS;
      await sweep(ana, store);
    }
    const bob = await ana.clone(() => store);
    expect(await checkpointsOf(bob)).toEqual(pushed);
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    expect(await ana.push()).toMatchObject({ outcome: "pushed" });
    await expectWhole(ana, store);
    // what is gone for another reason than a sweep is damage, and said
    const parcels = keysOf(store, /\/b\//);
    for (const key of parcels) store.objects.delete(key);
    await expect(ana.clone(() => store, { name: "eve" })).rejects.toThrow(/is gone/);
  });

  test("[R2000] a line whose only segment was never claimed has nothing to clone, and says so", async () => {
    const store = new Server();
    const ana = new Machine(() => store);
    ana.write({ "big.bin": randomBytes(1_100_000) });
    await (await ana.init()).add();
    const put = store.put.bind(store);
    let stalled: (() => Promise<unknown>) | undefined;
    store.put = async (key, bytes, how) => {
      if (!PLAIN.test(key)) return put(key, bytes, how);
      stalled = () => put(key, bytes, how);
      throw new RemoteFailure("denied", "it is still on its way");
    };
    await expect(ana.push()).rejects.toThrow(/on its way/);
    store.put = put;
    for (const _ of [1, 2, 3]) {
      store.clock.ahead += 73 * HOUR_MS;
      await sweep(ana, store);
    }
    await stalled!();
    await expect(ana.clone(() => store)).rejects.toThrow(/nothing yet that its machine knows to be stored/);
    expect(await ana.push()).toMatchObject({ outcome: "pushed" });
    await expectWhole(ana, store);
  });

  test("[T8, R2220] a segment that waited for months is repaired, though no sweep remembers that its parcels were deleted", async () => {
    const store = new Server();
    const ana = await pushedOften(store, 2);
    // no base restates the line meanwhile
    await ana.members().setPolicy({ allDays: 1000, turnDays: 1000 });
    const put = store.put.bind(store);
    store.put = async (key, bytes, how) => {
      if (PLAIN.test(key)) throw new RemoteFailure("denied", "the machine is switched off");
      return put(key, bytes, how);
    };
    ana.write({ "later.bin": randomBytes(1_100_000) });
    await ana.workspace.checkpoint();
    await expect(ana.push()).rejects.toThrow(/switched off/);
    store.put = put;
    for (const days of [4, 4, 100]) {
      store.clock.ahead += days * 24 * HOUR_MS;
      await sweep(ana, store);
    }
    expect(await ana.push()).toMatchObject({ outcome: "pushed" });
    await expectWhole(ana, store);
  });

  test("[T7, R737] what is named again before the second look is pardoned", async () => {
    const store = new Server();
    const ana = await pushedOften(store, 2);
    const [parcel] = keysOf(store, /\/b\//);
    const [first, second] = keysOf(store, PLAIN).map((key) => [key, store.objects.get(key)!] as const);
    store.clock.ahead += 73 * HOUR_MS;
    for (const [key] of [first!, second!]) store.objects.delete(key);
    expect(await sweep(ana, store)).toMatchObject({ condemned: 1 });
    for (const [key, kept] of [first!, second!]) store.objects.set(key, kept);
    store.clock.ahead += 73 * HOUR_MS;
    expect(await sweep(ana, store)).toMatchObject({ pardoned: 1, deleted: 0 });
    expect(store.objects.has(parcel!)).toBe(true);
    await expectWhole(ana, store);
  });

  test("[T6, R738, R1513, R1514] a base drops what retention lets go, and the store sends it again when it is needed again", async () => {
    const store = new Server();
    const ana = await pushedOften(store, 6);
    // no push restates the line by itself
    await ana.members().setPolicy({ allDays: 1000, turnDays: 1000 });
    ana.write({ "gone.bin": randomBytes(1_100_000) });
    await ana.workspace.checkpoint({ kind: "tool" });
    await ana.push();
    rmSync(join(ana.root, "gone.bin"));
    await ana.workspace.checkpoint({ kind: "tool" });
    await ana.push();
    store.clock.ahead += 40 * 24 * HOUR_MS;
    ana.write({ "a.txt": "the newest\n" });
    const newest = await ana.workspace.checkpoint();
    await ana.push();
    using mirror = new Mirror(ana.home, ana.workspace.exchange.remotes()[0]!.space);
    // nothing rides inside the base: what it keeps goes into a parcel that no list from before has
    const target = { ...(await targetOf(ana, store, mirror)), inlineBytes: 0 };
    // [R1513] a base that comes while a line is read: what follows it names nothing that only the old segments need
    const list = store.list.bind(store);
    let isDue = true;
    store.list = async function* (prefix, after) {
      yield* list(prefix, after);
      if (!isDue || !prefix.endsWith("/b/")) return;
      isDue = false;
      expect(await pushBase(target, "team", { allDays: 7, turnDays: 30, isForgetting: false })).toBe(true);
      ana.write({ "after.txt": "the base\n" });
      await ana.workspace.checkpoint({ kind: "tool" });
      await push(target, "team");
    };
    const before = new Set(keysOf(store, /\/b\//));
    const early = await ana.clone(() => store, { name: "early" });
    expect(await early.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    expect(isDue).toBe(false);
    rmSync(join(ana.root, "after.txt"));
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    const bob = await ana.clone(() => store);
    const kinds = (await bob.workspace.list()).map(({ kind }) => kind);
    expect(kinds).toEqual(["tool", "manual", "initial"]);
    expect(await bob.workspace.show(newest.checkpoint.id)).toBeDefined();
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    // the content of a state that the base dropped comes back
    ana.write({ "a.txt": "state 3\n" });
    await ana.workspace.checkpoint();
    await ana.push();
    const eve = await ana.clone(() => store, { name: "eve" });
    await eve.workspace.restoreTo("@");
    expect(filesBelow(eve.root)).toEqual(filesBelow(ana.root));
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    // [R1514] a base that lost a parcel, which a later segment repairs, is passed over, and the clone is whole
    const [lost] = keysOf(store, /\/b\//).filter((key) => !before.has(key));
    const parcel = openContent(target.space, lost!, store.objects.get(lost!)!.bytes);
    const hashes = parcel.frames.flatMap(({ objects }) => objects.map(({ hash }) => hash as ObjectHash));
    store.objects.delete(lost!);
    await pushObjects(target, "team", hashes);
    const dora = await ana.clone(() => store, { name: "dora" });
    await dora.workspace.restoreTo("@");
    expect(filesBelow(dora.root)).toEqual(filesBelow(ana.root));
    expect(await dora.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[R2221] a base that lost a parcel, when nothing else restates the line any more, is read once that is repaired", async () => {
    const store = new Server();
    const ana = await pushedOften(store, 4);
    await ana.members().setPolicy({ allDays: 1000, turnDays: 1000 });
    using mirror = new Mirror(ana.home, ana.workspace.exchange.remotes()[0]!.space);
    const target = { ...(await targetOf(ana, store, mirror)), inlineBytes: 0 };
    const before = new Set(keysOf(store, /\/b\//));
    expect(await pushBase(target, "team", { allDays: 1000, turnDays: 1000, isForgetting: false })).toBe(true);
    for (const _ of [1, 2, 3]) {
      store.clock.ahead += 73 * HOUR_MS;
      await sweep(ana, store);
    }
    expect(keysOf(store, PLAIN)).toEqual([]);
    const [lost] = keysOf(store, /\/b\//).filter((key) => !before.has(key));
    store.objects.delete(lost!);
    await expect(ana.clone(() => store, { name: "early" })).rejects.toThrow(/gone/);
    expect(await ana.verify(true)).toMatchObject({ ok: true, problems: [{ repaired: true }] });
    await expectWhole(ana, store);
    // the next base needs the lost one no more
    expect(await pushBase(target, "team", { allDays: 1000, turnDays: 1000, isForgetting: false })).toBe(true);
    await expectWhole(ana, store);
  });

  test("[R2264] a push that was interrupted goes on when what it had uploaded was forgotten here and swept there", async () => {
    const store = new Server();
    const ana = await pushedOften(store, 2);
    await ana.members().setPolicy({ allDays: 1000, turnDays: 1000 });
    using mirror = new Mirror(ana.home, ana.workspace.exchange.remotes()[0]!.space);
    const target = { ...(await targetOf(ana, store, mirror)), inlineBytes: 0 };
    ana.write({ "secret.bin": randomBytes(300_000), "kept.bin": randomBytes(300_000) });
    await ana.workspace.checkpoint();
    const put = store.put.bind(store);
    store.put = async (key, bytes, how) => {
      if (PLAIN.test(key)) throw new RemoteFailure("unknown", "no answer");
      return put(key, bytes, how);
    };
    await expect(push(target, "team")).rejects.toThrow("no answer");
    store.put = put;
    await ana.workspace.upkeep.forget("./secret.bin", { sameContent: false, always: false });
    rmSync(join(ana.root, "secret.bin"));
    for (const _ of [1, 2, 3]) {
      store.clock.ahead += 73 * HOUR_MS;
      await sweep(ana, store);
    }
    await push(target, "team");
    expect(describeQueue(ana)).toEqual({ queued: 0, forgets: 0 });
    await expectWhole(ana, store);
  });
});
