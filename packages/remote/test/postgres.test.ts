/** The PostgreSQL engine, and content on S3 beside records in PostgreSQL, against real servers. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { MixedRemoteStore } from "../src/stores/mixed-remote-store.ts";
import { parsePostgresAddress } from "../src/stores/postgres-address.ts";
import { PostgresRemoteStore } from "../src/stores/postgres-remote-store.ts";
import { probeStore } from "../src/stores/probe.ts";
import { RemoteFailure } from "../src/stores/remote-store.ts";
import { RetryingRemoteStore } from "../src/stores/retrying-remote-store.ts";
import { readIdentity } from "../src/space/identity.ts";
import { openSpace } from "../src/space/space.ts";
import { sweepSpace } from "../src/sync/sweep.ts";
import { testRemoteStore } from "../src/testing/remote-store-contract.ts";
import { filesBelow, Machine } from "./support/machines.ts";
import { missingPostgres, startPostgres, type TestDatabase } from "./support/postgres-server.ts";

const missing = missingPostgres();
if (missing !== undefined) console.warn(`The tests of PostgreSQL are skipped: ${missing}`);

describe.skipIf(missing !== undefined)("PostgreSQL", { timeout: 60_000 }, () => {
  let server: TestDatabase;
  let store: PostgresRemoteStore;
  const stores: PostgresRemoteStore[] = [];
  const open = (prefix: string, user = "belay", database = "postgres", port = server.port) => {
    const address = parsePostgresAddress(`postgres://127.0.0.1:${port}/${database}/${prefix}`);
    stores.push(new PostgresRemoteStore(address, { user }));
    return stores.at(-1)!;
  };
  const failure = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

  beforeAll(async () => {
    server = await startPostgres();
    store = open("team/one");
  }, 60_000);
  afterAll(async () => {
    await Promise.all(stores.map((one) => one.close()));
    server?.stop();
  });

  test("[R730] before anything is stored a database is empty, not broken", async () => {
    expect(await store.get("x/nothing")).toBeUndefined();
    await store.remove(["x/nothing"]);
    for await (const { key } of store.list("")) expect.unreachable(key);
    expect(server.sql("SELECT to_regclass('belay_object') IS NULL")).toBe("t");
  });

  test("[R730] machines that come first at the same time make one table", async () => {
    const firsts = Array.from({ length: 6 }, (_, n) => open(`first-${n}`));
    await Promise.all(firsts.map((one) => one.put("a/b", Buffer.from("x"), { createOnly: true })));
    expect(server.sql("SELECT count(*) FROM belay_object WHERE space LIKE 'first-%'")).toBe("6");
  });

  testRemoteStore(() => store, { createOnly: true });

  test("[R731] parts: 1 MiB each, read whole and by range across them; an overwritten object has no old parts", async () => {
    const bytes = randomBytes(3 * 1024 * 1024 + 77);
    await store.put("parts/a", bytes, { createOnly: true });
    expect(server.sql("SELECT count(*) FROM belay_object WHERE key = 'parts/a'")).toBe("4");
    for (const [from, length] of [
      [0, 10],
      [1024 * 1024 - 5, 10],
      [1024 * 1024, 2 * 1024 * 1024],
      [3 * 1024 * 1024 + 70, 1_000],
      [4 * 1024 * 1024, 10],
    ] as const) {
      const got = await store.get("parts/a", { from, length });
      expect(got?.bytes.equals(bytes.subarray(from, from + length)), `${from}`).toBe(true);
    }
    await store.put("parts/a", Buffer.from("short"), { createOnly: false });
    expect((await store.get("parts/a"))?.bytes.toString()).toBe("short");
    expect(server.sql("SELECT count(*) FROM belay_object WHERE key = 'parts/a'")).toBe("1");
  });

  test("the probe finds what the server does, and leaves nothing behind", async () => {
    const found = await probeStore(store, { random: randomBytes, now: Date.now });
    expect(found).toMatchObject({ createOnly: true, etagIsMd5: true, deleteAllowed: true });
    expect(Math.abs(found.skewMs)).toBeLessThan(5_000);
    for await (const { key } of store.list("probe/")) expect.unreachable(key);
  });

  test("a listing of more than a thousand keys has all of them, and none of another prefix", async () => {
    server.sql(
      `INSERT INTO belay_object SELECT p, 'many/' || lpad(n::text, 5, '0'), 0, 'e', now(), 'x' FROM generate_series(0, 2099) n, unnest(ARRAY['team/one', 'team/two']) p`,
    );
    const listed: string[] = [];
    for await (const { key } of store.list("many/")) listed.push(key);
    expect(listed).toEqual(Array.from({ length: 2_100 }, (_, n) => `many/${String(n).padStart(5, "0")}`));
  });

  test("[R732] a member writes heads and its own objects, and can neither overwrite nor delete anything else", async () => {
    server.sql(
      `CREATE ROLE ana LOGIN; CREATE ROLE rita LOGIN; GRANT SELECT, INSERT ON belay_object TO ana; GRANT SELECT ON belay_object TO rita;
       GRANT EXECUTE ON FUNCTION belay_replace TO ana`,
    );
    const [ana, rita] = [open("team/one", "ana"), open("team/one", "rita")];
    const space = randomBytes(16).toString("hex");
    const put = (one: PostgresRemoteStore, key: string, text: string) =>
      one.put(`${space}/${key}`, Buffer.from(text), { createOnly: false });
    await put(ana, "b/aa/one", "content");
    await put(ana, "b/aa/one", "content");
    for (const text of ["1", "2"]) await put(ana, "h/line", text);
    expect((await rita.get(`${space}/h/line`))?.bytes.toString()).toBe("2");
    for (const work of [
      () => put(ana, "b/aa/one", "other content"),
      () => ana.remove([`${space}/b/aa/one`]),
      () => put(rita, "h/line", "3"),
      () => put(rita, "b/aa/two", "x"),
    ])
      expect(await failure(work())).toMatchObject({ kind: "denied" });
    expect((await rita.get(`${space}/b/aa/one`))?.bytes.toString()).toBe("content");
    const found = await probeStore(ana, { random: randomBytes, now: Date.now, largeBytes: 1_000 });
    expect(found).toMatchObject({ createOnly: true, deleteAllowed: false });
  });

  test("[T17] failures are told apart, and no password is in an address or a message", async () => {
    for (const [kind, one] of [
      ["denied", open("x", "no-such-user")],
      ["missing", open("x", "belay", "no-such-database")],
      ["unreachable", open("x", "belay", "postgres", 1)],
    ] as const) {
      const error = await failure(one.get("x"));
      expect(error).toBeInstanceOf(RemoteFailure);
      expect(error).toMatchObject({ kind });
    }
    const address = "postgres://ana:hunter2@db.example/belay";
    expect(() => parsePostgresAddress(address)).toThrow(/password does not belong/);
    expect(() => parsePostgresAddress(address)).not.toThrow(/hunter2/);
    expect(parsePostgresAddress("postgres://ana@db.example/belay/team")).toMatchObject({
      isEncrypted: true,
      user: "ana",
      prefix: "team",
    });
  });

  test("[R733] a head that is written is told to machines that watch, with its key", async () => {
    const key = `${randomBytes(16).toString("hex")}/h/line`;
    const end = new AbortController();
    const told: string[] = [];
    const watching = (async () => {
      for await (const one of store.watch(end.signal)) told.push(one);
    })();
    await expect
      .poll(async () => {
        await open("team/two").put(key, Buffer.from("elsewhere"), { createOnly: false });
        await store.put(key, randomBytes(8), { createOnly: false });
        await store.put("not/a/head", randomBytes(8), { createOnly: false });
        return told.length;
      })
      .toBeGreaterThan(0);
    end.abort();
    await watching;
    expect(new Set(told)).toEqual(new Set([key]));
  });

  test("[R733] one collector at a time", async () => {
    const first = await store.lock("sweep");
    expect(first).toBeDefined();
    expect(await open("team/one").lock("sweep")).toBeUndefined();
    await using other = (await open("team/two").lock("sweep"))!;
    expect(other).toBeDefined();
    await first![Symbol.asyncDispose]();
    await expect
      .poll(async () => {
        await using again = await store.lock("sweep");
        return again !== undefined;
      })
      .toBe(true);
  });

  test("[T1, T5] a push and a clone, through a server that is killed in between", async () => {
    const connect = () =>
      new RetryingRemoteStore(open("machines"), {
        sleep: (ms) => new Promise((resolve) => void setTimeout(resolve, Math.min(ms, 50))),
        now: Date.now,
        random: Math.random,
        patienceMs: 30_000,
      });
    const ana = new Machine(connect);
    ana.write({ "a.txt": "one\n", "big.bin": randomBytes(2_500_000) });
    await (await ana.init()).add();
    await ana.push();
    server.restart();
    ana.write({ "a.txt": "two\n" });
    await ana.workspace.checkpoint();
    expect(await ana.push()).toMatchObject({ outcome: "pushed", segment: 2 });
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    const bob = await ana.clone(connect);
    await bob.workspace.restoreTo("@");
    expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
    expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  });

  test("[R1811, R1812, T12] what is forgotten leaves the database with two sweeps, and nothing in it is readable", async () => {
    const planted = "PLANTED-9c41";
    const team = open("forgetful");
    const ana = new Machine(() => team);
    ana.write({ "a.txt": "one\n", [`${planted}.txt`]: planted, "large.bin": randomBytes(1_100_000) });
    await (await ana.init()).add();
    await ana.push();
    await ana.members().setPolicy({ quotaBytes: 1024 });
    for (const name of [`${planted}.txt`, "large.bin"]) {
      rmSync(join(ana.root, name));
      await ana.workspace.upkeep.forget(`./${name}`, { sameContent: false, always: false });
    }
    await ana.workspace.checkpoint();
    await ana.push();
    const count = (where: string) =>
      Number(server.sql(`SELECT count(*) FROM belay_object WHERE space = 'forgetful' AND ${where}`));
    const before = count("key ~ '/b/'");
    expect(before).toBeGreaterThan(0);
    server.sql("UPDATE belay_object SET at = at - interval '49 hours' WHERE space = 'forgetful'");
    const keys = readIdentity(ana.home)!;
    const space = await openSpace(team, ana.workspace.exchange.remotes()[0]!.space, keys);
    const sweeping = { keys, random: randomBytes, isDryRun: false };
    const { hurried } = await sweepSpace(space, sweeping);
    expect(await sweepSpace(space, sweeping)).toMatchObject({ deleted: hurried, hurried: 0 });
    // the base is all there is of the line
    expect([count("key ~ '/b/'"), count("key ~ '/l/'"), count("key ~ '/g/'")]).toEqual([0, 1, 2]);
    for (const word of [planted, "a.txt", "quotaBytes", "condemned", "forgets", "ana-laptop"])
      expect(count(`position('${word}'::bytea IN data) > 0`), word).toBe(0);
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    const bob = await ana.clone(() => team);
    await bob.workspace.restoreTo("@");
    expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
  });

  test("[R734] mixed: content on one server, everything else on the other, and a clone needs both", async () => {
    const content = new MemoryRemoteStore();
    const connect = () => new MixedRemoteStore({ content, records: open("mixed") });
    const ana = new Machine(connect);
    ana.write({ "a.txt": "one\n", "big.bin": randomBytes(1_500_000) });
    await (await ana.init()).add();
    await ana.push();
    const [entry] = ana.workspace.exchange.remotes();
    const keys = [...content.objects.keys()];
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}\/b\//);
    const kinds = server.sql(
      "SELECT string_agg(DISTINCT split_part(key, '/', 2), '' ORDER BY split_part(key, '/', 2)) FROM belay_object WHERE space = 'mixed'",
    );
    expect(kinds).toBe("hkl");
    expect(JSON.parse(entry!.abilities)).toMatchObject({ createOnly: true });
    const bob = await ana.clone(connect);
    await bob.workspace.restoreTo("@");
    expect(filesBelow(bob.root)).toEqual(filesBelow(ana.root));
    expect(await ana.verify()).toMatchObject({ ok: true });
    content.objects.clear();
    expect((await ana.verify()).problems).toMatchObject([{ kind: "missing" }]);
  });
});
