/** Tokens of jobs: what they open, what they may write, and until when. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { certify } from "../src/keys/certificate.ts";
import { memberKeys } from "../src/keys/key-pairs.ts";
import { openPass } from "../src/keys/pass.ts";
import { openSpace } from "../src/space/space.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { forceSegment } from "./support/rogue.ts";
import { filesBelow, Machine } from "./support/machines.ts";

const HOUR = 3_600_000;

async function team() {
  const clock = { now: Date.now() };
  const store = new MemoryRemoteStore(() => clock.now);
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "one\n" });
  await (await ana.init()).add();
  await ana.push();
  return { clock, store, ana };
}

const entryOf = (machine: Machine) => machine.workspace.exchange.remotes()[0]!;

/** A runner with nothing but the token. */
async function job(store: MemoryRemoteStore, token: string, line?: string): Promise<Machine> {
  const runner = new Machine(() => store, "runner");
  runner.host = { ...runner.host, token };
  await runner.receive(undefined, line);
  return runner;
}

describe("a token", () => {
  test("[R763] is made offline, opens the space for a job, and names the job's line", async () => {
    const { store, ana } = await team();
    const size = store.objects.size;
    ana.host = {
      ...ana.host,
      connect: () => {
        throw new Error("no server is asked");
      },
    };
    const { text } = await ana.members().issueToken({ role: "agent", ttlMs: HOUR, name: "lint" });
    expect(store.objects.size).toBe(size);
    const runner = await job(store, text);
    await runner.workspace.restoreTo("@");
    expect(filesBelow(runner.root)).toEqual(filesBelow(ana.root));
    runner.write({ "report.txt": "clean\n" });
    await runner.workspace.checkpoint();
    expect(await runner.push()).toMatchObject({ outcome: "pushed" });
    ana.host = { ...ana.host, connect: () => store };
    expect(await ana.verify()).toMatchObject({ ok: true, lines: 2 });
    // its history is there for every member, under the job's name
    const bob = await ana.clone(() => store, { line: "lint@runner-laptop" });
    await bob.workspace.restoreTo("@");
    expect(filesBelow(bob.root)).toEqual(filesBelow(runner.root));
    // without the token the runner's home writes nothing
    runner.host = { ...runner.host, token: undefined };
    await expect(runner.push()).rejects.toMatchObject({ code: "SPACE_KEY_MISSING" });
  });

  test("[R763] that has expired by the server's clock signs nothing that counts", async () => {
    const { store, ana, clock } = await team();
    const { text } = await ana.members().issueToken({ role: "agent", ttlMs: HOUR });
    const runner = await job(store, text);
    await runner.push();
    clock.now += 2 * HOUR;
    const { keys } = openPass(text, "token")!;
    const space = await openSpace(store, entryOf(runner).space, keys);
    const key = await forceSegment(runner, store, { keys, space });
    expect((await ana.verify()).problems).toMatchObject([{ kind: "forged", key }]);
    // at home it is refused before it is sent
    runner.host = { ...runner.host, around: { ...runner.host.around, now: () => clock.now } };
    runner.write({ "a.txt": "late\n" });
    await runner.workspace.checkpoint();
    await expect(runner.push()).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
  });

  test("[R763] of a reader reads and signs nothing; forged certificates count for nothing", async () => {
    const { store, ana } = await team();
    const { text } = await ana.members().issueToken({ role: "reader", ttlMs: HOUR });
    const reader = await job(store, text);
    await reader.workspace.restoreTo("@");
    expect(filesBelow(reader.root)).toEqual(filesBelow(ana.root));
    await expect(reader.push()).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
    const { keys, certificate } = openPass(text, "token")!;
    const space = await openSpace(store, certificate.space, keys);
    const eve = memberKeys({ sign: randomBytes(32), receive: randomBytes(32) });
    const { signature: _, ...facts } = certificate;
    const forged = [
      // its role changed, its signature not
      { ...keys, certificate: { ...certificate, role: "agent" as const } },
      // by one who is no member
      { ...keys, certificate: certify({ ...facts, role: "agent" }, keys, eve) },
      // another key under the certificate of this one
      { ...eve, certificate },
      // by the reader itself
      { ...eve, certificate: certify({ ...facts, role: "agent" }, eve, keys) },
    ];
    for (const rogue of forged) {
      const key = await forceSegment(reader, store, { keys: rogue, space });
      expect((await ana.verify()).problems).toMatchObject([{ kind: "forged", key }]);
      store.objects.delete(key);
    }
  });

  test("[R763] dies with the membership of its issuer, and with the secret that it brings along", async () => {
    const { store, ana, clock } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    const { text } = await bob.members().issueToken({ role: "agent", ttlMs: 10 * HOUR });
    const runner = await job(store, text, entryOf(ana).line);
    await runner.push();
    const { keys } = openPass(text, "token")!;
    const space = await openSpace(store, entryOf(runner).space, keys);
    clock.now += HOUR;
    await ana.members().remove("bob@bob-laptop");
    clock.now += HOUR;
    const key = await forceSegment(runner, store, { keys, space });
    expect((await ana.verify()).problems).toMatchObject([{ kind: "forged", key }]);
    await expect(job(store, text)).rejects.toMatchObject({ code: "SPACE_KEY_MISSING" });
  });

  test("[T17] that is cut off or altered is refused without being repeated", async () => {
    const { store, ana } = await team();
    const { text } = await ana.members().issueToken({ role: "agent", ttlMs: HOUR });
    for (const wrong of [text.slice(0, 100), `${text.slice(0, -9)}AAAAAAAAA`, "secret-words"]) {
      const failure = await job(store, wrong).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "TOKEN_UNUSABLE" });
      expect(JSON.stringify(failure) + String(failure)).not.toContain(wrong.slice(-12));
    }
  });
});
