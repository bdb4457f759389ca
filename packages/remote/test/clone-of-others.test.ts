/** Clones of what other members wrote: asked about once, by the name of the line, and kept between jobs. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { CachingRemoteStore } from "../src/stores/caching-remote-store.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { filesBelow, Machine } from "./support/machines.ts";

const PLANTED = "PLANTED-PLAINTEXT-90aa";

async function team() {
  const store = new MemoryRemoteStore();
  const ana = new Machine(() => store);
  ana.write({ "a.txt": PLANTED, "big.bin": randomBytes(1_500_000) });
  await (await ana.init()).add();
  await ana.push();
  return { store, ana };
}

/** One more directory of the same user. */
function beside(machine: Machine, name: string): Machine {
  const other = new Machine(() => new MemoryRemoteStore(), name);
  other.host = machine.host;
  // the home of a machine is that of its host
  return Object.assign(other, { home: machine.home });
}

describe("a clone of what another member wrote", () => {
  test("[R765] is asked about the first time, leaves nothing behind when declined, and then never again", async () => {
    const { store, ana } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    const line = "ana@ana-laptop";
    const asked: string[] = [];
    const first = beside(bob, "first");
    first.mayReceive = async (writer) => asked.push(writer) === 0;
    await expect(first.receive(undefined, line)).rejects.toMatchObject({ code: "CONFIRMATION_REQUIRED" });
    expect(filesBelow(first.root)).toEqual({});
    first.mayReceive = async (writer) => asked.push(writer) > 0;
    await first.receive(undefined, line);
    await first.workspace.restoreTo("@");
    expect(filesBelow(first.root)).toEqual(filesBelow(ana.root));
    const second = beside(bob, "second");
    second.mayReceive = first.mayReceive;
    await second.receive(undefined, line);
    expect(asked).toEqual([line, line]);
  });

  test("[R765] one's own line, and one that the recovery key opens, is not asked about", async () => {
    const { store, ana } = await team();
    const again = beside(ana, "again");
    again.mayReceive = async () => expect.unreachable();
    await again.receive(undefined);
    const other = new Machine(() => store, "other");
    other.mayReceive = async () => expect.unreachable();
    await other.receive(ana.recoveryKey);
  });

  test("[R766] a cache keeps parcels as they are on the server, and is believed only where it proves itself", async () => {
    const { store, ana } = await team();
    const cache = mkdtempSync(join(tmpdir(), "belay-remote-cache-"));
    onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
    const read: string[] = [];
    const get = store.get.bind(store);
    store.get = (key, range) => {
      if (key.includes("/b/")) read.push(key);
      return get(key, range);
    };
    const clone = async (name: string) => {
      const machine = await ana.clone(() => new CachingRemoteStore(store, cache), {
        name,
        line: lineOf(ana),
      });
      await machine.workspace.restoreTo("@");
      expect(filesBelow(machine.root)).toEqual(filesBelow(ana.root));
    };
    await clone("one");
    const downloaded = read.length;
    expect(downloaded).toBeGreaterThan(0);
    for (const name of readdirSync(cache))
      expect(readFileSync(join(cache, name)).includes(PLANTED)).toBe(false);
    await clone("two");
    expect(read).toHaveLength(downloaded);
    for (const name of readdirSync(cache)) writeFileSync(join(cache, name), randomBytes(100));
    await clone("three");
    expect(read).toHaveLength(2 * downloaded);
  });
});

const lineOf = (machine: Machine) => machine.workspace.exchange.remotes()[0]!.line;
