/** Whatever happens to a request: what is claimed is stored, what is stored is right, and the next push goes on. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RetryingRemoteStore } from "../src/stores/retrying-remote-store.ts";
import { S3RemoteStore } from "../src/stores/s3-remote-store.ts";
import { missingCeph, startCeph, type TestServer } from "./support/ceph-server.ts";
import { createBucket } from "./support/create-bucket.ts";
import { FaultProxy, FAULTS } from "./support/fault-proxy.ts";
import { filesBelow, Machine } from "./support/machines.ts";

const missing = missingCeph();
if (missing !== undefined) console.warn(`The tests of faults on S3 are skipped: ${missing}`);

const PATIENT_MS = 60_000;

describe.skipIf(missing !== undefined)("faults between a machine and Ceph", () => {
  let server: TestServer;
  let proxy: FaultProxy;
  let endpoint: string;

  beforeAll(async () => {
    server = await startCeph();
    await createBucket(server, "belay");
    proxy = new FaultProxy(server.endpoint);
    endpoint = await proxy.start();
  }, 120_000);
  afterAll(async () => {
    await proxy?.stop();
    await server?.stop();
  });

  /** `patienceMs` 0: a request that fails is not sent again by the same push. */
  const connect = (prefix: string, patienceMs: number) => () =>
    new RetryingRemoteStore(
      new S3RemoteStore(
        { endpoint, bucket: "belay", prefix, region: "us-east-1" },
        { access: server.access, timeoutMs: 2_000 },
      ),
      { sleep: async () => undefined, now: Date.now, random: Math.random, patienceMs },
    );

  test("[T1, T2, T3] every fault at every request of a push", async () => {
    const prefix = randomBytes(4).toString("hex");
    const ana = new Machine(connect(prefix, PATIENT_MS));
    ana.write({ "a.txt": "one\n" });
    await (await ana.init()).add();
    await ana.push();
    const again = { patienceMs: PATIENT_MS, at: 2 };
    for (const fault of FAULTS)
      for (const { patienceMs, at } of [...[1, 2, 3].map((n) => ({ patienceMs: 0, at: n })), again]) {
        // more than fits a segment: a parcel, the segment, the head
        ana.write({ "big.bin": randomBytes(1_100_000), "a.txt": `${fault} ${at} ${patienceMs}` });
        await ana.workspace.checkpoint();
        ana.host = { ...ana.host, connect: connect(prefix, patienceMs) };
        proxy.strike({ at, fault });
        const first = await ana.push().catch((error: unknown) => error);
        proxy.strike(undefined);
        // with patience the push gets through; without, the next one ends it
        if (first instanceof Error) {
          expect({ patienceMs, fault, at }, String(first)).toEqual({ patienceMs: 0, fault, at });
          expect(first).toHaveProperty("code", expect.stringMatching(/^REMOTE_/));
          expect((await ana.push()).outcome).toBe("pushed");
        }
        expect(ana.workspace.exchange.queued("team").records, `${fault} ${at}`).toBe(0);
      }
    ana.host = { ...ana.host, connect: connect(prefix, PATIENT_MS) };
    expect(await ana.push()).toMatchObject({ outcome: "unchanged" });
    expect(await ana.verify()).toMatchObject({ ok: true, lines: 1, problems: [] });
    const bob = await ana.clone(connect(prefix, PATIENT_MS));
    await bob.workspace.restoreTo("@");
    expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[T9] faults while a segment or a parcel is read: a clone is whole, or there is none", async () => {
    const prefix = randomBytes(4).toString("hex");
    const ana = new Machine(connect(prefix, PATIENT_MS));
    ana.write({ "a.txt": "one\n", "big.bin": randomBytes(1_200_000) });
    await (await ana.init()).add();
    await ana.push();
    const faults = ["500 before", "answer cut in half", "a bit of the answer flipped"] as const;
    for (const of of [/^GET .*\/l\/[0-9a-f]+\/\d{12}$/, /^GET .*\/b\//])
      for (const fault of faults) {
        const bob = new Machine(connect(prefix, 0));
        proxy.strike({ at: 1, fault, of });
        const failure = await bob.receive(ana.recoveryKey).catch((error: unknown) => error);
        proxy.strike(undefined);
        if (failure instanceof Error) {
          expect(failure).toHaveProperty("code", expect.stringMatching(/^REMOTE_/));
          expect(filesBelow(bob.root)).toEqual({});
        } else {
          await bob.workspace.restoreTo("@");
          expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
        }
      }
  });
});
