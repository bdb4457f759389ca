/** The S3 engine against a real server. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probeStore } from "../src/stores/probe.ts";
import { RemoteFailure } from "../src/stores/remote-store.ts";
import { parseS3Address } from "../src/stores/s3-address.ts";
import { S3RemoteStore } from "../src/stores/s3-remote-store.ts";
import { testRemoteStore } from "../src/testing/remote-store-contract.ts";
import { missingCeph, startCeph, type TestServer } from "./support/ceph-server.ts";
import { createBucket } from "./support/create-bucket.ts";
import { filesBelow, Machine } from "./support/machines.ts";

const missing = missingCeph();
if (missing !== undefined) console.warn(`The tests of S3 are skipped: ${missing}`);

describe.skipIf(missing !== undefined)("S3 on Ceph", () => {
  let server: TestServer;
  let store: S3RemoteStore;
  const address = (changes = {}) => ({
    endpoint: server.endpoint,
    bucket: "belay",
    prefix: "team/one",
    region: "us-east-1",
    ...changes,
  });

  beforeAll(async () => {
    server = await startCeph();
    await createBucket(server, "belay");
    store = new S3RemoteStore(address(), { access: server.access });
  }, 120_000);
  afterAll(async () => {
    store?.close();
    await server?.stop();
  });

  testRemoteStore(() => store, { createOnly: true });

  test("a listing of more than a thousand keys has all of them", async () => {
    const keys = Array.from({ length: 1_050 }, (_, n) => `many/${String(n).padStart(5, "0")}`);
    for (let at = 0; at < keys.length; at += 50)
      await Promise.all(
        keys.slice(at, at + 50).map((key) => store.put(key, Buffer.from("x"), { createOnly: false })),
      );
    const listed: string[] = [];
    for await (const { key } of store.list("many/")) listed.push(key);
    expect(listed).toEqual(keys);
  });

  test("the probe finds what the server does, and leaves nothing behind", async () => {
    const found = await probeStore(store, { random: randomBytes, now: Date.now });
    expect(found).toMatchObject({ createOnly: true, etagIsMd5: true, deleteAllowed: true });
    expect(Math.abs(found.skewMs)).toBeLessThan(5_000);
    for await (const { key } of store.list("probe/")) expect.unreachable(key);
  });

  test("a clock that is a day wrong is corrected by the server's", async () => {
    const wrong = new S3RemoteStore(address(), {
      access: server.access,
      now: () => Date.now() - 86_400_000,
    });
    expect((await wrong.put("skewed", Buffer.from("x"), { createOnly: false })).outcome).toBe("stored");
    wrong.close();
  });

  test("[T17] a stranger, a wrong secret and a missing bucket are told apart; no secret is in the message", async () => {
    const attempts = [
      { kind: "denied", options: { access: server.stranger }, where: {} },
      {
        kind: "denied",
        options: { access: { ...server.access, secretAccessKey: "wrong-secret" } },
        where: {},
      },
      { kind: "missing", options: { access: server.access }, where: { bucket: "no-such-bucket" } },
    ];
    for (const { kind, options, where } of attempts) {
      const other = new S3RemoteStore(address(where), options);
      const failure = await other
        .put("x", Buffer.from("x"), { createOnly: false })
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RemoteFailure);
      expect(failure).toMatchObject({ kind });
      expect(String(failure)).not.toMatch(/secret/);
      other.close();
    }
  });

  test("a server that is not there is unreachable", async () => {
    const nowhere = new S3RemoteStore(address({ endpoint: "http://127.0.0.1:1" }), { access: server.access });
    await expect(nowhere.get("x")).rejects.toMatchObject({ kind: "unreachable" });
  });

  describe("with --lock-days", () => {
    let locked: S3RemoteStore;
    let plain: S3RemoteStore;

    beforeAll(async () => {
      await createBucket(server, "locked", { hasLocks: true });
      const where = { bucket: "locked", prefix: "team" };
      locked = new S3RemoteStore(address({ ...where, lockDays: 30 }), { access: server.access });
      // what a thief of the access keys uses
      plain = new S3RemoteStore(address(where), { access: server.access });
    });
    afterAll(() => {
      locked?.close();
      plain?.close();
    });

    test("[R2263] the probe finds a bucket without locks, and one that keeps versions", async () => {
      const open = new S3RemoteStore(address({ lockDays: 30 }), { access: server.access });
      await expect(probeStore(open, { random: randomBytes, now: Date.now })).rejects.toMatchObject({
        kind: "unsupported",
        message: expect.stringContaining("does not lock objects"),
      });
      open.close();
      const found = await probeStore(locked, { random: randomBytes, now: Date.now, largeBytes: 1024 });
      // this server forgets create-only where it keeps versions: names of segments end in letters then
      expect(found).toMatchObject({ createOnly: false, versioned: true });
    });

    test("[R2263] a history whose every object is overwritten is cloned as it was pushed, and verifies", async () => {
      const ana = new Machine(() => locked);
      ana.write({ "a.txt": "of ana\n", "big.bin": randomBytes(1_500_000) });
      await (await ana.init()).add("s3://locked/team");
      await ana.push();
      ana.write({ "a.txt": "of ana, later\n" });
      await ana.workspace.checkpoint();
      await ana.push();
      const keys: string[] = [];
      for await (const { key } of locked.list(`${ana.workspace.exchange.remotes()[0]!.space}/`))
        if (/\/[bl]\//.test(key)) keys.push(key);
      expect(keys.length).toBeGreaterThan(2);
      for (const key of keys)
        for (const _ of [1, 2]) await plain.put(key, randomBytes(500), { createOnly: false });
      // without locks it is damaged
      const unlocked = ana.clone(() => plain, { name: "bob" });
      await expect(unlocked).rejects.toMatchObject({ code: expect.stringMatching(/^REMOTE_/) });
      const eve = await ana.clone(() => locked, { name: "eve" });
      await eve.workspace.restoreTo("@");
      expect(filesBelow(eve.root)).toEqual(filesBelow(ana.root));
      expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
      ana.write({ "a.txt": "and on\n" });
      await ana.workspace.checkpoint();
      expect(await ana.push()).toMatchObject({ outcome: "pushed", forkedFrom: null });
    });

    test("[R2263] keys with several versions are listed once, page by page, as they were stored first; what was deleted is not", async () => {
      const space = randomBytes(16).toString("hex");
      const keys = Array.from({ length: 350 }, (_, n) => `${space}/b/00/${String(n).padStart(5, "0")}`);
      for (let at = 0; at < keys.length; at += 50)
        await Promise.all(
          keys.slice(at, at + 50).map(async (key) => {
            await locked.put(key, Buffer.from("first"), { createOnly: false });
            for (const _ of [1, 2, 3]) await plain.put(key, Buffer.from("another"), { createOnly: false });
          }),
        );
      await locked.remove([keys[7]!]);
      const listed: { key: string; size: number }[] = [];
      for await (const { key, size } of locked.list(`${space}/b/`, keys[2])) listed.push({ key, size });
      const expected = keys.filter((_, n) => n > 2 && n !== 7);
      expect(listed).toEqual(expected.map((key) => ({ key, size: 5 })));
      expect(await locked.get(keys[7]!)).toBeUndefined();
      expect((await locked.get(keys[8]!, { from: 1, length: 2 }))?.bytes.toString()).toBe("ir");
    });

    test.each(["0", "-1", "1.5", "x", "", "3651", "99999"])(
      "[R2263] an address with lock-days=%s is refused",
      (days) => {
        expect(() => parseS3Address(`s3://bucket/x?lock-days=${days}`)).toThrow(/1 to 3650 days/);
      },
    );
  });
});
