/** A server that lies, loses, swaps and rolls back; a copied home; a broken machine. */
import { randomBytes } from "node:crypto";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findWorkspace } from "@belay/engine";
import { describe, expect, onTestFinished, test } from "vitest";
import { forgeStore } from "../../engine/test/support/forged-store.ts";
import { memberKeys } from "../src/keys/key-pairs.ts";
import { createHead, sealSegment } from "../src/line/segment.ts";
import { keptSpace, spaceDirectory } from "../src/space/space.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { RemoteFailure } from "../src/stores/remote-store.ts";
import { filesBelow, Machine } from "./support/machines.ts";

async function pushed(store: MemoryRemoteStore): Promise<Machine> {
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "one\n", "big.bin": randomBytes(1_500_000) });
  await (await ana.init()).add();
  await ana.push();
  ana.write({ "a.txt": "two\n" });
  await ana.workspace.checkpoint();
  await ana.push();
  return ana;
}

const keysOf = (store: MemoryRemoteStore, part: string) =>
  [...store.objects.keys()].filter((key) => key.includes(part));

function alter(store: MemoryRemoteStore, key: string, change: (bytes: Buffer) => Buffer): void {
  const kept = store.objects.get(key)!;
  store.objects.set(key, { ...kept, bytes: change(Buffer.from(kept.bytes)) });
}

async function expectRefused(ana: Machine, store: MemoryRemoteStore, code: string): Promise<void> {
  const bob = new Machine(() => store, "bob");
  await expect(bob.receive(ana.recoveryKey)).rejects.toMatchObject({ code });
  expect(filesBelow(bob.root)).toEqual({});
  expect(readdirSync(join(bob.home, "workspaces"), { recursive: true })).toEqual([]);
}

describe("a hostile server", () => {
  test("[T9] any object with a bit flipped, cut or replaced is refused, and nothing is left behind", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const changes: ((bytes: Buffer) => Buffer)[] = [
      (bytes) => {
        bytes[70]! ^= 1;
        return bytes;
      },
      (bytes) => bytes.subarray(0, bytes.length / 2),
      () => randomBytes(500),
      () => Buffer.alloc(0),
    ];
    for (const part of ["/l/", "/b/"])
      for (const change of changes) {
        const key = keysOf(store, part).at(-1)!;
        const good = store.objects.get(key)!;
        alter(store, key, change);
        await expectRefused(ana, store, "REMOTE_DAMAGED");
        const report = await ana.verify();
        expect(report.ok).toBe(false);
        expect(report.problems.map(({ kind }) => kind)).toContain("damaged");
        store.objects.set(key, good);
      }
    expect(await ana.verify()).toMatchObject({ ok: true });
  });

  test("[T9] a parcel or segment under the name of another is refused", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const [first, second] = keysOf(store, "/l/");
    alter(store, second!, () => store.objects.get(first!)!.bytes);
    await expectRefused(ana, store, "REMOTE_DAMAGED");
  });

  test("a parcel that is gone is named with the checkpoints it affects, and uploaded again by --repair", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    store.objects.delete(keysOf(store, "/b/")[0]!);
    await expectRefused(ana, store, "REMOTE_INCOMPLETE");
    const report = await ana.verify();
    const all = (await ana.workspace.list()).map(({ id }) => id).toSorted();
    expect(report.problems).toMatchObject([{ kind: "missing", repaired: false }]);
    expect(report.problems[0]!.checkpoints.toSorted()).toEqual(all);
    expect(await ana.verify(true)).toMatchObject({ ok: true, problems: [{ repaired: true }] });
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    const bob = await ana.clone(() => store);
    await bob.workspace.restoreTo("@");
    expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
  });

  test("a parcel that is gone is a problem of every line that names it", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const bob = await ana.clone(() => store);
    await bob.workspace.restoreTo("@");
    expect(await bob.push()).toMatchObject({ outcome: "pushed" });
    store.objects.delete(keysOf(store, "/b/")[0]!);
    for (const { workspace, report } of [
      { workspace: ana.workspace, report: await ana.verify() },
      { workspace: bob.workspace, report: await bob.verify() },
    ]) {
      expect(report.problems).toMatchObject([{ kind: "missing" }, { kind: "missing" }]);
      const affected = report.problems.flatMap(({ checkpoints }) => checkpoints).toSorted();
      expect(affected).toEqual((await workspace.list()).map(({ id }) => id).toSorted());
    }
  });

  test("[T15] a server that goes back in time is noticed, by what this machine saw", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    store.objects.delete(keysOf(store, "/l/").at(-1)!);
    const report = await ana.verify();
    expect(report).toMatchObject({ ok: false, problems: [{ kind: "rolled-back" }] });
  });

  test("[T15] nor is a line that was longer cloned, or written on", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const bob = await ana.clone(() => store);
    store.objects.delete(keysOf(store, "/l/").at(-1)!);
    const beside = new Machine(() => store, "beside");
    beside.host = bob.host;
    await expect(beside.receive(ana.recoveryKey)).rejects.toMatchObject({ code: "REMOTE_ROLLED_BACK" });
    const [entry] = ana.workspace.exchange.remotes();
    rmSync(join(spaceDirectory(ana.home, entry!.space), "mirror.db"));
    ana.write({ "a.txt": "three\n" });
    await ana.workspace.checkpoint();
    await expect(ana.push()).rejects.toMatchObject({ code: "REMOTE_ROLLED_BACK" });
  });

  test("[T9] a segment that no member signed is forged, though it is encrypted with the right secret", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const [entry] = ana.workspace.exchange.remotes();
    const space = keptSpace(ana.home, entry!.space, store)!;
    const eve = memberKeys({ sign: randomBytes(32), receive: randomBytes(32) });
    for (const member of [eve.id, entry!.member]) {
      const head = createHead({
        line: entry!.line,
        number: 3,
        previous: entry!.segmentHash,
        member,
        device: "eve",
        at: 0,
        from: null,
        seen: {},
        sweep: 0,
      });
      const key = space.names.segment(entry!.line, 3);
      const bytes = sealSegment(
        { head, records: [], index: new Map(), content: [], uses: [] },
        { key, secret: space.secrets.get(1)!, salt: randomBytes(32), signer: eve.sign },
      );
      await store.put(key, bytes, { createOnly: false });
      await expectRefused(ana, store, "REMOTE_DAMAGED");
      expect((await ana.verify()).problems).toMatchObject([{ kind: "forged", key }]);
    }
  });

  test("[T9] a history of a member whose directories hold .git is refused", async () => {
    const store = new MemoryRemoteStore();
    const ana = new Machine(() => store);
    ana.write({ "a.txt": "one\n" });
    await ana.init();
    await ana.workspace.close();
    await forgeStore(ana, {
      name: ".git",
      forge: (forger) => forger.setSnapshot([["d", forger.directory([[".git", forger.entry("directory")]])]]),
    });
    ana.workspace = await findWorkspace(ana.root, { home: ana.home });
    onTestFinished(() => ana.workspace.close());
    await ana.add();
    await ana.push();
    await expectRefused(ana, store, "OBJECT_CORRUPT");
  });

  test("a server that says yes and stores nothing is found by verify", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const put = store.put.bind(store);
    store.put = async (key, bytes, how) => {
      const answer = await put(key, bytes, how);
      if (key.includes("/l/")) store.objects.delete(key);
      return answer;
    };
    ana.write({ "a.txt": "three\n" });
    await ana.workspace.checkpoint();
    await ana.push();
    expect(await ana.verify()).toMatchObject({ ok: false, problems: [{ kind: "rolled-back" }] });
  });

  test("a wrong recovery key, and that of another space, open nothing", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const bob = new Machine(() => store, "bob");
    for (const key of [
      "",
      "not a key",
      (await pushed(new MemoryRemoteStore())).recoveryKey,
      `${ana.recoveryKey.slice(0, -1)}!`,
    ])
      await expect(bob.receive(key)).rejects.toMatchObject({ code: "SPACE_KEY_MISSING" });
    await bob.receive(ana.recoveryKey.toUpperCase().replaceAll("-", " "));
    expect(await bob.workspace.list()).toHaveLength(2);
  });
});

describe("a machine", () => {
  test("[T4] whose home was copied goes on as a line of its own, and overwrites nothing", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const copy = new Machine(() => store, "copy");
    cpSync(ana.home, copy.home, { recursive: true });
    cpSync(ana.root, copy.root, { recursive: true });
    const { attachWorkspace } = await import("@belay/engine");
    copy.workspace = await attachWorkspace(ana.workspace.id, copy.root, { home: copy.home });
    onTestFinished(() => copy.workspace.close());
    ana.write({ "a.txt": "of the original\n" });
    copy.write({ "a.txt": "of the copy\n" });
    for (const machine of [ana, copy]) await machine.workspace.checkpoint();
    const before = ana.workspace.exchange.remotes()[0]!;
    expect(await ana.push()).toMatchObject({ segment: 3, forkedFrom: null });
    const third = store.objects.get(keysOf(store, `/l/${before.line}/`).at(-1)!)!.bytes;
    const forked = await copy.push();
    expect(forked).toMatchObject({ outcome: "pushed", segment: 1, forkedFrom: before.line });
    expect(forked.borrowed).toBeGreaterThan(0);
    expect(store.objects.get(keysOf(store, `/l/${before.line}/`).at(-1)!)!.bytes.equals(third)).toBe(true);
    for (const machine of [ana, copy]) {
      const { line } = machine.workspace.exchange.remotes()[0]!;
      const clone = await ana.clone(() => store, { name: "clone", line });
      await clone.workspace.restoreTo("@");
      expect(filesBelow(clone.root)).toEqual(filesBelow(machine.root));
    }
    expect(await ana.verify()).toMatchObject({ ok: true, lines: 2 });
  });

  test("[T13, T14] offline it works on; what waits is kept from prune and sent later", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const connect = ana.host.connect;
    ana.host = {
      ...ana.host,
      connect: () =>
        new Proxy(store, {
          get: () => () => {
            throw new RemoteFailure("unreachable", "no route to host");
          },
        }),
    };
    for (let n = 0; n < 30; n++) {
      ana.write({ "a.txt": `offline ${n}\n` });
      await ana.workspace.checkpoint({ kind: "tool" });
    }
    await expect(ana.push()).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
    expect(ana.workspace.exchange.remotes()[0]!.problem).toMatch(/^REMOTE_UNREACHABLE/);
    const once = { name: "once", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: 0 };
    const { pruned, keptBy } = await ana.workspace.upkeep.prune({ policy: once });
    expect(pruned).toEqual([]);
    expect(keptBy.queued).toBeGreaterThan(20);
    ana.host = { ...ana.host, connect };
    expect(await ana.push()).toMatchObject({ outcome: "pushed", checkpoints: 30 });
    expect(ana.workspace.exchange.remotes()[0]!.problem).toBeNull();
    expect((await ana.workspace.upkeep.prune({ policy: once })).pruned.length).toBeGreaterThan(20);
    expect(await ana.verify()).toMatchObject({ ok: true });
  });

  test("two processes do not push one store at the same time", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const claim = ana.workspace.exchange.claim();
    await using second = await findWorkspace(ana.root, { home: ana.home });
    expect(() => second.exchange.claim()).toThrow(/pushing already/);
    claim[Symbol.dispose]();
    second.exchange.claim()[Symbol.dispose]();
  });

  test("removing a remote takes its triggers and its queue away, and leaves the server alone", async () => {
    const store = new MemoryRemoteStore();
    const ana = await pushed(store);
    const before = store.objects.size;
    expect(ana.workspace.exchange.removeRemote("team")).toBe(true);
    expect(ana.workspace.exchange.removeRemote("team")).toBe(false);
    ana.write({ "a.txt": "three\n" });
    await ana.workspace.checkpoint();
    expect(store.objects.size).toBe(before);
    expect(await ana.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    await ana.add();
    expect(await ana.push()).toMatchObject({ outcome: "pushed", checkpoints: 3 });
  });
});
