/** `keys rotate --rewrite`: every line is encrypted again with the present secret, each by its writer. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { numberIn, spanIn } from "../src/line/keys-of-space.ts";
import { readHeader } from "../src/parcel/parcel.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { openExchange } from "../src/sync/remote.ts";
import { checkpointsOf, filesBelow, Machine } from "./support/machines.ts";

const lineOf = ({ workspace }: Machine) => workspace.exchange.remotes()[0]!.line;

/** The generations of what a fresh reader of a line needs: its newest restatement, what came after, and their parcels. */
async function generationsOf(store: MemoryRemoteStore, machine: Machine): Promise<Set<number>> {
  const line = lineOf(machine);
  const covers = [...store.objects].filter(([key]) => key.includes(`/l/${line}/`));
  const base = Math.max(...covers.map(([key]) => (numberIn(key) === undefined ? spanIn(key)!.to : 0)));
  const read: string[] = [];
  const get = store.get.bind(store);
  store.get = (key, range) => {
    read.push(key);
    return get(key, range);
  };
  const reader = await machine.clone(() => store, { name: `reader-${randomBytes(3).toString("hex")}`, line });
  store.get = get;
  expect(await checkpointsOf(reader)).toEqual(await checkpointsOf(machine));
  await reader.workspace.restoreTo("@");
  expect(filesBelow(reader.root)).toEqual(filesBelow(machine.root));
  const needed = read.filter((key) => /\/[bl]\//.test(key) && (spanIn(key)?.to ?? Infinity) >= base);
  return new Set(needed.map((key) => readHeader(store.objects.get(key)!.bytes).generation));
}

async function rewrite(machine: Machine) {
  using remote = openExchange(machine.workspace, undefined, machine.host);
  return await remote.rewrite();
}

function later(machine: Machine, minutes: number): void {
  const now = () => Date.now() + minutes * 60_000;
  machine.host = { ...machine.host, around: { ...machine.host.around, now } };
}

async function push(machine: Machine, n: number, bytes = 1_100_000): Promise<void> {
  machine.write({ "work.txt": `state ${n}\n`, [`big-${n}.bin`]: randomBytes(bytes) });
  await machine.workspace.checkpoint();
  await machine.push();
}

async function team(): Promise<{ store: MemoryRemoteStore; ana: Machine; bob: Machine }> {
  const store = new MemoryRemoteStore();
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "of ana\n" });
  await (await ana.init()).add();
  await ana.push();
  for (const n of [1, 2, 3]) await push(ana, n, n === 2 ? 20_000 : undefined);
  const bob = await ana.invited(() => store, "bob", "member");
  bob.recoveryKey = ana.recoveryKey;
  await push(bob, 1);
  return { store, ana, bob };
}

describe("encrypting again", { timeout: 120_000 }, () => {
  test("[R2245] a line is stored again with the present secret, content, records and all, and stays what it was", async () => {
    const { store, ana } = await team();
    expect(await generationsOf(store, ana)).toEqual(new Set([1]));
    using remote = openExchange(ana.workspace, undefined, ana.host);
    const size = await remote.rewritable();
    expect(size.others).toBe(1);
    expect(size.bytes).toBeGreaterThan(2_200_000);
    expect(await ana.members().rotate(true)).toBe(2);
    const rewritten = await rewrite(ana);
    expect(rewritten!.bytes).toBeGreaterThan(2_200_000);
    expect(await generationsOf(store, ana)).toEqual(new Set([2]));
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    // once, and what comes after goes on from there
    expect(await rewrite(ana)).toBeNull();
    await push(ana, 4);
    expect(await generationsOf(store, ana)).toEqual(new Set([2]));
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
  });

  test("[R2245] the other machines of the space do the same at their next push, and say so", async () => {
    const { store, ana, bob } = await team();
    await ana.members().rotate(true);
    expect(await generationsOf(store, bob)).toEqual(new Set([1]));
    later(bob, 11);
    const { rewritten } = await bob.push();
    expect(rewritten!.bytes).toBeGreaterThan(1_000_000);
    expect(await generationsOf(store, bob)).toEqual(new Set([2]));
    expect((await bob.push()).rewritten).toBeNull();
  });

  test("[R2245, T9] what was altered on the server is not encrypted again as if it were sound; the line stays as it was", async () => {
    const { store, ana } = await team();
    const [parcel] = [...store.objects.keys()].filter((key) => key.includes("/b/"));
    const { bytes } = store.objects.get(parcel!)!;
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    await ana.members().rotate(true);
    const covers = () => [...store.objects.keys()].filter((key) => /\/l\/.*-/.test(key));
    await rewrite(ana);
    expect(covers()).toEqual([]);
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    expect(await rewrite(ana)).not.toBeNull();
    expect(await generationsOf(store, ana)).toEqual(new Set([2]));
  });

  test("[R2245] interrupted at any request it is begun again, and nothing is lost on the way", async () => {
    for (let stop = 1; stop <= 9; stop++) {
      const store = new MemoryRemoteStore();
      const ana = new Machine(() => store);
      ana.write({ "a.txt": "of ana\n" });
      await (await ana.init()).add();
      for (const n of [1, 2]) await push(ana, n);
      await ana.members().rotate(true);
      const put = store.put.bind(store);
      let left = stop;
      store.put = async (...how) => {
        if (--left === 0) throw new Error("the cable was pulled");
        return put(...how);
      };
      const first = await rewrite(ana).catch((error: Error) => error.message);
      store.put = put;
      // where only the answer to the last request was missing, nothing is left to be done
      if (first === "the cable was pulled") await rewrite(ana);
      expect(await generationsOf(store, ana)).toEqual(new Set([2]));
      if (first !== "the cable was pulled") return;
    }
    throw new Error("it makes more requests than were tried");
  });

  test("[R2245] only an admin asks for it", async () => {
    const { bob } = await team();
    await expect(bob.members().rotate(true)).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
  });
});
