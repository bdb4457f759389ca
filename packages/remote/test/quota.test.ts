/** Quotas of a space and of its members: a push that does not fit is refused, and what waits goes on waiting. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import type { RemoteStore } from "../src/stores/remote-store.ts";
import { Machine } from "./support/machines.ts";

const MIB = 1024 * 1024;

async function bytesOn(store: RemoteStore): Promise<number> {
  let bytes = 0;
  for await (const { size } of store.list("")) bytes += size;
  return bytes;
}

async function filled(machine: Machine, name: string, mebibytes: number): Promise<void> {
  machine.write({ [name]: randomBytes(mebibytes * MIB) });
  await machine.workspace.checkpoint();
}

describe("a quota", () => {
  test("[R2026] of the space refuses what does not fit with REMOTE_FULL; the queue is kept and sent when there is room", async () => {
    const store = new MemoryRemoteStore();
    const ana = new Machine(() => store);
    ana.write({ "a.txt": "one\n" });
    await (await ana.init()).add();
    await ana.push();
    await ana.members().setPolicy({ quotaBytes: 4 * MIB });
    await filled(ana, "fits.bin", 2);
    expect(await ana.push()).toMatchObject({ outcome: "pushed" });
    await filled(ana, "large.bin", 3);
    const before = await bytesOn(store);
    await expect(ana.push()).rejects.toMatchObject({ code: "REMOTE_FULL" });
    expect(await bytesOn(store)).toBe(before);
    expect(ana.workspace.exchange.queued("team").checkpoints).toBe(1);
    expect(ana.workspace.exchange.remotes()[0]!.problem).toMatch(/^REMOTE_FULL/);
    expect((await ana.workspace.resolve("@")).synced).toBe(false);
    expect(await ana.verify()).toMatchObject({ ok: true });
    await ana.members().setPolicy({ quotaBytes: 40 * MIB });
    expect(await ana.push()).toMatchObject({ outcome: "pushed", checkpoints: 1 });
    expect((await ana.workspace.resolve("@")).synced).toBe(true);
    expect(ana.workspace.exchange.remotes()[0]!.problem).toBeNull();
  });

  test("[R2026] stops a large push at the parcel that does not fit; tried again nothing is stored twice, and a repair is exempt", async () => {
    const store = new MemoryRemoteStore();
    const ana = new Machine(() => store);
    ana.write({ "a.txt": "one\n" });
    await (await ana.init()).add();
    await ana.push();
    await ana.members().setPolicy({ quotaBytes: 24 * MIB });
    for (let n = 0; n < 12; n++) ana.write({ [`part-${n}.bin`]: randomBytes(4 * MIB) });
    await ana.workspace.checkpoint();
    await expect(ana.push()).rejects.toMatchObject({ code: "REMOTE_FULL" });
    const after = await bytesOn(store);
    expect(after).toBeGreaterThan(12 * MIB);
    expect(after).toBeLessThan(24 * MIB);
    await expect(ana.push()).rejects.toMatchObject({ code: "REMOTE_FULL" });
    expect(await bytesOn(store)).toBe(after);
    await ana.members().setPolicy({ quotaBytes: 80 * MIB });
    expect(await ana.push()).toMatchObject({ outcome: "pushed", checkpoints: 1 });
    expect(await bytesOn(store)).toBeLessThan(52 * MIB);
    await ana.members().setPolicy({ quotaBytes: 1 });
    const [lost] = [...store.objects.keys()].filter((key) => key.includes("/b/"));
    await store.remove([lost!]);
    expect(await ana.verify(true)).toMatchObject({ problems: [{ repaired: true }] });
    expect(await ana.verify()).toMatchObject({ ok: true });
  });

  test("[R2026] of a member refuses that member alone; without a quota an ordinary push asks nothing", async () => {
    const store = new MemoryRemoteStore();
    const ana = new Machine(() => store);
    ana.write({ "a.txt": "one\n" });
    await (await ana.init()).add();
    await filled(ana, "ana.bin", 3);
    await ana.push();
    const bob = await ana.invited(() => store, "bob", "member");
    await ana.members().setPolicy({ memberQuotaBytes: 4 * MIB });
    await bob.pull();
    // his list of members is ten minutes old
    bob.host = { ...bob.host, around: { ...bob.host.around, now: () => Date.now() + 11 * 60_000 } };
    await filled(bob, "bob.bin", 3);
    expect(await bob.push()).toMatchObject({ outcome: "pushed" });
    await filled(ana, "more.bin", 2);
    await expect(ana.push()).rejects.toMatchObject({ code: "REMOTE_FULL" });
    await filled(bob, "more.bin", 2);
    await expect(bob.push()).rejects.toMatchObject({ code: "REMOTE_FULL" });
    await ana.members().setPolicy({ memberQuotaBytes: null });
    expect(await ana.push()).toMatchObject({ outcome: "pushed" });
  });
});
