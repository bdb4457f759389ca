/** Shares: by a link that needs nothing else, and with members. */
import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { displayPath, initWorkspace, type ImportedFile } from "@belay/engine";
import { openShare } from "../src/share/open-share.ts";
import { openShares } from "../src/share/shares.ts";
import { sealShareFacts } from "../src/share/share-facts.ts";
import { readIdentity } from "../src/space/identity.ts";
import { keptSpace } from "../src/space/space.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { filesBelow, Machine } from "./support/machines.ts";

const HOUR = 3_600_000;
const PLANTED = "PLANTED-PLAINTEXT-51d0";

/** A server whose pre-signed requests are the names of its objects. */
class SigningStore extends MemoryRemoteStore {
  async presign(key: string): Promise<string> {
    return `memory:${key}`;
  }

  readonly download = async (url: string): Promise<Buffer> => {
    const bytes = this.objects.get(url.slice("memory:".length))?.bytes;
    if (bytes === undefined || bytes.length === 0) throw new Error("404");
    return bytes;
  };
}

async function team() {
  const store = new SigningStore();
  const ana = new Machine(() => store);
  ana.write({
    "src/a.txt": `${PLANTED}\n`,
    "src/same.txt": `${PLANTED}\n`,
    "big.bin": randomBytes(9_000_000),
    empty: "",
  });
  await (await ana.init()).add();
  await ana.workspace.checkpoint({ name: PLANTED });
  await ana.push();
  return { store, ana, shares: openShares(ana.workspace, undefined, ana.host) };
}

const partsOf = (store: SigningStore) => [...store.objects.keys()].filter((key) => key.includes("/x/"));

describe("a link", () => {
  test("[R764] opens one checkpoint for a machine that is no member, and becomes the same files there", async () => {
    const { store, ana, shares } = await team();
    const checkpoint = await ana.workspace.resolve("@");
    const { link, share } = await shares.byLink({ checkpoint, paths: [], ttlMs: HOUR });
    expect(share).toMatchObject({ checkpoint: checkpoint.id, files: 4 });
    using opened = await openShare(link, store.download);
    expect(opened.checkpoint).toMatchObject({ id: checkpoint.id, name: PLANTED, member: "ana@ana-laptop" });
    const stranger = new Machine(() => store, "stranger");
    const { workspace } = await initWorkspace(stranger.root, { home: stranger.home });
    onTestFinished(() => workspace.close());
    const files = [...opened.files()];
    const imported = await workspace.importCheckpoint({
      origin: "share",
      alias: share.id,
      kind: "manual",
      description: "shared",
      createdAt: opened.checkpoint.createdAt,
      files,
      covers: files.map(({ path }) => path),
    });
    await workspace.restoreTo(imported.id);
    expect(filesBelow(stranger.root)).toEqual(filesBelow(ana.root));
    expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[R764] to some paths holds those only", async () => {
    const { store, ana, shares } = await team();
    const checkpoint = await ana.workspace.resolve("@");
    const { link } = await shares.byLink({ checkpoint, paths: ["src"], ttlMs: HOUR });
    using opened = await openShare(link, store.download);
    const names = [...opened.files()].map(({ path }: ImportedFile) => displayPath(path));
    expect(names.toSorted()).toEqual(["src/a.txt", "src/same.txt"]);
    await expect(shares.byLink({ checkpoint, paths: ["none"], ttlMs: HOUR })).rejects.toMatchObject({
      code: "USAGE",
    });
    await expect(shares.byLink({ checkpoint, paths: [], ttlMs: 8 * 24 * HOUR })).rejects.toMatchObject({
      code: "USAGE",
    });
  });

  test("[T9] with any part altered, cut, swapped or gone gives no wrong byte", async () => {
    const { store, ana, shares } = await team();
    const checkpoint = await ana.workspace.resolve("@");
    const { link } = await shares.byLink({ checkpoint, paths: ["src"], ttlMs: HOUR });
    const read = async () => {
      using opened = await openShare(link, store.download);
      return [...opened.files()].length;
    };
    expect(await read()).toBe(2);
    const parts = partsOf(store).filter((key) => /\/\d+$/.test(key));
    expect(parts.length).toBe(2);
    for (const key of parts) {
      const kept = store.objects.get(key)!;
      const flipped = Buffer.from(kept.bytes);
      flipped[80]! ^= 1;
      const other = store.objects.get(parts.find((one) => one !== key)!)!.bytes;
      for (const bytes of [flipped, kept.bytes.subarray(0, 90), other, Buffer.alloc(0)]) {
        store.objects.set(key, { ...kept, bytes });
        await expect(read()).rejects.toThrow();
      }
      store.objects.set(key, kept);
    }
    await expect(openShare(`${link.slice(0, -4)}AAAA`, store.download)).rejects.toMatchObject({
      code: "REMOTE_DAMAGED",
    });
    await expect(openShare(link.slice(0, -1), store.download)).rejects.toMatchObject({ code: "USAGE" });
  });

  test("[R764, T12] is listed without what opens it, is readable by no server, and ends when it is revoked", async () => {
    const { store, ana, shares } = await team();
    const checkpoint = await ana.workspace.resolve("@");
    const { link, share } = await shares.byLink({ checkpoint, paths: [], ttlMs: HOUR });
    const key = link.slice(link.lastIndexOf(".") + 1);
    const bob = await ana.invited(() => store, "bob", "member");
    const theirs = openShares(bob.workspace, undefined, bob.host);
    const { links } = await theirs.list();
    expect(links).toMatchObject([{ id: share.id, member: "ana@ana-laptop", checkpoint: checkpoint.id }]);
    expect(JSON.stringify(links)).not.toContain(key);
    for (const [name, { bytes }] of store.objects) {
      expect(name).toMatch(/^[a-z0-9/.-]+$/);
      for (const word of [PLANTED, "src/a.txt", "ana@ana", key, checkpoint.id])
        expect(bytes.includes(word), `${word} in ${name}`).toBe(false);
      expect(bytes.includes(Buffer.from(key, "base64url")), name).toBe(false);
    }
    expect(await theirs.revoke(share.id)).toBe(true);
    expect(partsOf(store)).toEqual([]);
    await expect(openShare(link, store.download)).rejects.toThrow();
    expect(await theirs.revoke(share.id)).toBe(false);
    expect((await ana.verify()).ok).toBe(true);
  });

  test("[R1840] is listed only if a member who may write signed what is said of it, and under that member's name", async () => {
    const { store, ana, shares } = await team();
    const checkpoint = await ana.workspace.resolve("@");
    // what a machine calls itself now is not what its space calls it
    const renamed = openShares(ana.workspace, undefined, { ...ana.host, user: "another" });
    const { share } = await renamed.byLink({ checkpoint, paths: ["src"], ttlMs: HOUR });
    expect((await shares.list()).links).toMatchObject([{ id: share.id, member: "ana@ana-laptop" }]);
    const rita = await ana.invited(() => store, "rita", "reader");
    const keys = readIdentity(rita.home)!;
    const space = keptSpace(rita.home, rita.workspace.exchange.remotes()[0]!.space, store)!;
    const [key, stored] = [...store.objects].find(([name]) => name === space.names.shareFacts(share.id))!;
    // a reader has the secret of the space, and so can seal what it likes
    for (const by of [keys, { ...keys, id: ana.workspace.exchange.remotes()[0]!.member }]) {
      const bytes = sealShareFacts(share, { space, keys: by, random: randomBytes });
      store.objects.set(key, { ...stored, bytes });
      expect((await shares.list()).links).toEqual([]);
    }
    store.objects.set(key, stored);
    expect((await shares.list()).links).toHaveLength(1);
  });

  test("[R764] where this access cannot delete, a share that is revoked is emptied", async () => {
    const { store, ana, shares } = await team();
    const checkpoint = await ana.workspace.resolve("@");
    const { link, share } = await shares.byLink({ checkpoint, paths: ["src"], ttlMs: HOUR });
    const { RemoteFailure } = await import("../src/stores/remote-store.ts");
    store.remove = async () => {
      throw new RemoteFailure("denied", "403");
    };
    expect(await shares.revoke(share.id)).toBe(true);
    for (const key of partsOf(store)) expect(store.objects.get(key)!.bytes.length).toBe(0);
    await expect(openShare(link, store.download)).rejects.toThrow();
    expect((await shares.list()).links).toEqual([]);
  });

  test("[R760] a reader shares nothing", async () => {
    const { store, ana } = await team();
    const rita = await ana.invited(() => store, "rita", "reader");
    const shares = openShares(rita.workspace, undefined, rita.host);
    const checkpoint = await rita.workspace.resolve("@");
    await expect(shares.byLink({ checkpoint, paths: [], ttlMs: HOUR })).rejects.toMatchObject({
      code: "ROLE_REQUIRED",
    });
    expect(partsOf(store)).toEqual([]);
  });
});

describe("a share with members", () => {
  test("[R764] is kept and sent, and has a name that they can clone", async () => {
    const { store, ana, shares } = await team();
    const checkpoint = await ana.workspace.resolve("@");
    const { reference } = await shares.withMembers(checkpoint);
    expect(reference).toBe(`team/${checkpoint.id}`);
    expect((await shares.list()).kept).toMatchObject([{ reference }]);
    // [R1842] readers of events learn of it
    const told = ana.workspace.events.read({ after: 0 });
    const share = { type: "share_created", share: checkpoint.id, checkpoint: checkpoint.id, expiresAt: null };
    for await (const event of told)
      if (event.type === "share_created") {
        expect(event).toMatchObject(share);
        break;
      }
    const bob = await ana.clone(() => store);
    expect((await bob.workspace.resolve(checkpoint.id)).tags).toEqual([`shared-${checkpoint.id}`]);
    expect(await shares.revoke(checkpoint.id)).toBe(true);
    expect((await shares.list()).kept).toEqual([]);
  });

  test("waits for the first push, which asks about secrets", async () => {
    const store = new SigningStore();
    const ana = new Machine(() => store);
    await (await ana.init()).add();
    const shares = openShares(ana.workspace, undefined, ana.host);
    await expect(shares.withMembers(await ana.workspace.resolve("@"))).rejects.toMatchObject({
      code: "USAGE",
    });
  });
});
