/** Approving the thread of another machine: it is told who approves of what, and approves itself. */
import { expect, test } from "vitest";
import { reviewThread } from "../src/share/review.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { openExchange } from "../src/sync/remote.ts";
import { Machine } from "./support/machines.ts";

async function pull(machine: Machine) {
  using remote = openExchange(machine.workspace, undefined, machine.host);
  return await remote.pull();
}

test("[R1843, R1504] a review reaches the owner under its signer's name and ends with an approval; an agent's counts nowhere", async () => {
  const store = new MemoryRemoteStore();
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "one\n" });
  await (await ana.init()).add();
  const thread = await ana.workspace.threads.create({ agent: "codex", externalId: "s-1", title: "Names" });
  await ana.workspace.turns.run({ thread: thread.id, prompt: "better" }, async () => {
    ana.write({ "a.txt": "two\n" });
  });
  await ana.push();
  const [bob, eve] = [
    await ana.invited(() => store, "bob", "member"),
    await ana.invited(() => store, "eve", "agent"),
  ];
  const request = { remote: "team", reference: thread.id.slice(0, 8), message: "well done" };
  await expect(reviewThread(bob.workspace, request, bob.host)).rejects.toMatchObject({ code: "USAGE" });
  for (const machine of [bob, eve]) await machine.push();
  const nobody = { ...request, reference: "kkkkkkkk" };
  await expect(reviewThread(bob.workspace, nobody, bob.host)).rejects.toMatchObject({
    code: "THREAD_NOT_FOUND",
  });
  await expect(reviewThread(eve.workspace, request, eve.host)).rejects.toMatchObject({
    code: "ROLE_REQUIRED",
  });
  const [newest] = await ana.workspace.list({ thread: thread.id, limit: 1 });
  const { line } = ana.workspace.exchange.remotes()[0]!;
  // an agent that says it all the same, and says that it is another member
  eve.workspace.exchange.review({ line, checkpoint: newest!.id, message: "mine" });
  await eve.push();
  expect(await pull(ana)).toMatchObject({ annotations: 0 });
  expect(ana.workspace.exchange.reviews()).toEqual([]);

  // what a machine calls itself now is not what its space calls it
  bob.host = { ...bob.host, user: "another" };
  const found = await reviewThread(bob.workspace, request, bob.host);
  expect(found).toMatchObject({ line, thread: thread.id, checkpoint: newest!.id, title: "Names" });
  const events = ana.workspace.events.read();
  expect(await pull(ana)).toMatchObject({ annotations: 1 });
  const review = { checkpoint: newest!.id, by: "bob@bob-laptop", message: "well done" };
  expect(ana.workspace.exchange.reviews()).toMatchObject([{ ...review, thread: thread.id }]);
  for await (const event of events)
    if (event.type === "review") {
      expect(event).toMatchObject({ ...review, thread: thread.id });
      break;
    }
  expect(await pull(ana)).toMatchObject({ annotations: 0 });
  // nothing is approved by it
  expect(await ana.workspace.approvals.session(thread.id, { detail: "counts" })).toMatchObject({
    hasUnapproved: true,
  });
  await ana.workspace.approvals.approve(thread.id);
  expect(ana.workspace.exchange.reviews()).toEqual([]);
  expect(await ana.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
});
