/** A machine is lost: an admin adopts its line, and restates it. Where the machine comes back, nothing of it is lost. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readIdentity } from "../src/space/identity.ts";
import { openSpace, type Space } from "../src/space/space.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { sweepSpace } from "../src/sync/sweep.ts";
import { checkpointsOf, filesBelow, Machine } from "./support/machines.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A server whose clock can be put forward, and the machines with it. */
class Server extends MemoryRemoteStore {
  readonly clock: { ahead: number };

  constructor() {
    const clock = { ahead: 0 };
    super(() => Date.now() + clock.ahead);
    this.clock = clock;
  }

  /** A machine whose clock goes with the server's. */
  follow(machine: Machine): Machine {
    const now = () => Date.now() + this.clock.ahead;
    machine.host = { ...machine.host, around: { ...machine.host.around, now } };
    return machine;
  }
}

const lineOf = ({ workspace }: Machine) => workspace.exchange.remotes()[0]!.line;

async function spaceOf(machine: Machine, store: Server): Promise<Space> {
  return openSpace(store, machine.workspace.exchange.remotes()[0]!.space, readIdentity(machine.home)!);
}

async function sweep(ana: Machine, store: Server) {
  const keys = readIdentity(ana.home)!;
  return sweepSpace(await spaceOf(ana, store), { keys, random: randomBytes, isDryRun: false });
}

const basesOf = (store: Server, line: string) =>
  [...store.objects.keys()].filter((key) => key.includes(`/l/${line}/000000000001-`));

async function push(machine: Machine, n: number, kind: "turn" | "tool" = "tool"): Promise<void> {
  machine.write({ "work.txt": `state ${n}\n`, [`big-${n}.bin`]: randomBytes(1_100_000) });
  await machine.workspace.checkpoint({ kind });
  await machine.push();
}

/** An admin, and a member with three states on its line. */
async function team(): Promise<{ store: Server; ana: Machine; bob: Machine; line: string }> {
  const store = new Server();
  const ana = store.follow(new Machine(() => store));
  ana.write({ "a.txt": "of ana\n" });
  await (await ana.init()).add();
  await ana.push();
  const bob = store.follow(await ana.invited(() => store, "bob", "member"));
  await push(bob, 1, "turn");
  for (const n of [2, 3]) await push(bob, n);
  return { store, ana, bob, line: lineOf(bob) };
}

async function adopt(ana: Machine, line: string): Promise<void> {
  await ana.members().adopt(line);
}

/** A day later by all clocks, the machine sends something of its own. */
async function pushLater(store: Server, machine: Machine, days: number): Promise<void> {
  store.clock.ahead += days * DAY_MS;
  machine.write({ "a.txt": `of ana, ${days} days later ${randomBytes(4).toString("hex")}\n` });
  await machine.workspace.checkpoint();
  await machine.push();
}

describe("adopted lines", { timeout: 120_000 }, () => {
  test("[R2240, R2242] an adopted line lets go what the policy says, twice, and a clone of it is whole", async () => {
    const { store, ana, bob, line } = await team();
    const before = filesBelow(bob.root);
    await adopt(ana, line);
    // within the hour its writer may not know yet
    await ana.push();
    expect(basesOf(store, line)).toEqual([]);
    await pushLater(store, ana, 1);
    expect(basesOf(store, line)).toEqual([]);
    await pushLater(store, ana, 8);
    expect(basesOf(store, line)).toHaveLength(1);
    await pushLater(store, ana, 30);
    const bases = basesOf(store, line);
    expect(bases).toHaveLength(2);
    const carl = await ana.clone(() => store, { name: "carl", line });
    const kept = await carl.workspace.list();
    await carl.workspace.restoreTo("@");
    expect(filesBelow(carl.root)).toEqual(before);
    // the initial one, and the newest
    expect(kept.map(({ kind }) => kind)).toEqual(["tool", "initial"]);
    expect(await carl.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    // two looks 72 hours apart: what it let go is freed, what it keeps is not
    for (let n = 0; n < 3; n++) {
      await sweep(ana, store);
      store.clock.ahead += 73 * HOUR_MS;
    }
    expect([...store.objects.keys()].filter((key) => key.includes(`/l/${line}/`))).toHaveLength(1);
    const dora = await ana.clone(() => store, { name: "dora", line });
    await dora.workspace.restoreTo("@");
    expect(filesBelow(dora.root)).toEqual(before);
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    // who wrote it is still its member
    await ana.pull();
    const eve = await ana.clone(() => store, { name: "eve", line });
    expect((await eve.workspace.list()).map(({ kind }) => kind)).toEqual(["tool", "initial"]);
  });

  test("[R2241] the lost machine comes back: it goes on as a line of its own with everything, and says who adopted the old one", async () => {
    const { store, ana, bob, line } = await team();
    await adopt(ana, line);
    await pushLater(store, ana, 8);
    expect(basesOf(store, line)).toHaveLength(1);
    for (let n = 0; n < 3; n++) {
      await sweep(ana, store);
      store.clock.ahead += 73 * HOUR_MS;
    }
    const stored = [...store.objects.keys()].filter((key) => key.includes(`/l/${line}/`));
    bob.write({ "work.txt": "after the holidays\n" });
    await bob.workspace.checkpoint();
    const report = await bob.push();
    expect(report).toMatchObject({ outcome: "pushed", forkedFrom: line, adoptedBy: "ana@ana-laptop" });
    expect(lineOf(bob)).not.toBe(line);
    expect([...store.objects.keys()].filter((key) => key.includes(`/l/${line}/`))).toEqual(stored);
    const carl = await ana.clone(() => store, { name: "carl", line: lineOf(bob) });
    expect(await checkpointsOf(carl)).toEqual(await checkpointsOf(bob));
    await carl.workspace.restoreTo("@");
    expect(filesBelow(carl.root)).toEqual(filesBelow(bob.root));
    expect(await bob.verify()).toMatchObject({ ok: true, problems: [] });
    // once
    expect(await bob.push()).toMatchObject({ outcome: "unchanged", forkedFrom: null, adoptedBy: null });
  });

  test("[R2241] a push that was interrupted before the adoption is not sent to the old line", async () => {
    const { store, ana, bob, line } = await team();
    bob.write({ "work.txt": "half sent\n" });
    await bob.workspace.checkpoint();
    const put = store.put.bind(store);
    store.put = (key, bytes, how) =>
      key.includes("/l/") ? Promise.reject(new Error("the cable was pulled")) : put(key, bytes, how);
    await expect(bob.push()).rejects.toThrow("the cable was pulled");
    store.put = put;
    expect(bob.workspace.exchange.journal("team")).not.toEqual([]);
    await adopt(ana, line);
    store.clock.ahead += HOUR_MS;
    const stored = [...store.objects.keys()].filter((key) => key.includes(`/l/${line}/`));
    expect(await bob.push()).toMatchObject({ forkedFrom: line });
    expect([...store.objects.keys()].filter((key) => key.includes(`/l/${line}/`))).toEqual(stored);
    expect(bob.workspace.exchange.journal("team")).toEqual([]);
    const carl = await ana.clone(() => store, { name: "carl", line: lineOf(bob) });
    expect(await checkpointsOf(carl)).toEqual(await checkpointsOf(bob));
  });

  test("[R2241, R2242, R2243] a machine that slept in the middle of a push claims nothing on the line that it lost, and what it sent there harms nothing", async () => {
    const { store, ana, bob, line } = await team();
    const before = filesBelow(bob.root);
    await adopt(ana, line);
    // content that the line has, and that its adopter lets go meanwhile
    bob.write({ "work.txt": "state 2\n" });
    await bob.workspace.checkpoint();
    // it looked at the members before the adoption, and sleeps between two requests
    const put = store.put.bind(store);
    store.put = async (key, bytes, how) => {
      if (key.includes(`/l/${line}/`)) {
        store.put = put;
        await pushLater(store, ana, 8);
      }
      return put(key, bytes, how);
    };
    const known = await spaceOf(bob, store);
    expect(known.roster.roster.adoptions).toHaveLength(1);
    const report = await bob.push();
    expect(report).toMatchObject({ outcome: "pushed", forkedFrom: line });
    const carl = await ana.clone(() => store, { name: "carl", line: lineOf(bob) });
    expect(await checkpointsOf(carl)).toEqual(await checkpointsOf(bob));
    await carl.workspace.restoreTo("@");
    expect(filesBelow(carl.root)).toEqual(filesBelow(bob.root));
    const dora = await ana.clone(() => store, { name: "dora", line });
    await dora.workspace.restoreTo("@");
    expect(filesBelow(dora.root)).toEqual(before);
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
    // the adopter goes on with it
    await pushLater(store, ana, 9);
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
  });

  test("[R2243] a machine that slept after asking for the members claims nothing on a line that was adopted meanwhile", async () => {
    const { store, ana, bob, line } = await team();
    bob.write({ "work.txt": "half asleep\n" });
    await bob.workspace.checkpoint();
    // so long ago that it asks again
    store.clock.ahead += HOUR_MS;
    const list = store.list.bind(store);
    store.list = async function* asleep(prefix, after) {
      const answer = await Array.fromAsync(list(prefix, after));
      if (prefix.endsWith("/k/")) {
        store.list = list;
        await adopt(ana, line);
        await pushLater(store, ana, 8);
      }
      yield* answer;
    };
    const report = await bob.push();
    expect(report).toMatchObject({ outcome: "pushed", forkedFrom: line });
    const carl = await ana.clone(() => store, { name: "carl", line: lineOf(bob) });
    expect(await checkpointsOf(carl)).toEqual(await checkpointsOf(bob));
  });

  test("[R2240] two admins adopt at once: one of them has it, and the other is told so", async () => {
    const { store, ana, line } = await team();
    const carl = store.follow(await ana.invited(() => store, "carl", "admin"));
    const both = await Promise.allSettled([adopt(ana, line), adopt(carl, line)]);
    const refused = both.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatchObject({
      reason: { code: expect.stringMatching(/^(REMOTE_UNREACHABLE|LINE_TAKEN)$/) },
    });
    const { roster } = await spaceOf(ana, store);
    expect(roster.roster.adoptions).toHaveLength(1);
    for (const one of [ana, carl])
      await expect(adopt(one, line)).rejects.toMatchObject({ code: "LINE_TAKEN" });
  });

  test("[R2240] only an admin adopts, and not the line that the workspace writes; another admin takes over from one who is gone", async () => {
    const { store, ana, bob, line } = await team();
    await expect(adopt(bob, lineOf(ana))).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
    await expect(bob.members().adoptable(lineOf(ana))).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
    await expect(adopt(ana, lineOf(ana))).rejects.toMatchObject({ code: "LINE_TAKEN" });
    await expect(adopt(ana, "no-such-line")).rejects.toMatchObject({ code: "REMOTE_NOT_FOUND" });
    expect((await spaceOf(ana, store)).roster.roster.adoptions).toBeUndefined();
    expect(await ana.members().adoptable("bob@bob-laptop")).toMatchObject({ line, name: "bob@bob-laptop" });
    await adopt(ana, line);
    const carl = store.follow(await ana.invited(() => store, "carl", "admin"));
    await carl.members().remove("ana@ana-laptop");
    await adopt(carl, line);
    expect((await spaceOf(carl, store)).roster.roster.adoptions).toEqual([
      { line, by: readIdentity(carl.home)!.id },
    ]);
  });

  test("[R2242, R2027] what is forgotten everywhere leaves an adopted line too", async () => {
    const { store, ana, bob } = await team();
    const secret = "PLANTED-SECRET-91cd\n";
    bob.write({ ".env": secret });
    await bob.workspace.checkpoint();
    await bob.push();
    ana.write({ ".env": secret });
    await ana.workspace.checkpoint();
    await ana.push();
    const line = lineOf(bob);
    const request = ana.workspace.exchange.contentsOf("./.env", false);
    await adopt(ana, line);
    await ana.members().forgetEverywhere(request);
    await ana.workspace.upkeep.forget("./.env");
    // within the hour its writer may still write
    await ana.push();
    expect(basesOf(store, line)).toEqual([]);
    await pushLater(store, ana, 1);
    expect(basesOf(store, line)).toHaveLength(1);
    const carl = await ana.clone(() => store, { name: "carl", line });
    expect(carl.workspace.exchange.locate(request.contents as never)).toEqual([]);
    expect((await carl.workspace.list()).length).toBeGreaterThan(3);
    await carl.workspace.restoreTo("@");
    const { ".env": _, ...rest } = filesBelow(bob.root);
    expect(filesBelow(carl.root)).toEqual(rest);
    expect(await ana.verify()).toMatchObject({ ok: true, problems: [] });
  });
});
