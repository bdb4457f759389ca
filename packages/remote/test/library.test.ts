/** What `openRemote` gives to programs that use the library, and what ends a space. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { RemoteFailure } from "../src/stores/remote-store.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { findStoredSpace } from "../src/sync/delete-space.ts";
import { openRemote } from "../src/open-remote.ts";
import { filesBelow, Machine } from "./support/machines.ts";

async function pushed(store = new MemoryRemoteStore()): Promise<{ store: MemoryRemoteStore; ana: Machine }> {
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "of ana\n", "src/b.txt": "two\n" });
  await (await ana.init()).add();
  await ana.push();
  return { store, ana };
}

const remoteOf = ({ workspace, host }: Machine) => openRemote(workspace, undefined, host);

describe("an open remote", () => {
  test("[R2260] clones its line into a directory, whole, with a line of its own", async () => {
    const { ana } = await pushed();
    const directory = mkdtempSync(join(tmpdir(), "belay-library-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    using remote = remoteOf(ana);
    const cloned = await remote.clone({ directory });
    await using workspace = cloned.workspace;
    expect(filesBelow(directory)).toEqual(filesBelow(ana.root));
    expect(cloned.from.line).toBe(remote.entry.line);
    expect(cloned.entry.line).not.toBe(remote.entry.line);
    expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    await expect(remote.clone({ directory, line: "carol" })).rejects.toMatchObject({
      code: "REMOTE_NOT_FOUND",
    });
  });

  test("[R2260] shares a checkpoint with the members, and by a link where the server knows such", async () => {
    const { store, ana } = await pushed();
    const checkpoint = await ana.workspace.resolve("@");
    using remote = remoteOf(ana);
    const { reference } = await remote.share(checkpoint);
    expect(reference).toBe(`team/${checkpoint.id}`);
    expect((await ana.workspace.resolve("@")).tags).toEqual([`shared-${checkpoint.id}`]);
    expect(await remote.isSynced(checkpoint.id)).toBe(true);
    const link = { checkpoint, paths: ["src"], ttlMs: 60_000 };
    await expect(remote.shareByLink(link)).rejects.toMatchObject({ code: "REMOTE_UNFIT" });
    Object.assign(store, { presign: async (key: string) => `https://server.example/${key}` });
    expect(await remote.shareByLink(link)).toMatchObject({
      link: expect.stringContaining("#belay-link-"),
      share: { files: 1 },
    });
  });

  test("[R2261] what is not a push does not begin a new line where the own one is another's: LINE_FORKED, and nothing is changed", async () => {
    const { store, ana } = await pushed();
    const bob = await ana.invited(() => store, "bob", "member");
    await bob.push();
    const { line } = bob.workspace.exchange.remotes()[0]!;
    await ana.members().adopt(line);
    const before = [...store.objects.keys()];
    using remote = remoteOf(bob);
    await expect(remote.rewrite()).rejects.toMatchObject({
      code: "LINE_FORKED",
      details: { facts: { line } },
    });
    expect([...store.objects.keys()]).toEqual(before);
    expect(remote.entry.line).toBe(line);
    // the way on that the hint names
    expect(await bob.push()).toMatchObject({ forkedFrom: line });
    expect(await remoteOf(bob).rewrite()).toBeNull();
  });
});

test("[R2268] what a check finds is shown with the remote until everything is sound again", async () => {
  const { store, ana } = await pushed();
  const [parcel] = [...store.objects.keys()].filter((key) => /\/l\//.test(key));
  const { bytes } = store.objects.get(parcel!)!;
  const problem = () => ana.workspace.exchange.remotes()[0]!.problem;
  await store.put(parcel!, Buffer.from("garbage"), { createOnly: false });
  using remote = remoteOf(ana);
  expect(await remote.verify({ share: 0.01, repair: false })).toMatchObject({ ok: false });
  expect(problem()).toContain("REMOTE_INCOMPLETE");
  await store.put(parcel!, bytes, { createOnly: false });
  expect(await remote.verify({ share: 0, repair: false })).toMatchObject({ ok: true });
  expect(problem()).toContain("REMOTE_INCOMPLETE");
  expect(await remote.verify({ share: 1, repair: false })).toMatchObject({ ok: true });
  expect(problem()).toBeNull();
});

/** A server that refuses to delete after so many keys. */
class Tired extends MemoryRemoteStore {
  left = Infinity;

  override async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      if (this.left-- <= 0) throw new RemoteFailure("denied", "the server answered 403.");
      await super.remove([key]);
    }
  }
}

describe("deleting a space", () => {
  test("[R2262] names what is there and whose it is, leaves nothing of it, and forgets the remote; histories stay", async () => {
    const { store, ana } = await pushed();
    const bob = await ana.invited(() => store, "bob", "member");
    await bob.push();
    await store.put("another-space/k/000000000001", Buffer.from("theirs"), { createOnly: true });
    const files = filesBelow(ana.root);
    const stored = await findStoredSpace(ana.workspace, "team", ana.host);
    expect(stored).toMatchObject({ objects: store.objects.size - 1, others: ["bob@bob-laptop"] });
    await stored.delete();
    expect([...store.objects.keys()]).toEqual(["another-space/k/000000000001"]);
    expect(ana.workspace.exchange.remotes()).toEqual([]);
    expect(filesBelow(ana.root)).toEqual(files);
    expect(await ana.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    // the other machine is told, and keeps what it has
    bob.host = { ...bob.host, around: { ...bob.host.around, now: () => Date.now() + 3_600_000 } };
    bob.write({ "later.txt": "1\n" });
    await bob.workspace.checkpoint();
    await expect(bob.push()).rejects.toMatchObject({ code: expect.stringMatching(/^REMOTE_/) });
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[R2262] interrupted after any object, the same call goes on; the remote stays until all is gone", async () => {
    const { ana, store } = await pushed(new Tired());
    const tired = store as Tired;
    // two rosters, of two generations
    await ana.members().rotate(false);
    for (let limit = 0; tired.objects.size > 0; limit++) {
      expect(limit).toBeLessThan(50);
      tired.left = 1;
      const stored = await findStoredSpace(ana.workspace, "team", ana.host);
      const isLast = tired.objects.size === 1;
      const deleting = stored.delete();
      if (!isLast) {
        await expect(deleting).rejects.toMatchObject({ code: "REMOTE_DENIED" });
        expect(ana.workspace.exchange.remotes()).toHaveLength(1);
      } else await deleting;
    }
    expect(ana.workspace.exchange.remotes()).toEqual([]);
  });

  test("[R2262] is an admin's", async () => {
    const { store, ana } = await pushed();
    const bob = await ana.invited(() => store, "bob", "member");
    const before = store.objects.size;
    await expect(findStoredSpace(bob.workspace, "team", bob.host)).rejects.toMatchObject({
      code: "ROLE_REQUIRED",
    });
    expect(store.objects.size).toBe(before);
  });
});
