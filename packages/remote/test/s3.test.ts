/** The S3 engine against a real server. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { probeStore } from "../src/stores/probe.ts";
import { RemoteFailure } from "../src/stores/remote-store.ts";
import { S3RemoteStore } from "../src/stores/s3-remote-store.ts";
import { testRemoteStore } from "../src/testing/remote-store-contract.ts";
import { missingCeph, startCeph, type TestServer } from "./support/ceph-server.ts";
import { createBucket } from "./support/create-bucket.ts";

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
});
