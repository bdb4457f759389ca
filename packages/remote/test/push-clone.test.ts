/** What is pushed comes back on another machine, whole and equal; nothing is readable in between. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { RemoteFailure } from "../src/stores/remote-store.ts";
import { checkpointsOf, filesBelow, Machine } from "./support/machines.ts";

const PLANTED = "PLANTED-PLAINTEXT-7f3a";

async function pushed(store: MemoryRemoteStore): Promise<Machine> {
  const ana = new Machine(() => store);
  ana.write({ "src/a.ts": "one\n", "big.bin": randomBytes(3 * 1024 * 1024), [`${PLANTED}.txt`]: PLANTED });
  await ana.init();
  await ana.workspace.checkpoint({ name: `${PLANTED} name`, note: PLANTED, tags: ["v1"] });
  ana.write({ "src/a.ts": "two\n", "src/b.ts": "new\n" });
  await ana.workspace.checkpoint();
  await ana.add();
  return ana;
}

describe("push and clone", () => {
  test("[T2, T5] a clone has every checkpoint, and its files are the same bytes", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const report = await ana.push();
    expect(report).toMatchObject({ outcome: "pushed", segment: 1, checkpoints: 3, borrowed: 0 });
    const bob = await ana.clone(() => store);
    const [theirs, ours] = [await checkpointsOf(ana), await checkpointsOf(bob)];
    expect(ours).toEqual(theirs);
    expect((await bob.workspace.restoreTo("@")).outcome).toBe("applied");
    expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    expect(await ana.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    expect(await ana.verify()).toMatchObject({ ok: true, lines: 1, segments: 1, problems: [] });
  });

  test("[T5] a directory that is stored in pieces comes whole, and verify knows its pieces", async () => {
    const store = new MemoryRemoteStore();
    const ana = new Machine(() => store);
    const names = Array.from({ length: 4000 }, (_, n) => `many/${String(n).padEnd(250, "x")}`);
    ana.write(Object.fromEntries(names.map((name) => [name, "same\n"])));
    await (await ana.init()).add();
    await ana.push();
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    const bob = await ana.clone(() => store);
    expect(await checkpointsOf(bob)).toEqual(await checkpointsOf(ana));
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("the recovery key opens a space on a server that cannot refuse to overwrite", async () => {
    const store = new MemoryRemoteStore();
    const put = store.put.bind(store);
    store.put = async (key, bytes, how) => {
      if (how.createOnly) throw new RemoteFailure("unsupported", "The server says 501.");
      return put(key, bytes, how);
    };
    const ana = await pushed(store);
    await ana.push();
    const bob = await ana.clone(() => store);
    expect(await checkpointsOf(bob)).toEqual(await checkpointsOf(ana));
  });

  test("[T12] no byte and no key of the server says what is inside", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    await ana.push();
    const names = [...store.objects.keys()];
    expect(names.length).toBeGreaterThan(4);
    for (const [key, { bytes }] of store.objects) {
      expect(key).toMatch(/^[a-z0-9/.-]+$/);
      for (const word of [PLANTED, "src", "a.ts", "checkpoint", "ana", "ana-laptop"])
        expect(bytes.includes(word) && word.length > 4, `${word} in ${key}`).toBe(false);
      for (const { snapshot, id } of await ana.workspace.list()) {
        expect(bytes.includes(Buffer.from(snapshot, "hex"))).toBe(false);
        expect(bytes.includes(id)).toBe(false);
      }
    }
  });

  test("an ordinary push is two requests and grows by what changed; without a change it is none", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    await ana.push();
    const before = store.objects.size;
    expect(await ana.push()).toMatchObject({ outcome: "unchanged" });
    ana.write({ "src/a.ts": "three\n" });
    await ana.workspace.checkpoint();
    const counted = counting(store);
    ana.host = { ...ana.host, connect: () => counted.store };
    const report = await ana.push();
    expect(report).toMatchObject({ outcome: "pushed", segment: 2, checkpoints: 1 });
    expect(counted.requests()).toEqual(["put", "put"]);
    expect(report.bytes).toBeLessThan(8 * 1024);
    expect(store.objects.size).toBe(before + 1);
  });

  test("[T5] a clone goes on as a line of its own, borrows content, and can be cloned again", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    await ana.push();
    const bob = await ana.clone(() => store);
    await bob.workspace.restoreTo("@");
    bob.write({ "src/c.ts": "bob's\n" });
    await bob.workspace.checkpoint();
    const report = await bob.push();
    expect(report).toMatchObject({ outcome: "pushed", segment: 1 });
    expect(report.borrowed).toBeGreaterThan(0);
    expect(report.bytes).toBeLessThan(1024 * 1024);
    const [line] = bob.workspace.exchange.remotes();
    const eve = await bob.clone(() => store, { name: "eve", line: line!.line });
    await eve.workspace.restoreTo("@");
    expect(filesBelow(eve.root)).toEqual(filesBelow(bob.root));
    expect(await ana.verify()).toMatchObject({ ok: true, lines: 2 });
  });

  test("a lost mirror is read again from the line", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    await ana.push();
    rmSync(join(ana.home, "spaces"), { recursive: true });
    ana.write({ "src/a.ts": "four\n" });
    await ana.workspace.checkpoint();
    const report = await ana.push();
    expect(report).toMatchObject({ outcome: "pushed", segment: 2 });
    expect(report.bytes).toBeLessThan(8 * 1024);
    expect(await ana.verify()).toMatchObject({ ok: true });
  });
});

/** A store that notes which requests it was sent. */
function counting(store: MemoryRemoteStore) {
  const sent: string[] = [];
  const proxy = new Proxy(store, {
    get(target, name: "put" | "get" | "list" | "remove") {
      const method = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        sent.push(name);
        return method.apply(target, args);
      };
    },
  });
  return { store: proxy, requests: () => sent };
}
