/** Threads that are handed over: proved, complete, and readable by members only. */
import { describe, expect, test } from "vitest";
import { randomBytes } from "node:crypto";
import { plainFrame, sealParcel } from "../src/parcel/parcel.ts";
import { findHandoff, offerHandoff } from "../src/share/handoff.ts";
import { readIdentity } from "../src/space/identity.ts";
import { keptSpace, presentSecret } from "../src/space/space.ts";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { Machine } from "./support/machines.ts";

const PLANTED = "PLANTED-PLAINTEXT-h4nd";

async function offered(transcript: string | null) {
  const store = new MemoryRemoteStore();
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "one\n" });
  await (await ana.init()).add();
  await ana.push();
  const thread = await ana.workspace.threads.create({
    agent: "claude-code",
    externalId: "s-1",
    title: PLANTED,
  });
  const { checkpoint } = await ana.workspace.checkpoint({ thread: thread.id });
  const messages = [{ role: "user", content: PLANTED, externalId: "m-1", createdAt: 5 }];
  const offer = { thread, checkpoint: checkpoint.id, cwd: "/srv/ana/work", messages, transcript };
  // [R1505] what a machine calls itself now is not what its space calls it
  ana.host = { ...ana.host, user: "another" };
  const told = await offerHandoff(ana.workspace, { name: undefined, offer }, ana.host);
  return { store, ana, thread, checkpoint, told };
}

describe("a handoff", () => {
  test("[R767, T12] reaches another member whole, and says nothing to the server", async () => {
    const text = `{"sessionId":"s-1","text":"${PLANTED}"}\n`.repeat(200_000);
    const { store, ana, thread, checkpoint, told } = await offered(text);
    expect(told).toEqual({ reference: `team/${thread.id}`, transcript: true });
    const bob = await ana.invited(() => store, "bob", "member");
    const wanted = { name: "team", thread: thread.id.slice(0, 6) };
    const { handoff } = await findHandoff(bob.workspace, wanted, bob.host);
    expect(handoff).toMatchObject({
      thread: thread.id,
      checkpoint: checkpoint.id,
      session: "s-1",
      by: "ana@ana-laptop",
      messages: [{ content: PLANTED }],
    });
    expect(handoff.transcript === text).toBe(true);
    for (const [key, { bytes }] of store.objects) expect(bytes.includes(PLANTED), key).toBe(false);
    await expect(
      findHandoff(bob.workspace, { name: "team", thread: "kkkk" }, bob.host),
    ).rejects.toMatchObject({
      code: "THREAD_NOT_FOUND",
    });
  });

  test("[R767] whose transcript does not fit goes without it", async () => {
    const { store, ana, thread, told } = await offered(randomBytes(24 * 1024 * 1024).toString("base64"));
    expect(told.transcript).toBe(false);
    const bob = await ana.invited(() => store, "bob", "member");
    const { handoff } = await findHandoff(bob.workspace, { name: "team", thread: thread.id }, bob.host);
    expect(handoff).toMatchObject({ transcript: null, messages: [{ content: PLANTED }] });
  });

  test("[R760, R767, R1505] that a reader signed, or that was altered, is refused; a reader hands nothing over", async () => {
    const { store, ana, thread } = await offered(null);
    const rita = await ana.invited(() => store, "rita", "reader");
    const keys = readIdentity(rita.home)!;
    const space = keptSpace(rita.home, rita.workspace.exchange.remotes()[0]!.space, store)!;
    const key = space.names.handoff(thread.id);
    const good = store.objects.get(key)!;
    const wanted = { name: "team", thread: thread.id };
    const said = (await findHandoff(ana.workspace, wanted, ana.host)).handoff;
    const sealed = (member: string, signer = keys) =>
      sealParcel([plainFrame("records", Buffer.from(JSON.stringify({ ...said, format: 1, member })))], {
        kind: "head",
        key,
        secret: presentSecret(space),
        salt: randomBytes(32),
        signer: signer.sign,
      });
    const flipped = Buffer.from(good.bytes);
    flipped[90]! ^= 1;
    // [R1505] a member who may write, but not this line
    const bob = await ana.invited(() => store, "bob", "member");
    await bob.push();
    const bobs = readIdentity(bob.home)!;
    for (const bytes of [
      sealed(keys.id),
      sealed(ana.workspace.exchange.remotes()[0]!.member),
      sealed(bobs.id, bobs),
      flipped,
    ]) {
      store.objects.set(key, { ...good, bytes });
      await expect(findHandoff(ana.workspace, wanted, ana.host)).rejects.toMatchObject({
        code: "REMOTE_DAMAGED",
      });
    }
    // [T1] a server that says it has the offer, and has another one
    store.objects.set(key, good);
    const put = store.put.bind(store);
    store.put = async (name, bytes, how) =>
      name === key ? { outcome: "stored", etag: "", date: 0 } : put(name, bytes, how);
    const same = { thread: (await ana.workspace.threads.list())[0]!, checkpoint: said.checkpoint, cwd: "/" };
    await expect(
      offerHandoff(
        ana.workspace,
        { name: undefined, offer: { ...same, messages: [], transcript: null } },
        ana.host,
      ),
    ).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
    const own = await rita.workspace.threads.create({ agent: "codex", externalId: "s-2", title: "x" });
    const offer = { thread: own, checkpoint: "x", cwd: "/", messages: [], transcript: null };
    await expect(offerHandoff(rita.workspace, { name: undefined, offer }, rita.host)).rejects.toMatchObject({
      code: "USAGE",
    });
  });
});
