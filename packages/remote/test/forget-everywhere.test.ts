/** An admin asks every machine of a space to forget something: their stores and lines lose it, their files stay. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BytePath } from "@belay/engine";
import { expect, test } from "vitest";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { openSpace } from "../src/space/space.ts";
import { readIdentity } from "../src/space/identity.ts";
import { filesBelow, Machine } from "./support/machines.ts";

const SECRET = "PLANTED-SECRET-77ab\n";

/** A machine that asks the server again about members. */
function later(machine: Machine, minutes: number): void {
  machine.host = {
    ...machine.host,
    around: { ...machine.host.around, now: () => Date.now() + minutes * 60_000 },
  };
}

/** What the checkpoints of a machine have at a path: a file, or none. */
async function seenAt({ workspace }: Machine, path: string): Promise<Set<string>> {
  const seen = new Set<string>();
  for (const { id } of await workspace.list()) {
    const file = await workspace.file(id, path as BytePath, 100);
    seen.add(file === null ? "none" : "file");
  }
  return seen;
}

async function team(): Promise<{ store: MemoryRemoteStore; ana: Machine; bob: Machine; carl: Machine }> {
  const store = new MemoryRemoteStore();
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "one\n", ".env": SECRET });
  await (await ana.init()).add();
  await ana.push();
  // bob has a clone, carl the same content at another path and a secret of his own
  const bob = await ana.clone(() => store);
  await bob.workspace.restoreTo("@");
  const carl = await ana.invited(() => store, "carl", "member");
  carl.write({ "config/local.env": SECRET, ".env": "of carl\n", "big.bin": randomBytes(100) });
  await carl.workspace.checkpoint();
  await carl.push();
  return { store, ana, bob, carl };
}

test("[R2027] what an admin forgets everywhere leaves the stores of others at their next exchange; files and other contents stay", async () => {
  const { store, ana, bob, carl } = await team();
  const request = ana.workspace.exchange.contentsOf("./.env", false);
  expect(request.contents).toHaveLength(1);
  await ana.members().forgetEverywhere(request);
  await ana.workspace.upkeep.forget("./.env");
  await ana.push();
  const [before, ofCarl] = [filesBelow(bob.root), filesBelow(carl.root)];
  later(bob, 11);
  later(carl, 11);
  const pushed = await bob.push();
  expect(pushed.forgotten).toMatchObject({ by: ["ana@ana-laptop"] });
  expect(pushed.forgotten!.checkpoints.length).toBeGreaterThan(0);
  expect(await carl.pull()).toMatchObject({
    forgotten: { by: ["ana@ana-laptop"], checkpoints: [expect.anything()] },
  });
  for (const machine of [bob, carl]) {
    expect(machine.workspace.exchange.locate(request.contents as never)).toEqual([]);
    expect(await machine.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
    // once
    expect(await machine.push()).toMatchObject({ forgotten: null });
    expect(machine.workspace.exchange.forgetsUntil("team")).toBe(0);
  }
  expect(filesBelow(bob.root)).toEqual(before);
  expect(filesBelow(carl.root)).toEqual(ofCarl);
  expect(readFileSync(join(carl.root, ".env"), "utf8")).toBe("of carl\n");
  expect(await seenAt(carl, "config/local.env")).not.toContain("file");
  expect(await seenAt(carl, ".env")).toContain("file");
  expect(await ana.verify()).toMatchObject({ ok: true });
  // no line has it any more: a clone of each goes without
  for (const { line } of [bob, carl].map((machine) => machine.workspace.exchange.remotes()[0]!)) {
    const eve = await ana.clone(() => store, { name: "eve", line });
    expect(eve.workspace.exchange.locate(request.contents as never)).toEqual([]);
  }
});

test("[R2027] a clone of a line that has not followed yet does, and --always keeps the path out there too", async () => {
  const { store, ana } = await team();
  const request = ana.workspace.exchange.contentsOf("./.env", true);
  const { line } = ana.workspace.exchange.remotes()[0]!;
  await ana.members().forgetEverywhere(request);
  const eve = await ana.clone(() => store, { name: "eve", line });
  await eve.workspace.restoreTo("@");
  expect(eve.workspace.exchange.locate(request.contents as never)).toHaveLength(1);
  expect((await eve.push()).forgotten).not.toBeNull();
  await eve.workspace.checkpoint();
  expect(eve.workspace.exchange.locate(request.contents as never)).toEqual([]);
  expect(readFileSync(join(eve.root, ".env"), "utf8")).toBe(SECRET);
});

test("[R2027] a whole checkpoint goes with what only it had", async () => {
  const { store, ana } = await team();
  ana.write({ "note.txt": "only here\n" });
  const { checkpoint } = await ana.workspace.checkpoint();
  ana.write({ "note.txt": "another\n" });
  await ana.workspace.checkpoint();
  await ana.push();
  const bob = await ana.clone(() => store, {
    name: "bob2",
    line: ana.workspace.exchange.remotes()[0]!.line,
  });
  const request = ana.workspace.exchange.contentsOf(checkpoint.id, false);
  expect(request).toMatchObject({ checkpoint: checkpoint.id, contents: [expect.anything()] });
  await ana.members().forgetEverywhere(request);
  later(bob, 11);
  expect(await bob.push()).toMatchObject({ forgotten: { checkpoints: [checkpoint.id] } });
  await expect(bob.workspace.resolve(checkpoint.id)).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
  expect(bob.workspace.exchange.locate(request.contents as never)).toEqual([]);
  expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
});

test("[R2027] only an admin can ask, and joining members carry the request on without following it twice", async () => {
  const { store, ana, carl } = await team();
  const request = carl.workspace.exchange.contentsOf("./config/local.env", false);
  await expect(carl.members().expectMayForget(request)).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
  await expect(carl.members().forgetEverywhere(request)).rejects.toMatchObject({ code: "ROLE_REQUIRED" });
  const many = { ...request, contents: Array.from({ length: 2_001 }, () => "0".repeat(64)) };
  await expect(ana.members().forgetEverywhere(many)).rejects.toMatchObject({ code: "USAGE" });
  await ana.members().forgetEverywhere(request);
  const dave = await ana.invited(() => store, "dave", "member");
  const { space } = dave.workspace.exchange.remotes()[0]!;
  const { rosters } = await openSpace(store, space, readIdentity(dave.home)!);
  const [first, second] = rosters.slice(-2).map(({ roster }) => roster);
  expect(second!.forgets).toEqual(first!.forgets);
  expect(first!.forgets!.number).toBe(first!.number);
  expect(await dave.push()).toMatchObject({ outcome: "pushed", forgotten: null });
});
