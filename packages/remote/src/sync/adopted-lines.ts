/**
 * Restates the lines that this machine's member adopted. Their stores are gone: each line is received into a store of its
 * own below the home, which is thrown away afterwards.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { receiveWorkspace, type RemoteEntry, type Workspace } from "@belay/engine";
import { spanIn } from "../line/keys-of-space.ts";
import type { SegmentHead } from "../line/segment.ts";
import { adoptedBy } from "../space/adoptions.ts";
import { retentionOf } from "../space/policy.ts";
import { spaceDirectory } from "../space/space.ts";
import { writerOfLine } from "../space/writer-rights.ts";
import { DamageError } from "../parcel/damage.ts";
import { RemoteFailure } from "../stores/remote-store.ts";
import { wantsBase } from "./base-due.ts";
import { serverTime } from "./look-at-sweeps.ts";
import { obeyForgets } from "./obey-forgets.ts";
import { pushBase, rewriteLine } from "./push.ts";
import type { AdoptedLine, PushTarget } from "./push-target.ts";
import { LineDamage, readLine } from "./read-line.ts";
import { receiveLine } from "./receive-line.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** What is being restated, and where. */
export interface AdoptedTarget extends Omit<PushTarget, "exchange" | "device" | "seen" | "chosen"> {
  readonly home: string;
  readonly remote: RemoteEntry;
}

/** Looks at adopted lines, each once a day, and restates those that want it. That it did not work harms nothing. */
export async function restateAdopted(target: AdoptedTarget): Promise<void> {
  const { space, keys, mirror, around } = target;
  const asked = Math.max(0, ...space.rosters.map(({ roster }) => roster.forgets?.number ?? 0));
  for (const { line, since } of adoptedBy(space, keys.id)) {
    if (around.now() - mirror.adoptedLookedAt(line) < DAY_MS) continue;
    let forgets = mirror.adoptedForgets(line);
    try {
      const quiet = await quietSince(target, line, since);
      if (quiet === undefined) continue;
      await restate(target, line, { now: quiet, asked });
      forgets = asked;
    } catch (error) {
      const isRemote = error instanceof RemoteFailure || error instanceof LineDamage;
      if (!isRemote && !(error instanceof DamageError)) throw error;
    }
    mirror.noteAdopted(line, { at: around.now(), forgets });
  }
}

/**
 * The server's time, where the line is at rest: [R2242] its writer learns within an hour that it is adopted. What it wrote before
 * it knew is in the line by then.
 */
async function quietSince(
  { space }: AdoptedTarget,
  line: string,
  since: number,
): Promise<number | undefined> {
  const now = await serverTime(space);
  let last = since;
  for await (const { key, modified } of space.store.list(space.names.segmentsOf(line))) {
    const span = spanIn(key);
    if (span !== undefined && span.from === span.to) last = Math.max(last, modified);
  }
  return now - last > HOUR_MS ? now : undefined;
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
  const { home, space, mirror, remote } = target;
  const directory = spaceDirectory(home, space.id);
  removeLeftovers(directory);
  const store = mkdtempSync(join(directory, PREFIX));
  // a directory inside the home is refused, and no file is ever written there
  const root = mkdtempSync(join(tmpdir(), "belay-adopted-"));
  let workspace: Workspace | undefined;
  try {
    const writer = await writerOfFirst(target, line);
    let last: Received["last"] | undefined;
    ({ workspace } = await receiveWorkspace(
      root,
      async (receiver) => {
        ({ last } = await receiveLine(space, line, { receiver, mirror }));
        const began = writer.from === null ? null : JSON.stringify(writer.from);
        const { number: segment, hash: segmentHash } = last;
        receiver.addRemote({ ...remote, line, began, segment, segmentHash, pushedAt: null, problem: null });
      },
      { home: store },
    ));
    const { exchange } = workspace;
    const made: Received = { ...target, exchange, device: writer.device, adopted: writer, last: last! };
    settleAll(exchange, remote.name, made);
    await work(made, remote.name);
  } finally {
    await workspace?.close();
    for (const place of [store, root]) rmSync(place, { recursive: true, force: true });
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

const PREFIX = "adopting-";

/** Of a process that was killed. */
function removeLeftovers(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (!name.startsWith(PREFIX) || Date.now() - statSync(path).mtimeMs < DAY_MS) continue;
    rmSync(path, { recursive: true, force: true });
  }
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
