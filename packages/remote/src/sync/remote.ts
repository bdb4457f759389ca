/**
 * One remote of one workspace, and everything that is done with it. The caller supplies the server and the world; nothing
 * here reads variables, settings or terminals.
 */
import type { RemoteEntry, Selection, Workspace, WorkspaceEvent } from "@belay/engine";
import { expectMayWrite, keysOf } from "../space/own-keys.ts";
import { keptSpace, spaceDirectory } from "../space/space.ts";
import type { Abilities } from "../stores/probe.ts";
import { restateAdopted } from "./adopted-lines.ts";
import { receiveBelow } from "./passing-store.ts";
import { findRemote } from "./find-remote.ts";
import { createLineReader, type LineReader } from "./line-reader.ts";
import { LineRecords } from "./line-records.ts";
import { sizeOf, type LineSize } from "./line-size.ts";
import { Mirror } from "./mirror.ts";
import { notePull, noteVerified, noting, retryAt, telling } from "./note-exchange.ts";
import { obeyForgets, type ObeyedForgets } from "./obey-forgets.ts";
import { presentSpace, reopened, type LookedAtSpace } from "./present-space.ts";
import type { SyncStep } from "./progress.ts";
import type { PushTarget } from "./push-target.ts";
import { push, rewriteLine, type PushReport } from "./push.ts";
import type { RemoteHost } from "./remote-host.ts";
import type { RewrittenLine } from "./rewrite-line.ts";
import { sweepSpace, type SweepReport } from "./sweep.ts";
import { translating } from "./translate-failure.ts";
import { verifyRemote, type VerifiedRemote, type VerifyOptions } from "./verify-remote.ts";

/** What to exchange with one remote. */
export interface RemoteExchange extends Disposable, LineReader {
  readonly entry: RemoteEntry;
  push(request?: PushRequest): Promise<PushedLine>;
  /** What there is of the line of this store to encrypt again, and how many lines others have. */
  rewritable(): Promise<LineSize>;
  /** [R2245] Encrypts the line of this store again, after an admin asked for it; null when nothing of it was older. */
  rewrite(progress?: (done: number, total: number) => void): Promise<RewrittenLine | null>;
  /** [T1] Whether a checkpoint, in its present state, is known to be stored: here, and in every other remote. */
  isSynced(checkpoint: string): Promise<boolean>;
  /** What happens with this remote from now on, until reading ends. */
  events(signal?: AbortSignal): AsyncIterable<WorkspaceEvent>;
  /** Whether the line that this one began with has an object; no server is asked. */
  hadFirst(hash: string): boolean;
  verify(options: VerifyOptions): Promise<VerifiedRemote>;
  /** What a sweep of the space would condemn and delete; nothing is changed. */
  planSweep(): Promise<SweepReport>;
}

/** What a push did. */
export interface PushedLine extends PushReport {
  /** What was forgotten here before, because an admin asked every machine for it. */
  readonly forgotten: ObeyedForgets | null;
}

/** What to send. */
export interface PushRequest {
  /** Only what belongs to a thread or a checkpoint; defaults to everything that waits. */
  readonly chosen?: Selection | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** Opens a remote of a workspace; without a name, its only one. */
export function openExchange(
  workspace: Workspace,
  name: string | undefined,
  host: RemoteHost,
): RemoteExchange {
  const entry = findRemote(workspace, name);
  const keys = keysOf(host, entry);
  const store = host.connect(entry.url);
  const target = async (known?: LookedAtSpace): Promise<PushTarget> => {
    const space = known ?? (await presentSpace(store, entry, { keys, host }));
    return {
      exchange: workspace.exchange,
      space,
      lookedAt: space.lookedAt,
      mirror,
      keys,
      device: host.device,
      abilities: JSON.parse(entry.abilities) as Abilities,
      around: host.around,
    };
  };
  const mirror = new Mirror(host.home, entry.space);
  const records = new LineRecords(host.home, entry.space);
  return {
    entry,
    ...createLineReader(entry, {
      settle: (problem) => notePull(workspace, entry.name, { problem, retryAt: retryAt(host) }),
      telling: () => telling(workspace, { remote: entry.name, direction: "pull" }, host),
      open: async () => ({ ...(await target()), records }),
      // what this home knows is enough to say what it knows
      openKept: async () => ({ ...(await target(keptSpace(host.home, entry.space, store))), records }),
      refresh: () => reopened(store, entry, { keys, host }),
    }),
    push: (request = {}) =>
      noting(workspace, { name: entry.name, host }, async () => {
        const refreshed = () => reopened(store, entry, { keys, host });
        const found = { ...(await target()), refreshed, seen: () => seenOf(records, entry) };
        return pushOne(workspace, { entry, found, host }, request);
      }),
    rewritable: () => translating(async () => sizeOf((await target()).space, entry.line)),
    rewrite: (progress) =>
      translating(async () => {
        const space = await reopened(store, entry, { keys, host });
        const step = ({ objects, objectsTotal }: SyncStep) => progress?.(objects, objectsTotal);
        return rewriteLine({ ...(await target(space)), progress: step }, entry.name);
      }),
    isSynced: async (checkpoint) => (await workspace.resolve(checkpoint)).synced === true,
    events: (signal) => eventsOf(workspace, entry.name, signal),
    hadFirst: (hash) =>
      entry.began !== null &&
      mirror.place((JSON.parse(entry.began) as { line: string }).line, hash) !== undefined,
    verify: (options) =>
      translating(async () => {
        const fresh = () => reopened(store, entry, { keys, host });
        const found = await verifyRemote(await target(), workspace, { entry, options, fresh });
        noteVerified(workspace, entry.name, { ok: found.ok, isAll: options.share === 1 });
        return found;
      }),
    planSweep: () =>
      translating(async () => {
        const space = await reopened(store, entry, { keys, host });
        return sweepSpace(space, { keys, random: host.around.random, isDryRun: true });
      }),
    [Symbol.dispose]: () => {
      mirror[Symbol.dispose]();
      records[Symbol.dispose]();
    },
  };
}

/** Follows what admins asked for, sends what waits, and restates what was adopted. */
async function pushOne(
  workspace: Workspace,
  {
    entry,
    found,
    host,
  }: { readonly entry: RemoteEntry; readonly found: PushTarget; readonly host: RemoteHost },
  { chosen, progress }: PushRequest,
): Promise<PushedLine> {
  const { exchange } = workspace;
  const isIdle = exchange.outboxEnd(entry.name) === 0 && exchange.journal(entry.name).length === 0;
  const tell = isIdle ? undefined : telling(workspace, { remote: entry.name, direction: "push" }, host);
  expectMayWrite(found.space, found.keys, host.around.now());
  const step = (at: SyncStep) => {
    tell?.(at);
    progress?.(at.objects, at.objectsTotal);
  };
  const forgotten = obeyForgets(exchange, found.space, entry.name) ?? null;
  const report = await push({ ...found, chosen, progress: step }, entry.name);
  const receiveStore = receiveBelow(spaceDirectory(host.home, entry.space));
  await restateAdopted({ ...found, remote: entry, receiveStore });
  return { ...report, forgotten };
}

async function* eventsOf(
  { events }: Workspace,
  name: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<WorkspaceEvent> {
  for await (const event of events.read(signal === undefined ? {} : { signal }))
    if ("remote" in event && event.remote === name) yield event;
}

/** [T15] How far this home has read the lines of others: every segment says so. */
function seenOf(records: LineRecords, { line }: RemoteEntry): Record<string, number> {
  return Object.fromEntries(
    records
      .lines()
      .filter((other) => other.line !== line)
      .map((other) => [other.line, other.number]),
  );
}
