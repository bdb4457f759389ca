/**
 * Restates the lines that this machine's member adopted. Their stores are gone: each line is received into a store of its
 * own below the home, which is thrown away afterwards.
 */
import type { RemoteEntry } from "@belay/engine";
import type { SegmentHead } from "../line/segment.ts";
import { ADOPTION_FENCE_MS, adoptedBy } from "../space/adoptions.ts";
import { retentionOf } from "../space/policy.ts";
import { writerOfLine } from "../space/writer-rights.ts";
import { DamageError } from "../parcel/damage.ts";
import { RemoteFailure } from "../stores/remote-store.ts";
import { wantsBase } from "./base-due.ts";
import { serverTime } from "./look-at-sweeps.ts";
import { obeyForgets } from "./obey-forgets.ts";
import type { ReceiveStore } from "./passing-store.ts";
import { pushBase, rewriteLine } from "./push.ts";
import type { AdoptedLine, PushTarget } from "./push-target.ts";
import { LineDamage, readLine } from "./read-line.ts";
import { receiveLine } from "./receive-line.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** What is being restated, and where. */
export interface AdoptedTarget extends Omit<PushTarget, "exchange" | "device" | "seen" | "chosen"> {
  readonly remote: RemoteEntry;
  readonly receiveStore: ReceiveStore;
}

/** Looks at adopted lines, each once a day, and restates those that want it. That it did not work harms nothing. */
export async function restateAdopted(target: AdoptedTarget): Promise<void> {
  const { space, keys, mirror, around } = target;
  const asked = Math.max(0, ...space.rosters.map(({ roster }) => roster.forgets?.number ?? 0));
  for (const { line, since } of adoptedBy(space, keys.id)) {
    if (around.now() - mirror.adoptedLookedAt(line) < DAY_MS) continue;
    let forgets = mirror.adoptedForgets(line);
    try {
      const now = await serverTime(space);
      // [R2243] what its writer wrote before it knew is in the line by then
      if (now - since <= ADOPTION_FENCE_MS) continue;
      await restate(target, line, { now, asked });
      forgets = asked;
    } catch (error) {
      const isRemote = error instanceof RemoteFailure || error instanceof LineDamage;
      if (!isRemote && !(error instanceof DamageError)) throw error;
    }
    mirror.noteAdopted(line, { at: around.now(), forgets });
  }
}

async function restate(
  target: AdoptedTarget,
  line: string,
  { now, asked }: { readonly now: number; readonly asked: number },
): Promise<void> {
  const { space, mirror } = target;
  const wants = await wantsBase(space, line, now);
  const isRewriting = mirror.rewritten(line) < (space.roster.roster.rewrite ?? 0);
  const isForgetting = mirror.adoptedForgets(line) < asked;
  if (wants === "never" && !isRewriting && !isForgetting) return;
  await withReceived(target, line, async (received, name) => {
    const { exchange } = received;
    const forgotten = isForgetting ? obeyForgets(exchange, space, name) : undefined;
    const request = retentionOf(space);
    if (forgotten !== undefined) {
      const changed = [...exchange.records(name, exchange.outboxEnd(name))];
      settleAll(exchange, name, received);
      await pushBase(received, name, { ...request, isForgetting: true, changed });
    } else if (wants !== "never")
      await pushBase(received, name, { ...request, isForgetting: false, isDropping: wants === "dropping" });
    if (isRewriting) await rewriteLine(received, name);
  });
}

type Received = PushTarget & { readonly last: { readonly number: number; readonly hash: string } };

/** A store that has the line, as if its writer pushed from there. */
async function withReceived(
  target: AdoptedTarget,
  line: string,
  work: (received: Received, name: string) => Promise<void>,
): Promise<void> {
  const { space, mirror, remote, receiveStore } = target;
  const writer = await writerOfFirst(target, line);
  let last: Received["last"] | undefined;
  const store = await receiveStore(async (receiver) => {
    ({ last } = await receiveLine(space, line, { receiver, mirror }));
    const began = writer.from === null ? null : JSON.stringify(writer.from);
    const { number: segment, hash: segmentHash } = last;
    receiver.addRemote({ ...remote, line, began, segment, segmentHash, pushedAt: null, problem: null });
  });
  try {
    const { exchange } = store;
    const made: Received = { ...target, exchange, device: writer.device, adopted: writer, last: last! };
    settleAll(exchange, remote.name, made);
    await work(made, remote.name);
  } finally {
    await store.close();
  }
}

/** Nothing of what arrived waits to be sent to where it came from. */
function settleAll(
  exchange: PushTarget["exchange"],
  name: string,
  { last: { number: segment, hash }, around }: Received,
): void {
  exchange.settle(name, { segment, hash, until: exchange.outboxEnd(name), at: around.now() });
}

async function writerOfFirst(
  { space }: AdoptedTarget,
  line: string,
): Promise<AdoptedLine & Pick<SegmentHead, "device" | "from">> {
  for await (const { segment } of readLine(space, line)) {
    const { head } = segment;
    const member = writerOfLine(space, head);
    const name =
      space.members.get(member)?.name ?? head.certificate?.name ?? head.adopted?.name ?? member.slice(0, 8);
    return { member, name, device: head.device, from: head.from };
  }
  throw new LineDamage("missing", space.names.segmentsOf(line), "there is no such line in the space");
}
