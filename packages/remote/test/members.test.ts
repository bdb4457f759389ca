/** Members of a space: invitations, roles, removal, and what rogue members try. */
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { certify } from "../src/keys/certificate.ts";
import { memberKeys, type MemberKeys } from "../src/keys/key-pairs.ts";
import { openPass } from "../src/keys/pass.ts";
import { readIdentity } from "../src/space/identity.ts";
import { memberOf, sealRoster, type Roster } from "../src/space/roster.ts";
import { keptSpace, openSpace, sealedTo, spaceDirectory, type Space } from "../src/space/space.ts";
import { publicIdentity } from "../src/space/change-roster.ts";
import { openExchange } from "../src/sync/remote.ts";
import { sweepSpace } from "../src/sync/sweep.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { filesBelow, Machine } from "./support/machines.ts";
import { forceSegment } from "./support/rogue.ts";

const HOUR = 3_600_000;

/** A server with a clock of its own, and an admin whose history is there. */
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
const spaceOf = (machine: Machine, store: MemoryRemoteStore) =>
  keptSpace(machine.home, entryOf(machine).space, store)!;

/** Writes the next roster, whatever it says. */
async function forceRoster(
  store: MemoryRemoteStore,
  space: Space,
  by: { facts: Partial<Roster>; signer: MemberKeys },
) {
  const { format: _, signer: __, accepts: ___, ...before } = space.roster.roster;
  const number = space.lastNumber + 1;
  const facts = { ...before, number, previous: space.roster.hash, ...by.facts };
  const secret = space.secrets.get(facts.generation) ?? {
    space: space.id,
    generation: facts.generation,
    secret: randomBytes(32),
  };
  const key = space.names.roster(number);
  await store.put(key, sealRoster(facts, { key, secret, salt: randomBytes(32), signer: by.signer }), {
    createOnly: true,
  });
}

test("[R1502] a second workspace of a home does not join a space whose list of members went back", async () => {
  const { store, ana } = await team();
  const before = new Map(store.objects);
  const bob = await ana.invited(() => store, "bob", "member");
  const { text } = await ana.members().invite({ role: "member", ttlMs: HOUR });
  expect((await ana.members().list()).members).toHaveLength(3);
  for (const key of store.objects.keys()) if (!before.has(key)) store.objects.delete(key);
  for (const [home, url, recoveryKey] of [
    [ana.home, undefined, ""],
    [ana.home, undefined, ana.recoveryKey],
    [ana.home, text, ""],
  ] as const) {
    const second = await new Machine(() => store, "second", home).init();
    second.recoveryKey = recoveryKey;
    await expect(second.add(url)).rejects.toMatchObject({ code: "REMOTE_ROLLED_BACK" });
    expect(second.workspace.exchange.remotes()).toEqual([]);
  }
  expect(spaceOf(ana, store).roster.roster.members).toHaveLength(3);
  expect(spaceOf(bob, store).roster.roster.members).toHaveLength(3);
});

describe("an invitation", () => {
  test("[R761] makes one member with its role, who reads what is there and writes a line", async () => {
    const { store, ana } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    expect(await bob.push()).toMatchObject({ outcome: "pushed", segment: 1 });
    const { members, generation } = await ana.members().list();
    expect(generation).toBe(1);
    expect(members.map(({ name, role, isOwn }) => ({ name, role, isOwn }))).toEqual([
      { name: "ana@ana-laptop", role: "admin", isOwn: true },
      { name: "recovery key", role: "admin", isOwn: false },
      { name: "bob@bob-laptop", role: "member", isOwn: false },
    ]);
    expect(await ana.verify()).toMatchObject({ ok: true, lines: 2 });
    const eve = await ana.clone(() => store, { name: "eve", line: entryOf(bob).line });
    await eve.workspace.restoreTo("@");
    expect(filesBelow(eve.root)).toEqual(filesBelow(bob.root));
  });

  test("[R761] is refused the second time, when it has expired, when letters are wrong, and elsewhere", async () => {
    const { store, ana, clock } = await team();
    const { text } = await ana.members().invite({ role: "member", ttlMs: HOUR });
    const join = async (name: string, url: string, at = store) => {
      const machine = await new Machine(() => at, name).init();
      return machine.add(url);
    };
    const size = store.objects.size;
    await expect(join("bob", `${text.slice(0, -8)}AAAAAAAA`)).rejects.toMatchObject({
      code: "INVITATION_UNUSABLE",
    });
    await expect(join("bob", text.slice(0, 90))).rejects.toMatchObject({ code: "INVITATION_UNUSABLE" });
    const other = await team();
    await expect(join("bob", text, other.store)).rejects.toMatchObject({ code: "REMOTE_DAMAGED" });
    clock.now += 2 * HOUR;
    await expect(join("bob", text)).rejects.toMatchObject({ code: "INVITATION_UNUSABLE" });
    clock.now -= 2 * HOUR;
    expect([...store.objects.keys()].filter((key) => key.includes("/k/"))).toHaveLength(3);
    expect(store.objects.size).toBe(size);
    await join("bob", text);
    await expect(join("eve", text)).rejects.toMatchObject({ code: "INVITATION_UNUSABLE" });
    expect((await ana.members().list()).members).toHaveLength(3);
  });

  test("only an admin invites, adds and removes; a member makes tokens, a reader nothing", async () => {
    const { store, ana } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    const rita = await ana.invited(() => store, "rita", "reader");
    const request = { role: "member", ttlMs: HOUR } as const;
    for (const machine of [bob, rita]) {
      await expect(machine.members().invite(request)).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
      await expect(machine.members().remove("ana@ana-laptop")).rejects.toMatchObject({
        code: "ROLE_REQUIRED",
      });
      await expect(machine.members().rotate()).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
    }
    const agent = { role: "agent", ttlMs: HOUR } as const;
    expect(await bob.members().issueToken(agent)).toMatchObject({ role: "agent" });
    await expect(rita.members().issueToken(agent)).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
    await expect(bob.members().issueToken({ role: "admin", ttlMs: HOUR })).rejects.toMatchObject({
      code: "USAGE",
    });
  });

  test("a machine is added by its public identity, and is a member without an invitation", async () => {
    const { store, ana } = await team();
    const bob = await new Machine(() => store, "bob").init();
    await expect(bob.add()).rejects.toMatchObject({ code: "SPACE_KEY_MISSING" });
    const identity = publicIdentity(readIdentity(bob.home)!);
    await expect(
      ana.members().add(identity.slice(0, -1), { name: "bob", role: "member" }),
    ).rejects.toMatchObject({
      code: "USAGE",
    });
    await ana.members().add(identity, { name: "bob", role: "member" });
    await bob.add();
    expect(await bob.push()).toMatchObject({ outcome: "pushed" });
  });
});

describe("a role", () => {
  test("[R760] a reader sends nothing, and a segment that it signs all the same ends its line for every reader", async () => {
    const { store, ana } = await team();
    const rita = await ana.invited(() => store, "rita", "reader");
    await expect(rita.push()).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
    const keys = readIdentity(rita.home)!;
    const key = await forceSegment(rita, store, { keys, space: spaceOf(rita, store) });
    expect((await ana.verify()).problems).toMatchObject([{ kind: "forged", key }]);
    const bob = new Machine(() => store, "bob");
    await expect(bob.receive(ana.recoveryKey, entryOf(rita).line)).rejects.toMatchObject({
      code: "REMOTE_INCOMPLETE",
    });
  });

  test("[R760] a member cannot go on with another's line, also for those who know its beginning", async () => {
    const { store, ana } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    const eve = await ana.invited(() => store, "eve", "agent");
    const pull = async () => {
      using remote = openExchange(bob.workspace, undefined, bob.host);
      return await remote.pull();
    };
    await pull();
    const keys = readIdentity(eve.home)!;
    const space = spaceOf(eve, store);
    await forceSegment(ana, store, { keys, space });
    await store.put(space.names.head(entryOf(ana).line), Buffer.from("moved"), { createOnly: false });
    await expect(pull()).rejects.toMatchObject({ code: "REMOTE_DAMAGED" });
  });

  test("[R760] a membership that ends is over by the server's clock; what was written before it counts", async () => {
    const { store, ana, clock } = await team();
    const agent = await ana.invited(() => store, "agent", "agent");
    await agent.push();
    const { until } = (await ana.members().list()).members.at(-1)!;
    expect(until).toBeGreaterThan(clock.now + 29 * 24 * HOUR);
    clock.now = until! + 60_000;
    const keys = readIdentity(agent.home)!;
    const key = await forceSegment(agent, store, { keys, space: spaceOf(agent, store) });
    expect((await ana.verify()).problems).toMatchObject([{ kind: "forged", key }]);
    const bob = await ana.clone(() => store, { line: entryOf(agent).line });
    await bob.workspace.restoreTo("@");
    expect(filesBelow(bob.root)).toEqual(filesBelow(agent.root));
  });

  test("[R760] rosters that no admin signed are passed over: a member cannot make itself an admin", async () => {
    const { store, ana } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    const keys = readIdentity(bob.home)!;
    const space = await openSpace(store, entryOf(bob).space, keys);
    const { members } = space.roster.roster;
    const admins = members.map((member) => ({ ...member, role: "admin" as const }));
    await forceRoster(store, space, { facts: { members: admins }, signer: keys });
    // with the signature of a member over an admin's name
    const forged = { ...keys, id: members[0]!.id };
    await forceRoster(store, await openSpace(store, space.id, keys), {
      facts: { members: admins },
      signer: forged,
    });
    // and an invitation that a member wrote
    const eve = memberKeys({ sign: randomBytes(32), receive: randomBytes(32) });
    const facts = {
      purpose: "invitation",
      space: space.id,
      fingerprint: space.fingerprint,
      name: "eve",
    } as const;
    const rest = { role: "admin", until: Date.now() + HOUR, memberUntil: null } as const;
    const accepts = certify({ ...facts, ...rest }, eve, keys);
    const added = memberOf(eve, { name: "eve", role: "admin", isRecovery: false });
    await forceRoster(store, await openSpace(store, space.id, keys), {
      facts: { members: [...members, added], accepts },
      signer: eve,
    });
    const { members: after } = await ana.members().list();
    expect(after.map(({ role }) => role)).toEqual(["admin", "admin", "member"]);
    // an admin goes on after them
    await ana.invited(() => store, "carl", "reader");
    expect((await bob.members().list()).members.map(({ role }) => role)).toEqual([
      "admin",
      "admin",
      "member",
      "reader",
    ]);
  });

  test("[R761] the holder of an invitation cannot change more than it allows", async () => {
    const { store, ana } = await team();
    const { text } = await ana.members().invite({ role: "reader", ttlMs: HOUR });
    const { keys, certificate } = openPass(text, "invitation")!;
    const space = await openSpace(store, certificate.space, keys);
    const { members } = space.roster.roster;
    const eve = memberKeys({ sign: randomBytes(32), receive: randomBytes(32) });
    const as = (role: "admin" | "reader") => memberOf(eve, { name: "eve", role, isRecovery: false });
    for (const changed of [
      [...members, as("admin")],
      [members[0]!, as("reader")],
      [...members, as("reader"), as("reader")],
    ])
      await forceRoster(store, await openSpace(store, space.id, keys), {
        facts: { members: changed, accepts: certificate },
        signer: keys,
      });
    expect((await ana.members().list()).members).toHaveLength(2);
  });
});

describe("removing a member", () => {
  test("[R762] changes the secret: what comes is closed to it, and what it writes after that is refused", async () => {
    const { store, ana, clock } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    await bob.push();
    const rogue = { keys: readIdentity(bob.home)!, space: spaceOf(bob, store) };
    clock.now += 60_000;
    expect(await ana.members().remove("bob@bob-laptop")).toMatchObject({ role: "member" });
    ana.write({ "a.txt": "after bob\n" });
    await ana.workspace.checkpoint();
    await ana.push();
    clock.now += 60_000;
    // bob still has his access to the server, his keys and the old secret
    const key = await forceSegment(bob, store, rogue);
    await expect(bob.members().list()).rejects.toMatchObject({ code: "SPACE_KEY_MISSING" });
    await expect(openSpace(store, rogue.space.id, rogue.keys)).rejects.toMatchObject({
      code: "SPACE_KEY_MISSING",
    });
    expect(await ana.members().list()).toMatchObject({ generation: 2 });
    expect((await ana.verify()).problems).toMatchObject([{ kind: "forged", key }]);
    const line = entryOf(bob).line;
    const carl = await ana.clone(() => store, { name: "carl", line });
    await carl.workspace.restoreTo("@");
    expect(filesBelow(carl.root)).toEqual(filesBelow(bob.root));
    const newest = [...store.objects.keys()]
      .filter((one) => one.includes(`/l/${entryOf(ana).line}/`))
      .at(-1)!;
    // the generation in the header of the parcel
    expect(store.objects.get(newest)!.bytes.readUInt32BE(16)).toBe(2);
  });

  test("[R762] a machine that did not look for a while learns of the new secret before it sends", async () => {
    const { store, ana, clock } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    await ana.members().rotate();
    const later = Date.now() + 11 * 60_000;
    clock.now = later;
    bob.host = { ...bob.host, around: { ...bob.host.around, now: () => later } };
    await bob.push();
    const segment = [...store.objects.keys()].find((one) => one.includes(`/l/${entryOf(bob).line}/`))!;
    expect(store.objects.get(segment)!.bytes.readUInt32BE(16)).toBe(2);
    expect(await ana.verify()).toMatchObject({ ok: true });
  });

  test("[R762] a push that meets a sweep under a secret it does not know yet asks for it and goes on", async () => {
    const { store, ana } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    await bob.push();
    await ana.members().rotate();
    const space = await openSpace(store, spaceOf(ana, store).id, readIdentity(ana.home)!);
    await sweepSpace(space, { keys: readIdentity(ana.home)!, random: randomBytes, isDryRun: false });
    // without it the line is read again, and sweeps are looked at
    const kept = spaceDirectory(bob.home, space.id);
    for (const name of readdirSync(kept).filter((one) => one.startsWith("mirror.db")))
      rmSync(join(kept, name));
    bob.write({ "later.txt": "1\n" });
    await bob.workspace.checkpoint();
    await expect(bob.push()).resolves.toMatchObject({ outcome: "pushed" });
    const newest = [...store.objects.keys()]
      .filter((one) => one.includes(`/l/${entryOf(bob).line}/`))
      .at(-1)!;
    expect(store.objects.get(newest)!.bytes.readUInt32BE(16)).toBe(2);
    expect(await ana.verify()).toMatchObject({ ok: true });
  });

  test("[R762] a removed member that another admin, who was slower, gave a later secret is told that it was removed", async () => {
    const { store, ana } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    await bob.push();
    const { members } = await ana.members().list();
    const { id } = members.find(({ name }) => name.startsWith("bob"))!;
    const member = spaceOf(bob, store).members.get(id)!;
    await ana.members().remove(id);
    const { names, id: space } = spaceOf(ana, store);
    const secret = { space, generation: 3, secret: randomBytes(32) };
    const sealed = sealedTo(member, { names, secret, random: randomBytes });
    await store.put(names.sealedSecret(3, id), sealed, { createOnly: true });
    bob.host = { ...bob.host, around: { ...bob.host.around, now: () => Date.now() + HOUR } };
    bob.write({ "later.txt": "1\n" });
    await bob.workspace.checkpoint();
    await expect(bob.push()).rejects.toMatchObject({ code: "SPACE_KEY_MISSING" });
  });

  test("the last admin cannot be removed; the recovery key brings an admin back", async () => {
    const { store, ana } = await team();
    await ana.members().remove("recovery key");
    await expect(ana.members().remove("ana@ana-laptop")).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
    await expect(ana.members().remove("none-of-them")).rejects.toMatchObject({ code: "MEMBER_NOT_FOUND" });
    // the old recovery key opens nothing new
    const bob = new Machine(() => store, "bob");
    await expect(bob.receive(ana.recoveryKey)).rejects.toMatchObject({ code: "SPACE_KEY_MISSING" });
    const seed = randomBytes(30);
    await ana.members().addRecoveryKey(seed);
    const { formatRecoveryKey } = await import("../src/keys/recovery-key.ts");
    await bob.receive(formatRecoveryKey(seed));
    expect((await bob.members().list()).members.map(({ role }) => role)).toEqual(["admin", "admin", "admin"]);
  });

  test("two admins who change the secret at the same time: one of them is told, and the space stays whole", async () => {
    const { store, ana } = await team();
    const bob = await ana.invited(() => store, "bob", "admin");
    const both = await Promise.allSettled([ana.members().rotate(), bob.members().rotate()]);
    const failed = both.filter(({ status }) => status === "rejected");
    expect(failed.length).toBeLessThanOrEqual(1);
    for (const one of failed) expect(one).toMatchObject({ reason: { code: "REMOTE_UNREACHABLE" } });
    const generations = [(await ana.members().list()).generation, (await bob.members().list()).generation];
    expect(generations[0]).toBe(generations[1]);
    for (const machine of [ana, bob]) {
      machine.write({ "b.txt": "more\n" });
      await machine.workspace.checkpoint();
      await machine.push();
    }
    expect(await ana.verify()).toMatchObject({ ok: true });
  });

  test("[T15] a roster that is gone, or another one, is a rollback for a machine that saw it", async () => {
    const { store, ana } = await team();
    const bob = await ana.invited(() => store, "bob", "member");
    const rosters = [...store.objects.keys()].filter((key) => /\/k\/\d{12}$/.test(key)).toSorted();
    const last = store.objects.get(rosters.at(-1)!)!;
    store.objects.delete(rosters.at(-1)!);
    await expect(bob.members().list()).rejects.toMatchObject({ code: "REMOTE_ROLLED_BACK" });
    store.objects.set(rosters.at(-1)!, store.objects.get(rosters[0]!)!);
    await expect(bob.members().list()).rejects.toMatchObject({ code: "REMOTE_ROLLED_BACK" });
    store.objects.set(rosters.at(-1)!, last);
    expect((await bob.members().list()).members).toHaveLength(3);
  });
});
