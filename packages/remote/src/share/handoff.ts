/**
 * Handing a thread to another machine of a space: one object `t/<thread>` says where the files stand, and carries the
 * messages and the agent's own transcript, sealed with the space's secret and signed. The checkpoint is in the line. Both
 * sides may go on.
 */
import type { CheckpointId, RemoteEntry, ThreadSummary, Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { Certificate, MemberKeys } from "../keys/key-pairs.ts";
import { DamageError, expectSound } from "../parcel/damage.ts";
import { LIMIT } from "../parcel/limits.ts";
import { OpenParcel, plainFrame, readHeader, sealParcel } from "../parcel/parcel.ts";
import { expectMayWrite, keysOf } from "../space/own-keys.ts";
import { presentSecret, secretFor, type Space } from "../space/space.ts";
import { judgeSignature } from "../space/writer-rights.ts";
import { putSurely } from "../stores/put-surely.ts";
import { writerOf } from "../sync/chosen-line.ts";
import { findRemote } from "../sync/find-remote.ts";
import { reopened } from "../sync/present-space.ts";
import { openExchange } from "../sync/remote.ts";
import { memberName, type RemoteHost } from "../sync/remote-host.ts";
import { translating } from "../sync/translate-failure.ts";

/** A message of a thread that is handed over. */
export interface HandedMessage {
  readonly role: string;
  readonly content: string;
  readonly externalId: string | null;
  readonly createdAt: number;
}

/** A thread that is handed over. */
export interface Handoff {
  readonly thread: string;
  readonly agent: string;
  /** The agent's own id of the conversation. */
  readonly session: string;
  readonly title: string | null;
  /** Where the files stand: the line and the checkpoint in it. */
  readonly line: string;
  readonly checkpoint: string;
  /** The directory of the conversation on the other machine. */
  readonly cwd: string;
  /** Who handed it over, as the roster or its token calls it. */
  readonly by: string;
  readonly at: number;
  readonly messages: readonly HandedMessage[];
  /** The agent's transcript; null when it is not part of it. */
  readonly transcript: string | null;
}

/** What to hand over. */
export interface HandoffOffer {
  readonly thread: Pick<ThreadSummary, "id" | "agent" | "externalId" | "title">;
  readonly checkpoint: string;
  readonly cwd: string;
  readonly messages: readonly HandedMessage[];
  readonly transcript: string | null;
}

const FORMAT = 1;
const FRAME_BYTES = 4 * 1024 * 1024;

/** Hands a thread over: pushes, then stores the offer. Returns the name that others use for it. */
export async function offerHandoff(
  workspace: Workspace,
  { name, offer }: { readonly name: string | undefined; readonly offer: HandoffOffer },
  host: RemoteHost,
): Promise<{ readonly reference: string; readonly transcript: boolean }> {
  const entry = findRemote(workspace, name);
  const keys = keysOf(host, entry);
  const { now } = host.around;
  await pushed(workspace, entry, host);
  return translating(async () => {
    const space = await reopened(host.connect(entry.url), entry, { keys, host });
    expectMayWrite(space, keys, now());
    const transcript = await storeOffer({ space, entry, keys, host }, offer);
    const { thread, checkpoint } = offer;
    const reference = `${entry.name}/${thread.id}`;
    const event = { remote: entry.name, reference, checkpoint: checkpoint as CheckpointId };
    workspace.exchange.tell({ type: "handoff_offered", ...event }, thread.id);
    return { reference, transcript };
  });
}

interface Offering {
  readonly space: Space;
  readonly entry: RemoteEntry;
  readonly keys: MemberKeys;
  readonly host: RemoteHost;
}

/** Stores an offer; true when its transcript is in it. */
async function storeOffer({ space, entry, keys, host }: Offering, offer: HandoffOffer): Promise<boolean> {
  const { random, now } = host.around;
  const { thread, checkpoint, cwd, messages } = offer;
  const facts = { thread: thread.id, agent: thread.agent, session: thread.externalId, title: thread.title };
  const where = { line: entry.line, checkpoint, cwd, by: memberName(host), at: now() };
  const key = space.names.handoff(thread.id);
  const seal = (transcript: string | null) => {
    const text = JSON.stringify({
      format: FORMAT,
      member: keys.id,
      certificate: keys.certificate,
      ...facts,
      ...where,
      messages,
      transcript,
    });
    const frames = framesOf(Buffer.from(text));
    return sealParcel(frames, {
      kind: "head",
      key,
      secret: presentSecret(space),
      salt: random(32),
      signer: keys.sign,
    });
  };
  const whole = seal(offer.transcript);
  // a transcript that does not fit is left out: files and messages go without it
  const isWhole = whole.length <= LIMIT.parcelBytes;
  await putSurely(space.store, key, isWhole ? whole : seal(null));
  return isWhole && offer.transcript !== null;
}

/** What to offer again: told when each thread was last offered, by the server's clock; undefined for one that never was. */
export type RenewedOffers = (
  offeredAt: (thread: string) => number | undefined,
) => AsyncIterable<HandoffOffer>;

/** [R1845] Stores the offers of threads that went on since they were last stored. Returns how many. */
export async function renewHandoffs(
  workspace: Workspace,
  { name, offers }: { readonly name: string; readonly offers: RenewedOffers },
  host: RemoteHost,
): Promise<number> {
  const entry = findRemote(workspace, name);
  const keys = keysOf(host, entry);
  return translating(async () => {
    const space = await reopened(host.connect(entry.url), entry, { keys, host });
    expectMayWrite(space, keys, host.around.now());
    const known = new Map<string, number>();
    const { handoffs } = space.names;
    for await (const { key, modified } of space.store.list(handoffs))
      known.set(key.slice(handoffs.length), modified);
    let stored = 0;
    for await (const offer of offers((thread) => known.get(thread))) {
      await storeOffer({ space, entry, keys, host }, offer);
      stored += 1;
    }
    return stored;
  });
}

async function pushed(workspace: Workspace, { name, segment }: RemoteEntry, host: RemoteHost): Promise<void> {
  if (segment === 0)
    throw new ContractError("USAGE", `Nothing has been pushed to ${name} yet. Nothing was handed over.`, {
      hint: "`belay push` sends the history of this directory; then hand over again.",
    });
  using remote = openExchange(workspace, name, host);
  await remote.push();
}

function framesOf(bytes: Buffer) {
  const frames = [];
  for (let at = 0; at < bytes.length; at += FRAME_BYTES)
    frames.push(plainFrame("records", bytes.subarray(at, at + FRAME_BYTES)));
  return frames;
}

/** The offer of a thread, by its id or the beginning of it; proved to be a member's. */
export async function findHandoff(
  workspace: Workspace,
  { name, thread }: { readonly name: string | undefined; readonly thread: string },
  host: RemoteHost,
): Promise<{ readonly handoff: Handoff; readonly entry: RemoteEntry }> {
  const entry = findRemote(workspace, name);
  const keys = keysOf(host, entry);
  return translating(async () => {
    const space = await reopened(host.connect(entry.url), entry, { keys, host });
    const found: { key: string; modified: number }[] = [];
    for await (const object of space.store.list(`${space.names.handoffs}${thread}`)) found.push(object);
    if (found.length === 1) return { handoff: await openHandoff(space, found[0]!), entry };
    const why =
      found.length === 0
        ? `No thread "${thread}" is handed over there.`
        : `"${thread}" fits several threads.`;
    throw new ContractError("THREAD_NOT_FOUND", `${why} Nothing was changed.`, {
      hint: "`belay handoff <thread>`, on the machine that has it, hands one over.",
      facts: { thread },
    });
  });
}

async function openHandoff(
  space: Space,
  { key, modified }: { key: string; modified: number },
): Promise<Handoff> {
  const got = await space.store.get(key);
  expectSound(got !== undefined && got.bytes.length <= LIMIT.parcelBytes, "a handoff is gone, or too large");
  const { bytes } = got;
  const parcel = new OpenParcel(bytes, { key, kind: "head", secret: secretFor(space, bytes) });
  const said = parse(Buffer.concat(parcel.rawFrames("records", bytes)).toString("utf8"));
  const verdict = judgeSignature(space, "line", {
    member: said.member,
    certificate: said.certificate,
    at: modified,
    generation: readHeader(bytes).generation,
    isSignedBy: (signer) => parcel.isSignedBy(signer),
  });
  expectSound(verdict === "counts", "no member who may write signed this handoff");
  const writer = await writerOf(space, said.line);
  const isWriter = writer?.member === said.member;
  expectSound(isWriter, "another member than the writer of its line hands this thread over");
  // [R1505] by its signature, not by what it says
  return { ...said, by: writer.name };
}

type Said = Handoff & {
  readonly format: number;
  readonly member: string;
  readonly certificate?: Certificate;
};

function parse(text: string): Said {
  let said: Partial<Said>;
  try {
    said = JSON.parse(text) as Partial<Said>;
  } catch (cause) {
    throw new DamageError("a handoff is not JSON", { cause });
  }
  const texts = [
    said.member,
    said.thread,
    said.agent,
    said.session,
    said.line,
    said.checkpoint,
    said.cwd,
    said.by,
  ];
  const isWhole =
    said.format === FORMAT && texts.every((one) => typeof one === "string") && Array.isArray(said.messages);
  expectSound(isWhole, "a handoff has another form");
  return said as Said;
}
