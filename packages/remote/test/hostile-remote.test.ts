/** Folds and sweeps that are not what they should be, a server that is full or refuses: nothing is believed or changed. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { memberKeys } from "../src/keys/key-pairs.ts";
import { createHead, sealSegment } from "../src/line/segment.ts";
import { sealSweep } from "../src/line/sweep-state.ts";
import { readIdentity } from "../src/space/identity.ts";
import { openSpace, presentSecret } from "../src/space/space.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { RemoteFailure, type FailureKind } from "../src/stores/remote-store.ts";
import { lookAtSweeps } from "../src/sync/look-at-sweeps.ts";
import { checkpointsOf, filesBelow, Machine } from "./support/machines.ts";

async function pushed(store: MemoryRemoteStore, times = 3): Promise<Machine> {
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "one\n" });
  await (await ana.init()).add();
  await ana.push();
  for (let n = 2; n <= times; n++) {
    ana.write({ "a.txt": `state ${n}\n` });
    await ana.workspace.checkpoint();
    await ana.push();
  }
  return ana;
}

const entryOf = (ana: Machine) => ana.workspace.exchange.remotes()[0]!;
const spaceOf = (ana: Machine, store: MemoryRemoteStore) =>
  openSpace(store, entryOf(ana).space, readIdentity(ana.home)!);

async function expectCloned(ana: Machine, store: MemoryRemoteStore): Promise<void> {
  const bob = await ana.clone(() => store);
  expect(await checkpointsOf(bob)).toEqual(await checkpointsOf(ana));
}

describe("what a hostile server or a stranger with the secret puts there", () => {
  test("[T9, R736] a forged fold, one of other segments and one that names lost parcels are passed over", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const space = await spaceOf(ana, store);
    const { line, segmentHash } = entryOf(ana);
    const own = readIdentity(ana.home)!;
    const eve = memberKeys({ sign: randomBytes(32), receive: randomBytes(32) });
    const forge = async (facts: { signer: typeof own; from: number; hash: string; uses: string[] }) => {
      const { signer, from, hash, uses } = facts;
      const key = space.names.fold(line, { from: 1, to: 3 });
      const head = createHead({
        line,
        number: 3,
        previous: null,
        member: own.id,
        device: "x",
        at: 0,
        from: null,
        seen: {},
        sweep: 0,
        fold: { from, hash, isBase: true },
      });
      const bytes = sealSegment(
        { head, records: [], index: new Map(), content: [], uses },
        { key, secret: presentSecret(space), salt: randomBytes(32), signer: signer.sign },
      );
      await store.put(key, bytes, { createOnly: false });
    };
    for (const facts of [
      { signer: eve, from: 1, hash: segmentHash!, uses: [] },
      { signer: own, from: 2, hash: segmentHash!, uses: [] },
      { signer: own, from: 1, hash: segmentHash!, uses: ["ab".repeat(16)] },
    ]) {
      await forge(facts);
      await expectCloned(ana, store);
    }
  });

  test("[T7, R737] a sweep that no collector signed is refused, and so is one under another number", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store, 2);
    const space = await spaceOf(ana, store);
    const eve = memberKeys({ sign: randomBytes(32), receive: randomBytes(32) });
    const own = readIdentity(ana.home)!;
    const state = { number: 1, at: 0, condemned: {}, deleting: {}, hurried: [] };
    for (const [signer, member, number] of [
      [eve, own.id, 1],
      [eve, eve.id, 1],
      [own, own.id, 2],
    ] as const) {
      const key = space.names.sweep(1);
      const sealing = { key, secret: presentSecret(space), salt: randomBytes(32), signer };
      await store.put(key, sealSweep({ ...state, number, member }, sealing), { createOnly: false });
      await expect(lookAtSweeps(space)).rejects.toThrow(/signed this sweep|another number/);
    }
  });
});

describe("a server that cannot or will not", () => {
  test.each([
    ["full", "REMOTE_FULL"],
    ["denied", "REMOTE_DENIED"],
    ["unknown", "REMOTE_UNREACHABLE"],
    ["missing", "REMOTE_UNFIT"],
  ] as const)(
    "[T1, T13] %s: the error of the contract, and what was to be sent stays queued",
    async (kind, code) => {
      const store = new MemoryRemoteStore();
      const ana = await pushed(store, 2);
      const put = store.put.bind(store);
      let refuses: FailureKind | undefined = kind;
      store.put = async (key, bytes, how) => {
        if (refuses !== undefined) throw new RemoteFailure(refuses, "The server says no.");
        return put(key, bytes, how);
      };
      const before = new Map(store.objects);
      const files = filesBelow(ana.root);
      ana.write({ "big.bin": randomBytes(1_200_000) });
      await ana.workspace.checkpoint();
      const { records } = ana.workspace.exchange.queued("team");
      await expect(ana.push()).rejects.toMatchObject({ code });
      expect(ana.workspace.exchange.queued("team").records).toBe(records);
      expect(store.objects).toEqual(before);
      expect(Object.keys(files).every((name) => name in filesBelow(ana.root))).toBe(true);
      refuses = undefined;
      expect(await ana.push()).toMatchObject({ outcome: "pushed", checkpoints: 1 });
      expect(await ana.verify()).toMatchObject({ ok: true });
      await expectCloned(ana, store);
    },
  );

  test("[T10] a machine whose clock is days wrong pushes, and its space can be cloned", async () => {
    for (const wrongMs of [-40, 40].map((days) => days * 86_400_000)) {
      const store = new MemoryRemoteStore();
      const ana = new Machine(() => store);
      ana.host = { ...ana.host, around: { ...ana.host.around, now: () => Date.now() + wrongMs } };
      ana.write({ "a.txt": "one\n" });
      await (await ana.init()).add();
      await ana.push();
      ana.write({ "big.bin": randomBytes(1_200_000) });
      await ana.workspace.checkpoint();
      expect(await ana.push()).toMatchObject({ outcome: "pushed", segment: 2, forkedFrom: null });
      await expectCloned(ana, store);
    }
  });
});
