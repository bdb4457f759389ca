/** What `sync.withhold` names stays at home: no key opens it elsewhere, and nothing is deleted for it anywhere. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeSetting } from "@belay/engine";
import { describe, expect, test } from "vitest";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { filesBelow, Machine } from "./support/machines.ts";
import { readableOn } from "./support/opened-server.ts";

const SECRET = "PLANTED-SECRET-2c91";

function withhold(machine: Machine, ...patterns: string[]): void {
  writeSetting(machine.home, "sync.withhold", JSON.stringify(patterns));
}

function lineOf({ workspace }: Machine): string {
  return workspace.exchange.remotes()[0]!.line;
}

async function isReadable(store: MemoryRemoteStore, machine: Machine, text: string): Promise<boolean> {
  return (await readableOn(store, machine)).some((bytes) => bytes.includes(text));
}

/** A machine with a secret in a file, in an earlier version of it, in a large file and in a directory. */
async function keeping(store: MemoryRemoteStore, largeBytes = 1_500_000): Promise<Machine> {
  const ana = new Machine(() => store);
  withhold(ana, ".env*", "/vault/", "*.pem");
  const large = Buffer.concat([randomBytes(largeBytes), Buffer.from(SECRET)]);
  ana.write({
    "src/a.ts": "one\n",
    "src/empty.ts": "",
    ".env": `KEY=${SECRET}-1\n`,
    "vault/deep/token": `${SECRET}-2\n`,
    "deploy/key.pem": large,
    "deploy/run.sh": "run\n",
  });
  await ana.init();
  ana.write({ ".env": `KEY=${SECRET}-3\n`, "src/a.ts": "two\n" });
  await ana.workspace.checkpoint({ name: "second" });
  return ana.add();
}

describe("sync.withhold", () => {
  test("[R2020] what a pattern names is nowhere on the server, and the tree keeps its hash", async () => {
    const store = new MemoryRemoteStore();
    const ana = await keeping(store);
    const report = await ana.push();
    expect(report).toMatchObject({ outcome: "pushed", checkpoints: 2, sentBefore: [] });
    expect(report.withheld).toEqual([".env", "deploy/key.pem", "vault/deep/token"]);
    expect(await isReadable(store, ana, SECRET)).toBe(false);
    expect(await isReadable(store, ana, "run\n")).toBe(true);
    const bob = await ana.clone(() => store);
    const [theirs, ours] = [await ana.workspace.list(), await bob.workspace.list()];
    expect(ours.map(({ snapshot }) => snapshot)).toEqual(theirs.map(({ snapshot }) => snapshot));
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
  });

  test("[R2022] elsewhere it is a gap that a clone, a restore and an undo leave alone", async () => {
    const store = new MemoryRemoteStore();
    const ana = await keeping(store);
    await ana.push();
    const bob = await ana.clone(() => store);
    expect((await bob.workspace.restoreTo("@")).outcome).toBe("applied");
    expect(existsSync(join(bob.root, ".env"))).toBe(false);
    expect(readFileSync(join(bob.root, "deploy/run.sh"), "utf8")).toBe("run\n");
    const { gaps } = await bob.workspace.resolve("@");
    expect(gaps.map(({ path, reason }) => [String(path), reason])).toEqual([
      [".env", "withheld"],
      ["deploy/key.pem", "withheld"],
      ["vault/deep/token", "withheld"],
    ]);
    // his own file at that path is his
    bob.write({ ".env": "bob's own\n" });
    await bob.workspace.checkpoint();
    expect((await bob.workspace.restoreTo("second")).outcome).not.toBe("conflicts");
    expect(readFileSync(join(bob.root, ".env"), "utf8")).toBe("bob's own\n");
    expect((await bob.workspace.undo()).outcome).not.toBe("conflicts");
    expect(readFileSync(join(bob.root, ".env"), "utf8")).toBe("bob's own\n");
    await bob.workspace.upkeep.gc();
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[R2022] N6: what was captured where it is absent deletes nothing at home", async () => {
    const store = new MemoryRemoteStore();
    const ana = await keeping(store);
    await ana.push();
    const bob = await ana.clone(() => store);
    await bob.workspace.restoreTo("@");
    expect(await bob.workspace.checkpoint()).toMatchObject({ unchanged: true });
    bob.write({ "src/b.ts": "bob's\n" });
    rmSync(join(bob.root, "deploy"), { recursive: true });
    const { checkpoint } = await bob.workspace.checkpoint({ name: "from bob" });
    expect(checkpoint.changes).toMatchObject({ added: 1, deleted: 1 });
    await bob.push();
    expect(await isReadable(store, ana, SECRET)).toBe(false);
    const line = lineOf(bob);
    await ana.pull();
    const { checkpoint: fetched } = await ana.fetch(`${line}/${checkpoint.id}`);
    const before = filesBelow(ana.root);
    expect((await ana.workspace.restoreTo(fetched.id)).outcome).toBe("applied");
    const after = filesBelow(ana.root);
    for (const kept of [".env", "vault/deep/token", "deploy/key.pem"]) expect(after[kept]).toBe(before[kept]);
    expect(after["deploy/run.sh"]).toBeUndefined();
    expect(after["src/b.ts"]).toBeDefined();
    // a clone of the clone knows as much
    const eve = await bob.clone(() => store, { name: "eve", line });
    expect((await eve.workspace.resolve("@")).gapsTotal).toBe(3);
    expect(await eve.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[R2022] one checkpoint that is fetched has the gaps, and what is made of it carries them on", async () => {
    const store = new MemoryRemoteStore();
    const ana = await keeping(store);
    await ana.push();
    const line = lineOf(ana);
    const eve = await ana.invited(() => store, "eve", "member");
    eve.write({ ".env": "eve's own\n" });
    await eve.pull();
    const { checkpoint } = await eve.fetch(`${line}/@`);
    expect(checkpoint.gapsTotal).toBe(3);
    expect((await eve.workspace.restoreTo(checkpoint.id)).outcome).toBe("applied");
    expect(readFileSync(join(eve.root, ".env"), "utf8")).toBe("eve's own\n");
    const { checkpoint: next } = await eve.workspace.checkpoint();
    expect(next.gaps.map(({ path }) => String(path))).toEqual(["deploy/key.pem", "vault/deep/token"]);
    expect(await eve.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[R2020] the same content at another path stays at home too, in small files and in large ones", async () => {
    const store = new MemoryRemoteStore();
    const ana = await keeping(store);
    ana.write({ "aaa.txt": `KEY=${SECRET}-3\n`, "copy.bin": readFileSync(join(ana.root, "deploy/key.pem")) });
    await ana.workspace.checkpoint();
    await ana.push();
    expect(await isReadable(store, ana, SECRET)).toBe(false);
    ana.write({ "later.txt": `KEY=${SECRET}-1\n` });
    await ana.workspace.checkpoint();
    await ana.push();
    expect(await isReadable(store, ana, SECRET)).toBe(false);
    const bob = await ana.clone(() => store);
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    const gaps = (await bob.workspace.resolve("@")).gaps.map(({ path }) => String(path));
    expect(gaps).toEqual([".env", "aaa.txt", "copy.bin", "deploy/key.pem", "later.txt", "vault/deep/token"]);
  });

  test("[R2021] a setting that names more later says what the server has already, and sends nothing new", async () => {
    const store = new MemoryRemoteStore();
    const ana = await keeping(store);
    withhold(ana, "*.pem");
    expect((await ana.push()).withheld).toEqual(["deploy/key.pem"]);
    expect(await isReadable(store, ana, `${SECRET}-3`)).toBe(true);
    withhold(ana, "*.pem", ".env");
    expect(await ana.push()).toMatchObject({ outcome: "unchanged", sentBefore: [".env"] });
    ana.write({ ".env": `KEY=${SECRET}-4\n` });
    await ana.workspace.checkpoint();
    expect((await ana.push()).withheld).toEqual([".env"]);
    expect(await isReadable(store, ana, `${SECRET}-4`)).toBe(false);
    const bob = await ana.clone(() => store);
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    await bob.workspace.restoreTo("second");
    expect(readFileSync(join(bob.root, ".env"), "utf8")).toContain(`${SECRET}-3`);
  });

  test("[R2021] a setting that names less sends what it kept, and who has the gap gets it on request", async () => {
    const store = new MemoryRemoteStore();
    const ana = await keeping(store);
    await ana.push();
    const bob = await ana.clone(() => store);
    await bob.workspace.restoreTo("@");
    withhold(ana, "/vault/", "*.pem");
    const report = await ana.push();
    expect(report).toMatchObject({ outcome: "pushed", withheld: ["deploy/key.pem", "vault/deep/token"] });
    expect(await isReadable(store, ana, `${SECRET}-1`)).toBe(true);
    expect(await isReadable(store, ana, `${SECRET}-2`)).toBe(false);
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    expect(await ana.push()).toMatchObject({ outcome: "unchanged" });
    const cleo = await ana.clone(() => store, { name: "cleo" });
    await cleo.workspace.restoreTo("@");
    expect(readFileSync(join(cleo.root, ".env"), "utf8")).toContain(`${SECRET}-3`);
    const line = lineOf(ana);
    await bob.pull();
    const { checkpoint } = await bob.fetch(`${line}/@`);
    expect(checkpoint.gaps.map(({ path }) => String(path))).toEqual(["deploy/key.pem", "vault/deep/token"]);
    await bob.workspace.restoreTo(checkpoint.id);
    expect(readFileSync(join(bob.root, ".env"), "utf8")).toContain(`${SECRET}-3`);
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[R2021] a segment that waits to be sent again is not, once some of it is withheld", async () => {
    const store = new MemoryRemoteStore();
    const ana = await keeping(store, 1000);
    withhold(ana);
    const put = store.put.bind(store);
    store.put = async (key, bytes, how) => {
      if (key.includes("/l/")) throw new Error("the machine is switched off");
      return put(key, bytes, how);
    };
    await expect(ana.push()).rejects.toThrow("switched off");
    store.put = put;
    withhold(ana, ".env", "vault/", "*.pem");
    await ana.push();
    for (const secret of ["1", "2", "3"])
      expect(await isReadable(store, ana, `${SECRET}-${secret}`)).toBe(false);
    expect(await ana.verify()).toMatchObject({ ok: true });
    const bob = await ana.clone(() => store);
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("a pattern that matches nothing at all is refused", () => {
    const ana = new Machine(() => new MemoryRemoteStore());
    expect(() => writeSetting(ana.home, "sync.withhold", '["!"]')).toThrow(/sync\.withhold/);
    expect(() => writeSetting(ana.home, "sync.withhold", "[1]")).toThrow(/\.gitignore/);
    writeSetting(ana.home, "sync.withhold", "*.key");
    writeFileSync(join(ana.root, "x"), "");
  });
});
