/**
 * One remote of one workspace, and everything that is done with it. The caller supplies the server and the world; nothing
 * here reads variables, settings or terminals.
 */
import type {
  ObjectHash,
  ReceivedWorkspace,
  Receiver,
  RemoteEntry,
  Selection,
  Workspace,
  WorkspaceEvent,
} from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { parseRecoveryKey, recoveryKeys } from "../keys/recovery-key.ts";
import type { MemberKeys } from "../keys/key-pairs.ts";
import type { OpenPass } from "../keys/pass.ts";
import { isLineOf, newLineId } from "../line/line-id.ts";
import { acceptInvitation, joinSpace } from "../space/change-roster.ts";
import { expectMayWrite, invitationIn, keysOf, keysToEnter } from "../space/own-keys.ts";
import { isKnownWriter, noteKnownWriter } from "../space/known-writers.ts";
import { createSpace, findSpaces, keepSpace, keptSpace, openSpace, type Space } from "../space/space.ts";
import { probeStore, type Abilities } from "../stores/probe.ts";
import { RemoteFailure, type RemoteStore } from "../stores/remote-store.ts";
import { createLineReader, type LineReader } from "./line-reader.ts";
import { LineRecords } from "./line-records.ts";
import { Mirror } from "./mirror.ts";
import { restateAdopted } from "./adopted-lines.ts";
import { sizeOf, type LineSize } from "./line-size.ts";
import { obeyForgets, type ObeyedForgets } from "./obey-forgets.ts";
import { push, pushObjects, rewriteLine, type PushReport } from "./push.ts";
import type { PushTarget } from "./push-target.ts";
import { chosenLine, writerOf } from "./chosen-line.ts";
import { tellingProgress, type SyncStep } from "./progress.ts";
import type { RewrittenLine } from "./rewrite-line.ts";
import { receiveLine } from "./receive-line.ts";
import { sweepSpace, type SweepReport } from "./sweep.ts";
import type { Surroundings } from "./surroundings.ts";
import { translating } from "./translate-failure.ts";
import { verifySpace, type SpaceReport } from "./verify-space.ts";

/** What this machine brings along. */
export interface RemoteHost {
  readonly home: string;
  /** How this machine and its user are named to other members. */
  readonly device: string;
  readonly user: string;
  readonly around: Surroundings;
  /** When what failed is tried again by itself, counted from the failure; undefined when it is not. */
  readonly retryMs?: number | undefined;
  /** The token of a job, which stands for a member where this machine has no keys of the space. */
  readonly token?: string | undefined;
  /** The server at an address, with the user's access to it. */
  readonly connect: (url: string) => RemoteStore;
}

/** What to add. */
export interface NewRemote {
  readonly name: string;
  /** The address of a space, or an invitation to one. */
  readonly url: string;
  /** The recovery key of the space that is there, as it was typed; needed where this machine has no key of it. */
  readonly recoveryKey?: string | undefined;
  /** Called with the seed of a new space's recovery key, before anything is written; false ends it. */
  readonly keepRecoveryKey: (seed: Buffer) => Promise<boolean>;
}

/** A remote that was added. */
export interface AddedRemote {
  readonly remote: RemoteEntry;
  readonly abilities: Abilities;
  /** False when the space was there already. */
  readonly created: boolean;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const SEED_BYTES = 30;

/** Adds a remote to a workspace: probes the server, makes or joins the space. Undefined when the user declined. */
export async function addRemote(
  workspace: Workspace,
  request: NewRemote,
  host: RemoteHost,
): Promise<AddedRemote | undefined> {
  const { name } = request;
  if (!NAME.test(name))
    throw new ContractError("USAGE", `"${name}" cannot be the name of a remote.`, {
      hint: "Use letters, digits, dots, hyphens and underscores.",
    });
  if (workspace.exchange.remotes().some((remote) => remote.name === name))
    throw new ContractError("REMOTE_EXISTS", `There is a remote "${name}" already. Nothing was changed.`, {
      facts: { remote: name },
    });
  return translating(async () => {
    const invitation = invitationIn(request.url);
    const url = invitation?.url ?? request.url;
    const store = host.connect(url);
    const { now, random } = host.around;
    const [found, ...others] = await findSpaces(store);
    const own = keysToEnter(host, found);
    // what may only be read can be joined; a push there is refused by the server
    const abilities = await (found === undefined
      ? probeStore(store, { random, now })
      : probeForClone(store, { random, now, largeBytes: SMALL_BYTES }));
    const made =
      found === undefined
        ? await makeSpace(store, request, { own, host })
        : await enterSpace(store, { space: soleSpace(found, others), request, own, host, invitation });
    if (made === undefined) return undefined;
    keepSpace(host.home, made, now());
    const remote = entryFor({ name, url }, made, { member: own.id, abilities, host });
    workspace.exchange.addRemote(remote);
    return { remote, abilities, created: found === undefined };
  });
}

function entryFor(
  { name, url }: Pick<NewRemote, "name" | "url">,
  space: Space,
  facts: {
    readonly member: string;
    readonly abilities: Abilities;
    readonly host: RemoteHost;
    readonly began?: string;
  },
): RemoteEntry {
  const { member, abilities, host, began } = facts;
  return {
    name,
    url,
    space: space.id,
    fingerprint: space.fingerprint,
    member,
    line: newLineId(member, host.around.random),
    began: began ?? null,
    abilities: JSON.stringify(abilities),
    segment: 0,
    segmentHash: null,
    createdAt: host.around.now(),
    pushedAt: null,
    pulledAt: null,
    problem: null,
  };
}

/** The user keeps the recovery key before there is anything that it opens. */
async function makeSpace(
  store: RemoteStore,
  { keepRecoveryKey }: NewRemote,
  { own, host }: { readonly own: MemberKeys; readonly host: RemoteHost },
): Promise<Space | undefined> {
  const { random } = host.around;
  const seed = random(SEED_BYTES);
  if (!(await keepRecoveryKey(seed))) return undefined;
  return createSpace(store, { own, name: memberName(host), recovery: recoveryKeys(seed) }, random);
}

/** How this machine is called in the list of members. */
export function memberName({ user, device }: RemoteHost): string {
  return `${user}@${device}`;
}

async function enterSpace(
  store: RemoteStore,
  entering: {
    readonly space: string;
    readonly request: Pick<NewRemote, "recoveryKey">;
    readonly own: MemberKeys;
    readonly host: RemoteHost;
    readonly invitation?: OpenPass | undefined;
  },
): Promise<Space> {
  const { space, request, own, host, invitation } = entering;
  // [R1502] what another workspace of this home saw of the roster must still be there
  const known = keptSpace(host.home, space, store);
  if (invitation !== undefined)
    return acceptInvitation(store, invitation, { own, name: memberName(host), known, ...host.around });
  if (request.recoveryKey === undefined) return openSpace(store, space, own, known);
  const seed = parseRecoveryKey(request.recoveryKey);
  if (seed === undefined)
    throw new ContractError(
      "SPACE_KEY_MISSING",
      "That is not a recovery key: a letter is wrong or missing. Nothing was changed.",
      {
        hint: "It is 52 letters and digits in groups of four; the last group proves the others.",
        facts: { space },
      },
    );
  const admin = recoveryKeys(seed);
  const opened = await openSpace(store, space, admin, known);
  return joinSpace(opened, { admin, own, name: memberName(host) }, host.around.random);
}

function soleSpace(found: string, others: readonly string[]): string {
  if (others.length === 0) return found;
  throw new ContractError("USAGE", "There are several spaces below that address.", {
    hint: "Give each space a prefix of its own.",
  });
}

/** A remote that can be used. */
export interface OpenedRemote extends Disposable, LineReader {
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
  /** Only what belongs to a thread or a checkpoint; everything that waits unless given. */
  readonly chosen?: Selection | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** How thorough to verify a remote. */
export interface VerifyOptions {
  /** Which share of the parcels is read whole, between 0 and 1. */
  readonly share: number;
  /** Upload again, from this store, what its line lacks. */
  readonly repair: boolean;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** What verifying a remote found. */
export interface VerifiedRemote extends Omit<SpaceReport, "problems"> {
  readonly ok: boolean;
  readonly problems: readonly {
    readonly kind: SpaceReport["problems"][number]["kind"];
    readonly key: string;
    /** Checkpoints of this store that it affects. */
    readonly checkpoints: readonly string[];
    readonly repaired: boolean;
  }[];
}

/** Opens a remote of a workspace; without a name, its only one. */
export function openRemote(workspace: Workspace, name: string | undefined, host: RemoteHost): OpenedRemote {
  const entry = findRemote(workspace, name);
  const keys = keysOf(host, entry);
  const store = host.connect(entry.url);
  const target = async (known?: Space): Promise<PushTarget> => ({
    exchange: workspace.exchange,
    space: known ?? (await presentSpace(store, entry, { keys, host })),
    mirror,
    keys,
    device: host.device,
    abilities: JSON.parse(entry.abilities) as Abilities,
    around: host.around,
  });
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
      translating(async () =>
        verify(await target(), workspace, {
          entry,
          options,
          fresh: () => reopened(store, entry, { keys, host }),
        }),
      ),
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
  await restateAdopted({ ...found, home: host.home, remote: entry });
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

/** How long a list of members is used before the server is asked whether it changed: a push within it is two requests. */
const ROSTER_MS = 10 * 60_000;

/** The space as this home knows it, or as the server has it now where that is too long ago. */
async function presentSpace(
  store: RemoteStore,
  entry: RemoteEntry,
  who: { readonly keys: MemberKeys; readonly host: RemoteHost },
): Promise<Space> {
  const kept = keptSpace(who.host.home, entry.space, store);
  const age = who.host.around.now() - (kept?.lookedAt ?? 0);
  return kept !== undefined && age >= 0 && age < ROSTER_MS ? kept : reopened(store, entry, who);
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

/** The space as the server has it now; its fingerprint must be the one that was trusted first. */
export async function reopened(
  store: RemoteStore,
  entry: RemoteEntry,
  { keys, host }: { readonly keys: MemberKeys; readonly host: RemoteHost },
): Promise<Space> {
  const known = keptSpace(host.home, entry.space, store);
  const space = await openSpace(store, entry.space, keys, known);
  if (space.fingerprint !== entry.fingerprint)
    throw new ContractError(
      "REMOTE_ROLLED_BACK",
      "The space at that address is another one than before. Nothing was changed.",
      {
        facts: { remote: entry.name },
      },
    );
  keepSpace(host.home, space, host.around.now());
  return space;
}

/** Says that an exchange begins; what is returned says how far it is. */
function telling(
  { exchange }: Workspace,
  which: { readonly remote: string; readonly direction: "push" | "pull" },
  { around }: RemoteHost,
): (step: SyncStep) => void {
  exchange.tell({ type: "sync_started", ...which });
  return tellingProgress(exchange, which, around.now);
}

function retryAt({ retryMs, around }: RemoteHost): number | null {
  return retryMs === undefined ? null : around.now() + retryMs;
}

/** What a pull found out about the server; a problem of pushing stays until a push ends well. */
function notePull(
  { exchange }: Workspace,
  name: string,
  found: { readonly problem: string | null; readonly retryAt: number | null },
): void {
  const before = exchange.remotes().find((remote) => remote.name === name)?.problem ?? null;
  if (found.problem !== null || /^REMOTE_(?:UNREACHABLE|DENIED|ROLLED_BACK|DAMAGED)/.test(before ?? ""))
    exchange.noteProblem(name, found.problem, found.retryAt);
}

/** [T13] Why a push failed is kept with the remote, for `status`; nothing else fails for it. */
async function noting<Result>(
  workspace: Workspace,
  { name, host }: { readonly name: string; readonly host: RemoteHost },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await translating(work);
  } catch (error) {
    const isKnown = error instanceof ContractError;
    if (isKnown) workspace.exchange.noteProblem(name, `${error.code}: ${error.message}`, retryAt(host));
    throw error;
  }
}

/** The remote of a name, or the only one. */
export function findRemote(workspace: Workspace, name: string | undefined): RemoteEntry {
  const all = workspace.exchange.remotes();
  const found =
    name === undefined ? (all.length === 1 ? all[0] : undefined) : all.find((one) => one.name === name);
  if (found !== undefined) return found;
  const why =
    name !== undefined
      ? `There is no remote "${name}" here.`
      : all.length === 0
        ? "This workspace has no remote."
        : "This workspace has several remotes.";
  throw new ContractError("REMOTE_NOT_FOUND", `${why} Nothing was changed.`, {
    hint: all.length === 0 ? "`belay remote add <name> <url>` adds one." : "Choose one with --remote.",
    facts: { remotes: all.map((one) => one.name) },
  });
}

async function verify(
  target: PushTarget,
  workspace: Workspace,
  how: { readonly entry: RemoteEntry; readonly options: VerifyOptions; readonly fresh: () => Promise<Space> },
): Promise<VerifiedRemote> {
  const { entry, options, fresh } = how;
  const { share, progress, repair } = options;
  const space = await fresh();
  const random = () => target.around.random(4).readUInt32BE() / 2 ** 32;
  const report = await verifySpace(space, target.mirror, { share, random, progress });
  const problems = report.problems.map((problem) => ({
    ...problem,
    checkpoints: problem.line === entry.line ? affected(workspace, problem.objects) : [],
  }));
  const mendable = problems.filter(({ line, objects }) => line === entry.line && objects.length > 0);
  if (repair && mendable.length > 0)
    await pushObjects({ ...target, space }, entry.name, [
      ...new Set(mendable.flatMap(({ objects }) => objects)),
    ] as ObjectHash[]);
  const isRepaired = new Set<unknown>(repair ? mendable : []);
  const told = problems.map((problem) => ({
    kind: problem.kind,
    key: problem.key,
    checkpoints: problem.checkpoints,
    repaired: isRepaired.has(problem),
  }));
  return { ...report, problems: told, ok: told.every(({ repaired }) => repaired) };
}

/** The checkpoints of this store that need one of the objects. */
function affected(workspace: Workspace, objects: readonly string[]): string[] {
  if (objects.length === 0) return [];
  const lost = new Set(objects);
  return workspace.exchange.checkpoints().filter((id) => {
    for (const { hash } of workspace.exchange.needed(id, () => false)) if (lost.has(hash)) return true;
    return false;
  });
}

/** What to clone. */
export interface CloneRequest {
  readonly url: string;
  /** The name that the remote gets in the clone. */
  readonly name: string;
  /** The beginning of a line's id, or the name of its writer; may be left out where there is one line. */
  readonly line?: string | undefined;
  /** The beginning of a checkpoint's id, which says which line is meant. */
  readonly checkpoint?: string | undefined;
  readonly directory: string;
  readonly recoveryKey?: string | undefined;
  /** Asked before what another member wrote is first taken in; false ends it. */
  readonly mayReceive?: ((writer: string) => Promise<boolean>) | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** A workspace that was cloned. */
export interface ClonedWorkspace extends ReceivedWorkspace {
  readonly entry: RemoteEntry;
  readonly from: { readonly line: string; readonly segment: number };
  readonly bytes: number;
}

/** Makes a workspace of a line: the whole record, and all content. It goes on as a line of its own. */
export async function cloneLine(
  request: CloneRequest,
  host: RemoteHost,
  receive: (fill: (receiver: Receiver) => Promise<void>) => Promise<ReceivedWorkspace>,
): Promise<ClonedWorkspace> {
  return translating(async () => {
    const invitation = invitationIn(request.url);
    const url = invitation?.url ?? request.url;
    const store = host.connect(url);
    const { now, random } = host.around;
    const [found, ...others] = await findSpaces(store);
    if (found === undefined)
      throw new ContractError("REMOTE_NOT_FOUND", "There is no space at that address. Nothing was changed.", {
        hint: "`belay remote add <name> <url>`, in a workspace, makes one.",
        facts: { remotes: [] },
      });
    const id = soleSpace(found, others);
    const own = keysToEnter(host, id);
    // what the server can do is needed at the end: it is found out meanwhile
    const probing = probeForClone(store, { random, now, largeBytes: SMALL_BYTES });
    return await waitingFor(probing, async () => {
      const space = await enterSpace(store, { space: id, request, own, host, invitation });
      keepSpace(host.home, space, now());
      const line = await chosenLine(space, request);
      await expectWanted(space, line, { request, own, host });
      using mirror = new Mirror(host.home, space.id);
      let got: Omit<ClonedWorkspace, keyof ReceivedWorkspace> | undefined;
      const received = await receive(async (receiver) => {
        const { last, bytes } = await receiveLine(space, line, {
          receiver,
          mirror,
          progress: request.progress,
          around: host.around,
        });
        const from = { line, segment: last.number };
        const began = JSON.stringify({ line, number: last.number });
        const facts = { member: own.id, abilities: await probing, host, began };
        const entry = entryFor({ name: request.name, url }, space, facts);
        // killed later, the clone still knows where it came from
        receiver.addRemote(entry);
        got = { entry, from, bytes };
      });
      return { ...received, ...got! };
    });
  });
}

/** Nothing goes on behind the back of a caller whose work failed. */
async function waitingFor<Result>(other: Promise<unknown>, work: () => Promise<Result>): Promise<Result> {
  // that it failed is told where its result is needed
  const ended = other.catch(() => undefined);
  try {
    return await work();
  } finally {
    await ended;
  }
}

/** A space that holds parcels has shown that large objects are kept: a clone need not try it again. */
const SMALL_BYTES = 1024;

/** What may only be read can be cloned; a push there is refused by the server. */
async function probeForClone(
  store: RemoteStore,
  around: Parameters<typeof probeStore>[1],
): Promise<Abilities> {
  try {
    return await probeStore(store, around);
  } catch (error) {
    if (!(error instanceof RemoteFailure) || error.kind !== "denied") throw error;
    return { createOnly: false, etagIsMd5: false, deleteAllowed: false, skewMs: 0 };
  }
}

/** [R765] What another member wrote is taken in for the first time only when the user says so. */
async function expectWanted(
  space: Space,
  line: string,
  asking: { readonly request: CloneRequest; readonly own: MemberKeys; readonly host: RemoteHost },
): Promise<void> {
  const { request, own, host } = asking;
  if (isLineOf(line, own.id) || request.recoveryKey !== undefined || own.certificate !== undefined) return;
  const writer = await writerOf(space, line);
  if (writer === undefined || isKnownWriter(host.home, space.id, writer.member)) return;
  if ((await request.mayReceive?.(writer.name)) === false)
    throw new ContractError(
      "CONFIRMATION_REQUIRED",
      `What ${writer.name} wrote was not taken in. Nothing was changed.`,
      {
        hint: "--yes takes it in without asking.",
      },
    );
  noteKnownWriter(host.home, space.id, writer.member);
}
